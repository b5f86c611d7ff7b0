//! A service for JSON-RPC in both directions: what our client expects of any server, and our server.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use polywire::prelude::*;
use polywire::rpc::RunningServer;

fn service() -> ServiceHandle {
    polywire::load_text("math.smithy", include_str!("math.smithy")).unwrap()
}

pub(crate) fn map<const N: usize>(members: [(&str, i64); N]) -> Map {
    Map::from_iter(members)
}

/// Our client of a server at `/jsonrpc`.
pub(crate) fn client(url: &str) -> Client {
    let builder = Client::builder(service(), ProtocolKind::JsonRpc);
    builder.connect(url).unwrap()
}

/// Starts our server. The operation `Missing` is not found there either.
pub(crate) async fn start() -> RunningServer {
    let count = Arc::new(AtomicI64::new(0));
    let recorded = Arc::clone(&count);
    let number = |input: &Map, name: &str| input.get(name).and_then(Value::as_i64).unwrap();
    let subtract = dynamic(move |input: Map, _| async move {
        let difference = number(&input, "minuend") - number(&input, "subtrahend");
        Ok(map([("difference", difference)]))
    });
    let divide = dynamic(move |input: Map, _| async move {
        let (dividend, divisor) = (number(&input, "dividend"), number(&input, "divisor"));
        match dividend.checked_div(divisor) {
            Some(quotient) => Ok(map([("quotient", quotient)])),
            None => {
                let details = [
                    ("message", Value::from("division by zero")),
                    ("dividend", dividend.into()),
                ];
                let id = "polywire.interop.math#DivisionByZero";
                Err(Fault::modelled(id, Map::from_iter(details)))
            }
        }
    });
    let record = dynamic(move |_: Map, _| {
        recorded.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    });
    let read = dynamic(move |_: Map, _| {
        let count = count.load(Ordering::SeqCst);
        async move { Ok(map([("count", count)])) }
    });
    let server = Server::builder(service())
        .protocol(ProtocolKind::JsonRpc)
        .operation("Subtract", subtract)
        .operation("Divide", divide)
        .operation("Record", record)
        .operation("Count", read)
        .operation("Missing", dynamic(|_: Map, _| async { Ok(()) }))
        .build()
        .unwrap();
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

/// Results, which are an object, or the value of its only member.
pub(crate) async fn check_calls(client: &Client) {
    let calls = (0..20).map(|number| {
        let client = client.clone();
        async move {
            let input = map([("minuend", number), ("subtrahend", 23)]);
            let output = client.call("Subtract", input).await.unwrap();
            assert_eq!(output["difference"].as_i64(), Some(number - 23));
        }
    });
    for call in calls.map(tokio::spawn).collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let input = map([("dividend", 7), ("divisor", 2)]);
    let output = client.call("Divide", input).await.unwrap();
    assert_eq!(output["quotient"].as_i64(), Some(3));
    // Without a result, and without parameters.
    let input = Map::from_iter([("text", "x")]);
    client.call("Record", input).await.unwrap();
    let output = client.call("Count", Map::new()).await.unwrap();
    assert_eq!(output["count"].as_i64(), Some(1));
}

/// A notification and a batch, whose calls have results and errors. `runs` says whether the server runs notifications.
pub(crate) async fn check_notifications_and_batches(client: &Client, runs: bool) {
    let text = || Map::from_iter([("text", "x")]);
    client.notify("Record", text()).await.unwrap();
    // Nobody learns that there is no such method.
    client.notify("Missing", Map::new()).await.unwrap();
    let calls = [
        ("Subtract", map([("minuend", 42), ("subtrahend", 23)])),
        ("Divide", map([("dividend", 7), ("divisor", 0)])),
        ("Missing", Map::new()),
        ("Record", text()),
        ("Divide", map([("dividend", 7), ("divisor", 2)])),
    ];
    let results = client.call_batch(calls).await.unwrap();
    let [subtract, by_zero, missing, record, divide] = &results[..] else {
        panic!("{results:?}");
    };
    assert_eq!(subtract.as_ref().unwrap()["difference"].as_i64(), Some(19));
    assert_eq!(divide.as_ref().unwrap()["quotient"].as_i64(), Some(3));
    assert!(record.is_ok(), "{record:?}");
    let fault = by_zero.as_ref().unwrap_err().fault().unwrap();
    assert_eq!(fault.shape(), "polywire.interop.math#DivisionByZero");
    assert_eq!(fault.details().get("dividend"), Some(&Value::from(7)));
    let fault = missing.as_ref().unwrap_err().fault().unwrap();
    assert_eq!(fault.code(), Some(-32601));
    let output = client.call("Count", Map::new()).await.unwrap();
    assert_eq!(output["count"].as_i64(), Some(if runs { 2 } else { 1 }));
}

/// The fault of a call.
pub(crate) async fn fault(client: &Client, operation: &str, input: Map) -> Fault {
    let error = client.call(operation, input).await.unwrap_err();
    error.into_fault().unwrap()
}
