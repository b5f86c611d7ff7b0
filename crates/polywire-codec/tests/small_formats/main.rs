//! The proof that the traits carry formats which are not here yet: XML and
//! forms, and HTTP messages in parts, as small codecs that only tests use.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod form;
mod head;
mod payload;
mod scalars;
#[path = "../shapes/mod.rs"]
mod shapes;

use std::collections::BTreeMap;
use std::fmt::Debug;

use form::{FormDecoder, FormEncoder};
use head::{Head, HeadDecoder, HeadEncoder};
use payload::{PayloadDecoder, PayloadEncoder};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_schema::Direction::{Request, Response};
use polywire_schema::{
    Blob, Decode, DecodeStructure, Decoder, Direction, Encode, Encoder, Error, ErrorKind, Limits,
    Map, Member, Text, Value,
};
use shapes::{
    Bucket, Choice, Collections, Entry, Grantee, Node, PutBlob, PutNode, PutThing, QueryInput,
    root, samples,
};

/// A format that writes text.
trait Reference {
    fn write<T: Encode>(value: &T, at: Member<'_>) -> Result<String, Error>;
    fn write_dyn<T: Encode>(value: &T, at: Member<'_>) -> Result<String, Error>;
    fn read<'de, T: Decode<'de>>(text: &'de str, at: Member<'_>) -> Result<T, Error>;
    fn read_dyn<'de, T: Decode<'de>>(text: &'de str, at: Member<'_>) -> Result<T, Error>;
}

macro_rules! test_format {
    ($name:ident, $encoder:ident, $decoder:ident) => {
        struct $name;

        impl Reference for $name {
            fn write<T: Encode>(value: &T, at: Member<'_>) -> Result<String, Error> {
                let mut encoder = $encoder::default();
                value.encode(at, &mut encoder);
                encoder.finish()
            }

            fn write_dyn<T: Encode>(value: &T, at: Member<'_>) -> Result<String, Error> {
                let mut encoder = $encoder::default();
                value.encode(at, &mut encoder as &mut dyn Encoder);
                encoder.finish()
            }

            fn read<'de, T: Decode<'de>>(text: &'de str, at: Member<'_>) -> Result<T, Error> {
                T::decode(at, &mut $decoder::new(text))
            }

            fn read_dyn<'de, T: Decode<'de>>(text: &'de str, at: Member<'_>) -> Result<T, Error> {
                T::decode(at, &mut $decoder::new(text) as &mut dyn Decoder<'de>)
            }
        }
    };
}

/// The format of the crate.
struct Xml;

impl Reference for Xml {
    fn write<T: Encode>(value: &T, at: Member<'_>) -> Result<String, Error> {
        let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT, Vec::new());
        value.encode(at, &mut encoder);
        Ok(String::from_utf8(encoder.finish()?).unwrap())
    }

    fn write_dyn<T: Encode>(value: &T, at: Member<'_>) -> Result<String, Error> {
        let mut encoder = XmlEncoder::new(XmlProfile::DEFAULT, Vec::new());
        value.encode(at, &mut encoder as &mut dyn Encoder);
        Ok(String::from_utf8(encoder.finish()?).unwrap())
    }

    fn read<'de, T: Decode<'de>>(text: &'de str, at: Member<'_>) -> Result<T, Error> {
        let mut decoder = XmlDecoder::from_str(text, XmlProfile::DEFAULT, &Limits::DEFAULT)?;
        let value = T::decode(at, &mut decoder)?;
        decoder.finish()?;
        Ok(value)
    }

    fn read_dyn<'de, T: Decode<'de>>(text: &'de str, at: Member<'_>) -> Result<T, Error> {
        let mut decoder = XmlDecoder::from_str(text, XmlProfile::DEFAULT, &Limits::DEFAULT)?;
        let value = T::decode(at, &mut decoder as &mut dyn Decoder<'de>)?;
        decoder.finish()?;
        Ok(value)
    }
}

test_format!(Form, FormEncoder, FormDecoder);

/// Typed and `Value`, monomorphised and `dyn`, both ways.
fn check<W: Reference, T>(value: &T, at: Member<'_>) -> String
where
    T: Encode + for<'de> Decode<'de> + PartialEq + Debug,
{
    let text = W::write(value, at).unwrap();
    assert_eq!(W::write_dyn(value, at).unwrap(), text);
    for read in [W::read::<T>(&text, at), W::read_dyn::<T>(&text, at)] {
        let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read, *value, "{text}");
    }
    let dynamic: Value = W::read_dyn(&text, at).unwrap();
    assert_eq!(W::write_dyn(&dynamic, at).unwrap(), text);
    assert_eq!(W::read::<Value>(&text, at).unwrap(), dynamic);
    text
}

/// Reads as a type and as `Value`; both must mean the same.
fn read<W: Reference, T>(text: &str, at: Member<'_>) -> Result<T, Error>
where
    T: Encode + for<'de> Decode<'de>,
{
    let typed = W::read::<T>(text, at);
    let dynamic = W::read_dyn::<Value>(text, at);
    match (&typed, &dynamic) {
        (Ok(typed), Ok(dynamic)) => {
            let written = W::write_dyn(dynamic, at).unwrap();
            assert_eq!(W::write(typed, at).unwrap(), written);
        }
        (Err(typed), Err(dynamic)) => assert_eq!(typed.to_string(), dynamic.to_string()),
        other => panic!("{:?}", (other.0.is_ok(), other.1.is_ok())),
    }
    typed
}

fn texts(texts: &[&str]) -> Vec<Text> {
    texts.iter().map(|text| Text::from(*text)).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeMap<Text, Text> {
    let pair = |(key, value): &(&str, &str)| (Text::from(*key), Text::from(*value));
    pairs.iter().map(pair).collect()
}

fn entry(key: &str, size: i64) -> Entry {
    Entry {
        key: Some(Text::from(key)),
        size: Some(size),
    }
}

fn bucket() -> Bucket {
    Bucket {
        name: Some(Text::from("a <b> & \"c\"")),
        owner: Some(Grantee {
            kind: Some(Text::from("User \"<&>\"")),
            size: Some(-3),
            display_name: Some(Text::from("me")),
        }),
        contents: Some(vec![entry("a", 1), entry("b", 2)]),
        prefixes: Some(texts(&["x/", "", "y/"])),
        parts: Some(vec![1, 2]),
        tags: Some(pairs(&[("k", "v"), ("l", "")])),
        labels: Some(pairs(&[("one", "1"), ("two", "2")])),
        created: Some(samples::INSTANT),
        qualified: Some(Text::from("q")),
    }
}

#[test]
fn xml_as_it_is_written() {
    let text = check::<Xml, _>(&bucket(), root("Bucket"));
    let expected = [
        "<Bucket xmlns=\"http://example.com/\">",
        "<Name>a &lt;b&gt; &amp; \"c\"</Name>",
        "<Owner xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"",
        " xsi:type=\"User &quot;&lt;&amp;&gt;&quot;\" size=\"-3\">",
        "<DisplayName>me</DisplayName></Owner>",
        "<Contents><Key>a</Key><Size>1</Size></Contents>",
        "<Contents><Key>b</Key><Size>2</Size></Contents>",
        "<Prefix>x/</Prefix><Prefix></Prefix><Prefix>y/</Prefix>",
        "<Parts><Part>1</Part><Part>2</Part></Parts>",
        "<Tags><entry><key>k</key><value>v</value></entry>",
        "<entry><key>l</key><value></value></entry></Tags>",
        "<Label><K>one</K><V>1</V></Label><Label><K>two</K><V>2</V></Label>",
        "<Created>2026-11-21T20:30:00.25Z</Created>",
        "<p:Qualified xmlns:p=\"http://example.com/p?a&amp;b\">q</p:Qualified>",
        "</Bucket>",
    ];
    assert_eq!(text, expected.concat());
}

#[test]
fn attributes_alone_and_absent() {
    let at = root("Bucket");
    for owner in [
        Grantee::default(),
        Grantee {
            kind: Some(Text::EMPTY),
            ..Grantee::default()
        },
        Grantee {
            display_name: Some(Text::from("n")),
            ..Grantee::default()
        },
    ] {
        let bucket = Bucket {
            owner: Some(owner),
            ..Bucket::default()
        };
        check::<Xml, _>(&bucket, at);
    }
}

#[test]
fn flattened_lists_whose_items_interleave() {
    let at = root("Bucket");
    let expected = Bucket {
        contents: Some(vec![entry("a", 1), entry("b", 2), entry("c", 3)]),
        prefixes: Some(texts(&["x", "y", "z"])),
        ..Bucket::default()
    };
    let contents = |key, size| format!("<Contents><Key>{key}</Key><Size>{size}</Size></Contents>");
    let (a, b, c) = (contents("a", 1), contents("b", 2), contents("c", 3));
    let (x, y, z) = (
        "<Prefix>x</Prefix>",
        "<Prefix>y</Prefix>",
        "<Prefix>z</Prefix>",
    );
    for text in [
        format!("<Bucket>{a}{x}{b}{y}{c}{z}</Bucket>"),
        format!("<Bucket>{x}{a}{b}{y}{z}{c}</Bucket>"),
        format!(
            "<Bucket>\n {a}\n {x}<Unknown><Prefix>no</Prefix></Unknown>{y}\n{b}{c}{z}\n</Bucket>"
        ),
    ] {
        assert_eq!(read::<Xml, Bucket>(&text, at).unwrap(), expected);
    }
}

#[test]
fn flattened_maps_whose_entries_stand_apart() {
    let at = root("Bucket");
    let label = |key: &str| format!("<Label><K>{key}</K><V>v</V></Label>");
    let text = format!(
        "<Bucket>{}<Prefix>x</Prefix>{}<Prefix>y</Prefix>{}</Bucket>",
        label("a"),
        label("b"),
        label("c")
    );
    let bucket = read::<Xml, Bucket>(&text, at).unwrap();
    assert_eq!(
        bucket.labels,
        Some(pairs(&[("a", "v"), ("b", "v"), ("c", "v")]))
    );
    assert_eq!(bucket.prefixes, Some(texts(&["x", "y"])));
    let text = format!(
        "<Bucket>{}<Prefix>x</Prefix>{}</Bucket>",
        label("a"),
        label("a")
    );
    let error = Xml::read::<Bucket>(&text, at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    let error = Xml::read::<Value>(&text, at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
}

/// A hostile message must not make reading quadratic.
#[test]
fn many_entries_that_stand_apart() {
    let at = root("Bucket");
    let entries: String = (0..30_000)
        .map(|key| format!("<Label><K>{key}</K><V/></Label><Prefix/>"))
        .collect();
    let text = format!("<Bucket>{entries}</Bucket>");
    let start = std::time::Instant::now();
    let value = Xml::read_dyn::<Value>(&text, at).unwrap();
    assert_eq!(value["labels"].as_map().map(Map::len), Some(30_000));
    assert_eq!(
        value["prefixes"].as_list().map(<[Value]>::len),
        Some(30_000)
    );
    assert!(start.elapsed().as_secs() < 10);
}

#[test]
fn prefixes_are_the_writers_choice() {
    let at = root("Bucket");
    let text = "<s3:Bucket xmlns:s3=\"http://example.com/\" xmlns:i=\"instance\">\
        <s3:Owner size=\"1\" i:type=\"User\"><s3:DisplayName>n</s3:DisplayName></s3:Owner>\
        <Qualified>q</Qualified></s3:Bucket>";
    let bucket = read::<Xml, Bucket>(text, at).unwrap();
    let expected = Bucket {
        owner: Some(Grantee {
            kind: Some(Text::from("User")),
            size: Some(1),
            display_name: Some(Text::from("n")),
        }),
        qualified: Some(Text::from("q")),
        ..Bucket::default()
    };
    assert_eq!(bucket, expected);
}

#[test]
fn keys_behind_values_and_duplicates() {
    let at = root("Bucket");
    let text = "<Bucket><Tags><entry><value>1</value><key>a</key></entry>\
        <entry><key>b</key><value>2</value></entry></Tags></Bucket>";
    let bucket = read::<Xml, Bucket>(text, at).unwrap();
    assert_eq!(bucket.tags, Some(pairs(&[("a", "1"), ("b", "2")])));
    let text = "<Bucket><Name>a</Name><Name>b</Name></Bucket>";
    let error = read::<Xml, Bucket>(text, at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    let text = "<Bucket><Tags><entry><key>a</key><value/></entry></Tags><Tags/></Bucket>";
    let error = read::<Xml, Bucket>(text, at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
}

#[test]
fn recursion_and_collections_in_xml() {
    check::<Xml, _>(&samples::node(), root("Node"));
    let collections = Collections {
        // XML has no documents.
        documents: None,
        documents_by_key: None,
        ..samples::collections()
    };
    check::<Xml, _>(&collections, root("Collections"));
}

#[test]
fn forms_as_they_are_written() {
    let input = QueryInput {
        name: Some(Text::from("a b&c=\u{e9}")),
        foo: Some(texts(&["a", "b"])),
        flat: Some(texts(&["x", "y"])),
        renamed: Some(vec![7, 8]),
        map: Some([(Text::from("k"), 1), (Text::from("l"), 2)].into()),
        flat_map: Some([(Text::from("m"), 3)].into()),
        node: Some(Node {
            children: Some(vec![Node::named("c")]),
            choice: Some(Choice::Number(5)),
            ..Node::named("n")
        }),
        nodes: Some(vec![Node::named("first"), Node::named("second")]),
    };
    let text = check::<Form, _>(&input, root("QueryInput"));
    let expected = [
        "Name=a%20b%26c%3D%C3%A9",
        "Foo.member.1=a&Foo.member.2=b",
        "Flat.1=x&Flat.2=y",
        "renamed.item.1=7&renamed.item.2=8",
        "Map.entry.1.key=k&Map.entry.1.value=1&Map.entry.2.key=l&Map.entry.2.value=2",
        "FlatMap.1.key=m&FlatMap.1.value=3",
        "Node.name=n&Node.children.member.1.name=c&Node.choice.number=5",
        "Nodes.member.1.name=first&Nodes.member.2.name=second",
    ];
    assert_eq!(text, expected.join("&"));
    // A form has no way to say that a structure in a list is empty.
    let node = Node {
        choices: Some(vec![Choice::List(vec![Choice::Number(1)])]),
        ..samples::node()
    };
    check::<Form, _>(&node, root("Node"));
}

#[test]
fn forms_in_any_order() {
    let at = root("QueryInput");
    let text = "Foo.member.10=j&Map.entry.2.value=2&Foo.member.2=b&Unknown.member.1=z&FlatMap.1.value=3\
        &Map.entry.1.key=k&Name=a+b&Foo.member.1=a&Map.entry.2.key=l&FlatMap.1.key=m&Map.entry.1.value=1";
    let expected = QueryInput {
        name: Some(Text::from("a b")),
        foo: Some(texts(&["a", "b", "j"])),
        map: Some([(Text::from("k"), 1), (Text::from("l"), 2)].into()),
        flat_map: Some([(Text::from("m"), 3)].into()),
        ..QueryInput::default()
    };
    assert_eq!(read::<Form, QueryInput>(text, at).unwrap(), expected);
    let empty = QueryInput {
        foo: Some(Vec::new()),
        ..QueryInput::default()
    };
    assert_eq!(check::<Form, _>(&empty, at), "Foo=");
    let error = read::<Form, QueryInput>("Name=a&Name=b", at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    let error = read::<Form, QueryInput>("Node.weight=1", at).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
}

fn thing() -> PutThing {
    PutThing {
        id: Text::from("a/b c"),
        title: Some(Text::from("in the body")),
        etag: Some(Text::from("\"tag\"")),
        since: Some(polywire_schema::Timestamp::new(1_795_293_000, 0)),
        tags: Some(texts(&["x", "y"])),
        node: samples::node(),
        meta: Some(pairs(&[("Color", "red"), ("Size", "1")])),
        limit: Some(10),
        filters: Some(
            [
                (Text::from("f"), texts(&["1", "2"])),
                (Text::from("g"), texts(&[""])),
            ]
            .into(),
        ),
        status: Some(201),
    }
}

/// The document of a message that goes this way.
const fn body_of(direction: Direction) -> JsonProfile {
    JsonProfile::DEFAULT.with_part(polywire_schema::Part::Body(direction))
}

/// Two passes over one value: what the head carries, then what the body does.
fn send<T: Encode>(value: &T, at: Member<'_>, direction: Direction) -> (Head, String) {
    let mut head = HeadEncoder::new(direction);
    value.encode(at, &mut head);
    let mut body = JsonEncoder::new(body_of(direction), Vec::new());
    value.encode(at, &mut body);
    let body = String::from_utf8(body.finish().unwrap()).unwrap();
    (head.finish().unwrap(), body)
}

/// Two parts into one builder.
fn receive<'de, T: DecodeStructure<'de>>(
    head: &'de Head,
    body: &'de str,
    at: Member<'_>,
    direction: Direction,
) -> Result<T, Error> {
    let mut builder = T::Builder::default();
    T::decode_part(&mut builder, at, &mut HeadDecoder::new(head, direction))?;
    let mut decoder = JsonDecoder::from_str(body, body_of(direction), &Limits::DEFAULT)?;
    T::decode_part(&mut builder, at, &mut decoder)?;
    decoder.finish()?;
    T::build(builder, at, &mut decoder)
}

#[test]
fn an_http_bound_structure_in_parts() {
    let at = root("PutThing");
    let thing = thing();
    let (head, body) = send(&thing, at, Request);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let expected = Head {
        labels: vec![pair("id", "a/b c")],
        headers: vec![
            pair("ETag", "\"tag\""),
            pair("X-Since", "Sat, 21 Nov 2026 20:30:00 GMT"),
            pair("X-Tags", "x, y"),
            pair("X-Meta-Color", "red"),
            pair("X-Meta-Size", "1"),
        ],
        query: vec![
            pair("limit", "10"),
            pair("f", "1"),
            pair("f", "2"),
            pair("g", ""),
        ],
        // Requests have no status code.
        status: None,
    };
    assert_eq!(head, expected);
    assert!(body.starts_with("{\"title\":\"in the body\",\"node\":{\"name\":\"root\""));
    assert!(
        !body.contains("etag") && body.ends_with("},\"status\":201}"),
        "{body}"
    );

    assert_eq!(
        receive::<PutThing>(&head, &body, at, Request).unwrap(),
        thing
    );
    let dynamic: Value = receive(&head, &body, at, Request).unwrap();
    assert_eq!(send(&dynamic, at, Request), (head.clone(), body.clone()));
    assert_eq!(dynamic["meta"]["Color"].as_str(), Some("red"));
    assert_eq!(dynamic["filters"]["f"][1].as_str(), Some("2"));

    // The body cannot set what the head carries.
    let forged = body.replacen('{', "{\"etag\":\"forged\",\"limit\":[1],", 1);
    assert_eq!(
        receive::<PutThing>(&head, &forged, at, Request).unwrap(),
        thing
    );
    assert_eq!(
        receive::<Value>(&head, &forged, at, Request).unwrap(),
        dynamic
    );
}

/// A response has no path and no query, so what a request has there stands in
/// its body.
#[test]
fn an_http_bound_structure_that_comes_back() {
    let at = root("PutThing");
    let thing = thing();
    let (head, body) = send(&thing, at, Response);
    assert_eq!(head.status.as_deref(), Some("201"));
    assert_eq!(head.headers.len(), 5);
    assert!(head.labels.is_empty() && head.query.is_empty());
    assert!(body.contains("\"id\":\"a/b c\""), "{body}");
    assert!(body.contains("\"limit\":10"), "{body}");
    assert!(body.contains("\"filters\":{\"f\":[\"1\",\"2\"]"), "{body}");
    assert!(!body.contains("status"), "{body}");
    assert_eq!(
        receive::<PutThing>(&head, &body, at, Response).unwrap(),
        thing
    );
    let dynamic: Value = receive(&head, &body, at, Response).unwrap();
    assert_eq!(send(&dynamic, at, Response), (head, body));
}

#[test]
fn required_members_of_either_part() {
    let at = root("PutThing");
    let (head, body) = send(&thing(), at, Request);
    let without_id = Head {
        labels: Vec::new(),
        ..head.clone()
    };
    for (head, body, missing) in [
        (&without_id, body.as_str(), "`id`"),
        (&head, "{}", "`node`"),
    ] {
        for error in [
            receive::<PutThing>(head, body, at, Request).unwrap_err(),
            receive::<Value>(head, body, at, Request).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Missing);
            assert!(error.to_string().contains(missing), "{error}");
        }
    }
}

fn json() -> JsonEncoder {
    JsonEncoder::new(JsonProfile::DEFAULT, Vec::new())
}

#[test]
fn a_structure_as_the_payload() {
    let at = root("PutNode");
    let put = PutNode {
        kind: Some(Text::from("k")),
        payload: Some(samples::node()),
    };
    let mut head = HeadEncoder::new(Request);
    put.encode(at, &mut head);
    let head = head.finish().unwrap();
    assert_eq!(head.headers, [("X-Kind".to_owned(), "k".to_owned())]);

    // As JSON.
    let mut body = PayloadEncoder::new(json());
    put.encode(at, &mut body);
    let body = String::from_utf8(body.inner.finish().unwrap()).unwrap();
    let mut plain = json();
    samples::node().encode(root("Node"), &mut plain);
    assert_eq!(body.as_bytes(), plain.finish().unwrap());
    let decoder = || JsonDecoder::from_str(&body, JsonProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    assert_eq!(
        with_payload::<PutNode, _>(&head, &mut decoder(), at).unwrap(),
        put
    );
    let dynamic: Value = with_payload(&head, &mut decoder(), at).unwrap();

    // As XML, in which it has the name of its shape.
    let mut body = PayloadEncoder::new(XmlEncoder::new(XmlProfile::DEFAULT, Vec::new()));
    dynamic.encode(at, &mut body);
    let body = String::from_utf8(body.inner.finish().unwrap()).unwrap();
    assert!(body.starts_with("<Node><name>root</name>"), "{body}");
    let mut decoder = XmlDecoder::from_str(&body, XmlProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    let read: PutNode = with_payload(&head, &mut decoder, at).unwrap();
    assert_eq!(read, put);
}

#[test]
fn a_blob_as_the_payload() {
    let at = root("PutBlob");
    let put = PutBlob {
        kind: Some(Text::from("k")),
        payload: Some(Blob::from(vec![0, 255, 1])),
    };
    let mut body = PayloadEncoder::new(json());
    put.encode(at, &mut body);
    assert_eq!(body.raw.as_deref(), Some(&[0, 255, 1][..]));
    assert!(body.inner.finish().unwrap().is_empty());
    let mut head = HeadEncoder::new(Request);
    put.encode(at, &mut head);
    let head = head.finish().unwrap();
    let mut unused = JsonDecoder::from_str("", JsonProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    let mut builder = PutBlob::default();
    PutBlob::decode_part(&mut builder, at, &mut HeadDecoder::new(&head, Request)).unwrap();
    let mut payload = PayloadDecoder {
        inner: &mut unused,
        raw: Blob::from(vec![0, 255, 1]),
    };
    PutBlob::decode_part(&mut builder, at, &mut payload).unwrap();
    assert_eq!(PutBlob::build(builder, at, &mut payload).unwrap(), put);
}

fn with_payload<'de, T: DecodeStructure<'de>, D: Decoder<'de>>(
    head: &'de Head,
    inner: &mut D,
    at: Member<'_>,
) -> Result<T, Error> {
    let mut builder = T::Builder::default();
    T::decode_part(&mut builder, at, &mut HeadDecoder::new(head, Request))?;
    let raw = Blob::EMPTY;
    let mut payload = PayloadDecoder { inner, raw };
    T::decode_part(&mut builder, at, &mut payload)?;
    T::build(builder, at, &mut payload)
}
