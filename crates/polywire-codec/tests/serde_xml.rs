//! serde over XML, compared with quick-xml where both have the same conventions.
#![cfg(feature = "serde")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::xml;
use polywire_schema::ErrorKind;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Book {
    #[serde(rename = "@id")]
    id: u32,
    #[serde(rename = "@lang", default, skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    title: String,
    #[serde(default)]
    author: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    price: Option<f64>,
    available: bool,
}

/// An attribute behind an element.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Late {
    #[serde(default)]
    item: Vec<i32>,
    #[serde(rename = "@first")]
    first: String,
    inner: Note,
    #[serde(rename = "@second")]
    second: Vec<u8>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
struct Note {
    #[serde(rename = "@lang")]
    language: String,
    #[serde(rename = "$text", default)]
    text: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Numbers {
    #[serde(rename = "$text")]
    numbers: Vec<i64>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Inline {
    Bold(String),
    Break,
    Link {
        #[serde(rename = "@href")]
        target: String,
        #[serde(rename = "$text")]
        text: String,
    },
    Cite(Note),
    #[serde(rename = "$text")]
    Text(String),
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Paragraph {
    #[serde(rename = "@class")]
    class: Kind,
    #[serde(rename = "$value", default)]
    content: Vec<Inline>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
enum Kind {
    Plain,
    #[serde(rename = "very special")]
    Special,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Choice {
    kind: Kind,
    #[serde(rename = "$value")]
    choice: Inline,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Tree {
    name: String,
    #[serde(default)]
    tree: Vec<Tree>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Scalars {
    a: (i8, i16, i32, i64),
    b: (u8, u16, u32, u64),
    c: (i128, u128),
    d: (f32, f64),
    e: char,
    f: bool,
    g: (),
    h: Newtype,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Newtype(u16);

fn book() -> Book {
    Book {
        id: 7,
        language: Some("<&\"'>".to_owned()),
        title: "Tom & Jerry <2> ]]> \u{1f600}".to_owned(),
        author: vec!["A".to_owned(), String::new(), "C D".to_owned()],
        price: Some(-0.125),
        available: true,
    }
}

fn late() -> Late {
    Late {
        item: vec![1, -2, 3],
        first: "1".to_owned(),
        inner: Note {
            language: "de".to_owned(),
            text: "x".to_owned(),
        },
        second: vec![1, 2],
    }
}

fn paragraph() -> Paragraph {
    Paragraph {
        class: Kind::Special,
        content: vec![
            Inline::Text("one".to_owned()),
            Inline::Bold("two".to_owned()),
            Inline::Break,
            Inline::Link {
                target: "/?a&b".to_owned(),
                text: "here".to_owned(),
            },
            Inline::Text("three".to_owned()),
            Inline::Cite(Note {
                language: String::new(),
                text: "four".to_owned(),
            }),
        ],
    }
}

fn tree() -> Tree {
    let leaf = |name: &str| Tree {
        name: name.to_owned(),
        tree: vec![],
    };
    Tree {
        name: "root".to_owned(),
        tree: vec![
            leaf("a"),
            Tree {
                tree: vec![leaf("b1"), leaf("b2")],
                ..leaf("b")
            },
        ],
    }
}

fn scalars() -> Scalars {
    Scalars {
        a: (i8::MIN, i16::MIN, i32::MIN, i64::MIN),
        b: (u8::MAX, u16::MAX, u32::MAX, u64::MAX),
        c: (i128::MIN, u128::MAX),
        d: (f32::MIN_POSITIVE, f64::MAX),
        e: 'ü',
        f: false,
        g: (),
        h: Newtype(9),
    }
}

/// Both write what both read.
#[track_caller]
fn agree<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let own = xml::to_string(value).unwrap();
    let other = quick_xml::se::to_string(value).unwrap();
    for text in [&own, &other] {
        let back: T = xml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(&back, value, "{text}");
        let back: T =
            quick_xml::de::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(&back, value, "quick-xml: {text}");
    }
}

#[test]
fn as_quick_xml() {
    agree(&book());
    agree(&Book {
        language: None,
        price: None,
        author: vec![],
        ..book()
    });
    agree(&late());
    agree(&Numbers {
        numbers: vec![1, -2, 3],
    });
    // quick-xml cannot write a text behind an element.
    let text = xml::to_string(&paragraph()).unwrap();
    let read: Paragraph = quick_xml::de::from_str(&text).unwrap();
    assert_eq!(read, paragraph(), "{text}");
    let read: Paragraph = xml::from_str(&text).unwrap();
    assert_eq!(read, paragraph(), "{text}");
    agree(&Paragraph {
        class: Kind::Plain,
        content: paragraph().content[1..4].to_vec(),
    });
    agree(&Paragraph {
        class: Kind::Plain,
        content: vec![],
    });
    agree(&Choice {
        kind: Kind::Special,
        choice: Inline::Break,
    });
    agree(&Choice {
        kind: Kind::Plain,
        choice: Inline::Text("text".to_owned()),
    });
    agree(&tree());
    agree(&scalars());
    agree(&Inline::Break);
    agree(&Inline::Bold("a".to_owned()));
}

/// Documents that others write: both read the same.
#[test]
fn documents() {
    #[track_caller]
    fn same<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> T {
        let own: T = xml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let other: T = quick_xml::de::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(own, other, "{text}");
        own
    }
    let read: Book = same(
        r#"<?xml version="1.0" encoding="UTF-8"?>
        <!-- a book -->
        <b:book xmlns:b="urn:b" xmlns="urn:c" id=" 7 " extra="" xml:lang="en">
            <skipped><title>no</title>text<!-- <title> --></skipped>
            <b:title>  A <![CDATA[<&>]]> B&#33;  </b:title>
            <author>A</author>

            <author/>
            <!-- C --><author>C</author>
            <?target data?>
            <available> 1 </available>
            <price>
                1e3
            </price>
        </b:book>
        <!-- end -->"#,
    );
    assert_eq!((read.id, read.author.len(), read.price), (7, 3, Some(1e3)));
    for text in [
        "<a><available>true</available><id/><title/></a>",
        "<a id=''><available>true</available><title/></a>",
        "<a id='1'><available>yes</available><title/></a>",
        "<a id='1'><available>true</available><title/><available>true</available></a>",
        "<a id='1'><author/><available>true</available><author/><title/></a>",
        "<a id='1'><available>true</available></a>",
        "<a id='1'><title><b/></title><available>true</available></a>",
        "<a id='1'><title/><available>true</available>",
        "",
        "text",
    ] {
        assert!(xml::from_str::<Book>(text).is_err(), "{text}");
        assert!(quick_xml::de::from_str::<Book>(text).is_err(), "{text}");
    }
    let numbers: Numbers = same("<a> 1  2 -3 </a>");
    assert_eq!(numbers.numbers, [1, 2, -3]);
    // quick-xml splits at spaces only.
    let numbers: Numbers = xml::from_str("<a>\n 1\t2 \r\n-3 </a>").unwrap();
    assert_eq!(numbers.numbers, [1, 2, -3]);
    let late: Late =
        same("<late second='1 2' first=' a&#10;b '><item>1</item><inner lang='x'/>text</late>");
    assert_eq!((&*late.first, &*late.inner.text), (" a\nb ", ""));
    let paragraph: Paragraph = same(
        "<p class='very special'>\n  <bold>a</bold>\n  <break>ignored<x/></break>b<cite lang=''>c</cite>\n</p>",
    );
    assert_eq!(paragraph.content.len(), 4);
    let choice: Choice = same("<a><link href='x'>text</link><kind>Plain</kind></a>");
    assert_eq!(choice.kind, Kind::Plain);
    let map: BTreeMap<String, String> = same("<a b='1'><c>2</c><d:e>3</d:e>text</a>");
    assert_eq!(map["@b"], "1");
    assert_eq!((&*map["c"], &*map["e"], &*map["$text"]), ("2", "3", "text"));
    #[derive(Debug, Deserialize, PartialEq)]
    struct Options {
        #[serde(rename = "@a")]
        a: Option<String>,
        b: Option<String>,
        c: Option<Vec<u8>>,
        #[serde(rename = "$text")]
        text: Option<String>,
    }
    let nil = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:nil";
    for text in [
        "<o/>".to_owned(),
        "<o a=''><b/></o>".to_owned(),
        format!("<o><b {nil}='true'>x</b><c {nil}='false'>1</c></o>"),
        format!("<o>text<b {nil}='1'/></o>"),
    ] {
        let _: Options = same(&text);
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
enum External {
    Unit,
    Newtype(i32),
    Optional(Option<i32>),
    List(Vec<i32>),
    Tuple(i32, String),
    Struct {
        #[serde(rename = "@x")]
        x: i32,
        note: Note,
    },
}

fn externals() -> Vec<External> {
    vec![
        External::Unit,
        External::Newtype(-1),
        External::Optional(None),
        External::Optional(Some(1)),
        External::List(vec![1, 2]),
        External::Tuple(1, "a".to_owned()),
        External::Struct {
            x: 1,
            note: Note::default(),
        },
    ]
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Shapes {
    variant: External,
    #[serde(default)]
    variants: Vec<External>,
    #[serde(default)]
    options: Vec<Option<i32>>,
    #[serde(default)]
    lists: Vec<Vec<i32>>,
    map: BTreeMap<String, Option<u8>>,
    maps: Vec<BTreeMap<String, Vec<String>>>,
    #[serde(rename = "$value")]
    value: External,
    optional: Option<External>,
}

fn shapes() -> Shapes {
    let map = |key: &str| BTreeMap::from([(key.to_owned(), vec!["1 2".to_owned()])]);
    Shapes {
        variant: External::Unit,
        variants: externals(),
        options: vec![Some(1), None, Some(2)],
        lists: vec![vec![1, 2], vec![], vec![3]],
        map: BTreeMap::from([
            ("_a".to_owned(), None),
            ("@b".to_owned(), Some(1)),
            ("\u{e9}-1".to_owned(), Some(2)),
        ]),
        maps: vec![map("x"), map("y.z"), BTreeMap::new()],
        value: External::Unit,
        optional: None,
    }
}

#[track_caller]
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = xml::to_string(value).unwrap();
    let back: T = xml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(&back, value, "{text}");
    // What is written is well formed.
    let mut reader = quick_xml::Reader::from_str(&text);
    while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
    text
}

#[test]
fn shapes_of_values() {
    for value in externals() {
        for variant in externals() {
            round_trip(&Shapes {
                variant: variant.clone(),
                value: value.clone(),
                optional: Some(variant),
                ..shapes()
            });
        }
        round_trip(&value);
        // `Some` of a variant without a value is `None`, since both are `xsi:nil`.
        if value != External::Optional(None) {
            round_trip(&Some(value));
        }
    }
    let text = round_trip(&External::Tuple(1, "a".to_owned()));
    assert_eq!(text, "<Tuple>1 a</Tuple>");
    for (value, expected) in [
        (External::Unit, "<r><f>Unit</f></r>"),
        (External::Newtype(1), "<r><f><Newtype>1</Newtype></f></r>"),
        (
            External::Tuple(1, "a".to_owned()),
            "<r><f><Tuple>1</Tuple><Tuple>a</Tuple></f></r>",
        ),
        (
            External::Struct {
                x: 1,
                note: Note::default(),
            },
            r#"<r><f><Struct x="1"><note lang=""/></Struct></f></r>"#,
        ),
    ] {
        #[derive(Debug, Deserialize, PartialEq, Serialize)]
        #[serde(rename = "r")]
        struct Field {
            f: External,
        }
        assert_eq!(round_trip(&Field { f: value }), expected);
    }
    let text = round_trip(&late());
    let expected = r#"<Late first="1" second="1 2"><item>1</item>"#;
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(round_trip(&7), "<root>7</root>");
    assert_eq!(round_trip(&Newtype(7)), "<Newtype>7</Newtype>");
    assert_eq!(
        round_trip(&vec![1.5, f64::INFINITY]),
        "<root>1.5 INF</root>"
    );
    assert_eq!(round_trip(&()), "<root/>");
    assert_eq!(
        round_trip(&"<&>\"\r\t".to_owned()),
        "<root>&lt;&amp;&gt;\"&#13;\t</root>"
    );
}

/// Prefixes are ignored, but where a field has one.
#[test]
fn prefixes() {
    #[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
    #[serde(rename = "s:Envelope", deny_unknown_fields)]
    struct Envelope {
        #[serde(rename = "@xmlns:s")]
        namespace: String,
        #[serde(rename = "@x:href", default)]
        reference: String,
        #[serde(rename = "@name", default)]
        name: String,
        #[serde(rename = "s:Body")]
        bodies: Vec<u8>,
        other: u8,
    }
    let envelope = Envelope {
        namespace: "urn:s".to_owned(),
        reference: "#".to_owned(),
        bodies: vec![1, 2],
        ..Envelope::default()
    };
    round_trip(&envelope);
    let text = "<Envelope xmlns:s='urn:s' x:href='#' y:name='' xmlns:o='o'>\
        <s:Body>1</s:Body><s:Body>2</s:Body><o:other>0</o:other></Envelope>";
    assert_eq!(xml::from_str::<Envelope>(text).unwrap(), envelope);
    let error = xml::from_str::<Envelope>("<a xmlns:s=''><t:Body/></a>").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unknown);
}

/// White space is kept, also where it is all there is.
#[test]
fn white_space() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Mixed {
        a: String,
        #[serde(rename = "$text")]
        text: String,
        b: Option<String>,
    }
    for text in ["", " ", "\n\t ", " a ", "a\r\nb"] {
        round_trip(&text.to_owned());
        round_trip(&Note {
            language: text.to_owned(),
            text: text.to_owned(),
        });
        round_trip(&Mixed {
            a: text.to_owned(),
            text: text.to_owned(),
            b: Some(text.to_owned()),
        });
    }
    let read: Note = xml::from_str("<a lang=''>  </a>").unwrap();
    assert_eq!(read.text, "  ");
}

#[test]
fn unwritable() {
    #[derive(Serialize)]
    struct Text<'a> {
        #[serde(rename = "$text")]
        text: &'a [&'a str],
    }
    #[derive(Serialize)]
    struct Value<T> {
        #[serde(rename = "$value")]
        value: T,
    }
    #[derive(Serialize)]
    struct Both {
        #[serde(rename = "$text")]
        one: u8,
        #[serde(rename = "$value")]
        other: u8,
    }
    #[track_caller]
    fn error(value: &(impl Serialize + ?Sized)) {
        match xml::to_string(value) {
            Ok(text) => panic!("{text}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unwritable),
        }
    }
    error("\u{1}");
    error(&'\u{ffff}');
    error(&BTreeMap::from([("@a", "\0")]));
    for name in [
        "", "a:b", ":", "a:", "@a:b", "a b", "1", "-a", "a<", "@", "@1", "a\u{d7}", "$other",
    ] {
        error(&BTreeMap::from([(name, 1)]));
    }
    error(&BTreeMap::from([(vec![1], 1)]));
    error(&BTreeMap::from([("@a", BTreeMap::from([("b", 1)]))]));
    error(&BTreeMap::from([("@a", vec![Some(1), None])]));
    error(&Text { text: &["a b"] });
    error(&Text { text: &[""] });
    error(&vec![vec![1]]);
    error(&vec![note()]);
    error(&Value { value: vec![1, 2] });
    error(&Value {
        value: vec![(), ()],
    });
    error(&Value {
        value: BTreeMap::from([("a", 1)]),
    });
    error(&Both { one: 1, other: 2 });
    error(&BTreeMap::from([("a", External::List(vec![]))]));
}

fn note() -> Note {
    Note {
        language: "en".to_owned(),
        text: "text".to_owned(),
    }
}

/// Each wrong document, the kind of the error, its offset and its path.
#[test]
fn errors() {
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[serde(rename = "@id", default)]
        _id: u8,
        #[serde(rename = "name")]
        _name: String,
        #[serde(rename = "item", default)]
        _items: Vec<u8>,
        #[serde(rename = "pair", default)]
        _pair: Option<(u8, u8)>,
        #[serde(rename = "choice", default)]
        _choice: Option<External>,
        #[serde(rename = "inner", default)]
        _inner: Option<Box<Strict>>,
    }
    let cases: &[(&str, ErrorKind, usize, &str)] = &[
        ("<a><name/><more/></a>", ErrorKind::Unknown, 10, "name"),
        ("<a><name/>text</a>", ErrorKind::Unknown, 10, "name"),
        ("<a more=''><name/></a>", ErrorKind::Unknown, 3, ""),
        ("<a><name/><name/></a>", ErrorKind::Duplicate, 10, "name"),
        ("<a id='1' id='2'><name/></a>", ErrorKind::Syntax, 9, ""),
        ("<a><inner/></a>", ErrorKind::Missing, 11, "inner"),
        ("<a id='x'><name/></a>", ErrorKind::InvalidValue, 7, ""),
        (
            "<a><item>1</item><item> 256</item></a>",
            ErrorKind::InvalidValue,
            23,
            "item[1]",
        ),
        (
            "<a><item>1</item><item> x</item></a>",
            ErrorKind::InvalidValue,
            24,
            "item[1]",
        ),
        (
            "<a><item>1</item><name/><item>1</item></a>",
            ErrorKind::Duplicate,
            24,
            "name",
        ),
        (
            "<a><item>&#x30;y</item></a>",
            ErrorKind::InvalidValue,
            9,
            "item",
        ),
        ("<a><name><b/></name></a>", ErrorKind::Syntax, 9, "name"),
        ("<a><name>&x;</name></a>", ErrorKind::Syntax, 10, "name"),
        ("<a><name>a</name>", ErrorKind::Truncated, 17, ""),
        ("<a><name>a", ErrorKind::Truncated, 10, "name"),
        ("<a><name>a</nam></a>", ErrorKind::Syntax, 10, "name"),
        ("<a><name/></a><a/>", ErrorKind::Syntax, 14, ""),
        (
            "<a><name/><pair>1</pair></a>",
            ErrorKind::InvalidValue,
            16,
            "pair",
        ),
        (
            "<a><name/><pair>1</pair><pair>1</pair><pair>1</pair></a>",
            ErrorKind::InvalidValue,
            16,
            "pair",
        ),
        (
            "<a><name/><choice>No</choice></a>",
            ErrorKind::Unknown,
            18,
            "choice",
        ),
        (
            "<a><name/><choice><No/></choice></a>",
            ErrorKind::Unknown,
            19,
            "choice",
        ),
        (
            "<a><name/><choice>Newtype</choice></a>",
            ErrorKind::WrongType,
            18,
            "choice",
        ),
        (
            "<a><name/><choice><Unit/><Unit/></choice></a>",
            ErrorKind::Syntax,
            25,
            "choice.Unit",
        ),
        ("<!DOCTYPE a><a><name/></a>", ErrorKind::Syntax, 0, ""),
    ];
    for (text, kind, offset, path) in cases {
        let error = xml::from_str::<Strict>(text).unwrap_err();
        let found = (error.kind(), error.offset(), error.path());
        assert_eq!(found, (*kind, Some(*offset), *path), "{text}: {error}");
    }
    let error = xml::from_slice::<String>(b"<a>\xff</a>").unwrap_err();
    let found = (error.kind(), error.offset());
    assert_eq!(found, (ErrorKind::Characters, Some(3)));
    let map = xml::from_str::<BTreeMap<String, i32>>("<a><b>1</b><c>1</c><x:b>2</x:b></a>");
    assert_eq!(map.unwrap_err().kind(), ErrorKind::Duplicate);
    let deep = |count| {
        let (open, close) = ("<tree><name/>".repeat(count), "</tree>".repeat(count));
        format!("{open}{close}")
    };
    assert!(xml::from_str::<Tree>(&deep(60)).is_ok());
    assert!(xml::from_str::<Tree>(&deep(70)).unwrap_err().is_limit());
    assert!(xml::from_str::<()>(&deep(70)).unwrap_err().is_limit());
    let value = xml::from_str::<polywire_schema::Value>(&deep(70));
    assert!(value.unwrap_err().is_limit());
}

#[test]
fn borrowed() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Borrowed<'a> {
        #[serde(rename = "@attribute")]
        attribute: &'a str,
        plain: &'a str,
        cdata: &'a str,
        #[serde(borrow)]
        either: Cow<'a, str>,
        #[serde(rename = "$text", borrow)]
        items: Vec<&'a str>,
    }
    let text = "<a attribute='b'><plain>c</plain><cdata><![CDATA[<]]></cdata>\
        <either>&amp;</either>d e</a>";
    let read: Borrowed<'_> = xml::from_str(text).unwrap();
    assert_eq!((read.attribute, read.plain, read.cdata), ("b", "c", "<"));
    assert_eq!((&*read.either, &*read.items), ("&", &["d", "e"][..]));
    let text = text.replace("<plain>c", "<plain>&lt;");
    let error = xml::from_str::<Borrowed<'_>>(&text).unwrap_err();
    let found = (error.kind(), error.offset(), error.path());
    assert_eq!(found, (ErrorKind::WrongType, Some(24), "plain"));
    let bytes = xml::to_vec(&shapes()).unwrap();
    assert_eq!(xml::from_reader::<Shapes>(&bytes[..]).unwrap(), shapes());
    let mut out = Vec::new();
    xml::to_writer(&mut out, &shapes()).unwrap();
    assert_eq!(out, bytes);
}

/// Types that serde reads through a buffer: scalars are strings in it.
#[test]
fn buffered() {
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Flat {
        #[serde(rename = "@id")]
        id: u8,
        #[serde(flatten)]
        note: Outer,
        #[serde(flatten)]
        rest: BTreeMap<String, String>,
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Outer {
        title: String,
        note: Note,
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    #[serde(tag = "@type")]
    enum Tagged {
        Note(Note),
        Text { text: String },
        Number { number: i32 },
    }
    #[derive(Debug, Deserialize, PartialEq, Serialize)]
    struct Document {
        tagged: Tagged,
    }
    round_trip(&Flat {
        id: 1,
        note: Outer {
            title: "t".to_owned(),
            note: note(),
        },
        rest: BTreeMap::from([
            ("@x".to_owned(), "1".to_owned()),
            ("y".to_owned(), "2".to_owned()),
        ]),
    });
    for tagged in [
        Tagged::Note(note()),
        Tagged::Text {
            text: "a".to_owned(),
        },
    ] {
        round_trip(&Document { tagged });
    }
    let text = xml::to_string(&Document {
        tagged: Tagged::Number { number: 1 },
    });
    let error = xml::from_str::<Document>(&text.unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongType);
}

proptest! {
    /// Any text that XML can hold is read as it was written, wherever it is.
    #[test]
    fn texts(text in ".{0,20}|[ \t\r\n<>&'\"\\]a]{0,12}|[a-zé:]{1,4}") {
        let allowed = |c: char| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}');
        let is_xml = text.chars().all(|c| allowed(c) && !matches!(c, '\u{fffe}' | '\u{ffff}'));
        let note = Note {
            language: text.clone(),
            text: text.clone(),
        };
        let notes = BTreeMap::from([(text.clone(), vec![note.clone(), note])]);
        let value = BTreeMap::from([("a".to_owned(), text)]);
        match xml::to_string(&value) {
            Err(error) => prop_assert!(!is_xml, "{error}"),
            Ok(written) => {
                prop_assert!(is_xml);
                prop_assert_eq!(xml::from_str::<BTreeMap<_, _>>(&written).unwrap(), value);
            }
        }
        if let Ok(written) = xml::to_string(&notes) {
            prop_assert_eq!(xml::from_str::<BTreeMap<_, _>>(&written).unwrap(), notes);
        }
    }
}

/// Documents that are cut off or have one byte changed are read or rejected.
#[test]
fn robust() {
    let short = [
        "<a b='1' x:b=\"&lt;\"><Unit/>t<![CDATA[]]]]><c>2</c><c/> </a>",
        "<?xml version='1.0'?><!-- c --><é:a x='&#x41;'>é<?p i?><b/></é:a>\n",
        "<name><!----><tree><name xsi:nil='true'/></tree></name>",
    ];
    for text in short {
        check_changes(text.as_bytes(), &(0..=u8::MAX).collect::<Vec<u8>>());
    }
    let long = [
        xml::to_vec(&shapes()).unwrap(),
        xml::to_vec(&book()).unwrap(),
        xml::to_vec(&paragraph()).unwrap(),
    ];
    for text in long {
        check_changes(&text, b"\0<>/&\"a\xff");
    }
}

fn check_changes(text: &[u8], bytes: &[u8]) {
    let mut changed = text.to_vec();
    for at in 0..text.len() {
        read_all(&text[..at]);
        for byte in bytes {
            changed[at] = *byte;
            read_all(&changed);
        }
        changed[at] = text[at];
    }
}

fn read_all(bytes: &[u8]) {
    let _ = xml::from_slice::<Shapes>(bytes);
    let _ = xml::from_slice::<Book>(bytes);
    let _ = xml::from_slice::<Paragraph>(bytes);
    let _ = xml::from_slice::<External>(bytes);
    let _ = xml::from_slice::<Tree>(bytes);
    let _ = xml::from_slice::<Vec<String>>(bytes);
    let _ = xml::from_slice::<polywire_schema::Value>(bytes);
}
