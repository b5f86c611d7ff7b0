//! serde over XML, compared with quick-xml where both have the same conventions.
#![cfg(feature = "serde")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use polywire_codec::xml;
use polywire_schema::ErrorKind;
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
    let mut texts = vec![own];
    // quick-xml cannot write text behind elements.
    texts.extend(quick_xml::se::to_string(value).ok());
    for text in &texts {
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
    agree(&paragraph());
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
