//! Documents that somebody wrote to be slow, each so large that work in the
//! square of its size would take many minutes where this takes seconds.

use polywire_codec::xml::{XmlDecoder, XmlProfile};
use polywire_schema::{Body, Decode, Decoder, END, Error, Limits, Text, Value};

use super::shapes::root;

/// How often what is hostile comes.
const MANY: usize = 200_000;

/// Reads without the reference implementation, which is slow.
fn read(text: String, shape: &str) -> Result<Value, Error> {
    let limits = Limits::DEFAULT.with_bytes(64 << 20).with_items(10_000_000);
    let limits = limits.with_string(64 << 20);
    let body = Body::from(text.into_bytes());
    let mut decoder = XmlDecoder::from_body(&body, XmlProfile::DEFAULT, &limits)?;
    let value = Value::decode(root(shape), &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

fn bucket(content: &str) -> Result<Value, Error> {
    read(
        format!("<Bucket>{content}<Name>n</Name></Bucket>"),
        "Bucket",
    )
}

fn is_read(content: &str) {
    assert_eq!(bucket(content).unwrap()["name"].as_str(), Some("n"));
}

#[test]
fn depth_is_limited_at_every_place() {
    for (open, close) in [
        ("<x>", "</x>"),
        ("<Name>", "</Name>"),
        ("<Contents>", "</Contents>"),
        ("<x a='1'>", "</x>"),
    ] {
        let deep = format!("{}{}", open.repeat(MANY), close.repeat(MANY));
        assert!(bucket(&deep).is_err(), "{open}");
        assert!(bucket(&open.repeat(MANY)).is_err(), "{open}");
    }
    let left = "<left><name>n</name>";
    let deep = format!(
        "<Node><name>n</name>{}{}</Node>",
        left.repeat(MANY),
        "</left>".repeat(MANY)
    );
    assert!(read(deep, "Node").unwrap_err().is_limit());
}

#[test]
fn elements_that_nobody_knows() {
    is_read(&"<x/>".repeat(MANY));
    is_read(&"<x>text<!-- c --></x>".repeat(MANY));
    let different: String = (0..MANY).map(|at| format!("<x{at}/>")).collect();
    is_read(&different);
    // With prefixes, which are looked for in another way.
    let different: String = (0..MANY).map(|at| format!("<p{at}:x/>")).collect();
    is_read(&different);
    is_read(&format!("<{}/>", "x".repeat(1 << 20)).repeat(4));
}

#[test]
fn texts_in_many_pieces() {
    for (piece, each) in [
        ("&amp;", "&"),
        ("&#65;", "A"),
        ("a<!-- c -->", "a"),
        ("a<?p i?>", "a"),
        ("<![CDATA[a]]>", "a"),
        ("\r\n", "\n"),
    ] {
        let text = format!("<Bucket><Name>{}</Name></Bucket>", piece.repeat(MANY));
        let value = read(text, "Bucket").unwrap();
        assert_eq!(
            value["name"].as_str().unwrap(),
            each.repeat(MANY),
            "{piece}"
        );
        is_read(&format!("<x>{}</x>", piece.repeat(MANY)));
    }
}

#[test]
fn what_never_ends() {
    for begin in [
        "<!--",
        "<![CDATA[",
        "<?p",
        "<x a='",
        "<x ",
        "&",
        "&#",
        "</",
        "<",
    ] {
        let text = format!("<Name>{}", begin.repeat(MANY));
        assert!(bucket(&text).is_err(), "{begin}");
        assert!(read(begin.repeat(MANY), "Bucket").is_err(), "{begin}");
    }
}

/// That each comes once is a rule of XML: looking for it must not compare each
/// with each.
#[test]
fn attributes() {
    let different: String = (0..MANY).map(|at| format!(" a{at}='1'")).collect();
    is_read(&format!("<x{different}/>"));
    let mut value = bucket(&format!("<Owner{different}/>"));
    assert!(value.is_ok(), "{value:?}");
    value = bucket(&format!("<Owner{different} a7='2'/>"));
    assert!(value.is_err());
}

/// A typed map grows as a vector does, though its entries come one at a time, and they
/// are not compared anew with each: that would take a minute here.
#[test]
fn entries_that_stand_apart_are_not_copied_each_time() {
    let entries: String = (0..20_000)
        .map(|key| format!("<Label><K>{key}</K><V/></Label><x/>"))
        .collect();
    let text = format!("<Bucket>{entries}</Bucket>");
    let mut decoder = XmlDecoder::from_str(&text, XmlProfile::DEFAULT, &Limits::DEFAULT).unwrap();
    let bucket = root("Bucket");
    let mut seq = decoder.structure(bucket).unwrap();
    let mut labels: Vec<(Text, Text)> = Vec::new();
    let mut moved = 0;
    loop {
        let ordinal = decoder.member(bucket.target(), &mut seq).unwrap();
        if ordinal == END {
            break;
        }
        let before = labels.capacity();
        let at = bucket.target().member(ordinal);
        labels.decode_into(at, &mut decoder).unwrap();
        moved += usize::from(labels.capacity() != before);
    }
    assert_eq!(labels.len(), 20_000);
    assert!(moved < 20, "{moved}");
}
