//! What stands on the wire, byte for byte, and the profiles of the formats.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod shapes;
mod support;

use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::xmlrpc::{XmlRpcDecoder, XmlRpcProfile};
use polywire_schema::{
    Decode, Encode, Encoder, Error, ErrorKind, Limits, Map, Member, Text, Timestamp,
    TimestampFormat, Value,
};
use shapes::{Choice, Named, Node, Scalars, root, samples};
use support::{Cbor, Json, XmlRpc, encode};

fn scalars() -> Scalars {
    Scalars {
        document: Some(Value::from(Map::from_iter([("k", Value::Null)]))),
        ..samples::scalars()
    }
}

#[test]
fn json() {
    let bytes = encode::<Json, _>(&scalars(), root("Scalars")).unwrap();
    let expected = [
        r#"{"byte":-128,"short":-32768,"integer":-2147483648,"long":-9223372036854775808,"#,
        r#""float":0.1,"double":0.1,"bigInteger":25000000000000000000,"#,
        r#""bigDecimal":-1234567890123456789012345.0100,"boolean":true,"#,
        r#""string":"a \"string\" <&> \\ of 24+ bytes","suit":"HEARTS","rank":1,"#,
        r#""blob":"AAH+/w==","time":1795293000.25,"dateTime":"2026-11-21T20:30:00.25Z","#,
        r#""epochSeconds":1795293000.25,"httpDate":"Sat, 21 Nov 2026 20:30:00.25 GMT","#,
        r#""document":{"k":null}}"#,
    ];
    assert_eq!(String::from_utf8(bytes).unwrap(), expected.concat());
    let node = Node {
        children: Some(Vec::new()),
        choice: Some(Choice::Empty),
        ..Node::named("\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}/\u{2028}\u{1f600}")
    };
    let bytes = encode::<Json, _>(&node, root("Node")).unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        "{\"name\":\"\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}/\u{2028}\u{1f600}\",\"children\":[],\
        \"choice\":{\"empty\":{}}}"
    );
}

#[test]
fn cbor() {
    let bytes = encode::<Cbor, _>(&scalars(), root("Scalars")).unwrap();
    let mut expected = Vec::new();
    let members: [(&str, &[u8]); 18] = [
        ("byte", b"\x38\x7f"),
        ("short", b"\x39\x7f\xff"),
        ("integer", b"\x3a\x7f\xff\xff\xff"),
        ("long", b"\x3b\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ("float", b"\xfa\x3d\xcc\xcc\xcd"),
        ("double", b"\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a"),
        (
            "bigInteger",
            b"\xc2\x49\x01\x5a\xf1\xd7\x8b\x58\xc4\x00\x00",
        ),
        (
            "bigDecimal",
            b"\xc4\x82\x23\xc3\x4c\x27\xe4\x1b\x32\x46\xbe\xc9\xb1\x6e\x39\x66\xf3",
        ),
        ("boolean", b"\xf5"),
        ("string", b"\x78\x1da \"string\" <&> \\ of 24+ bytes"),
        ("suit", b"\x66HEARTS"),
        ("rank", b"\x01"),
        ("blob", b"\x44\x00\x01\xfe\xff"),
        ("time", b"\xc1\xfb\x41\xda\xc0\x7f\xd2\x10\x00\x00"),
        ("dateTime", b"\xc1\xfb\x41\xda\xc0\x7f\xd2\x10\x00\x00"),
        ("epochSeconds", b"\xc1\xfb\x41\xda\xc0\x7f\xd2\x10\x00\x00"),
        ("httpDate", b"\xc1\xfb\x41\xda\xc0\x7f\xd2\x10\x00\x00"),
        ("document", b"\xa1\x61k\xf6"),
    ];
    expected.push(0xa0 | members.len() as u8);
    for (name, value) in members {
        expected.push(0x60 | name.len() as u8);
        expected.extend_from_slice(name.as_bytes());
        expected.extend_from_slice(value);
    }
    assert_eq!(bytes, expected, "{}", bytes.escape_ascii());
    // Whole seconds are an integer.
    let time = Scalars {
        time: Some(Timestamp::new(1, 0)),
        ..Scalars::default()
    };
    let bytes = encode::<Cbor, _>(&time, root("Scalars")).unwrap();
    assert_eq!(bytes, b"\xa1\x64time\xc1\x01");
}

/// Safest to write, by what real peers read: `int` where it fits, `i8` beyond,
/// strings with their tag, `&#13;`, no prefixed types.
#[test]
fn xmlrpc() {
    let bytes = encode::<XmlRpc, _>(&scalars(), root("Scalars")).unwrap();
    let mut expected =
        "<?xml version=\"1.0\"?><methodResponse><params><param><value><struct>".to_owned();
    for (name, value) in [
        ("byte", "<int>-128</int>"),
        ("short", "<int>-32768</int>"),
        ("integer", "<int>-2147483648</int>"),
        ("long", "<i8>-9223372036854775808</i8>"),
        ("float", "<double>0.1</double>"),
        ("double", "<double>0.1</double>"),
        ("bigInteger", "<string>25000000000000000000</string>"),
        (
            "bigDecimal",
            "<string>-1234567890123456789012345.0100</string>",
        ),
        ("boolean", "<boolean>1</boolean>"),
        (
            "string",
            "<string>a \"string\" &lt;&amp;&gt; \\ of 24+ bytes</string>",
        ),
        ("suit", "<string>HEARTS</string>"),
        ("rank", "<int>1</int>"),
        ("blob", "<base64>AAH+/w==</base64>"),
        (
            "time",
            "<dateTime.iso8601>20261121T20:30:00.25</dateTime.iso8601>",
        ),
        (
            "dateTime",
            "<dateTime.iso8601>20261121T20:30:00.25</dateTime.iso8601>",
        ),
        (
            "epochSeconds",
            "<dateTime.iso8601>20261121T20:30:00.25</dateTime.iso8601>",
        ),
        (
            "httpDate",
            "<dateTime.iso8601>20261121T20:30:00.25</dateTime.iso8601>",
        ),
        (
            "document",
            "<struct><member><name>k</name><value><nil/></value></member></struct>",
        ),
    ] {
        expected += &format!("<member><name>{name}</name><value>{value}</value></member>");
    }
    expected += "</struct></value></param></params></methodResponse>";
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);

    let written = |value: Value| {
        let bytes = encode::<XmlRpc, _>(&value, Member::DOCUMENT).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let value = text.split_once("<param>").unwrap().1;
        value.split_once("</param>").unwrap().0.to_owned()
    };
    for (value, expected) in [
        (Value::from(i32::MAX), "<int>2147483647</int>"),
        (Value::from(1_i64 << 31), "<i8>2147483648</i8>"),
        (Value::from(-(1_i64 << 31) - 1), "<i8>-2147483649</i8>"),
        (Value::from("\r\n\t"), "<string>&#13;\n\t</string>"),
        (Value::from(""), "<string></string>"),
        (Value::from(false), "<boolean>0</boolean>"),
        (Value::List(Vec::new()), "<array><data></data></array>"),
        (Value::Map(Map::new()), "<struct></struct>"),
    ] {
        assert_eq!(written(value), format!("<value>{expected}</value>"));
    }
}

