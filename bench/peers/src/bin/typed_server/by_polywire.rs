//! The service by the types and the trait that Polywire generates.

use std::error::Error;

use polywire::prelude::*;
use tokio::net::TcpListener;

use shop::server::Shop;
use shop::{
    GetItemError, GetItemInput, GetItemOutput, PlaceOrderError, PlaceOrderInput, PlaceOrderOutput,
};

polywire::include_service!(mod shop);

struct Service;

impl Shop for Service {
    async fn get_item(
        &self,
        input: GetItemInput,
        _context: &Context,
    ) -> Result<GetItemOutput, GetItemError> {
        let output = GetItemOutput::builder()
            .sku(input.sku)
            .name("A pot of tea")
            .price(24.5)
            .currency(input.currency.unwrap_or_else(|| "NOK".into()))
            .stock(17)
            .tags(vec!["kitchen".into(), "tea".into(), "gift".into()]);
        Ok(output.build()?)
    }

    async fn place_order(
        &self,
        input: PlaceOrderInput,
        _context: &Context,
    ) -> Result<PlaceOrderOutput, PlaceOrderError> {
        let items = input.lines.iter().map(|line| line.quantity).sum();
        let amounts = input.lines.iter();
        let total = amounts.map(|line| f64::from(line.quantity) * line.price);
        let mut output = PlaceOrderOutput::builder()
            .customer(input.customer)
            .items(items)
            .total(total.sum())
            .lines(input.lines);
        if let Some(note) = input.note {
            output = output.note(note);
        }
        Ok(output.build()?)
    }
}

pub(crate) async fn serve(listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
    let server = shop::server::builder(Service).build()?;
    server.serve(listener)?.ended().await;
    Err("the listener has ended".into())
}
