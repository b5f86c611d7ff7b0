//! `system.multicall` over frames.

use polywire_protocol::Fault;
use polywire_rpc::{Methods, Server};
use polywire_schema::{Map, Value};

use crate::support::client;

/// The faults of individual calls are encoded in CBOR, whichever protocols the server offers over HTTP.
#[tokio::test]
async fn faults_are_part_of_the_results() {
    let fail = |(): ()| async { Err::<(), _>(Fault::coded(7, "on purpose")) };
    let methods = Methods::new()
        .introspection(true)
        .method("Add", |(a, b): (i32, i32)| async move { a + b })
        .method("Fail", fail);
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = client(&running).await;
    let entry = |name: &str, parameters: Vec<Value>| {
        Value::Map(Map::from_iter([
            ("methodName", Value::from(name)),
            ("params", Value::List(parameters)),
        ]))
    };
    let calls = vec![
        entry("Add", vec![1.into(), 2.into()]),
        entry("Fail", vec![]),
        entry("Missing", vec![]),
    ];
    let results: Value = client
        .call("system.multicall", (Value::List(calls),))
        .await
        .unwrap();
    let results = results.as_list().unwrap();
    assert_eq!(results[0], Value::List(vec![3.into()]));
    let fault = |result: &Value| {
        let fault = result.as_map().unwrap();
        let message = fault.get("message").unwrap().as_str().unwrap().to_owned();
        (fault.get("code").unwrap().as_i64().unwrap(), message)
    };
    assert_eq!(fault(&results[1]), (7, "on purpose".to_owned()));
    assert_eq!(
        fault(&results[2]),
        (-32601, "no method `Missing`".to_owned())
    );
}
