//! Against our own server.

use std::sync::Arc;

use polywire_model::Loader;
use polywire_protocol::ProtocolKind;
use polywire_rpc::xmlrpc::Client;
use polywire_rpc::{Server, ServiceHandle, dynamic};
use polywire_schema::{Map, Value};
use serde::{Deserialize, Serialize};

#[derive(Serialize)]
struct Greet {
    name: &'static str,
}

#[derive(Deserialize)]
struct Greeting {
    text: String,
}

#[tokio::test]
async fn a_service_with_a_model_is_called_without_it() {
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