const NAMES: JsonProfile = JsonProfile::DEFAULT.with_json_names(true);

fn with_profile<T: Encode>(value: &T, at: Member<'_>, profile: JsonProfile) -> String {
    let mut encoder = JsonEncoder::new(profile, Vec::new());
    value.encode(at, &mut encoder);
    String::from_utf8(encoder.finish().unwrap()).unwrap()
}

fn read_with_profile<T: for<'de> Decode<'de>>(
    text: &str,
    at: Member<'_>,
    profile: JsonProfile,
) -> Result<T, Error> {
    let mut decoder = JsonDecoder::from_str(text, profile, &Limits::DEFAULT)?;
    let value = T::decode(at, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

#[test]
fn json_names() {
    let at = root("Named");
    let text = |text: &str| Some(Text::from(text));
    let named = Named {
        city_id: text("1"),
        plain: text("2"),
        quoted: text("3"),
        first: text("4"),
        second: text("5"),
        long: text("6"),
    };
    let long = "\"aNameLongerThanThirtyTwoBytesSoThatNoWindowHoldsIt\":\"6\"}";
    let by_trait = format!(
        "{{\"city id\":\"1\",\"plain\":\"2\",\"a\\\"b\\\\c\u{e9}\":\"3\",\"second\":\"4\",\"first\":\"5\",{long}"
    );
    let by_name = format!(
        "{{\"cityId\":\"1\",\"plain\":\"2\",\"quoted\":\"3\",\"first\":\"4\",\"second\":\"5\",{long}"
    );
    for (profile, text) in [(NAMES, &by_trait), (JsonProfile::DEFAULT, &by_name)] {
        assert_eq!(with_profile(&named, at, profile), *text);
        assert_eq!(
            read_with_profile::<Named>(text, at, profile).unwrap(),
            named
        );
        let value: Value = read_with_profile(text, at, profile).unwrap();
        // A value has the names of the model, whatever stands on the wire.
        assert_eq!(value["first"].as_str(), Some("4"));
        assert_eq!(with_profile(&value, at, profile), *text);
    }
    // A key may be written with escapes and apart from its colon.
    let spelled = "{ \"city\\u0020id\" : \"1\" , \"\\u0061\\\"b\\\\c\\u00e9\"\n:\"3\" }";
    let read: Named = read_with_profile(spelled, at, NAMES).unwrap();
    assert_eq!((read.city_id, read.quoted), (text("1"), text("3")));
    // The other names are unknown.
    let read: Named = read_with_profile("{\"cityId\":\"1\",\"quoted\":\"3\"}", at, NAMES).unwrap();
    assert_eq!(read, Named::default());
}

#[test]
fn the_default_form_of_timestamps() {
    let at = root("Scalars");
    let scalars = Scalars {
        time: Some(samples::INSTANT),
        epoch_seconds: Some(samples::INSTANT),
        ..Scalars::default()
    };
    for (format, expected) in [
        (TimestampFormat::EpochSeconds, "1795293000.25"),
        (TimestampFormat::DateTime, "\"2026-11-21T20:30:00.25Z\""),
        (
            TimestampFormat::HttpDate,
            "\"Sat, 21 Nov 2026 20:30:00.25 GMT\"",
        ),
    ] {
        let profile = JsonProfile::DEFAULT.with_timestamp_format(format);
        let text = with_profile(&scalars, at, profile);
        // The trait of the member counts more.
        assert_eq!(
            text,
            format!("{{\"time\":{expected},\"epochSeconds\":1795293000.25}}")
        );
        assert_eq!(
            read_with_profile::<Scalars>(&text, at, profile).unwrap(),
            scalars
        );
    }
    // Years beyond the calendar have a number, but no date.
    let scalars = Scalars {
        date_time: Some(Timestamp::new(1 << 40, 0)),
        ..Scalars::default()
    };
    for error in [
        encode::<Json, _>(&scalars, at).unwrap_err(),
        encode::<XmlRpc, _>(&scalars, at).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Unwritable);
    }
}

/// Without a body to share, long strings are copied.
#[test]
fn readers_of_plain_slices() {
    let at = root("Node");
    let node = samples::node();
    let bytes = encode::<Json, _>(&node, at).unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    assert_eq!(
        read_with_profile::<Node>(text, at, JsonProfile::DEFAULT).unwrap(),
        node
    );

    let bytes = encode::<Cbor, _>(&node, at).unwrap();
    let mut decoder =
        CborDecoder::from_slice(&bytes, CborProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    assert_eq!(Node::decode(at, &mut decoder).unwrap(), node);
    decoder.finish().unwrap();

    let bytes = encode::<XmlRpc, _>(&node, at).unwrap();
    let text = std::str::from_utf8(&bytes).unwrap();
    let profile = XmlRpcProfile::DEFAULT;
    let (_, mut decoder) =
        XmlRpcDecoder::response_from_str(text, profile, &Limits::DEFAULT).unwrap();
    assert_eq!(Node::decode(at, &mut decoder).unwrap(), node);
    decoder.finish().unwrap();
}

/// A buffer may be used again: what stands in it stays.
#[test]
fn writers_append() {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, b"before,".to_vec());
    Value::List(Vec::new()).encode(Member::DOCUMENT, &mut encoder);
    assert_eq!(encoder.finish().unwrap(), b"before,[]");
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, b"before,".to_vec());
    Value::from(1).encode(Member::DOCUMENT, &mut encoder);
    assert_eq!(encoder.finish().unwrap(), b"before,1");
}

