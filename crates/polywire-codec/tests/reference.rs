//! The formats against their reference implementations: the same bytes for a value, and
//! for any bytes the same value, or both refuse.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod shapes;
mod support;

use polywire_codec::cbor::{CborDecoder, CborEncoder, CborProfile};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::reference::{self, Reference, ReferenceSink};
use polywire_codec::xmlrpc::{
    Duplicates, Envelope, Leniency, Style, XmlRpcDecoder, XmlRpcEncoder, XmlRpcProfile,
};
use polywire_codec::{DecodeAny, DecodeWith, Dynamic, Message, Sink, Typed};
use polywire_schema::{
    Body, Decode, Direction, Encode, Error, Limits, Map, Member, Timestamp, Value,
};
use proptest::prelude::*;
use shapes::{root, samples};

const SHAPES: [&str; 7] = [
    "Collections",
    "Choice",
    "Named",
    "Node",
    "Scalars",
    "Strict",
    "Wide",
];

const PROFILES: [JsonProfile; 6] = [
    JsonProfile::DEFAULT,
    JsonProfile::DEFAULT.for_client().with_json_names(true),
    JsonProfile::HUMAN,
    JsonProfile::NODE,
    JsonProfile::DEFAULT
        .with_fixed_timestamps(true)
        .with_quoted_big_numbers(true),
    JsonProfile::DEFAULT.with_part(polywire_schema::Part::Body(Direction::Request)),
];

/// So small that ordinary inputs reach them.
const SMALL: Limits = Limits::DEFAULT
    .with_bytes(300)
    .with_depth(4)
    .with_items(8)
    .with_string(60);

const XMLRPC_PROFILES: [XmlRpcProfile; 5] = [
    XmlRpcProfile::DEFAULT,
    XmlRpcProfile::DEFAULT.for_client(),
    XmlRpcProfile::DEFAULT.with_leniency(Leniency::ALL),
    XmlRpcProfile::DEFAULT.with_duplicates(Duplicates::First),
    XmlRpcProfile::DEFAULT.with_duplicates(Duplicates::Last),
];

fn show(result: &Result<Value, Error>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(_) => "refused".to_owned(),
    }
}

fn json(text: &str, at: Member<'_>, profile: JsonProfile, limits: &Limits) -> String {
    let native = || {
        let mut decoder = JsonDecoder::from_str(text, profile, limits)?;
        let value = Value::decode(at, &mut decoder)?;
        decoder.finish()?;
        Ok(value)
    };
    let reference = || {
        let mut decoder = reference::json::JsonDecoder::new(text, 0, profile, limits)?;
        let value = Value::decode(at, &mut decoder)?;
        match decoder.end() == text.len() {
            true => Ok(value),
            false => Err(Error::new(polywire_schema::ErrorKind::Syntax)),
        }
    };
    let (native, reference) = (native(), reference());
    assert_eq!(
        show(&native),
        show(&reference),
        "{text:?} as {at:?}\n{native:?}\n{reference:?}"
    );
    show(&native)
}

fn cbor(bytes: &[u8], at: Member<'_>, profile: CborProfile, limits: &Limits) -> String {
    let native = || {
        let mut decoder = CborDecoder::from_slice(bytes, profile, limits)?;
        let value = Value::decode(at, &mut decoder)?;
        decoder.finish()?;
        Ok(value)
    };
    let reference = || {
        let mut decoder = reference::cbor::CborDecoder::new(bytes, 0, profile, limits)?;
        let value = Value::decode(at, &mut decoder)?;
        match decoder.end() == bytes.len() {
            true => Ok(value),
            false => Err(Error::new(polywire_schema::ErrorKind::Syntax)),
        }
    };
    let (native, reference) = (native(), reference());
    assert_eq!(
        show(&native),
        show(&reference),
        "{bytes:02x?} as {at:?}\n{native:?}\n{reference:?}"
    );
    show(&native)
}

