//! Values through every writer.

use polywire_codec::cbor::CborEncoder;
use polywire_codec::form::{FormEncoder, FormProfile};
use polywire_codec::json::{JsonEncoder, JsonProfile};
use polywire_codec::xml::{XmlEncoder, XmlProfile};
use polywire_codec::xmlrpc::{Envelope, FaultDetail, ForbiddenText, Nil, Style, XmlRpcEncoder};
use polywire_schema::{
    Defaults, Direction, Encode, Encoder, Map, Member, Text, Timestamp, TimestampFormat, Value,
};
use test_data::record::{Record, Transcript};

use crate::observe;
use crate::shapes::{root, samples};

pub(crate) const JSON_PROFILES: [(&str, JsonProfile); 9] = [
    ("default", JsonProfile::DEFAULT),
    (
        "client",
        JsonProfile::DEFAULT.for_client().with_json_names(true),
    ),
    ("human", JsonProfile::HUMAN),
    ("node", JsonProfile::NODE),
    (
        "fixed",
        JsonProfile::DEFAULT
            .with_fixed_timestamps(true)
            .with_quoted_big_numbers(true),
    ),
    (
        "http-date",
        JsonProfile::DEFAULT
            .with_timestamp_format(TimestampFormat::HttpDate)
            .with_text_blobs(true)
            .with_defaults(Defaults::Ignored),
    ),
    (
        "request",
        JsonProfile::DEFAULT.with_part(polywire_schema::Part::Body(Direction::Request)),
    ),
    (
        "response",
        JsonProfile::DEFAULT.with_part(polywire_schema::Part::Body(Direction::Response)),
    ),
    (
        "payload",
        JsonProfile::DEFAULT.with_part(polywire_schema::Part::Payload(Direction::Request)),
    ),
];

