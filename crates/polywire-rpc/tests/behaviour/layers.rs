//! tower layers at the three hooks: HTTP requests, heads of calls, and decoded calls.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use polywire_protocol::ProtocolKind::{RestJson1, RpcV2Cbor, XmlRpc};
use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::server::{CallService, HeadService, HttpService, ResponseBody};
use polywire_rpc::{Call, Context, Input, RoutedCall, dynamic};
use polywire_schema::{Map, Value};
use tower::util::MapRequestLayer;
use tower::{Layer, Service, ServiceExt, layer::layer_fn, service_fn};

use crate::support::{Site, WIRES, builder, call_of, post, request};

const ADD: &str = r#"{"left":1,"right":2}"#;

#[tokio::test]
async fn http_layers_answer_by_themselves() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let layer = layer_fn(move |inner: HttpService| {
        let log = Arc::clone(&log);
        service_fn(move |request: Request<_>| {
            let (log, inner) = (Arc::clone(&log), inner.clone());
            async move {
                log.lock().unwrap().push(request.uri().path().to_owned());
                if request.uri().path() == "/teapot" {
                    let mut response =
                        Response::new(ResponseBody::from(Bytes::from("short and stout")));
                    *response.status_mut() = http::StatusCode::IM_A_TEAPOT;
                    return Ok::<_, Infallible>(response);
                }
                let mut response = inner.oneshot(request).await?;
                let mark = http::HeaderValue::from_static("seen");
                response.headers_mut().insert("x-layer", mark);
                Ok(response)
            }
        })
    });
    let site = Site::start(builder().http_layer(layer)).await;
    let reply = site.send(request("GET /teapot", &[], "")).await;
    assert_eq!((reply.status, reply.text()), (418, "short and stout"));
    for kind in WIRES {
        let reply = site
            .send(call_of(kind, "/things", "Create", r#"{"name":"x"}"#))
            .await;
        assert!(matches!(reply.status, 200 | 201));
        assert_eq!(reply.header("x-layer"), Some("seen"), "{kind}");
    }
    let reply = site.send(request("GET /nowhere", &[], "")).await;
    assert_eq!((reply.status, reply.header("x-layer")), (404, Some("seen")));
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "/teapot",
            "/things",
            "/service/Wire/operation/Create",
            "/RPC2",
            "/nowhere"
        ]
    );
}

