//! Properties: random values go through every format, and JSON is accepted
//! and refused as serde_json accepts and refuses it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use polywire_codec::xmlrpc::{Envelope, Style, XmlRpcEncoder};
use polywire_codec::{cbor, json, xmlrpc};
use polywire_schema::{
    BigDecimal, BigInteger, Blob, Encode as _, ErrorKind, Limits, Map, Member, Text, Timestamp,
    Value,
};
use proptest::prelude::*;

/// Which values a format can tell apart.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Json,
    Cbor,
    XmlRpc,
}

fn text(kind: Kind) -> BoxedStrategy<String> {
    match kind {
        // Of the characters that XML 1.0 has.
        Kind::XmlRpc => {
            "[\\t\\n\\r -~\u{85}\u{e9}\u{4e2d}\u{d7ff}\u{e000}\u{fffd}\u{1f600}<&>\"]{0,40}".boxed()
        }
        _ => prop_oneof![any::<String>(), "[ -~\\x00-\\x1f\u{1f600}]{0,40}"].boxed(),
    }
}

/// Beyond 64 bits: what is shorter is an ordinary integer.
fn big_integer() -> impl Strategy<Value = Value> {
    "-?[1-9][0-9]{19,60}".prop_map(|digits| Value::from(digits.parse::<BigInteger>().unwrap()))
}

fn scalar(kind: Kind) -> BoxedStrategy<Value> {
    // Documents of JSON have one kind of number: a double that is whole would
    // come back as an integer.
    let double = any::<f64>().prop_filter_map("no whole number in JSON", move |double| {
        let whole = double.fract() == 0.0 && double.to_bits() != (-0.0_f64).to_bits();
        (kind != Kind::Json || !whole || double.abs() > 1e20).then_some(Value::from(double))
    });
    let common = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        double,
        text(kind).prop_map(Value::from),
    ];
    match kind {
        Kind::Json => prop_oneof![4 => common, 1 => big_integer()].boxed(),
        Kind::Cbor => {
            let decimal = ("-?[1-9][0-9]{0,30}", -64_i64..0).prop_map(|(digits, exponent)| {
                // The spelling that the reader gives back.
                let bytes = cbor::write_value(&Value::from(
                    format!("{digits}e{exponent}")
                        .parse::<BigDecimal>()
                        .unwrap(),
                ));
                cbor::read_value(&bytes.unwrap()).unwrap()
            });
            let timestamp = (-62_135_596_800_i64..253_402_300_800, 0..1_000_000_u32)
                .prop_map(|(seconds, micros)| (seconds / 100, micros))
                .prop_map(|(seconds, micros)| Timestamp::new(seconds, micros * 1000));
            prop_oneof![
                4 => common,
                1 => big_integer(),
                1 => decimal,
                1 => any::<f32>().prop_map(Value::from),
                1 => timestamp.prop_map(Value::from),
                1 => proptest::collection::vec(any::<u8>(), 0..60).prop_map(Value::from),
            ]
            .boxed()
        }
        Kind::XmlRpc => {
            let timestamp = (
                -62_135_596_800_i64..253_402_300_800,
                prop_oneof![Just(0), 0..1_000_000_000_u32],
            )
                .prop_map(|(seconds, nanoseconds)| Timestamp::new(seconds, nanoseconds))
                .prop_map(|instant| Value::from(instant.with_unzoned(true)));
            prop_oneof![
                4 => common,
                1 => timestamp,
                1 => proptest::collection::vec(any::<u8>(), 0..60)
                    .prop_map(|bytes| Value::from(Blob::from(bytes))),
            ]
            .boxed()
        }
    }
}

fn value(kind: Kind) -> impl Strategy<Value = Value> {
    scalar(kind).prop_recursive(5, 60, 6, move |inner| {
        let entries = proptest::collection::vec((text(kind), inner.clone()), 0..20);
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(Value::List),
            entries.prop_map(|entries| Value::Map(Map::from_iter(entries))),
        ]
    })
}

/// As shown, since NaN equals nothing.
fn same(left: &Value, right: &Value) -> Result<(), TestCaseError> {
    prop_assert_eq!(format!("{left:?}"), format!("{right:?}"));
    Ok(())
}