fn xmlrpc(text: &str, at: Member<'_>, profile: XmlRpcProfile, limits: &Limits) -> String {
    let native = || {
        let (_, mut decoder) = XmlRpcDecoder::response_from_str(text, profile, limits)?;
        let value = Value::decode(at, &mut decoder)?;
        decoder.finish()?;
        Ok(value)
    };
    let reference = || {
        let mut decoder = reference::xmlrpc::XmlRpcDecoder::response(text, profile, limits)?;
        Value::decode(at, &mut decoder)
    };
    let (native, reference) = (native(), reference());
    assert_eq!(
        show(&native),
        show(&reference),
        "{text} as {at:?} by {profile:?}\n{native:?}\n{reference:?}"
    );
    show(&native)
}

/// The response with this inside of its value, in every shape and by every profile.
fn all_of_xmlrpc(inside: &str) {
    let text = format!(
        "<?xml version=\"1.0\"?><methodResponse><params><param><value>{inside}</value></param>\
         </params></methodResponse>"
    );
    for profile in XMLRPC_PROFILES {
        for limits in [Limits::DEFAULT, SMALL.with_bytes(1_000)] {
            xmlrpc(&text, Member::DOCUMENT, profile, &limits);
            for shape in SHAPES {
                xmlrpc(&text, root(shape), profile, &limits);
            }
        }
    }
}

/// In every shape and by every profile.
fn all_of_json(text: &str) {
    for profile in PROFILES {
        for limits in [Limits::DEFAULT, SMALL] {
            json(text, Member::DOCUMENT, profile, &limits);
            for shape in SHAPES {
                json(text, root(shape), profile, &limits);
            }
        }
    }
}

fn all_of_cbor(bytes: &[u8]) {
    for profile in [CborProfile::DEFAULT, CborProfile::DEFAULT.for_client()] {
        for limits in [Limits::DEFAULT, SMALL] {
            cbor(bytes, Member::DOCUMENT, profile, &limits);
            for shape in SHAPES {
                cbor(bytes, root(shape), profile, &limits);
            }
        }
    }
}

fn write_json(message: &dyn Message, at: Member<'_>, profile: JsonProfile) -> Option<Vec<u8>> {
    let mut encoder = JsonEncoder::new(profile, b"before".to_vec());
    message.write(at, &mut encoder);
    encoder.finish().ok()
}

fn write_cbor(message: &dyn Message, at: Member<'_>) -> Option<Vec<u8>> {
    let mut encoder = CborEncoder::new(b"before".to_vec());
    message.write(at, &mut encoder);
    encoder.finish().ok()
}

fn write_xmlrpc(message: &dyn Message, at: Member<'_>, envelope: Envelope<'_>) -> Option<String> {
    let style = Style::DEFAULT.with_fractions(true);
    let mut encoder = XmlRpcEncoder::new(envelope, Vec::new()).with_style(style);
    message.write(at, &mut encoder);
    Some(String::from_utf8(encoder.finish().ok()?).unwrap())
}

/// Both writers, then both readers of what was written.
fn written(message: &dyn Message, at: Member<'_>) {
    for profile in PROFILES {
        let native = write_json(message, at, profile);
        assert_eq!(
            native.as_deref().map(String::from_utf8_lossy),
            write_json(&Reference(message), at, profile)
                .as_deref()
                .map(String::from_utf8_lossy)
        );
        if let Some(bytes) = native {
            all_of_json(std::str::from_utf8(&bytes[6..]).unwrap());
        }
    }
    let native = write_cbor(message, at);
    assert_eq!(native, write_cbor(&Reference(message), at));
    if let Some(bytes) = native {
        all_of_cbor(&bytes[6..]);
    }
    let positional = at.kind().is_structure();
    let call = Envelope::Call {
        method: "echo",
        positional,
    };
    for envelope in [Envelope::Value, Envelope::Fault, call] {
        let native = write_xmlrpc(message, at, envelope);
        assert_eq!(native, write_xmlrpc(&Reference(message), at, envelope));
    }
    let native = write_xmlrpc(message, at, Envelope::Value);
    if let Some(value) = &native {
        let inside = value.strip_prefix("<value>").unwrap();
        all_of_xmlrpc(inside.strip_suffix("</value>").unwrap());
    }
    if let (Some(call), true) = (write_xmlrpc(message, at, call), positional) {
        read_call(&call, at, true);
        // The first parameter is no structure, or there is none.
        read_call(&call, at, false);
    }
}

