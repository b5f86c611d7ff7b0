//! Types that survive a round trip over CBOR and XML-RPC.

use polywire_codec::xmlrpc::{ForbiddenText, Style};
use polywire_rpc::{Methods, Server};
use polywire_schema::{BigDecimal, BigInteger, Blob, Map, Timestamp, Value};
use serde::{Deserialize, Serialize};

use crate::support::{call, call_cbor, serve};

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Record {
    blob: Blob,
    when: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    local: Option<Timestamp>,
    whole: BigInteger,
    decimal: BigDecimal,
    any: Value,
    list: Vec<Value>,
}

fn server() -> Server {
    let methods = Methods::new()
        .method("record", |(record,): (Record,)| async move { record })
        .method("value", |(value,): (Value,)| async move { value })
        .method("blob", |(blob,): (Blob,)| async move { blob.len() })
        .method("bytes", |(bytes,): (Vec<u8>,)| async move { bytes })
        .method("some", |(a, b): (i32, Option<i32>)| async move {
            a + b.unwrap_or(10)
        })
        .method("all", |numbers: Vec<i32>| async move { numbers.len() })
        .method("nothing", |(): ()| async {})
        .cbor("Sample");
    serve(methods)
}

fn record() -> Record {
    Record {
        blob: Blob::from(&[0_u8, 255, 7][..]),
        when: "2026-11-22T20:00:00Z".parse().unwrap(),
        local: None,
        whole: "123456789012345678901234567890".parse().unwrap(),
        decimal: "1.10".parse().unwrap(),
        any: Value::Timestamp("2026-11-22T20:00:00Z".parse().unwrap()),
        list: vec![Value::Blob(Blob::from(&[1_u8][..])), Value::Null, 1.into()],
    }
}

#[tokio::test]
async fn over_cbor() {
    let server = server();
    let (_, answer) = call_cbor(&server, "record", &(record(),)).await;
    // Decoded without a target type, each member keeps its type.
    assert_eq!(answer["blob"], Value::Blob(record().blob));
    assert_eq!(answer["when"], Value::Timestamp(record().when));
    assert_eq!(answer["whole"], Value::BigInteger(record().whole));
    assert_eq!(answer["decimal"], Value::BigDecimal(record().decimal));
    assert_eq!(answer["any"], record().any);
    assert_eq!(answer["list"], Value::List(record().list));
    let bytes = polywire_codec::cbor::write_value(&answer).unwrap();
    let back: Record = polywire_codec::cbor::from_slice(&bytes).unwrap();
    assert_eq!(back, record());
    // A value of each type survives a round trip.
    for value in [
        Value::Timestamp(record().when),
        Value::Blob(record().blob),
        Value::BigInteger(record().whole),
        Value::BigDecimal(record().decimal),
        Value::Float(1.5),
        Value::Double(0.1),
        Value::List(vec![Value::Null, true.into()]),
        Value::Map(Map::from_iter([("when", Value::Timestamp(record().when))])),
    ] {
        assert_eq!(call_cbor(&server, "value", &(&value,)).await.1, value);
    }
}

#[tokio::test]
async fn over_xmlrpc() {
    let server = server();
    let input = Value::Map(Map::from_iter([
        ("blob", Value::Blob(record().blob)),
        ("when", Value::Timestamp(record().when)),
        (
            "local",
            Value::Timestamp("2026-11-22T20:00:00".parse().unwrap()),
        ),
        ("whole", Value::from("123456789012345678901234567890")),
        ("decimal", Value::from("1.10")),
        ("any", record().any),
        ("list", Value::List(record().list)),
    ]));
    let answer = call(&server, "record", std::slice::from_ref(&input))
        .await
        .unwrap();
    assert_eq!(answer["blob"], input["blob"]);
    let seconds = |value: &Value| match value {
        Value::Timestamp(time) => time.seconds(),
        other => panic!("{other:?}"),
    };
    for name in ["when", "local", "any"] {
        assert_eq!(seconds(&answer[name]), record().when.seconds(), "{name}");
    }
    // XML-RPC transfers big numbers as strings.
    assert_eq!(answer["whole"], input["whole"]);
    assert_eq!(answer["decimal"], input["decimal"]);
    assert_eq!(answer["list"], input["list"]);
}

#[tokio::test]
async fn blob_optional_variadic_and_empty_parameters_are_accepted() {
    let server = server();
    let blob = Value::Blob(record().blob);
    assert_eq!(
        call(&server, "blob", std::slice::from_ref(&blob)).await,
        Ok(3.into())
    );
    assert_eq!(call(&server, "some", &[1.into()]).await, Ok(11.into()));
    assert_eq!(
        call(&server, "some", &[1.into(), 2.into()]).await,
        Ok(3.into())
    );
    assert_eq!(
        call(&server, "all", &[1.into(), 2.into(), 3.into()]).await,
        Ok(3.into())
    );
    assert_eq!(call(&server, "all", &[]).await, Ok(0.into()));
    assert_eq!(call(&server, "nothing", &[]).await, Ok(Value::Null));
}

#[tokio::test]
async fn results_are_written_in_the_configured_style() {
    let style = Style::DEFAULT.with_forbidden(ForbiddenText::Replace);
    let methods = Methods::new().method("escape", |(): ()| async { "\u{1b}[1m" });
    let server = serve(methods.xmlrpc_style(style));
    assert_eq!(call(&server, "escape", &[]).await, Ok("\u{fffd}[1m".into()));
}
