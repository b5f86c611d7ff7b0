//! Traits that affect behaviour: constraints, idempotency tokens, compressed requests.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use polywire_model::Loader;
use polywire_protocol::ProtocolKind::{RestJson1, RpcV2Cbor};
use polywire_protocol::{ProtocolKind, RequestOptions, finish_request};
use polywire_rpc::server::{HttpRequest, HttpService};
use polywire_rpc::{BuildError, Client, Server, ServerBuilder, ServiceHandle, Validation, dynamic};
use polywire_schema::{Limits, Map, Value};
use tower::ServiceExt;
use tower::layer::layer_fn;

use crate::support::within;

const MODEL: &str = r#"
    $version: "2"
    namespace example
    use aws.protocols#restJson1
    use smithy.protocols#rpcv2Cbor

    @restJson1
    @rpcv2Cbor
    service Shop { version: "1", operations: [Order] }

    @http(method: "POST", uri: "/order")
    @requestCompression(encodings: ["gzip"])
    operation Order { input: OrderInput, output: OrderOutput }
    @input structure OrderInput with [Members] {}
    @output structure OrderOutput with [Members] {}
    @mixin structure Members {
        @idempotencyToken token: String
        @length(max: 3) items: Items
        text: String
        count: Integer = 1
    }
    list Items { member: Item }
    @pattern("PATTERN") string Item
"#;

fn service(pattern: &str) -> ServiceHandle {
    let text = MODEL.replace("PATTERN", pattern);
    let model = Loader::new().add_text("shop.smithy", text).assemble();
    let model = model.unwrap_or_else(|error| panic!("{error}")).model;
    let set = model.schemas("example#Shop").unwrap().unwrap();
    ServiceHandle::new(Arc::new(set), 0)
}

/// A server that returns its input.
fn builder(pattern: &str) -> ServerBuilder {
    let echo = dynamic(|input: Map, _| async move { Ok(input) });
    Server::builder(service(pattern)).operation("Order", echo)
}

fn order(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    let request = Request::post("/order").header("content-type", "application/json");
    request.body(Full::new(body.into())).unwrap()
}