/// The same members of the parameters of a call, through a message.
fn read_call<'de>(text: &'de str, at: Member<'_>, positional: bool) {
    let profile = XmlRpcProfile::DEFAULT.with_positional(positional);
    let read = |sink: &mut (dyn Sink<'de> + '_)| {
        let (_, mut decoder) = XmlRpcDecoder::call_from_str(text, profile, &Limits::DEFAULT)?;
        sink.read(at, &mut decoder)?;
        decoder.finish()?;
        sink.finish(at, &mut decoder)
    };
    let (mut native, mut reference) = (Map::new(), ReferenceSink(Map::new()));
    let errors = (read(&mut native).err(), read(&mut reference).err());
    match &errors {
        (None, None) => assert_eq!(native, reference.0, "{text}"),
        (Some(native), Some(reference)) => assert_eq!(native.kind(), reference.kind(), "{text}"),
        _ => panic!("{text} as {at:?}\n{errors:?}"),
    }
}

#[test]
fn typed_shapes() {
    written(&Typed::new(&samples::scalars()), root("Scalars"));
    written(&Typed::new(&samples::collections()), root("Collections"));
    written(&Typed::new(&samples::node()), root("Node"));
    for instant in [
        Timestamp::new(i64::MAX, 0),
        Timestamp::new(i64::MIN, 1),
        Timestamp::new(-62_135_596_801, 999_999_999),
        Timestamp::new(253_402_300_799, 999_999_999),
    ] {
        let map = Map::from_iter([
            ("time", Value::from(instant)),
            ("httpDate", Value::from(instant)),
            ("dateTime", Value::from(instant)),
        ]);
        written(&Dynamic(&Value::Map(map)), root("Scalars"));
    }
}

/// What one reader does by the way, the other must too.
#[test]
fn edges_of_json() {
    for text in [
        "",
        " ",
        "\u{feff}1",
        " \u{feff}1",
        "1 ",
        "1 x",
        "nullx",
        "[1,]",
        "[,1]",
        "{\"a\":1,}",
        "{\"a\" : 1 , \"b\":[ ] }",
        "{\"name\":null,\"name\":null}",
        "{\"name\":\"x\",\"\\u006eame\":\"y\"}",
        "{\"name\":\"x\",\"other\":{\"a\":[1,2,{}]},\"other\":2}",
        "{\"name\":\"x\",\"children\":[null]}",
        "{\"name\":\"x\",\"byKey\":{\"k\":null}}",
        "{\"text\":\"x\"}",
        "{\"strange\":1}",
        "{\"text\":null}",
        "{\"text\":\"x\",\"number\":1}",
        "{\"sparse\":[null,\"x\"],\"dense\":[null,\"x\"],\"documents\":[null]}",
        "{\"sparseCounts\":{\"a\":null},\"counts\":{\"a\":null}}",
        "{\"byte\":128}",
        "{\"byte\":-0}",
        "{\"long\":1.0}",
        "{\"long\":1e2}",
        "{\"long\":01}",
        "{\"long\":9223372036854775808}",
        "{\"float\":1e39}",
        "{\"float\":\"NaN\",\"double\":\"-Infinity\"}",
        "{\"double\":\"infinity\"}",
        "{\"double\":1e400}",
        "{\"double\":1e-400}",
        "{\"blob\":\"AA==\"}",
        "{\"blob\":\"AB==\"}",
        "{\"blob\":\"AA\"}",
        "{\"bigInteger\":1.5}",
        "{\"bigInteger\":\"12\",\"bigDecimal\":\"1.50\"}",
        "{\"bigInteger\":\"007\"}",
        "{\"bigInteger\":\"1e5\"}",
        "{\"bigDecimal\":\"x\"}",
        "{\"dateTime\":1.5,\"httpDate\":2}",
        "{\"bigDecimal\":1.50e3}",
        "{\"time\":1e3,\"dateTime\":\"2026-01-01T00:00:00+01:00\"}",
        "{\"time\":\"2026-01-01T00:00:00Z\"}",
        "{\"httpDate\":\"Sat, 21 Nov 2026 20:30:00.25 GMT\"}",
        "{\"document\":null}",
        "\"\\ud83d\"",
        "\"\\ud83d\\ude00\"",
        "-",
        "-0",
        "-0.0",
        "123456789012345678901234567890",
        "1e400",
        "[[[[[1]]]]]",
        "{\"long name that nobody has and that is longer than the limit on strings\":1}",
    ] {
        all_of_json(text);
    }
    assert_eq!(
        json("[1]", Member::DOCUMENT, PROFILES[0], &Limits::DEFAULT),
        show(&Ok(Value::List(vec![Value::from(1)])))
    );
}