#[tokio::test]
async fn http_layers_that_change_nothing_have_no_effect() {
    let layer = MapRequestLayer::new(|request: Request<_>| request);
    let site = Site::start(builder().http_layer(layer)).await;
    site.assert_still_serving().await;
    let show = dynamic(|_: Map, context: Context| async move {
        Ok(Map::from_iter([(
            "text",
            context.peer().is_some().to_string(),
        )]))
    });
    let layer = MapRequestLayer::new(|request: Request<_>| request);
    let site = Site::start(builder().http_layer(layer).operation("Names", show)).await;
    for kind in WIRES {
        let client = site.client(kind);
        assert_eq!(
            client.call("Names", "{}").await.unwrap(),
            r#"{"text":"true"}"#
        );
        let fault = client.fault("Fail", r#"{"how":"not there"}"#).await;
        assert_eq!(fault.shape(), "example.wire#NotThere");
        let fault = client.fault("Fail", r#"{"how":"panic"}"#).await;
        assert_eq!(fault.message(), "an internal error occurred");
    }
    // Large bodies and truncated bodies pass through the layer too.
    let text = "x".repeat(1_000_000);
    let plain = [("Content-Type", "text/plain")];
    let reply = site.send(request("PUT /payload/text", &plain, &text)).await;
    assert_eq!(reply.text(), text);
    let mut socket = site.open().await;
    let whole = call_of(RestJson1, "/add", "Add", ADD);
    socket.write(&whole[..whole.len() - 3]).await;
    socket.end().await;
    assert_eq!(socket.reply().await.error(RestJson1).0, 400);
}

/// A head layer that sheds calls without the header `x-important`, and counts all calls.
fn shed_layer(seen: &Arc<AtomicU32>) -> impl Layer<HeadService, Service = HeadService> + 'static {
    let seen = Arc::clone(seen);
    layer_fn(move |inner: HeadService| {
        let seen = Arc::clone(&seen);
        HeadService::new(service_fn(move |arriving: RoutedCall| {
            seen.fetch_add(1, Ordering::Relaxed);
            let inner = inner.clone();
            async move {
                if arriving.context.headers().contains_key("x-important") {
                    return inner.oneshot(arriving).await;
                }
                Err(Fault::new(FaultKind::Overloaded, "come back later"))
            }
        }))
    })
}

#[tokio::test]
async fn head_layers_shed_before_anything_is_read() {
    let seen = Arc::new(AtomicU32::new(0));
    let site = Site::start(builder().head_layer(shed_layer(&seen))).await;
    for kind in WIRES {
        // The body is invalid on every wire, but it is not read.
        let reply = site.send(post(kind, "/add", "Add", "{{{<<<")).await;
        let (status, name, message) = reply.error(kind);
        assert_eq!(message, "come back later", "{kind}");
        match kind {
            XmlRpc => assert_eq!((status, name.as_str()), (503, "-32400")),
            _ => {
                assert_eq!(status, 503);
                assert!(name.ends_with("ServiceUnavailableException"), "{name}");
            }
        }
        let fault = site.client(kind).fault("Add", ADD).await;
        assert_eq!(fault.kind(), FaultKind::Overloaded, "{kind}");

        // Calls that pass the layer behave as without the layer.
        let important = site.client_with(kind, |builder| {
            builder.header(
                http::HeaderName::from_static("x-important"),
                http::HeaderValue::from_static("1"),
            )
        });
        assert_eq!(important.call("Add", ADD).await.unwrap(), r#"{"sum":3}"#);
        let fault = important.fault("Fail", r#"{"how":"not there"}"#).await;
        assert_eq!(fault.shape(), "example.wire#NotThere", "{kind}");
        let fault = important.fault("Fail", r#"{"how":"panic"}"#).await;
        assert_eq!(fault.kind(), FaultKind::Internal, "{kind}");
    }
    assert_eq!(seen.load(Ordering::Relaxed), 15);
    // A request without an operation is rejected before the head layers.
    let reply = site.send(request("GET /nowhere", &[], "")).await;
    assert_eq!(reply.error(RestJson1).0, 404);
    assert_eq!(seen.load(Ordering::Relaxed), 15);
}

#[tokio::test]
async fn head_layers_do_not_wait_for_bodies() {
    let seen = Arc::new(AtomicU32::new(0));
    let site = Site::start(builder().head_layer(shed_layer(&seen))).await;
    // The body is never sent.
    let headers = [("Content-Length", "1000000")];
    let reply = site.send(request("POST /add", &headers, "")).await;
    assert_eq!(reply.error(RestJson1).0, 503);
}

#[tokio::test]
async fn head_layers_see_operations_that_the_head_names() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let layer = MapRequestLayer::new(move |arriving: RoutedCall| {
        let name = arriving
            .operation()
            .map(|operation| operation.name().to_owned());
        log.lock()
            .unwrap()
            .push((arriving.context.protocol(), name));
        arriving
    });
    let site = Site::start(builder().head_layer(layer)).await;
    site.assert_still_serving().await;
    let add = Some("Add".to_owned());
    assert_eq!(
        *seen.lock().unwrap(),
        [(RestJson1, add.clone()), (RpcV2Cbor, add), (XmlRpc, None)]
    );
}

#[tokio::test]
async fn call_layers_change_inputs_and_answer() {
    let layer = MapRequestLayer::new(|mut call: Call| {
        if call.operation().name() == "Add"
            && let Input::Dynamic(input) = &mut call.input
        {
            let left = input.get("left").and_then(Value::as_i64).unwrap();
            input.insert("left", left * 100);
        }
        call
    });
    let site = Site::start(builder().call_layer(layer).call_layer(layer_fn(guard))).await;
    for kind in WIRES {
        let client = site.client(kind);
        assert_eq!(
            client.call("Add", ADD).await.unwrap(),
            r#"{"sum":102}"#,
            "{kind}"
        );
        let fault = client.fault("Create", r#"{"name":"root"}"#).await;
        assert_eq!(fault.shape(), "example.wire#Busy", "{kind}");
        client.call("Create", r#"{"name":"x"}"#).await.unwrap();
        // A layer can return its own output instead of calling the handler.
        let cached = client.call("Create", r#"{"name":"cached"}"#).await.unwrap();
        assert_eq!(cached, r#"{"id":1,"name":"from the layer"}"#, "{kind}");
    }
}

fn guard(inner: CallService) -> CallService {
    CallService::new(service_fn(move |call: Call| {
        let inner = inner.clone();
        async move {
            let name = match &call.input {
                Input::Dynamic(input) => input.get("name").and_then(Value::as_str),
                Input::Typed(_) => None,
            };
            match name {
                Some("root") => {
                    let details = Map::from_iter([("message", "not for you")]);
                    Err(Fault::modelled("example.wire#Busy", details))
                }
                Some("cached") => {
                    let values = [("id", Value::from(1)), ("name", "from the layer".into())];
                    let map: Map = values.into_iter().collect();
                    Ok(polywire_rpc::IntoOutput::into_output(map))
                }
                _ => inner.oneshot(call).await,
            }
        }
    }))
}

#[tokio::test]
async fn the_layer_that_is_added_last_is_the_outermost() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let mark = |name: &'static str| {
        let order = Arc::clone(&order);
        MapRequestLayer::new(move |call: Call| {
            order.lock().unwrap().push(name);
            call
        })
    };
    let head = |name: &'static str| {
        let order = Arc::clone(&order);
        MapRequestLayer::new(move |arriving: RoutedCall| {
            order.lock().unwrap().push(name);
            arriving
        })
    };
    let site = Site::start(
        builder()
            .call_layer(mark("call 1"))
            .call_layer(mark("call 2"))
            .head_layer(head("head 1"))
            .head_layer(head("head 2")),
    )
    .await;
    site.client(RestJson1).call("Add", ADD).await.unwrap();
    assert_eq!(
        *order.lock().unwrap(),
        ["head 2", "head 1", "call 2", "call 1"]
    );
}

/// A server is a `tower::Service`. It works without a socket.
#[tokio::test]
async fn a_server_is_a_tower_service_without_a_socket() {
    let mut server = builder().protocol(RestJson1).build().unwrap();
    let request = Request::post("/add")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(ADD)))
        .unwrap();
    let response = Service::call(&mut server, request).await.unwrap();
    let body = http_body_util::BodyExt::collect(response.into_body())
        .await
        .unwrap();
    assert_eq!(body.to_bytes(), r#"{"sum":3}"#);
}

/// HTTP layers do not see frames. A server with both must confirm with `frames_bypass_layers` that
/// no layer is a security check.
#[tokio::test]
async fn frames_beside_http_layers() {
    use polywire_rpc::frames::Client;
    use polywire_rpc::{BuildError, Methods, Server};

    let build = |bypass: bool| {
        let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
        let layer = MapRequestLayer::new(|request: Request<_>| request);
        let builder = Server::methods(methods).frames(true).http_layer(layer);
        match bypass {
            true => builder.frames_bypass_layers().build(),
            false => builder.build(),
        }
    };
    assert_eq!(build(false).unwrap_err(), BuildError::FramesBypassLayers);
    let server = build(true).unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
}
