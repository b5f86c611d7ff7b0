//! Failed calls and the faults that callers receive.

use std::time::Duration;

use http::{Request, StatusCode};
use polywire_protocol::Fault;
use polywire_rpc::{Methods, Server, Timeouts};
use polywire_schema::{Limits, Value};

use crate::support::{build, call, post, read, send, serve};

fn methods() -> Methods {
    Methods::new()
        .method("add", |(a, b): (i32, i32)| async move { a + b })
        .method("named", |(name,): (String,)| async move { name })
        .method("panic", |(): ()| async {
            if true {
                panic!("on purpose");
            }
        })
        .blocking("panic.blocking", |(): ()| {
            if true {
                panic!("on purpose");
            }
        })
        .method("io", |(): ()| async {
            std::fs::read_to_string("/no/such/secret").map_err(Fault::from)
        })
        .blocking("io.blocking", |(): ()| {
            std::fs::read_to_string("/no/such/secret")
        })
        .method("forever", |(): ()| std::future::pending::<()>())
        .method("unwritable", |(): ()| async { "\u{1}" })
}

#[tokio::test]
async fn parameter_faults_name_the_position_offset_and_type() {
    let server = serve(methods());
    let body = polywire_codec::xmlrpc::write_call("add", &[1.into(), "x".into()]).unwrap();
    let text = String::from_utf8(body.clone()).unwrap();
    let offset = text.find("<string>").unwrap();
    let (code, message) = read(&post(&server, "/RPC2", body).await).unwrap_err();
    assert_eq!(code, -32602);
    assert!(
        message.starts_with("parameter 2: wrong type: expected an integer"),
        "{message}"
    );
    assert!(message.contains(&format!("at byte {offset}")), "{message}");
    for (parameters, expected) in [
        (vec![], "expected 2 parameters, found none"),
        (
            vec![Value::from(1)],
            "expected 2 parameters, found 1 parameter",
        ),
        (
            vec![1.into(), 2.into(), 3.into()],
            "expected at most 2 parameters, found one more",
        ),
        (vec![1.into(), Value::from(1_i64 << 40)], "parameter 2: "),
    ] {
        let (code, message) = call(&server, "add", &parameters).await.unwrap_err();
        assert_eq!(code, -32602);
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn fault_codes_depend_on_the_error() {
    let server = build(Server::methods(methods()).limits(Limits::DEFAULT.with_depth(4)));
    let deep = "<array><data><value>".repeat(9);
    for (body, code) in [
        ("", -32700),
        ("<methodCall>", -32700),
        (
            "<methodCall><methodName>add</methodName></methodcall>",
            -32700,
        ),
        // Well-formed XML that is not a valid call.
        ("<html><body>hello</body></html>", -32600),
        ("<methodResponse><params/></methodResponse>", -32600),
        ("<methodCall><params/></methodCall>", -32600),
        (
            "<methodCall><methodName>add</methodName><params><param><value><number>1</number>\
             </value></param></params></methodCall>",
            -32600,
        ),
        (
            "<methodCall><methodName>nobody</methodName></methodCall>",
            -32601,
        ),
        (
            "<methodCall><methodName>add</methodName></methodCall>",
            -32602,
        ),
    ] {
        assert_eq!(
            read(&post(&server, "/RPC2", body).await).unwrap_err().0,
            code,
            "{body}"
        );
    }
    let body = b"<methodCall><methodName>\xff</methodName></methodCall>";
    assert_eq!(
        read(&post(&server, "/RPC2", &body[..]).await)
            .unwrap_err()
            .0,
        -32702
    );
    let body = format!("<methodCall><methodName>named</methodName><params><param><value>{deep}");
    let methods = Methods::new().values("named", |_, _| async { Ok(Value::Null) });
    let server = build(Server::methods(methods).limits(Limits::DEFAULT.with_depth(4)));
    assert_eq!(
        read(&post(&server, "/RPC2", body).await).unwrap_err().0,
        -32600
    );
}

#[tokio::test]
async fn internal_faults_have_no_details() {
    let server = serve(methods());
    let internal = Err((-32603, "an internal error occurred".to_owned()));
    for method in ["panic", "panic.blocking", "io", "io.blocking", "unwritable"] {
        assert_eq!(call(&server, method, &[]).await, internal, "{method}");
    }
    // The server still answers calls.
    assert_eq!(
        call(&server, "add", &[1.into(), 2.into()]).await,
        Ok(Value::from(3))
    );
}

#[tokio::test(start_paused = true)]
async fn a_method_that_exceeds_the_handler_timeout_gets_a_fault() {
    let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_secs(5));
    let server = build(Server::methods(methods()).timeouts(timeouts));
    let late = call(&server, "forever", &[]).await;
    assert_eq!(late, Err((-32400, "forever took too long".to_owned())));
}

#[tokio::test]
async fn limits_and_http_methods_are_enforced() {
    let server = build(Server::methods(methods()).limits(Limits::DEFAULT.with_bytes(100)));
    let fault = call(&server, "named", &["x".repeat(200).into()]).await;
    assert_eq!(fault.unwrap_err().0, -32600);
    let request = Request::get("/RPC2").body(bytes::Bytes::new()).unwrap();
    assert_eq!(
        send(&server, request).await.0,
        StatusCode::METHOD_NOT_ALLOWED
    );
    let request = Request::get("/elsewhere")
        .body(bytes::Bytes::new())
        .unwrap();
    assert_eq!(send(&server, request).await.0, StatusCode::NOT_FOUND);
    let request = Request::post("/RPC2").header("content-encoding", "br");
    let (_, body) = send(&server, request.body("x".into()).unwrap()).await;
    let (code, _) = read(std::str::from_utf8(&body).unwrap()).unwrap_err();
    assert_eq!(code, -32600);
}

/// A fault repeats only the beginning of a long method name.
#[tokio::test]
async fn faults_truncate_long_method_names() {
    let server = serve(methods());
    let (_, text) = call(&server, &"é".repeat(10_000), &[]).await.unwrap_err();
    assert!(text.len() < 200, "{}", text.len());
}