/// XML-RPC that loses nothing.
fn written(envelope: Envelope<'_>, values: &[Value]) -> String {
    let style = Style::DEFAULT.with_fractions(true);
    let mut encoder = XmlRpcEncoder::new(envelope, Vec::new()).with_style(style);
    for value in values {
        if matches!(envelope, Envelope::Call { .. }) {
            encoder.parameter();
        }
        value.encode(Member::DOCUMENT, &mut encoder);
    }
    String::from_utf8(encoder.finish().unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn documents_through_json(value in value(Kind::Json)) {
        let bytes = json::write_value(&value).unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        let read = json::read_value(text).unwrap();
        // Numbers that JSON has none for are words.
        let expected = with_words(&value);
        same(&read, &expected)?;
        prop_assert_eq!(json::write_value(&read).unwrap(), bytes.clone());
        // And any reader takes it for the same.
        let theirs: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        agree(&read, &theirs)?;
        // Laid out for people it means the same.
        same(&json::read_value(&json::pretty(text)).unwrap(), &expected)?;
    }

    #[test]
    fn documents_through_cbor(value in value(Kind::Cbor)) {
        let bytes = cbor::write_value(&value).unwrap();
        let read = cbor::read_value(&bytes).unwrap();
        same(&read, &value)?;
        prop_assert_eq!(cbor::write_value(&read).unwrap(), bytes);
    }

    #[test]
    fn documents_through_xmlrpc(value in value(Kind::XmlRpc)) {
        let response = written(Envelope::Response, std::slice::from_ref(&value));
        let read = xmlrpc::read_response(&response, &Limits::DEFAULT).unwrap().unwrap();
        same(&read, &value)?;
        let envelope = Envelope::Call { method: "m", positional: true };
        let call = written(envelope, &[value.clone(), Value::from(1), value.clone()]);
        let (_, parameters) = xmlrpc::read_call(&call, &Limits::DEFAULT).unwrap();
        same(&parameters[0], &value)?;
        same(&parameters[2], &value)?;
    }

    #[test]
    fn json_of_serde_json_is_read(value in value(Kind::Json), pretty: bool) {
        let ours = json::write_value(&value).unwrap();
        let theirs: serde_json::Value = serde_json::from_slice(&ours).unwrap();
        let written = if pretty { serde_json::to_string_pretty(&theirs) } else { serde_json::to_string(&theirs) };
        agree(&json::read_value(&written.unwrap()).unwrap(), &theirs)?;
    }

    #[test]
    fn mutated_json_is_judged_alike(
        value in value(Kind::Json),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), change()), 1..4),
    ) {
        let mut bytes = json::write_value(&value).unwrap();
        for (index, change) in changes {
            let at = index.index(bytes.len() + 1);
            match change {
                Change::Insert(byte) => bytes.insert(at, byte),
                Change::Remove if at < bytes.len() => { bytes.remove(at); }
                Change::Replace(byte) if at < bytes.len() => bytes[at] = byte,
                Change::Cut => bytes.truncate(at),
                _ => {}
            }
        }
        judge(&bytes)?;
    }

    #[test]
    fn random_json_is_judged_alike(
        pieces in proptest::collection::vec(prop::sample::select(PIECES), 0..12),
    ) {
        judge(pieces.concat().as_bytes())?;
    }
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"a\"",
    "\"b\"",
    "\"\"",
    "0",
    "1",
    "-",
    ".",
    "e",
    "E",
    "+",
    "01",
    "1.5",
    "-0",
    "1e5",
    "1e400",
    "123456789012345678901234567890",
    "null",
    "true",
    "false",
    "nul",
    "NaN",
    "\"",
    "\\",
    "\\u00e9",
    "\\ud83d",
    "\\ude00",
    "\\n",
    " ",
    "\n",
    "\t",
    "\r",
    "\u{b}",
    "\0",
    "\u{1}",
    "\u{feff}",
    "\u{7f}",
    "/",
    "//",
    "/**/",
    "'",
    "\u{e9}",
    "[1]",
    "{\"c\":[]}",
];

#[derive(Clone, Debug)]
enum Change {
    Insert(u8),
    Remove,
    Replace(u8),
    Cut,
}

fn change() -> impl Strategy<Value = Change> {
    let byte = || {
        prop_oneof![
            prop::sample::select(b"{}[],:\"\\0159.eE+-ntf \n\0/'".to_vec()),
            any::<u8>()
        ]
    };
    prop_oneof![
        byte().prop_map(Change::Insert),
        Just(Change::Remove),
        byte().prop_map(Change::Replace),
        Just(Change::Cut),
    ]
}

