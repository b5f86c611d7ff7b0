//! Rust's `jsonrpsee`: its client against our server, and our client against its server.

use jsonrpsee_core::client::{ClientT, Error};
use jsonrpsee_core::params::{ArrayParams, BatchRequestBuilder, ObjectParams};
use jsonrpsee_core::rpc_params;
use jsonrpsee_http_client::HttpClient;
use jsonrpsee_server::types::ErrorObjectOwned;
use jsonrpsee_server::{RpcModule, ServerHandle};
use polywire::prelude::*;
use polywire::rpc::RunningServer;
use polywire_interop::Case;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::math;

/// Its client of our server.
async fn their_client() -> (HttpClient, RunningServer) {
    let server = math::start().await;
    let url = format!("http://{}/jsonrpc", server.address());
    (HttpClient::builder().build(url).unwrap(), server)
}

fn object<const N: usize>(members: [(&str, i64); N]) -> ObjectParams {
    let mut parameters = ObjectParams::new();
    for (name, value) in members {
        parameters.insert(name, value).unwrap();
    }
    parameters
}

/// The code and data of the error of a call.
async fn error_of(client: &HttpClient, method: &str, parameters: ArrayParams) -> (i32, Json) {
    match client.request::<Json, _>(method, parameters).await {
        Err(Error::Call(error)) => code_and_data(&error),
        other => panic!("{other:?}"),
    }
}

fn code_and_data(error: &jsonrpsee_server::types::ErrorObject<'_>) -> (i32, Json) {
    let data = error.data().unwrap().get();
    (error.code(), serde_json::from_str(data).unwrap())
}

#[tokio::test]
async fn rust_jsonrpsee_calls() {
    let _case = Case::begin("rust_jsonrpsee_calls");
    let (client, _server) = their_client().await;
    let by_position = rpc_params![42, 23];
    let answer: Json = client.request("Subtract", by_position).await.unwrap();
    assert_eq!(answer, json!({"difference": 19}));
    let by_name = object([("subtrahend", 23), ("minuend", 42)]);
    let answer: Json = client.request("Math.Subtract", by_name).await.unwrap();
    assert_eq!(answer, json!({"difference": 19}));
    let answer: Json = client.request("Count", rpc_params![]).await.unwrap();
    assert_eq!(answer, json!({"count": 0}));
}

#[tokio::test]
async fn rust_jsonrpsee_errors() {
    let _case = Case::begin("rust_jsonrpsee_errors");
    let (client, _server) = their_client().await;
    let expected = json!({
        "__type": "polywire.interop.math#DivisionByZero",
        "message": "division by zero",
        "dividend": 7,
    });
    let error = error_of(&client, "Divide", rpc_params![7, 0]).await;
    assert_eq!(error, (-32000, expected));
    for (method, parameters, code) in [
        ("Nothing", rpc_params![], -32601),
        ("Divide", rpc_params![1], -32602),
        ("Divide", rpc_params![1, 2, 3], -32602),
        ("Divide", rpc_params!["x", 2], -32602),
    ] {
        let (found, data) = error_of(&client, method, parameters).await;
        assert_eq!(found, code, "{method}");
        assert!(data["message"].is_string(), "{data}");
    }
}

#[tokio::test]
async fn rust_jsonrpsee_notifications() {
    let _case = Case::begin("rust_jsonrpsee_notifications");
    let (client, _server) = their_client().await;
    client
        .notification("Record", rpc_params!["x"])
        .await
        .unwrap();
    // Nobody learns that there is no such method.
    client.notification("Nothing", rpc_params![]).await.unwrap();
    let mut by_name = ObjectParams::new();
    by_name.insert("text", "y").unwrap();
    client.notification("Record", by_name).await.unwrap();
    let answer: Json = client.request("Count", rpc_params![]).await.unwrap();
    assert_eq!(answer, json!({"count": 2}));
}

