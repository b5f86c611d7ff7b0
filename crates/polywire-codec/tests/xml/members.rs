//! Members, unions and limits, which the tests of the other formats put together
//! from documents.

use polywire_codec::xml::XmlProfile;
use polywire_schema::{ErrorKind, Limits, Value};

use super::shapes::{Wide, root, samples};
use super::{read, read_lenient, read_with, write};

#[test]
fn members_in_any_order_and_once() {
    let at = root("Wide");
    let text = write::<Wide>(&samples::wide(), at).unwrap();
    let value = read(&text, at).unwrap();
    let count = value.as_map().unwrap().len();
    assert!(count > 128, "{count}");
    // Backwards, every member twice, and behind a value of the same shape.
    let member = |name: &str, value: usize| format!("<{name}>{value}</{name}>");
    let name = |ordinal: usize| format!("number{ordinal}");
    let backwards: String = (0..150)
        .rev()
        .map(|ordinal| member(&name(ordinal), ordinal))
        .collect();
    let value = read(&format!("<Wide>{backwards}</Wide>"), at).unwrap();
    assert!((0..150).all(|ordinal| value[&*name(ordinal)].as_i64() == Some(ordinal as i64)));
    for ordinal in [0, 63, 64, 127, 128, 149] {
        let again = member(&name(ordinal), 1);
        for between in ["", "<inner/>", &format!("<inner>{again}</inner>")] {
            let text = format!("<Wide>{again}{between}{again}</Wide>");
            assert_eq!(
                read(&text, at).unwrap_err().kind(),
                ErrorKind::Duplicate,
                "{text}"
            );
        }
    }
}

#[test]
fn required_members_and_unions() {
    let at = root("Node");
    assert_eq!(read("<Node/>", at).unwrap_err().kind(), ErrorKind::Missing);
    assert!(read_lenient("<Node/>", at).is_ok());
    let at = root("Choice");
    let union = |content: &str| format!("<Choice>{content}</Choice>");
    let value = read(&union("<number> 5 </number>"), at).unwrap();
    assert_eq!(value["number"].as_i64(), Some(5));
    assert!(read(&union("<empty/>"), at).is_ok());
    for content in ["", "<number>5</number><text>t</text>"] {
        assert!(read(&union(content), at).is_err(), "{content}");
        assert!(read_lenient(&union(content), at).is_err(), "{content}");
    }
    let unknown = union("<newer><a/></newer>");
    assert_eq!(read(&unknown, at).unwrap_err().kind(), ErrorKind::Unknown);
    assert!(
        read_lenient(&unknown, at)
            .unwrap()
            .as_map()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn strings_of_every_length() {
    let at = root("Bucket");
    for len in [
        0, 1, 7, 8, 15, 16, 22, 23, 24, 31, 32, 33, 63, 64, 65, 1000, 70_000,
    ] {
        for text in ["x".repeat(len), "\u{e9}".repeat(len), "&<".repeat(len)] {
            let value = Value::Map([("name", text.as_str())].into_iter().collect());
            let written = write(&value, at).unwrap();
            assert_eq!(read(&written, at).unwrap(), value);
        }
    }
}

/// A flattened list counts once, however many elements are between its items.
#[test]
fn a_list_that_goes_on_counts_once() {
    let text = "<Bucket><Prefix>a</Prefix><Name>n</Name><Prefix>b</Prefix></Bucket>";
    let with_items = |items| {
        let limits = Limits::DEFAULT.with_items(items);
        read_with(text, root("Bucket"), XmlProfile::DEFAULT, &limits)
    };
    assert!(with_items(3).is_ok());
    assert!(with_items(2).is_err_and(|error| error.is_limit()));
}

#[test]
fn limits() {
    let at = root("Node");
    let nested = |depth: usize| {
        let (open, close) = ("<left><name>n</name>", "</left>");
        let inner = format!("{}{}", open.repeat(depth - 1), close.repeat(depth - 1));
        format!("<Node><name>n</name>{inner}</Node>")
    };
    let refused = |text: &str, limits: Limits| {
        read_with(text, at, XmlProfile::DEFAULT, &limits).is_err_and(|error| error.is_limit())
    };
    assert!(read(&nested(64), at).is_ok());
    assert!(refused(&nested(65), Limits::DEFAULT));
    assert!(refused(&nested(1_000), Limits::DEFAULT));
    let unknown = format!("<Node><name>n</name>{}</Node>", "<x/>".repeat(10));
    assert!(refused(&unknown, Limits::DEFAULT.with_items(9)));
    assert!(!refused(&unknown, Limits::DEFAULT.with_items(10)));
    assert!(refused(
        "<Node><name>abcd</name></Node>",
        Limits::DEFAULT.with_string(3)
    ));
    assert!(refused(
        "<Node><name>abc&amp;</name></Node>",
        Limits::DEFAULT.with_string(3)
    ));
    assert!(!refused(
        "<Node><name>ab&amp;</name></Node>",
        Limits::DEFAULT.with_string(3)
    ));
    assert!(refused(
        "<Node><name>n</name></Node>",
        Limits::DEFAULT.with_bytes(10)
    ));
}
