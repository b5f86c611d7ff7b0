//! An invalid call has the same fault code on every path: method with values, method with
//! serde types or operation of a model; single call or multicall; XML-RPC or CBOR.

use bytes::Bytes;
use http::Request;
use polywire_protocol::ProtocolKind;
use polywire_rpc::Server;
use polywire_schema::{Limits, Value};
use serde::Deserialize;

use crate::support::{build, fault_pair, post, read, send};
use crate::with_model::{builder, methods};

#[derive(Deserialize)]
struct Named {
    name: String,
}

fn server() -> Server {
    let limits = Limits::DEFAULT
        .with_depth(10)
        .with_string(1000)
        .with_items(1000);
    let methods = methods()
        .method("typed", |(named,): (Named,)| async move { named.name })
        .values("values", |values, _| async move { Ok(Value::List(values)) });
    build(
        builder()
            .protocol(ProtocolKind::XmlRpc)
            .protocol(ProtocolKind::RpcV2Cbor)
            .methods(methods)
            .limits(limits),
    )
}

/// The methods that get each parameter: with values, with a serde type, an operation of a
/// model.
const METHODS: [&str; 3] = ["values", "typed", "Price"];

/// An invalid parameter derived from `{name: "tea"}`, as XML-RPC and, where CBOR can express
/// it, as CBOR.
struct Bad {
    xml: Vec<u8>,
    cbor: Option<Vec<u8>>,
    code: i64,
}

/// `{name: "tea", more: VALUE}` with an invalid value.
fn message_with_member(xml: impl AsRef<[u8]>, cbor: Option<&[u8]>, code: i64) -> Bad {
    let before = b"<struct><member><name>name</name><value>tea</value></member>\
        <member><name>more</name><value>";
    let xml = [before, xml.as_ref(), b"</value></member></struct>"].concat();
    let cbor = cbor.map(|cbor| [b"\xa2\x64name\x63tea\x64more", cbor].concat());
    Bad { xml, cbor, code }
}

fn bad() -> Vec<Bad> {
    let deep = |open: &str, close: &str| open.repeat(20) + "<int>1</int>" + &close.repeat(20);
    let deep_xml = deep("<array><data><value>", "</value></data></array>");
    let mut deep_cbor = vec![0x81; 20];
    deep_cbor.push(1);
    let many_xml = format!(
        "<array><data>{}</data></array>",
        "<value>1</value>".repeat(3000)
    );
    let mut many_cbor = b"\x99\x0b\xb8".to_vec();
    many_cbor.resize(3003, 1);
    let long_xml = "x".repeat(3000);
    let long_cbor = [&b"\x79\x0b\xb8"[..], long_xml.as_bytes()].concat();
    vec![
        // Exceeds a limit.
        message_with_member(deep_xml, Some(&deep_cbor), -32_600),
        message_with_member(many_xml, Some(&many_cbor), -32_600),
        message_with_member(&long_xml, Some(&long_cbor), -32_600),
        // Well-formed XML that is not XML-RPC.
        message_with_member("<number>1</number>", None, -32_600),
        // Not well formed.
        message_with_member("<int>1", None, -32_700),
        message_with_member("&none;", None, -32_700),
        message_with_member("\u{1}", None, -32_700),
        message_with_member("<?xml version='1.0'?>", None, -32_700),
        message_with_member("<int>1</i4>", Some(b"\x1f"), -32_700),
        // Invalid UTF-8.
        message_with_member(b"a\xff", Some(b"\x62a\xff"), -32_702),
        message_with_member(b"\xed\xa0\x80", Some(b"\x63\xed\xa0\x80"), -32_702),
        // Values that are invalid for their XML-RPC type. The CBOR decoder does not check
        // values that it skips.
        message_with_member("<int>x</int>", None, -32_602),
        message_with_member("<int>3000000000</int>", None, -32_602),
        message_with_member("<boolean>2</boolean>", None, -32_602),
        message_with_member("<base64>?</base64>", None, -32_602),
        message_with_member("<dateTime.iso8601>x</dateTime.iso8601>", None, -32_602),
        // A duplicate member.
        Bad {
            xml: b"<struct><member><name>name</name><value>tea</value></member>\
                <member><name>name</name><value>tea</value></member></struct>"
                .to_vec(),
            cbor: Some(b"\xa2\x64name\x63tea\x64name\x63tea".to_vec()),
            code: -32_602,
        },
    ]
}

