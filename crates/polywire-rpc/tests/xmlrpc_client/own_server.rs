//! The XML-RPC client against a polywire server.

use std::sync::Arc;
use std::time::Duration;

use polywire_model::Loader;
use polywire_protocol::ProtocolKind;
use polywire_rpc::xmlrpc::Client;
use polywire_rpc::{Context, Methods, Server, ServiceHandle, dynamic};
use polywire_schema::{Map, Value};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

#[derive(Serialize)]
struct Greet {
    name: &'static str,
}

#[derive(Deserialize)]
struct Greeting {
    text: String,
}

#[tokio::test]
async fn a_modelled_service_can_be_called_without_the_model() {
    let text = r#"
        $version: "2"
        namespace example
        service Greeter { version: "1", operations: [Greet] }
        operation Greet { input := { name: String }, output := { text: String } }
    "#;
    let loaded = Loader::new().add_text("greeter.smithy", text).assemble();
    let schemas = loaded.unwrap().model.schemas("example#Greeter");
    let service = ServiceHandle::new(Arc::new(schemas.unwrap().unwrap()), 0);
    let greet = |input: Map, _| async move {
        let name = input
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or("nobody");
        Ok(Map::from_iter([("text", format!("Hello, {name}!"))]))
    };
    let server = Server::builder(service)
        .protocol(ProtocolKind::XmlRpc)
        .operation("Greet", dynamic(greet))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = Client::builder(&format!("http://{}", running.address())).unwrap();
    let client = client.compress_from(Some(0)).build().unwrap();
    let greeting: Greeting = client
        .call("Greet", (Greet { name: "Ada" },))
        .await
        .unwrap();
    assert_eq!(greeting.text, "Hello, Ada!");
    let error = client.call::<Value>("Nothing", ()).await.unwrap_err();
    assert!(error.xmlrpc_fault().unwrap().is_unknown_method(), "{error}");
    running.shutdown().await;
}

/// With `send_deadline`, the server gets the deadline of a call or of a batch, over HTTP and
/// SCGI.
#[tokio::test]
async fn deadlines_are_sent_to_servers() {
    let methods = Methods::new().method("left", |(): (), context: Context| async move {
        let left = context.deadline().map(|deadline| deadline - Instant::now());
        left.map_or(f64::INFINITY, |left| left.as_secs_f64())
    });
    let server = Server::methods(methods).build().unwrap();
    let http = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let scgi = server.listen_scgi("127.0.0.1:0".parse().unwrap());
    let scgi = scgi.await.unwrap();
    for url in [
        format!("http://{}/RPC2", http.address()),
        format!("scgi://{}/RPC2", scgi.address()),
    ] {
        let client = Client::builder(&url).unwrap().send_deadline(true);
        let client = client.deadline(Duration::from_secs(5)).build().unwrap();
        let left: f64 = client.call("left", ()).await.unwrap();
        assert!((0.0..=5.0).contains(&left), "{url} {left}");
        let own = client.method("left").deadline(Duration::from_secs(3));
        let left: f64 = own.call(()).await.unwrap();
        assert!((0.0..=3.0).contains(&left), "{url} {left}");
        let mut batch = client.batch().deadline(Duration::from_secs(4));
        let call = batch.add::<f64>("left", ()).unwrap();
        let left = batch.send().await.unwrap().get(call).unwrap();
        assert!((0.0..=4.0).contains(&left), "{url} {left}");
    }
}