#[test]
fn edges_of_cbor() {
    for bytes in [
        &b""[..],
        b"\xff",
        b"\x1c",
        b"\x1f",
        b"\x9f\x01\xff",
        b"\x9f\x01",
        b"\x82\x01\xff",
        b"\xbf\x61a\xff\xff",
        b"\xbf\x61a\x01\xff",
        b"\x9b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xfb\x7f\xf0\x00\x00\x00\x00\x00\x00",
        b"\xf9\x7c\x00",
        b"\xf9\x00\x01",
        b"\xf9\xfe\x00",
        b"\xf8\x14",
        b"\xf8\x20",
        b"\xe0",
        b"\xf7",
        b"\xd9\xd9\xf7\xa0",
        b"\xc1\xa0",
        b"\xc1\x80",
        b"\xc1\x01",
        b"\xd8\x01\x01",
        b"\xd9\xd9\xf7\xc1\xd9\xd9\xf7\x01",
        b"\xc1\xc1\x01",
        b"\xc0\x74\x32\x30\x32\x36-01-01T00:00:00Z",
        b"\xc0\x01",
        b"\xc2\x40",
        b"\xc2\x43\x00\x01\x00",
        b"\xc3\x49\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xc2\xc2\x41\x01",
        b"\xc4\x82\x21\x19\x6a\xb3",
        b"\xc4\x83\x21\x01\x01",
        b"\xc4\x81\x21",
        b"\xc4\xd9\xd9\xf7\x82\x21\xc2\x41\x01",
        b"\xc4\x82\x1b\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x3b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\x7f\x61a\x61b\xff",
        b"\x7f\x61\xc3\x61\xa9\xff",
        b"\x7f\x41a\xff",
        b"\x7f\x7f\xff\xff",
        b"\x5f\x41a\x40\xff",
        b"\x62\xc3\x28",
        b"\xa1\x01\x02",
        b"\xa1\x64name\x63Bob",
        b"\xa1\x78\x04name\x63Bob",
        b"\xa1\xd9\xd9\xf7\x64name\xd9\xd9\xf7\x63Bob",
        b"\xa1\xc1\x64name\x63Bob",
        b"\xa2\x64name\x63Bob\x64name\x63Bob",
        b"\xa2\x64name\xf6\x64name\x63Bob",
        b"\xa2\x64name\x63Bob\x65other\xa1\x01\xf8\x20",
        b"\xa2\x64name\x63Bob\x65other\xa1\x01\xc1\x40",
        b"\xa2\x64name\x63Bob\x65other\xc2\x40",
        b"\xa1\x64text\xd9\xd9\xf7\xf6",
        b"\xa1\x64text\xc1\xf6",
        b"\xa1\x65dense\x82\xf6\x61a",
        b"\xa1\x66sparse\x82\xf6\x61a",
        b"\xa1\x64byte\x18\x80",
        b"\xa1\x64byte\xc2\x41\x01",
        b"\xa1\x65float\xfb\x7e\xf0\x00\x00\x00\x00\x00\x00",
        b"\xa1\x66double\x3b\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xa1\x6abigDecimal\xfb\x3f\xf8\x00\x00\x00\x00\x00\x00",
        b"\xa1\x6abigDecimal\xfb\x44\xb5\x2d\x02\xc7\xe1\x4a\xf6",
        b"\xa1\x6abigDecimal\x05",
        b"\xa1\x6abigInteger\xc2\x41\x05",
        b"\xa1\x6abigInteger\xfa\x00\x00\x00\x00",
        b"\xa1\x68document\xf6",
        b"\xa1\x64time\x01",
        b"\x81\x81\x81\x81\x81\x01",
        b"\x00\x00",
    ] {
        all_of_cbor(bytes);
    }
    // Any number of tags may stand before a value.
    for tag in [0xc1, 0xc6] {
        let mut bytes = vec![tag; 20_000];
        bytes.push(0x80);
        all_of_cbor(&bytes);
    }
    // 513 bytes are too many, and 512 count as eight items.
    for len in [512_u16, 513] {
        let mut bytes = vec![0xc2, 0x59];
        bytes.extend_from_slice(&len.to_be_bytes());
        bytes.extend(std::iter::repeat_n(0xff, usize::from(len)));
        all_of_cbor(&bytes);
        for items in [7, 8] {
            let limits = Limits::DEFAULT.with_items(items);
            cbor(&bytes, Member::DOCUMENT, CborProfile::DEFAULT, &limits);
        }
    }
}

