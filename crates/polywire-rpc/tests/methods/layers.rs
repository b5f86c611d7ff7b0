//! tower layers around methods.

use std::sync::{Arc, Mutex};

use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::Methods;
use polywire_rpc::methods::{MethodCall, MethodReply, MethodService};
use polywire_schema::Value;
use tower::layer::layer_fn;
use tower::{ServiceExt, service_fn};

use crate::support::{call, serve};

#[tokio::test]
async fn a_layer_sees_names_and_undecoded_parameters() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let layer = layer_fn(move |inner: MethodService| {
        let noted = Arc::clone(&noted);
        service_fn(move |call: MethodCall| {
            let values = call.parameters.values();
            let numbers: Result<Vec<i32>, _> = call.parameters.decode();
            let entry = (call.name().to_owned(), values.unwrap(), numbers.unwrap());
            noted.lock().unwrap().push(entry);
            inner.clone().oneshot(call)
        })
    });
    let methods = Methods::new().method("add", |(a, b): (i32, i32)| async move { a + b });
    let server = serve(methods.layer(layer));
    let sum = call(&server, "add", &[1.into(), 2.into()]).await;
    assert_eq!(sum, Ok(Value::from(3)));
    let seen = seen.lock().unwrap();
    let parameters = vec![Value::from(1), Value::from(2)];
    assert_eq!(*seen, [("add".to_owned(), parameters, vec![1, 2])]);
}

#[tokio::test]
async fn a_layer_may_reject_and_reply() {
    let layer = layer_fn(|inner: MethodService| {
        service_fn(move |call: MethodCall| {
            let inner = inner.clone();
            async move {
                match call.name() {
                    "closed" => Err(Fault::new(FaultKind::Overloaded, "not now")),
                    "own" => call.reply(&Value::from("from the layer")),
                    _ => {
                        let reply: MethodReply = inner.oneshot(call).await?;
                        let text = String::from_utf8(reply.value().to_vec()).unwrap();
                        assert_eq!(text, "<value><int>1</int></value>");
                        Ok(reply)
                    }
                }
            }
        })
    });
    let methods = Methods::new()
        .method("open", |(): ()| async { 1 })
        .method("closed", |(): ()| async { 1 })
        .method("own", |(): ()| async { 1 });
    let server = serve(methods.layer(layer));
    assert_eq!(call(&server, "open", &[]).await, Ok(Value::from(1)));
    assert_eq!(
        call(&server, "closed", &[]).await,
        Err((-32400, "not now".to_owned()))
    );
    assert_eq!(
        call(&server, "own", &[]).await,
        Ok(Value::from("from the layer"))
    );
}

#[tokio::test]
async fn the_layer_that_is_added_last_is_the_outermost() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        layer_fn(move |inner: MethodService| {
            let order = Arc::clone(&order);
            service_fn(move |call: MethodCall| {
                order.lock().unwrap().push(name);
                inner.clone().oneshot(call)
            })
        })
    };
    let methods = Methods::new().method("one", |(): ()| async { 1 });
    let server = serve(methods.layer(note("inner")).layer(note("outer")));
    call(&server, "one", &[]).await.unwrap();
    assert_eq!(*order.lock().unwrap(), ["outer", "inner"]);
}
