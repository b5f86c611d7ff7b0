//! Settings of the XML-RPC reader and writer. They apply to methods, faults and operations of
//! a model alike.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use polywire_codec::xmlrpc::{ForbiddenText, Leniency, Style, XmlRpcProfile};
use polywire_model::Loader;
use polywire_protocol::{Fault, ProtocolKind, XmlRpc};
use polywire_rpc::{Methods, Server, ServerBuilder, ServiceHandle, dynamic};
use polywire_schema::{Map, Timestamp, Value};

use crate::support::{build, post, read, send};

const MODEL: &str = r#"
    $version: "2"
    namespace example.clock
    service Clock { version: "1", operations: [Now] }
    operation Now {
        input := { text: String }
        output := { time: Timestamp, text: String }
        errors: [Stopped]
    }
    @error("server")
    structure Stopped { message: String }
"#;

fn service() -> ServiceHandle {
    let model = match Loader::new().add_text("clock.smithy", MODEL).assemble() {
        Ok(assembled) => assembled.model,
        Err(error) => panic!("{error}"),
    };
    let schemas = model.schemas("example.clock#Clock").unwrap().unwrap();
    ServiceHandle::new(Arc::new(schemas), 0)
}

fn fixed_time() -> Timestamp {
    Timestamp::new(1_793_526_245, 500_000_000)
}

/// A server with a model. Its operation returns a fixed time and the input text, or fails with
/// that text.
fn clock() -> ServerBuilder {
    Server::builder(service()).operation(
        "Now",
        dynamic(|input: Map, _| async move {
            let text = input.get("text").and_then(Value::as_str).unwrap_or("");
            if text.starts_with("fail") {
                let details = Map::from_iter([("message", format!("{text}\u{1b}"))]);
                return Err(Fault::modelled("example.clock#Stopped", details));
            }
            let time = Value::Timestamp(fixed_time());
            Ok(Map::from_iter([("time", time), ("text", text.into())]))
        }),
    )
}

fn methods() -> Methods {
    Methods::new()
        .method("echo", |(text,): (String,)| async move { text })
        .method("time", |(): ()| async { fixed_time() })
        .method("fail", |(): ()| async {
            Err::<(), _>(Fault::coded(7, "\u{1b}[31mred"))
        })
        .introspection(true)
}

fn style() -> Style {
    Style::DEFAULT
        .with_fractions(true)
        .with_untyped_strings(true)
        .with_forbidden(ForbiddenText::Replace)
}

/// Two servers with the operation: without named methods, and beside them.
fn clocks(style: Style, profile: XmlRpcProfile) -> [Server; 2] {
    let own = XmlRpc::new(service().service()).unwrap();
    let own = own.with_style(style).with_profile(profile);
    let methods = methods().xmlrpc_style(style).xmlrpc_profile(profile);
    [
        build(clock().custom_protocol(Box::new(own))),
        build(clock().protocol(ProtocolKind::XmlRpc).methods(methods)),
    ]
}

fn call_xml(method: &str, parameters: &str) -> String {
    format!(
        "<methodCall><methodName>{method}</methodName><params>{parameters}</params></methodCall>"
    )
}

fn text(text: &str) -> String {
    let value = format!("<member><name>text</name><value>{text}</value></member>");
    format!("<param><value><struct>{value}</struct></value></param>")
}

#[tokio::test]
async fn seconds_are_whole_unless_fractions_are_configured() {
    for (style, time) in [(Style::DEFAULT, "05<"), (style(), "05.5<")] {
        for server in clocks(style, XmlRpcProfile::DEFAULT) {
            let answer = post(&server, "/RPC2", call_xml("Now", "")).await;
            assert!(answer.contains(time), "{answer}");
        }
        let server = build(Server::methods(methods().xmlrpc_style(style)));
        let answer = post(&server, "/RPC2", call_xml("time", "")).await;
        assert!(answer.contains(time), "{answer}");
    }
}

#[tokio::test]
async fn faults_are_written_in_the_style_of_results() {
    const RED: &str = "<value>\u{fffd}[31mred</value>";
    let own = build(Server::methods(methods().xmlrpc_style(style())));
    let answer = post(&own, "/RPC2", call_xml("fail", "")).await;
    assert!(answer.contains(RED), "{answer}");
    assert_eq!(read(&answer), Err((7, "\u{fffd}[31mred".to_owned())));
    // A fault in a multicall has the same style.
    let one = "<struct><member><name>methodName</name><value>fail</value></member>\
        <member><name>params</name><value><array><data/></array></value></member></struct>";
    let one =
        format!("<param><value><array><data><value>{one}</value></data></array></value></param>");
    let answer = post(&own, "/RPC2", call_xml("system.multicall", &one)).await;
    assert!(answer.contains(RED), "{answer}");
    // Modelled errors have it too.
    for server in clocks(style(), XmlRpcProfile::DEFAULT) {
        let answer = post(&server, "/RPC2", call_xml("Now", &text("fail"))).await;
        assert!(
            answer.contains("<value>Stopped: fail\u{fffd}</value>"),
            "{answer}"
        );
    }
    // A fault string is never written as base64, because clients display it.
    let style = Style::DEFAULT.with_forbidden(ForbiddenText::Base64);
    let server = build(Server::methods(methods().xmlrpc_style(style)));
    let answer = post(&server, "/RPC2", call_xml("fail", "")).await;
    assert_eq!(read(&answer), Err((7, "\u{fffd}[31mred".to_owned())));
}

