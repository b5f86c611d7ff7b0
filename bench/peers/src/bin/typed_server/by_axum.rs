//! The service by axum and serde_json, as axum's documentation shows it.

use std::error::Error;

use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Deserialize)]
struct ItemQuery {
    currency: Option<String>,
}

#[derive(Serialize)]
struct Item {
    sku: String,
    name: String,
    price: f64,
    currency: String,
    stock: i32,
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    sku: String,
    quantity: i32,
    price: f64,
}

#[derive(Deserialize)]
struct OrderInput {
    customer: String,
    lines: Vec<Line>,
    #[expect(dead_code, reason = "read, as the other library reads it")]
    express: Option<bool>,
    note: Option<String>,
}

#[derive(Serialize)]
struct OrderOutput {
    customer: String,
    items: i32,
    total: f64,
    lines: Vec<Line>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// An error as the model describes it: the constraint that does not hold.
type Invalid = (StatusCode, String);

fn check(holds: bool, name: &str) -> Result<(), Invalid> {
    match holds {
        true => Ok(()),
        false => Err((StatusCode::BAD_REQUEST, format!("{name} is not valid"))),
    }
}

async fn get_item(
    Path(sku): Path<String>,
    Query(query): Query<ItemQuery>,
) -> Result<Json<Item>, Invalid> {
    check((1..=32).contains(&sku.chars().count()), "sku")?;
    Ok(Json(Item {
        sku,
        name: "A pot of tea".to_owned(),
        price: 24.5,
        currency: query.currency.unwrap_or_else(|| "NOK".to_owned()),
        stock: 17,
        tags: vec!["kitchen".to_owned(), "tea".to_owned(), "gift".to_owned()],
    }))
}

async fn place_order(Json(input): Json<OrderInput>) -> Result<Json<OrderOutput>, Invalid> {
    let length = input.customer.chars().count();
    check((1..=64).contains(&length), "customer")?;
    check((1..=100).contains(&input.lines.len()), "lines")?;
    for line in &input.lines {
        check((1..=1000).contains(&line.quantity), "quantity")?;
    }
    let amounts = input.lines.iter();
    let total = amounts.map(|line| f64::from(line.quantity) * line.price);
    Ok(Json(OrderOutput {
        customer: input.customer,
        items: input.lines.iter().map(|line| line.quantity).sum(),
        total: total.sum(),
        lines: input.lines,
        note: input.note,
    }))
}

pub(crate) async fn serve(listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
    let routes = Router::new()
        .route("/items/{sku}", get(get_item))
        .route("/orders", post(place_order));
    axum::serve(listener, routes).await?;
    Ok(())
}