#[test]
fn edges_of_xmlrpc() {
    let member = |name: &str, value: &str| {
        format!("<member><name>{name}</name><value>{value}</value></member>")
    };
    let structure = |members: &[(&str, &str)]| {
        let members = members.iter().map(|(name, value)| member(name, value));
        format!("<struct>{}</struct>", members.collect::<String>())
    };
    // The limits on items, depth and strings.
    let item = |inside: &str| format!("<value>{inside}</value>");
    let list = |items: &str| format!("<array><data>{items}</data></array>");
    for count in [7, 8, 9] {
        let items = list(&item("x").repeat(count));
        all_of_xmlrpc(&items);
        all_of_xmlrpc(&structure(&[("dense", &items)]));
        all_of_xmlrpc(&structure(&[("name", "x"), ("other", &items)]));
    }
    let mut nested = item("x");
    for _ in 0..6 {
        nested = item(&list(&nested));
        all_of_xmlrpc(&structure(&[("name", "x"), ("other", &list(&nested))]));
        all_of_xmlrpc(&structure(&[("document", &list(&nested))]));
    }
    for len in [60, 61] {
        let text = "x".repeat(len);
        all_of_xmlrpc(&structure(&[("name", &text)]));
        all_of_xmlrpc(&structure(&[("name", "x"), (&text, "x")]));
        all_of_xmlrpc(&structure(&[("name", "x"), ("other", &text)]));
        all_of_xmlrpc(&structure(&[("bigInteger", &"7".repeat(len))]));
    }
    for inside in [
        "",
        " ",
        "x",
        "<nil/>",
        "<array/>",
        "<struct/>",
        "<array><data/></array>",
    ] {
        all_of_xmlrpc(inside);
    }
    for members in [
        &[("name", "x")][..],
        &[("name", "<string>x</string>"), ("other", "<i4>abc</i4>")],
        &[
            ("name", "x"),
            ("other", "<array><data><value>y</value></data></array>"),
        ],
        &[("name", "x"), ("name", "y")],
        &[("name", "<nil/>"), ("name", "y")],
        &[("name", "x"), ("other", "1"), ("other", "<i4>2</i4>")],
        &[("name", "x"), ("left", "<struct/>")],
        &[
            ("name", "x"),
            (
                "children",
                "<array><data><value><nil/></value></data></array>",
            ),
        ],
        &[
            ("name", "x"),
            (
                "byKey",
                "<struct><member><name>k</name><value><nil/></value></member></struct>",
            ),
        ],
        &[(
            "dense",
            "<array><data><value><nil/></value><value>x</value></data></array>",
        )],
        &[(
            "sparse",
            "<array><data><value><nil/></value><value>x</value></data></array>",
        )],
        &[(
            "counts",
            "<struct><member><name>k</name><value><i4>1</i4></value></member>\
            <member><name>k</name><value><i4>2</i4></value></member></struct>",
        )],
        &[(
            "sparseCounts",
            "<struct><member><name>k</name><value><nil/></value></member></struct>",
        )],
        &[("counts", "<array><data/></array>")],
        &[("text", "x"), ("number", "<int>1</int>")],
        &[("strange", "1")],
        &[("text", "<nil/>")],
        &[("byte", "<i4>128</i4>")],
        &[
            ("byte", "<i1>127</i1>"),
            ("short", "<i2>+5</i2>"),
            ("long", "<i8>-9</i8>"),
        ],
        &[("byte", "<i1>128</i1>")],
        &[("long", "<int>2147483648</int>")],
        &[("long", "<biginteger>7</biginteger>")],
        &[("long", "<biginteger>9223372036854775808</biginteger>")],
        &[("long", "1")],
        &[("long", " <i8> 1 </i8> ")],
        &[("float", "<double>1e39</double>")],
        &[("float", "<i4>5</i4>"), ("double", "<double>nan</double>")],
        &[("double", "<double>-inf</double>")],
        &[("double", "<double/>")],
        &[("double", "<float>1.50</float>")],
        &[("double", "1")],
        &[("boolean", "<boolean>1</boolean>")],
        &[("boolean", "<boolean>TRUE</boolean>")],
        &[("boolean", "<i4>1</i4>")],
        &[("blob", "<base64>AA==\n</base64>")],
        &[("blob", "<base64/>")],
        &[("blob", "AA==")],
        &[("bigInteger", "12345678901234567890")],
        &[("bigInteger", "<string>007</string>")],
        &[("bigInteger", "<i8>+7</i8>"), ("bigDecimal", "<i8>+7</i8>")],
        &[("bigInteger", "<biginteger>+7</biginteger>")],
        &[("bigInteger", "<biginteger/>")],
        &[("bigInteger", "<double>1.0</double>")],
        &[("bigDecimal", "<double>1.50</double>")],
        &[("bigDecimal", "<double>inf</double>")],
        &[("bigDecimal", "<bigdecimal>1.50</bigdecimal>")],
        &[("bigDecimal", "1.5e3")],
        &[(
            "time",
            "<dateTime.iso8601>20260101T00:00:00</dateTime.iso8601>",
        )],
        &[(
            "time",
            "<dateTime.iso8601>00000000T00:00:00Z</dateTime.iso8601>",
        )],
        &[("time", "<dateTime>2026-01-01T24:00:00Z</dateTime>")],
        &[("time", "<i4>1</i4>")],
        &[("document", "<nil/>")],
        &[(
            "document",
            "<struct><member><name>k</name><value>x</value></member></struct>",
        )],
    ] {
        all_of_xmlrpc(&structure(members));
    }
}

