//! How values are written where there is a choice.

use polywire_codec::xmlrpc::{Envelope, ForbiddenText, Nil, Style, XmlRpcEncoder};
use polywire_schema::{Encode, Error, ErrorKind, Map, Member, Timestamp, Value};

use super::{inside, value};

fn by(style: Style, value: &Value) -> Result<String, Error> {
    let mut encoder = XmlRpcEncoder::new(Envelope::Value, Vec::new()).with_style(style);
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish().map(inside)
}

#[test]
fn untyped_strings() {
    let style = Style::DEFAULT.with_untyped_strings(true);
    for text in ["", "a", " a ", "a < b & c", "\r\n", "<int>5</int>"] {
        let xml = by(style, &Value::from(text)).unwrap();
        assert!(!xml.contains("<string>"));
        assert_eq!(value(&xml).unwrap(), Value::from(text), "{xml}");
    }
}

#[test]
fn nil() {
    let by = |nil| by(Style::DEFAULT.with_nil(nil), &Value::Null);
    assert_eq!(by(Nil::Plain).unwrap(), "<nil/>");
    let prefixed = by(Nil::Prefixed).unwrap();
    let namespace = "xmlns:ex=\"http://ws.apache.org/xmlrpc/namespaces/extensions\"";
    assert_eq!(prefixed, format!("<ex:nil {namespace}/>"));
    assert_eq!(value(&prefixed).unwrap(), Value::Null);
    assert!(
        by(Nil::Reject)
            .unwrap_err()
            .message()
            .contains("Style::nil")
    );
}

#[test]
fn integers_beyond_32_bits() {
    let style = Style::DEFAULT.with_prefixed_i8(true);
    for (number, text) in [(5, "<int>5</int>"), (-1 << 31, "<int>-2147483648</int>")] {
        assert_eq!(by(style, &Value::Integer(number)).unwrap(), text);
    }
    for number in [1 << 31, i64::MIN, i64::MAX] {
        let written = by(style, &Value::Integer(number)).unwrap();
        assert!(written.starts_with("<ex:i8 xmlns:ex="), "{written}");
        assert_eq!(value(&written).unwrap(), Value::Integer(number));
        assert_eq!(
            by(Style::DEFAULT, &Value::Integer(number)).unwrap(),
            format!("<i8>{number}</i8>")
        );
    }
}

#[test]
fn forbidden_text() {
    let by =
        |forbidden, text: &str| by(Style::DEFAULT.with_forbidden(forbidden), &Value::from(text));
    let text = "\u{1b}[1mred<\u{fffe}\0>";
    assert!(by(ForbiddenText::Reject, text).is_err());
    assert_eq!(
        by(ForbiddenText::Replace, text).unwrap(),
        "<string>\u{fffd}[1mred&lt;\u{fffd}\u{fffd}&gt;</string>"
    );
    assert_eq!(
        by(ForbiddenText::Strip, text).unwrap(),
        "<string>[1mred&lt;&gt;</string>"
    );
    let base64 = by(ForbiddenText::Base64, text).unwrap();
    assert_eq!(value(&base64).unwrap().as_blob(), Some(text.as_bytes()));
    for policy in [
        ForbiddenText::Base64,
        ForbiddenText::Reject,
        ForbiddenText::Replace,
        ForbiddenText::Strip,
    ] {
        assert_eq!(by(policy, "a\rb").unwrap(), "<string>a&#13;b</string>");
    }
}

/// Changed, two names could become one, or one that means something else.
#[test]
fn names_are_never_changed() {
    for policy in [
        ForbiddenText::Base64,
        ForbiddenText::Reject,
        ForbiddenText::Replace,
        ForbiddenText::Strip,
    ] {
        let style = Style::DEFAULT.with_forbidden(policy);
        for name in ["a\u{1}", "\u{fffe}"] {
            let map = Value::Map(Map::from_iter([("a", 1), (name, 2)]));
            let error = by(style, &map).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unwritable, "{policy:?}");
            assert!(error.message().contains("a key of"), "{error}");
            let mut encoder = XmlRpcEncoder::new(Envelope::Value, Vec::new()).with_style(style);
            encoder
                .serialize(&std::collections::BTreeMap::from([("a", 1), (name, 2)]))
                .unwrap();
            assert!(encoder.finish().is_err());
        }
        let method = Envelope::Call {
            method: "a\u{1}",
            positional: true,
        };
        let encoder = XmlRpcEncoder::new(method, Vec::new()).with_style(style);
        assert!(encoder.finish().is_err());
    }
}

#[test]
fn fractions_of_a_second() {
    let time = Value::Timestamp(Timestamp::new(1_795_293_000, 250_000_000));
    assert_eq!(
        by(Style::DEFAULT.with_fractions(true), &time).unwrap(),
        "<dateTime.iso8601>20261121T20:30:00.25</dateTime.iso8601>"
    );
    assert_eq!(
        by(Style::DEFAULT, &time).unwrap(),
        "<dateTime.iso8601>20261121T20:30:00</dateTime.iso8601>"
    );
    // By a type of serde too.
    for (fractions, expected) in [(false, "00<"), (true, "00.25<")] {
        let style = Style::DEFAULT.with_fractions(fractions);
        let mut encoder = XmlRpcEncoder::new(Envelope::Value, Vec::new()).with_style(style);
        encoder
            .serialize(&Timestamp::new(1_795_293_000, 250_000_000))
            .unwrap();
        let text = String::from_utf8(encoder.finish().unwrap()).unwrap();
        assert!(text.contains(expected), "{text}");
    }
    // The second that it lies in, before 1970 too.
    let time = Value::Timestamp(Timestamp::new(-1, 500_000_000));
    assert_eq!(
        by(Style::DEFAULT, &time).unwrap(),
        "<dateTime.iso8601>19691231T23:59:59</dateTime.iso8601>"
    );
}

#[test]
fn blobs_from_a_reader() {
    /// A reader that gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl std::io::Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let len = self.0.len().min(self.1).min(out.len());
            out[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    for len in [
        0,
        1,
        2,
        3,
        100,
        12 * 1024 - 1,
        12 * 1024,
        12 * 1024 + 1,
        40_000,
    ] {
        for step in [1, 7, 4096, usize::MAX] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let mut encoder = XmlRpcEncoder::new(Envelope::Value, Vec::new());
            encoder.blob_from(Slow(&bytes, step)).unwrap();
            let xml = inside(encoder.finish().unwrap());
            assert_eq!(
                value(&xml).unwrap().as_blob(),
                Some(&*bytes),
                "{len} {step}"
            );
        }
    }

    struct Broken;

    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let mut encoder = XmlRpcEncoder::new(Envelope::Response, Vec::new());
    assert!(encoder.blob_from(Broken).is_err());
    assert!(encoder.finish().is_err());
}