#[test]
fn what_stands_before_json_is_left_alone() {
    for prefix in ["", "[1,", ","] {
        let encoder = JsonEncoder::new(JsonProfile::DEFAULT, prefix.into());
        assert_eq!(encoder.finish().unwrap(), prefix.as_bytes());
        let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, prefix.into());
        Value::from(2).encode(Member::DOCUMENT, &mut encoder);
        assert_eq!(encoder.finish().unwrap(), format!("{prefix}2").into_bytes());
    }
}

#[test]
fn ends_without_a_beginning() {
    use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};

    let at = root("Collections");
    let ends: [fn(&mut dyn Encoder, Member<'_>); 3] = [
        |encoder, at| encoder.end_structure(at),
        |encoder, at| encoder.end_list(at),
        |encoder, at| encoder.end_map(at),
    ];
    for (place, end) in ends.into_iter().enumerate() {
        for envelope in [
            Envelope::Response,
            Envelope::Call {
                method: "m",
                positional: true,
            },
        ] {
            let mut encoder = XmlRpcEncoder::new(envelope, Vec::new());
            end(&mut encoder, at);
            end(&mut encoder, at);
            let error = encoder.finish().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
        }
        // JSON counts structures only.
        if place == 0 {
            let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
            encoder.begin_structure(at, 0);
            end(&mut encoder, at);
            end(&mut encoder, at);
            let error = encoder.finish().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
        }
    }
}

#[test]
fn beginnings_without_an_end() {
    use polywire_codec::xmlrpc::{Envelope, XmlRpcEncoder};

    let at = root("Collections");
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    encoder.begin_structure(at, 0);
    let error = encoder.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
    let begins: [fn(&mut dyn Encoder, Member<'_>); 3] = [
        |encoder, at| encoder.begin_structure(at, 0),
        |encoder, at| encoder.begin_list(at, 0),
        |encoder, at| encoder.begin_map(at, 0),
    ];
    for begin in begins {
        let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
        begin(&mut encoder, at);
        let error = encoder.finish().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal, "{error}");
    }
}