/// The adapters read what the decoder stands before, and leave it behind that.
#[test]
fn adapters() {
    let value = Map::from_iter([("name", "Bob")]);
    let body = Body::from(" {\"name\":\"Bob\"} ".as_bytes().to_vec());
    let profile = JsonProfile::DEFAULT;
    let mut decoder = JsonDecoder::from_body(&body, profile, &Limits::DEFAULT).unwrap();
    let mut sink = ReferenceSink(Map::new());
    let read = sink.decode_with(root("Node"), &mut decoder);
    read.unwrap().unwrap();
    decoder.finish().unwrap();
    sink.finish(root("Node"), &mut decoder).unwrap();
    assert_eq!(sink.0, value);

    let body = Body::from(b"\xa1\x64name\x63Bob\x00".to_vec());
    let profile = CborProfile::DEFAULT;
    let mut decoder = CborDecoder::from_body(&body, profile, &Limits::DEFAULT).unwrap();
    let mut sink = ReferenceSink(Map::new());
    let read = sink.decode_with(root("Node"), &mut decoder);
    read.unwrap().unwrap();
    assert_eq!(decoder.offset(), 10);
    decoder.finish().unwrap_err();
    assert_eq!(sink.0, value);

    // What cannot be written fails through the adapter too.
    let wrong = Value::from(1);
    assert_eq!(
        write_json(&Reference(Dynamic(&wrong)), root("Node"), PROFILES[0]),
        None
    );
    assert_eq!(write_cbor(&Reference(Dynamic(&wrong)), root("Node")), None);
}