async fn answer(server: &Server, request: Request<Full<Bytes>>) -> (StatusCode, String) {
    let response: Response<_> = server.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn servers_validate_inputs() {
    let server = builder("^[a-z]+$").build().unwrap();
    let (status, body) = answer(&server, order(r#"{"items":["a","B","c","d"]}"#)).await;
    assert_eq!(status, 400);
    assert!(body.contains("2 validation errors detected."), "{body}");
    assert!(body.contains("at '/items/1' failed"), "{body}");
    let (status, body) = answer(&server, order(r#"{"items":["a"]}"#)).await;
    assert_eq!(
        (status.as_u16(), &*body),
        (200, r#"{"items":["a"],"count":1}"#)
    );

    let server = builder("^[a-z]+$")
        .validation(Validation::Off)
        .build()
        .unwrap();
    let (status, _) = answer(&server, order(r#"{"items":["A","B","C","D"]}"#)).await;
    assert_eq!(status, 200);
}

/// Without validation, a dynamic handler receives an input without its required members. Defaults
/// are set either way.
#[tokio::test]
async fn without_validation_no_member_is_required() {
    let text = MODEL.replace("text: String", "@required text: String");
    let text = text.replace("count: Integer", "@required count: Integer");
    let model = Loader::new().add_text("shop.smithy", text).assemble();
    let model = model.unwrap_or_else(|error| panic!("{error}")).model;
    let set = Arc::new(model.schemas("example#Shop").unwrap().unwrap());
    for (validation, expected) in [
        (Validation::All, (400, "at '/text' failed")),
        (Validation::Off, (200, r#"{"items":["A"],"count":1}"#)),
    ] {
        let echo = dynamic(|input: Map, _| async move { Ok(input) });
        let server = Server::builder(ServiceHandle::new(Arc::clone(&set), 0))
            .operation("Order", echo)
            .validation(validation);
        let request = order(r#"{"items":["A"]}"#);
        let (status, body) = answer(&server.build().unwrap(), request).await;
        assert_eq!(status, expected.0, "{body}");
        assert!(body.contains(expected.1), "{body}");
        // A member with a default is never missing.
        assert!(!body.contains("/count"), "{body}");
    }
}

#[tokio::test]
async fn an_unsupported_pattern_is_a_build_error() {
    let refused = builder("^(?!a)").build().unwrap_err();
    assert!(matches!(&refused, BuildError::Pattern(pattern) if pattern.shape == "example#Item"));
    assert!(refused.to_string().contains("example#Item"), "{refused}");
    let lenient = Validation::WithoutUncheckedPatterns;
    let server = builder("^(?!a)").validation(lenient).build().unwrap();
    let (status, _) = answer(&server, order(r#"{"items":["a"]}"#)).await;
    assert_eq!(status, 200);
    // The other constraints are still checked.
    let (status, _) = answer(&server, order(r#"{"items":["a","a","a","a"]}"#)).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn clients_generate_tokens_and_compress_bodies() {
    let server = builder("").build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}", running.address());
    for kind in [RestJson1, RpcV2Cbor] {
        let client = Client::builder(service(""), kind).connect(&url).unwrap();
        let text = "long ".repeat(10_000);
        let input = || Map::from_iter([("text", Value::from(text.as_str()))]);
        let mut tokens = Vec::new();
        for _ in 0..2 {
            let mut sent = 0;
            let show = |exchange: &polywire_rpc::client::Exchange| {
                sent = exchange.request.body().len();
                assert_eq!(exchange.request.headers()["content-encoding"], "gzip");
            };
            let output = within(client.call_showing("Order", input(), show))
                .await
                .unwrap();
            assert_eq!(output["text"].as_str(), Some(text.as_str()));
            assert!(sent < 1000, "{sent}");
            tokens.push(output["token"].as_str().unwrap().to_owned());
        }
        assert_ne!(tokens[0], tokens[1]);
        for token in tokens {
            // The format of a UUID of version 4 (RFC 9562, section 5.4).
            let places: Vec<usize> = token.match_indices('-').map(|(place, _)| place).collect();
            assert_eq!(
                (token.len(), &places[..], &token[14..15]),
                (36, &[8, 13, 18, 23][..], "4")
            );
        }
        let own = Map::from_iter([("token", "own")]);
        let output = within(client.call("Order", own)).await.unwrap();
        assert_eq!(output["token"].as_str(), Some("own"));
    }
}

/// A batch is one message, to which the traits of all its operations apply.
#[tokio::test]
async fn batches_are_compressed_and_have_a_checksum() {
    let text = MODEL.replace("PATTERN", "").replace(
        "@requestCompression",
        "@httpChecksumRequired @requestCompression",
    );
    let model = Loader::new().add_text("shop.smithy", text).assemble();
    let set = Arc::new(
        model
            .unwrap()
            .model
            .schemas("example#Shop")
            .unwrap()
            .unwrap(),
    );
    let service = ServiceHandle::new(set, 0);
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    let layer = layer_fn(move |inner: HttpService| {
        let seen = Arc::clone(&seen);
        tower::service_fn(move |request: HttpRequest| {
            seen.lock().unwrap().push(request.headers().clone());
            inner.clone().oneshot(request)
        })
    });
    let echo = dynamic(|input: Map, _| async move { Ok(input) });
    let server = Server::builder(service.clone())
        .protocol(ProtocolKind::JsonRpc)
        .operation("Order", echo)
        .http_layer(layer);
    let server = server.build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}", running.address());
    let client = Client::builder(service, ProtocolKind::JsonRpc);
    let client = client.connect(&url).unwrap();
    for (len, coding) in [(10, None), (6_000, Some("gzip"))] {
        let text = "x".repeat(len);
        let calls = [1, 2].map(|count| {
            let input = [("text", Value::from(&*text)), ("count", Value::from(count))];
            ("Order", Map::from_iter(input))
        });
        let results = within(client.call_batch(calls)).await.unwrap();
        for (result, count) in results.iter().zip(1..) {
            let output = result.as_ref().unwrap();
            assert_eq!(output["text"].as_str(), Some(&*text));
            assert_eq!(output["count"].as_i64(), Some(count));
        }
        let head = heads.lock().unwrap().pop().unwrap();
        let found = head.get("content-encoding").map(|value| value.as_bytes());
        assert_eq!(found, coding.map(str::as_bytes));
        assert!(head.contains_key("content-md5"), "{head:?}");
    }
}

fn compressed(kind: ProtocolKind, len: usize) -> Request<Full<Bytes>> {
    let service = service("");
    let operation = service.find_operation("Order").unwrap();
    let text = "x".repeat(len);
    let input = Map::from_iter([("text", Value::from(text.as_str()))]);
    let protocol = kind.build(service.service()).unwrap();
    let mut request = protocol.encode_input(operation, &input).unwrap();
    finish_request(&[operation], &mut request, &RequestOptions::DEFAULT).unwrap();
    assert_eq!(request.headers()["content-encoding"], "gzip");
    request.map(Full::new)
}

#[tokio::test]
async fn body_limits_apply_to_decompressed_bodies() {
    for kind in [RestJson1, RpcV2Cbor] {
        let server = builder("").limits(Limits::DEFAULT.with_bytes(1 << 20));
        let server = server.body_memory(2 << 20).build().unwrap();
        let (status, _) = answer(&server, compressed(kind, 500_000)).await;
        assert_eq!(status, 200, "{kind}");
        let (status, body) = answer(&server, compressed(kind, 8 << 20)).await;
        assert_eq!(status, 413, "{kind}: {body}");
        // The memory of the earlier bodies has been released.
        for _ in 0..4 {
            let (status, _) = answer(&server, compressed(kind, 700_000)).await;
            assert_eq!(status, 200, "{kind}");
        }
    }
}

#[tokio::test]
async fn other_codings_are_rejected() {
    let server = builder("").build().unwrap();
    for (coding, body, expected) in [
        ("br", "{}", 415),
        ("gzip, br", "{}", 415),
        ("gzip", "{}", 400),
        ("identity", "{}", 200),
    ] {
        let mut request = order(body);
        let coding = coding.parse().unwrap();
        request.headers_mut().insert("content-encoding", coding);
        let (status, body) = answer(&server, request).await;
        assert_eq!(status, expected, "{body}");
    }
}