pub(crate) const XML_PROFILES: [(&str, XmlProfile<'static>); 7] = [
    ("default", XmlProfile::DEFAULT),
    ("client", XmlProfile::DEFAULT.for_client()),
    (
        "epoch",
        XmlProfile::DEFAULT.with_timestamp_format(TimestampFormat::EpochSeconds),
    ),
    (
        "request",
        XmlProfile::DEFAULT.with_part(polywire_schema::Part::Body(Direction::Request)),
    ),
    (
        "response",
        XmlProfile::DEFAULT.with_part(polywire_schema::Part::Body(Direction::Response)),
    ),
    (
        "payload",
        XmlProfile::DEFAULT.with_part(polywire_schema::Part::Payload(Direction::Request)),
    ),
    ("unwrapped", XmlProfile::DEFAULT.with_unwrapped(true)),
];

pub(crate) const FORM_PROFILES: [(&str, FormProfile); 5] = [
    ("query", FormProfile::AWS_QUERY),
    ("ec2", FormProfile::EC2_QUERY),
    ("query client", FormProfile::AWS_QUERY.for_client()),
    (
        "query http-date",
        FormProfile::AWS_QUERY.with_timestamp_format(TimestampFormat::HttpDate),
    ),
    (
        "query own",
        FormProfile::AWS_QUERY.with_protocol_fields(&["name"]),
    ),
];

fn styles() -> [(&'static str, Style); 5] {
    let mut untyped = Style::DEFAULT;
    untyped.untyped_strings = true;
    untyped.nil = Nil::Prefixed;
    untyped.prefixed_i8 = true;
    untyped.fractions = true;
    let mut refusing = Style::DEFAULT;
    refusing.nil = Nil::Reject;
    refusing.fault_detail = FaultDetail::Always;
    refusing.forbidden = ForbiddenText::Base64;
    let mut replacing = Style::DEFAULT;
    replacing.forbidden = ForbiddenText::Replace;
    let mut stripping = Style::DEFAULT;
    stripping.forbidden = ForbiddenText::Strip;
    [
        ("default", Style::DEFAULT),
        ("untyped", untyped),
        ("refusing", refusing),
        ("replacing", replacing),
        ("stripping", stripping),
    ]
}

/// Writes a value with every writer and profile.
pub(crate) fn everything<T: Encode>(value: &T, at: Member<'_>, to: &mut Transcript) {
    for (name, profile) in JSON_PROFILES {
        let mut encoder = JsonEncoder::new(profile, b"before".to_vec());
        value.encode(at, &mut encoder);
        observe::message(to, &format!("json {name}"), encoder.finish());
    }
    let mut encoder = CborEncoder::new(b"before".to_vec());
    value.encode(at, &mut encoder);
    observe::message(to, "cbor", encoder.finish());
    for (name, profile) in XML_PROFILES {
        let mut encoder = XmlEncoder::new(profile, b"before".to_vec());
        value.encode(at, &mut encoder);
        observe::message(to, &format!("xml {name}"), encoder.finish());
    }
    let namespace = XmlProfile::DEFAULT.with_namespace(Some((Some("p"), "https://a.example/")));
    let mut encoder = XmlEncoder::new(namespace, Vec::new());
    value.encode(at, &mut encoder as &mut dyn Encoder);
    observe::message(to, "xml namespace", encoder.finish());
    for (name, profile) in FORM_PROFILES {
        let mut encoder = FormEncoder::new(profile, b"Action=A".to_vec());
        value.encode(at, &mut encoder);
        observe::message(to, &format!("form {name}"), encoder.finish());
    }
    let envelopes = [
        ("response", Envelope::Response),
        ("fault", Envelope::Fault),
        (
            "call",
            Envelope::Call {
                method: "m",
                positional: false,
            },
        ),
        (
            "positional",
            Envelope::Call {
                method: "m",
                positional: true,
            },
        ),
    ];
    for (name, envelope) in envelopes {
        for (style_name, style) in styles() {
            let mut encoder = XmlRpcEncoder::new(envelope, Vec::new()).with_style(style);
            value.encode(at, &mut encoder);
            observe::message(to, &format!("xmlrpc {name} {style_name}"), encoder.finish());
        }
    }
}

/// The sample values of the tests, as types and as dynamic values.
pub(crate) fn samples(record: &mut Record) {
    fn sample<T: Encode>(record: &mut Record, name: &str, value: &T) {
        let at = root(name);
        record.case(&format!("{name} typed"), |to| everything(value, at, to));
        let dynamic = polywire_schema::to_value(value, at).unwrap();
        record.case(&format!("{name} dynamic"), |to| {
            everything(&dynamic, at, to);
        });
        record.case(&format!("{name} document"), |to| {
            everything(&dynamic, Member::DOCUMENT, to);
        });
    }

    sample(record, "Scalars", &samples::scalars());
    sample(record, "Node", &samples::node());
    sample(record, "Collections", &samples::collections());
    for (name, value) in values() {
        record.case(&format!("value {name}"), |to| {
            for shape in crate::read::SHAPES {
                everything(&value, root(shape), to);
            }
            everything(&value, Member::DOCUMENT, to);
        });
    }
}

/// Values that some shapes or formats cannot express.
fn values() -> Vec<(&'static str, Value)> {
    let map = |entries: Vec<(&'static str, Value)>| Value::Map(Map::from_iter(entries));
    let instants = [
        Timestamp::new(i64::MAX, 0),
        Timestamp::new(i64::MIN, 1),
        Timestamp::new(-62_135_596_801, 999_999_999),
        Timestamp::new(253_402_300_799, 999_999_999),
        Timestamp::new(0, 1),
    ];
    let times = instants.map(Value::from).to_vec();
    let strings = [
        "",
        " ",
        "a\u{0}b",
        "\u{1f600}",
        "a]]>b",
        "\r\n\t",
        "\"\\/<&>'",
        "\u{fffe}",
    ];
    let strings: Vec<Value> = strings
        .iter()
        .map(|text| Value::from(Text::from(*text)))
        .collect();
    let doubles = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        5e-324,
        1e308,
        0.1,
    ];
    let doubles: Vec<Value> = doubles.iter().map(|double| Value::from(*double)).collect();
    let integers = [i64::MIN, i64::MAX, -1, 0, 24, 255, 65_536, 4_294_967_296];
    let integers: Vec<Value> = integers
        .iter()
        .map(|integer| Value::from(*integer))
        .collect();
    vec![
        ("null", Value::Null),
        ("empty map", map(vec![])),
        ("empty list", Value::List(vec![])),
        ("wrong member", map(vec![("other", Value::from(1))])),
        ("null member", map(vec![("name", Value::Null)])),
        (
            "wrong types",
            map(vec![
                ("name", Value::from(1)),
                ("children", Value::from("x")),
                ("byte", Value::from(1000)),
                ("time", Value::from("x")),
            ]),
        ),
        (
            "union of two",
            map(vec![("text", Value::from("x")), ("number", Value::from(1))]),
        ),
        (
            "required member is missing",
            map(vec![("count", Value::from(1))]),
        ),
        ("times", Value::List(times.clone())),
        (
            "time",
            map(vec![
                ("time", times[1].clone()),
                ("httpDate", times[3].clone()),
            ]),
        ),
        ("strings", Value::List(strings)),
        ("doubles", Value::List(doubles.clone())),
        (
            "nan",
            map(vec![
                ("double", doubles[2].clone()),
                ("float", doubles[3].clone()),
            ]),
        ),
        ("integers", Value::List(integers)),
        (
            "nulls in collections",
            map(vec![
                ("sparse", Value::List(vec![Value::Null, Value::from("x")])),
                ("dense", Value::List(vec![Value::Null])),
                ("sparseCounts", map(vec![("a", Value::Null)])),
                ("counts", map(vec![("a", Value::Null)])),
            ]),
        ),
    ]
}