#[tokio::test]
async fn rust_jsonrpsee_batches() {
    let _case = Case::begin("rust_jsonrpsee_batches");
    let (client, _server) = their_client().await;
    let mut batch = BatchRequestBuilder::new();
    batch.insert("Subtract", rpc_params![42, 23]).unwrap();
    batch.insert("Divide", rpc_params![7, 0]).unwrap();
    batch.insert("Nothing", rpc_params![]).unwrap();
    batch.insert("Record", rpc_params!["x"]).unwrap();
    batch.insert("Count", rpc_params![]).unwrap();
    let by_name = object([("subtrahend", 23), ("minuend", 42)]);
    batch.insert("Subtract", by_name).unwrap();
    let answer = client.batch_request::<Json>(batch).await.unwrap();
    let answers: Vec<_> = answer
        .into_iter()
        .map(|answer| answer.map_err(|error| error.code()))
        .collect();
    let expected = [
        Ok(json!({"difference": 19})),
        Err(-32000),
        Err(-32601),
        Ok(json!({})),
        Ok(json!({"count": 1})),
        Ok(json!({"difference": 19})),
    ];
    assert_eq!(answers, expected);
}

#[derive(Deserialize)]
struct Division {
    dividend: i64,
    divisor: i64,
}

#[derive(Deserialize)]
struct Subtraction {
    minuend: i64,
    subtrahend: i64,
}

/// Our client of its server.
async fn our_client() -> (Client, ServerHandle) {
    let mut module = RpcModule::new(std::sync::atomic::AtomicI64::new(0));
    let order = std::sync::atomic::Ordering::SeqCst;
    // The whole output, and the value of its only member.
    module
        .register_method("Subtract", |parameters, _, _| {
            let Subtraction {
                minuend,
                subtrahend,
            } = parameters.parse()?;
            Ok::<_, ErrorObjectOwned>(json!({"difference": minuend - subtrahend}))
        })
        .unwrap();
    module
        .register_async_method("Divide", |parameters, _, _| async move {
            let Division { dividend, divisor } = parameters.parse()?;
            if dividend < 0 {
                let reason = "no negative numbers";
                return Err(ErrorObjectOwned::owned(7, reason, None::<()>));
            }
            dividend.checked_div(divisor).ok_or_else(|| {
                let data = json!({"__type": "DivisionByZero", "dividend": dividend});
                ErrorObjectOwned::owned(-32000, "division by zero", Some(data))
            })
        })
        .unwrap();
    module
        .register_method("Record", move |_, count, _| {
            count.fetch_add(1, order);
        })
        .unwrap();
    module
        .register_method("Count", move |_, count, _| count.load(order))
        .unwrap();
    let server = jsonrpsee_server::Server::builder();
    let server = server.build("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", server.local_addr().unwrap());
    (math::client(&url), server.start(module))
}

#[tokio::test]
async fn rust_jsonrpsee_server_is_called() {
    let _case = Case::begin("rust_jsonrpsee_server_is_called");
    let (client, _server) = our_client().await;
    math::check_calls(&client).await;
}

/// It accepts notifications, but runs no method for them.
#[tokio::test]
async fn rust_jsonrpsee_server_gets_notifications_and_batches() {
    let _case = Case::begin("rust_jsonrpsee_server_gets_notifications_and_batches");
    let (client, _server) = our_client().await;
    math::check_notifications_and_batches(&client, false).await;
}

#[tokio::test]
async fn rust_jsonrpsee_server_has_errors() {
    let _case = Case::begin("rust_jsonrpsee_server_has_errors");
    let (client, _server) = our_client().await;
    let by_zero = math::map([("dividend", 7), ("divisor", 0)]);
    let fault = math::fault(&client, "Divide", by_zero).await;
    assert_eq!(fault.shape(), "polywire.interop.math#DivisionByZero");
    assert_eq!(fault.details().get("dividend"), Some(&Value::from(7)));
    let negative = math::map([("dividend", -7), ("divisor", 1)]);
    let fault = math::fault(&client, "Divide", negative).await;
    assert_eq!(
        (fault.kind(), fault.code(), fault.message()),
        (FaultKind::Named, Some(7), "no negative numbers")
    );
    let fault = math::fault(&client, "Missing", Map::new()).await;
    assert_eq!(
        (fault.kind(), fault.code()),
        (FaultKind::UnknownOperation, Some(-32601))
    );
}
