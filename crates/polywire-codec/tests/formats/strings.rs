//! Strings: their characters and lengths, and what they keep of the input.

use std::borrow::Cow;
use std::collections::BTreeMap;

use polywire_schema::{Body, ErrorKind, Limits, Member, Text, Value};
use polywire_text::INLINE_CAPACITY;

use crate::shapes::{Collections, Line, Scalars, root};
use crate::support::{
    Format, decode, decode_from, encode, encode_dyn, for_every_format, for_xml_too,
};
use crate::{check, with};

for_every_format! {
    unicode,
    strings_of_every_length,
    keys_of_every_length,
    strings_are_shared_or_inline,
    strings_are_borrowed,
    small_parts_of_large_bodies_are_copied,
}

for_xml_too! {
    strings_are_borrowed,
    small_parts_of_large_bodies_are_copied,
}

const LENGTHS: [usize; 17] = [
    0, 1, 7, 8, 15, 16, 17, 21, 22, 23, 24, 31, 32, 33, 100, 65_536, 100_000,
];

fn unicode<F: Format>() {
    let at = root("Scalars");
    let texts = [
        "\u{80}\u{7ff}\u{800}\u{fffd}\u{10000}\u{10ffff}",
        "Zürich, 東京, Москва, \u{1f600}\u{1f468}\u{200d}\u{1f469}",
        "\u{d7ff}\u{e000}\u{2028}\u{2029}\u{7f}\u{85}\u{feff}",
        "tab\tnew line\ncarriage return\rboth\r\n",
        " leading and trailing ",
        "   ",
        "\n",
        "<![CDATA[x]]> &amp; &#13; <!-- x --> ]]>",
        "</value></string>\"\\\"\\u0041\\",
    ];
    for text in texts {
        check::<F, _>(&with(|scalars| scalars.string = Some(Text::from(text))), at);
        let keyed = Collections {
            counts: Some(BTreeMap::from([(Text::from(text), 1)])),
            ..Collections::default()
        };
        check::<F, _>(&keyed, root("Collections"));
    }
    // What XML cannot carry the others do.
    for text in ["\0", "a\u{1b}[31m", "\u{1f}", "\u{8}\u{c}", "\u{fffe}"] {
        let scalars = with(|scalars| scalars.string = Some(Text::from(text)));
        if F::NAME == "XML-RPC" {
            let error = encode::<F, _>(&scalars, at).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unwritable, "{error}");
        } else {
            check::<F, _>(&scalars, at);
        }
    }
}

/// Strings of this length: plain, and with what needs an escape at the
/// beginning, in the middle and at the end.
fn strings(len: usize) -> Vec<String> {
    let mut strings = vec!["x".repeat(len)];
    for special in ["\"", "\\", "<", "&", "\n", "\r", "\t", "é", "\u{1f600}"] {
        if special.len() > len {
            continue;
        }
        let rest = len - special.len();
        for before in [0, rest / 2, rest] {
            let (before, after) = ("x".repeat(before), "y".repeat(rest - before));
            strings.push(format!("{before}{special}{after}"));
        }
    }
    strings
}

fn strings_of_every_length<F: Format>() {
    let at = root("Scalars");
    for len in LENGTHS {
        for string in strings(len) {
            let text = Text::from(string.as_str());
            let scalars = with(|scalars| scalars.string = Some(text));
            let bytes = encode::<F, _>(&scalars, at).unwrap();
            let read: Scalars = decode::<F, _>(&bytes, at).unwrap();
            assert!(read.string.unwrap() == string, "{len} bytes");
            let dynamic: Value = decode::<F, _>(&bytes, Member::DOCUMENT).unwrap();
            assert!(dynamic["string"].as_str() == Some(&string), "{len} bytes");
        }
    }
}

fn keys_of_every_length<F: Format>() {
    let at = root("Collections");
    for len in LENGTHS {
        for string in strings(len) {
            let counts = BTreeMap::from([(Text::from(string.as_str()), 5)]);
            let collections = Collections {
                counts: Some(counts),
                ..Collections::default()
            };
            let bytes = encode::<F, _>(&collections, at).unwrap();
            assert!(decode::<F, Collections>(&bytes, at).unwrap() == collections);
            // As the key of a member that nobody knows.
            let read: Scalars = decode::<F, _>(&bytes, root("Scalars")).unwrap();
            assert_eq!(read, Scalars::default());
        }
    }
}

fn lies_in(body: &Body, text: &str) -> bool {
    let body = body.as_bytes().as_ptr_range();
    body.contains(&text.as_ptr())
}

fn strings_are_shared_or_inline<F: Format>() {
    let at = root("Scalars");
    for len in LENGTHS {
        for string in strings(len) {
            let scalars = with(|scalars| scalars.string = Some(Text::from(string.as_str())));
            let body = Body::from(encode::<F, _>(&scalars, at).unwrap());
            let escapes: &[char] = match F::NAME {
                "JSON" => &['"', '\\', '\n', '\r', '\t'],
                "XML-RPC" => &['<', '&', '\r'],
                _ => &[],
            };
            let verbatim = !string.contains(escapes);
            let read: Scalars = decode_from::<F, _>(&body, at, false, &Limits::DEFAULT).unwrap();
            let document: Value =
                decode_from::<F, _>(&body, Member::DOCUMENT, false, &Limits::DEFAULT).unwrap();
            let Value::String(other) = &document["string"] else {
                panic!("a string");
            };
            for text in [&read.string.unwrap(), other] {
                assert_eq!(text.is_inline(), len <= INLINE_CAPACITY, "{len} bytes");
                assert_eq!(
                    lies_in(&body, text),
                    len > INLINE_CAPACITY && verbatim,
                    "{len} bytes"
                );
                if lies_in(&body, text) {
                    assert!(text.is_shared());
                }
            }
        }
    }
}

fn strings_are_borrowed<F: Format>() {
    let at = root("Line");
    for (text, borrowed) in [
        ("", true),
        ("short", true),
        ("a string that is longer than any inline form", true),
        ("é\u{1f600}", true),
        ("\" and < \r", F::NAME == "CBOR"),
    ] {
        let line = Line {
            key: Some(Cow::Borrowed(text)),
            value: None,
        };
        let body = Body::from(encode::<F, _>(&line, at).unwrap());
        assert_eq!(encode_dyn::<F, _>(&line, at).unwrap(), body.as_bytes());
        let read: Line<'_> = decode_from::<F, _>(&body, at, false, &Limits::DEFAULT).unwrap();
        assert_eq!(read, line);
        let key = read.key.unwrap();
        assert_eq!(matches!(key, Cow::Borrowed(_)), borrowed, "{text:?}");
        if borrowed && !text.is_empty() {
            assert!(lies_in(&body, &key));
        }
    }
}

fn small_parts_of_large_bodies_are_copied<F: Format>() {
    let long = "x".repeat(40);
    let collections = Collections {
        dense: Some(vec![
            Text::from(long.as_str()),
            Text::from("y".repeat(1 << 20)),
        ]),
        ..Collections::default()
    };
    let at = root("Collections");
    let body = Body::from(encode::<F, _>(&collections, at).unwrap());
    let read: Collections = decode_from::<F, _>(&body, at, false, &Limits::DEFAULT).unwrap();
    let dense = read.dense.unwrap();
    assert!(!lies_in(&body, &dense[0]) && !dense[0].is_inline());
    assert!(lies_in(&body, &dense[1]));
}