#[tokio::test]
async fn leniencies_apply_to_operations_too() {
    let escape = call_xml("Now", &text("\u{1b}[1m"));
    for server in clocks(Style::DEFAULT, XmlRpcProfile::DEFAULT) {
        let (code, _) = read(&post(&server, "/RPC2", escape.clone()).await).unwrap_err();
        assert_eq!(code, -32700);
    }
    let leniency = Leniency::STRICT.with_control_characters(true);
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    for server in clocks(style(), profile) {
        let answer = read(&post(&server, "/RPC2", escape.clone()).await).unwrap();
        assert_eq!(answer["text"], "\u{fffd}[1m".into());
    }
}

/// Sends a call with this media type, which may name an encoding.
async fn send_in(server: &Server, media_type: &str, body: Vec<u8>) -> Result<Value, (i64, String)> {
    let request = Request::post("/RPC2").header("content-type", media_type);
    let (_, answer) = send(server, request.body(Bytes::from(body)).unwrap()).await;
    read(std::str::from_utf8(&answer).unwrap())
}

/// The same call in different encodings, each with its media type. The XML declaration, the
/// media type or a byte order mark names the encoding.
fn encoded(declared: &str) -> Vec<(&'static str, Vec<u8>)> {
    let latin = |text: &str| {
        text.chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect()
    };
    let body = |encoding: &str| declared.replace("ENCODING", encoding);
    let wide = |text: &str, order: fn(u16) -> [u8; 2]| {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(order).collect::<Vec<u8>>()
    };
    vec![
        ("text/xml", latin(&body("iso-8859-1"))),
        ("text/xml", latin(&body("Windows-1252"))),
        // The media type takes precedence over the XML declaration.
        ("text/xml; charset=\"ISO-8859-1\"", latin(&body("utf-8"))),
        ("text/xml", wide(&body("UTF-16"), u16::to_le_bytes)),
        ("text/xml", wide(&body("utf-16"), u16::to_be_bytes)),
    ]
}

#[cfg(feature = "encodings")]
#[tokio::test]
async fn calls_in_other_encodings_by_leniency() {
    const HEAD: &str = "<?xml version='1.0' encoding='ENCODING'?>";
    let leniency = Leniency::STRICT.with_foreign_encodings(true);
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    let now = HEAD.to_owned() + &call_xml("Now", &text("Zürich"));
    for server in clocks(Style::DEFAULT, profile) {
        for (media_type, body) in encoded(&now) {
            let answer = send_in(&server, media_type, body).await.unwrap();
            assert_eq!(answer["text"], "Zürich".into(), "{media_type}");
        }
    }
    let server = build(Server::methods(methods().xmlrpc_profile(profile)));
    let echo = HEAD.to_owned() + &call_xml("echo", "<param><value>Zürich</value></param>");
    for (media_type, body) in encoded(&echo) {
        let answer = send_in(&server, media_type, body).await;
        assert_eq!(answer, Ok("Zürich".into()), "{media_type}");
    }
    // An unknown encoding, and a body that is invalid in its encoding.
    let unknown = echo.replace("ENCODING", "x-nobody").into_bytes();
    assert_eq!(
        send_in(&server, "text/xml", unknown).await.unwrap_err().0,
        -32701
    );
    let odd = b"\xff\xfe<".to_vec();
    assert_eq!(
        send_in(&server, "text/xml", odd).await.unwrap_err().0,
        -32702
    );
}

#[cfg(feature = "encodings")]
#[tokio::test]
async fn limits_apply_to_the_transcoded_call() {
    use polywire_schema::Limits;

    let leniency = Leniency::STRICT.with_foreign_encodings(true);
    let profile = XmlRpcProfile::DEFAULT.with_leniency(leniency);
    let builder = Server::methods(methods().xmlrpc_profile(profile));
    let server = build(builder.limits(Limits::DEFAULT.with_bytes(1000)));
    let echo = |len: usize| {
        let head = call_xml("echo", "<param><value>TEXT</value></param>");
        let (before, behind) = head.split_once("TEXT").unwrap();
        [before.as_bytes(), &vec![0xe9; len], behind.as_bytes()].concat()
    };
    let media_type = "text/xml; charset=iso-8859-1";
    send_in(&server, media_type, echo(200)).await.unwrap();
    // 800 bytes of ISO-8859-1 become 1,600 bytes of UTF-8, which exceeds the limit of 1,000.
    let (code, message) = send_in(&server, media_type, echo(800)).await.unwrap_err();
    assert_eq!(code, -32600);
    assert!(message.contains("Limits::bytes"), "{message}");
}

#[tokio::test]
async fn unsupported_encodings_and_invalid_text_have_different_codes() {
    const HEAD: &str = "<?xml version='1.0' encoding='ENCODING'?>";
    let server = build(Server::methods(methods()));
    let echo = HEAD.to_owned() + &call_xml("echo", "<param><value>Zürich</value></param>");
    for (media_type, body) in encoded(&echo) {
        let (code, message) = send_in(&server, media_type, body.clone())
            .await
            .unwrap_err();
        // The third call declares UTF-8 in its XML declaration, but is not valid UTF-8.
        let expected = match media_type {
            "text/xml" => -32701,
            _ => -32702,
        };
        assert_eq!(code, expected, "{message}");
    }
}