/// NaN and the infinities as the strings that JSON has for them.
fn with_words(value: &Value) -> Value {
    match value {
        Value::Double(double) if double.is_nan() => Value::from("NaN"),
        Value::Double(f64::INFINITY) => Value::from("Infinity"),
        Value::Double(f64::NEG_INFINITY) => Value::from("-Infinity"),
        Value::List(list) => Value::List(list.iter().map(with_words).collect()),
        Value::Map(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| (Text::from(key), with_words(value)));
            Value::Map(Map::from_iter(entries))
        }
        other => other.clone(),
    }
}

/// Ours and theirs are the same value.
fn agree(ours: &Value, theirs: &serde_json::Value) -> Result<(), TestCaseError> {
    use serde_json::Value as Theirs;

    match (ours, theirs) {
        (Value::Null, Theirs::Null) => {}
        (Value::Boolean(ours), Theirs::Bool(theirs)) => prop_assert_eq!(ours, theirs),
        (Value::String(ours), Theirs::String(theirs)) => prop_assert_eq!(ours.as_str(), theirs),
        // With `arbitrary_precision` theirs keeps the digits.
        (Value::Integer(ours), Theirs::Number(theirs)) => {
            prop_assert_eq!(ours.to_string(), theirs.to_string());
        }
        (Value::BigInteger(ours), Theirs::Number(theirs)) => {
            prop_assert_eq!(ours.to_string(), theirs.to_string());
        }
        (Value::BigDecimal(ours), Theirs::Number(theirs)) => {
            // They write an exponent with its sign.
            let theirs: BigDecimal = theirs.to_string().parse().unwrap();
            prop_assert_eq!(ours.to_f64().to_bits(), theirs.to_f64().to_bits());
        }
        (Value::Double(ours), Theirs::Number(theirs)) => {
            let theirs: f64 = theirs.to_string().parse().unwrap();
            prop_assert_eq!(ours.to_bits(), theirs.to_bits());
        }
        (Value::List(ours), Theirs::Array(theirs)) => {
            prop_assert_eq!(ours.len(), theirs.len());
            for (ours, theirs) in ours.iter().zip(theirs) {
                agree(ours, theirs)?;
            }
        }
        (Value::Map(ours), Theirs::Object(theirs)) => {
            prop_assert_eq!(ours.len(), theirs.len());
            for (key, value) in ours.iter() {
                agree(value, &theirs[key])?;
            }
        }
        other => prop_assert!(false, "{:?}", other),
    }
    Ok(())
}

/// Both accept and mean the same, or both refuse. The differences that are
/// meant to be:
///
/// - we refuse a key that comes twice, they take the last;
/// - we skip a byte order mark, they refuse it;
/// - our limit on depth is 64 by default, theirs 127.
fn judge(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        // Theirs looks at strings only when it gets there; we refuse at once.
        prop_assert!(serde_json::from_slice::<serde_json::Value>(bytes).is_err());
        return Ok(());
    };
    let ours = json::read_value(text);
    let theirs =
        serde_json::from_str::<serde_json::Value>(text.strip_prefix('\u{feff}').unwrap_or(text));
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => agree(&ours, &theirs),
        (Err(_), Err(_)) => Ok(()),
        (Err(error), Ok(_)) if error.kind() == ErrorKind::Duplicate || error.is_limit() => Ok(()),
        (ours, theirs) => {
            prop_assert!(false, "{:?}\nours {:?}\ntheirs {:?}", text, ours, theirs);
            Ok(())
        }
    }
}

/// The differences that `judge` allows are real.
#[test]
fn the_differences_to_serde_json() {
    let theirs = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    let duplicate = "{\"a\":1,\"a\":2}";
    assert_eq!(
        json::read_value(duplicate).unwrap_err().kind(),
        ErrorKind::Duplicate
    );
    assert!(theirs(duplicate));
    assert!(json::read_value("\u{feff}1").is_ok() && !theirs("\u{feff}1"));
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(json::read_value(&nested(64)).is_ok());
    assert!(json::read_value(&nested(65)).unwrap_err().is_limit() && theirs(&nested(65)));
}