/// Documents of numbers, words and nesting, as a structure's members too.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<f32>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "-?[1-9][0-9]{19,60}".prop_map(|digits| {
            Value::from(digits.parse::<polywire_schema::BigInteger>().unwrap())
        }),
        "-?[1-9][0-9]{0,9}\\.[0-9]{1,9}(e-?[0-9]{1,3})?".prop_map(|digits| {
            Value::from(digits.parse::<polywire_schema::BigDecimal>().unwrap())
        }),
        (any::<i64>(), 0..1_000_000_000_u32)
            .prop_map(|(seconds, nanoseconds)| Value::from(Timestamp::new(seconds, nanoseconds))),
        proptest::collection::vec(any::<u8>(), 0..60).prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 40, 6, |inner| {
        let key = prop_oneof![
            any::<String>(),
            prop::sample::select(vec![
                "name", "left", "children", "byKey", "choice", "text", "number", "dense", "sparse",
                "long", "double", "time", "document", "blob",
            ])
            .prop_map(str::to_owned),
        ];
        let entries = proptest::collection::vec((key, inner.clone()), 0..12);
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(Value::List),
            entries.prop_map(|entries| Value::Map(Map::from_iter(entries))),
        ]
    })
}

fn changed(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    for (index, kind, byte) in changes {
        let at = index.index(bytes.len() + 1);
        match kind % 4 {
            0 => bytes.insert(at, *byte),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 => bytes.truncate(at),
            _ if at < bytes.len() => bytes[at] = *byte,
            _ => {}
        }
    }
    bytes
}

fn encoded(value: &Value) -> (Vec<u8>, Vec<u8>) {
    let mut json = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    value.encode(Member::DOCUMENT, &mut json);
    let mut cbor = CborEncoder::new(Vec::new());
    value.encode(Member::DOCUMENT, &mut cbor);
    (
        json.finish().unwrap_or_default(),
        cbor.finish().unwrap_or_default(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn documents(value in value()) {
        written(&Dynamic(&value), Member::DOCUMENT);
    }

    #[test]
    fn changed_messages(
        value in value(),
        changes in proptest::collection::vec(any::<(prop::sample::Index, u8, u8)>(), 1..4),
    ) {
        let (json, cbor) = encoded(&value);
        all_of_cbor(&changed(cbor, &changes));
        let xmlrpc = write_xmlrpc(&Dynamic(&value), Member::DOCUMENT, Envelope::Value);
        let xmlrpc = xmlrpc.unwrap_or_default().replace("<value>", "\u{1}");
        if let Ok(text) = String::from_utf8(changed(xmlrpc.into_bytes(), &changes)) {
            let text = text.replace('\u{1}', "<value>");
            all_of_xmlrpc(text.trim_start_matches("<value>").trim_end_matches("</value>"));
        }
        if let Ok(text) = String::from_utf8(changed(json, &changes)) {
            all_of_json(&text);
        }
    }

    #[test]
    fn random_cbor(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        all_of_cbor(&bytes);
    }

    #[test]
    fn random_json(pieces in proptest::collection::vec(prop::sample::select(PIECES), 0..14)) {
        all_of_json(&pieces.concat());
    }
}

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"name\":",
    "\"children\":",
    "\"dense\":",
    "\"text\":",
    "\"x\"",
    "\"time\":",
    "\"long\":",
    "0",
    "1",
    "-",
    ".",
    "e",
    "01",
    "1.5",
    "-0",
    "1e400",
    "null",
    "true",
    "\"\\n\"",
    "\"\\ud83d\"",
    " ",
    "\n",
    "\u{b}",
    "\u{feff}",
    "\u{e9}",
    "[1]",
    "{\"c\":[]}",
];