fn xml_call(method: &str, inside: &[u8]) -> Vec<u8> {
    let head = format!(
        "<?xml version=\"1.0\"?><methodCall><methodName>{method}</methodName><params><param><value>"
    );
    let end = b"</value></param></params></methodCall>";
    [head.as_bytes(), inside, end].concat()
}

fn xml_batch(method: &str, inside: &[u8]) -> Vec<u8> {
    let head = format!(
        "<array><data><value><struct><member><name>methodName</name><value>{method}</value></member>\
         <member><name>params</name><value><array><data><value>"
    );
    let end = b"</value></data></array></value></member></struct></value></data></array>";
    xml_call("system.multicall", &[head.as_bytes(), inside, end].concat())
}

/// The fault code of an XML-RPC reply: of the whole reply, or of the only result of a
/// multicall.
async fn xml_code(server: &Server, body: Vec<u8>) -> Option<i64> {
    match read(&post(server, "/RPC2", body).await) {
        Err((code, _)) => Some(code),
        Ok(Value::List(results)) if results.len() == 1 && results[0].get("faultCode").is_some() => {
            Some(fault_pair(&results[0]).0)
        }
        Ok(_) => None,
    }
}

fn cbor_text(text: &str) -> Vec<u8> {
    [&[0x60 + text.len() as u8], text.as_bytes()].concat()
}

fn cbor_batch(method: &str, inside: &[u8]) -> Vec<u8> {
    [
        b"\x81\x81\xa2",
        &*cbor_text("methodName"),
        &cbor_text(method),
        &cbor_text("params"),
        b"\x81",
        inside,
    ]
    .concat()
}

async fn cbor_code(server: &Server, method: &str, body: Vec<u8>) -> Option<i64> {
    let request = Request::post(format!("/service/Sample/operation/{method}"))
        .header("smithy-protocol", "rpc-v2-cbor")
        .body(Bytes::from(body))
        .unwrap();
    let (_, body) = send(server, request).await;
    let answer = polywire_codec::cbor::read_value(&body).unwrap();
    let fault = match &answer {
        Value::List(results) => results.first()?,
        other => other,
    };
    fault.get("code")?.as_i64()
}

#[tokio::test]
async fn invalid_calls_have_one_code_on_every_path() {
    let server = server();
    for Bad { xml, cbor, code } in bad() {
        let shown = String::from_utf8_lossy(&xml[..xml.len().min(300)]).into_owned();
        for method in METHODS {
            let alone = xml_code(&server, xml_call(method, &xml)).await;
            let batch = xml_code(&server, xml_batch(method, &xml)).await;
            let cbor = match &cbor {
                None => vec![],
                Some(cbor) => {
                    let batch = cbor_code(&server, "system.multicall", cbor_batch(method, cbor));
                    let batch = batch.await;
                    match method {
                        // Over CBOR an operation has its own path and its own error shapes, so
                        // only the multicall is checked.
                        "Price" => vec![batch],
                        _ => {
                            let body = [b"\x81", &cbor[..]].concat();
                            vec![batch, cbor_code(&server, method, body).await]
                        }
                    }
                }
            };
            let found = [alone, batch].into_iter().chain(cbor).collect::<Vec<_>>();
            let expected = vec![Some(code); found.len()];
            assert_eq!(found, expected, "{method}: {shown}");
        }
    }
}

#[tokio::test]
async fn truncated_messages_and_other_encodings() {
    let server = server();
    let good = message_with_member("x", Some(b"\x61x"), 0);
    for method in METHODS {
        for body in [xml_call(method, &good.xml), xml_batch(method, &good.xml)] {
            assert_eq!(xml_code(&server, body.clone()).await, None, "{method}");
            let cut = body[..body.len() - 20].to_vec();
            assert_eq!(xml_code(&server, cut).await, Some(-32_700), "{method}");
            let text = String::from_utf8(body).unwrap();
            let other = text.replace(
                "<?xml version=\"1.0\"?>",
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>",
            );
            for character in ["\u{e9}".as_bytes(), b"\xe9"] {
                let at = other.find("<value>tea").unwrap() + "<value>".len();
                let (before, behind) = other.as_bytes().split_at(at);
                let body = [before, character, behind].concat();
                assert_eq!(xml_code(&server, body).await, Some(-32_701), "{method}");
            }
        }
        let body = cbor_batch(method, good.cbor.as_deref().unwrap());
        let cut = body[..body.len() - 2].to_vec();
        let code = cbor_code(&server, "system.multicall", cut).await;
        assert_eq!(code, Some(-32_700), "{method}");
    }
}
