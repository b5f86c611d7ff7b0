//! Quoted strings, keys and booleans, compared with the reference implementation.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::cpu::{self, Level};
use polywire_text::escape::LoneSurrogate;
use polywire_text::hex::Case;
use polywire_text::quote;
use polywire_text::reference::quote as slow;
use proptest::prelude::*;

fn at_each_level(check: impl Fn()) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        check();
    }
}

/// All readers match the reference.
fn reads_as_reference(bytes: &[u8]) {
    let what = String::from_utf8_lossy(bytes);
    for lone in [LoneSurrogate::Reject, LoneSurrogate::Replace] {
        let expected = slow::unquote(bytes, 0, lone).map(|(text, end)| (text, &bytes[end..]));
        let found = quote::unquote(bytes, lone).map(|(text, rest)| (text.into_owned(), rest));
        assert_eq!(found, expected, "{what}");
        let mut out = String::from("é");
        match (quote::read(&mut out, bytes, lone), expected) {
            (Ok(rest), Ok((text, expected))) => {
                assert_eq!((&out[2..], rest), (&text[..], expected));
            }
            (Err(error), Err(expected)) => assert_eq!((&out[..], error), ("é", expected), "{what}"),
            (found, expected) => panic!("{found:?} {expected:?}"),
        }
        let expected = slow::key(bytes, 0, lone).map(|(name, end)| (name, &bytes[end..]));
        let found = quote::read_key(bytes, lone).map(|(name, rest)| (name.into_owned(), rest));
        assert_eq!(found, expected, "{what}");
    }
    let expected = slow::boolean(bytes, 0).map(|(value, end)| (value, &bytes[end..]));
    assert_eq!(quote::read_bool(bytes), expected, "{what}");
    for case in [Case::Any, Case::Lower] {
        let expected = slow::hex(bytes, 0, None, case).map(|(value, end)| (value, &bytes[end..]));
        let mut out = vec![7];
        match (quote::read_hex(&mut out, bytes, case), expected) {
            (Ok(rest), Ok((value, expected))) => {
                assert_eq!((&out[1..], rest), (&value[..], expected));
            }
            (Err(error), Err(expected)) => {
                assert_eq!((&out[..], error), (&[7][..], expected), "{what}");
            }
            (found, expected) => panic!("{found:?} {expected:?}"),
        }
        let expected =
            slow::hex(bytes, 0, Some(2), case).map(|(value, end)| (value, &bytes[end..]));
        let found = quote::read_hex_array::<2>(bytes, case);
        assert_eq!(
            found.map(|(value, rest)| (value.to_vec(), rest)),
            expected,
            "{what}"
        );
    }
}

fn writes_as_reference(text: &str) {
    let quoted = slow::quote(text.as_bytes());
    let mut out = b"before".to_vec();
    quote::push(&mut out, text);
    assert_eq!(&out[6..], quoted);
    out.clear();
    quote::push_bytes(&mut out, text.as_bytes());
    assert_eq!(out, quoted);
    quote::push_key(&mut out, text);
    assert_eq!(&out[quoted.len()..], [&quoted[..], b":"].concat());
    let (name, rest) = quote::read_key(&out[quoted.len()..], LoneSurrogate::Reject).unwrap();
    assert_eq!((&name[..], rest), (text, &b""[..]));
}

#[test]
fn what_a_string_may_end_in() {
    // The second, third and fourth panicked, or were accepted, in another program.
    for text in [
        r#""""#,
        r#""a\"#,
        r#""aa"#,
        r#""a\""#,
        r#"""#,
        "",
        " ",
        "a",
        "'a'",
        "1",
        "null",
        "[",
        "\"\\",
        r#""a"b"#,
        r#""\u0041""#,
        r#""\u004"#,
        r#""\ud83d""#,
        r#""\ud83d\ude00" "#,
        r#""\x41""#,
        r#""\0""#,
        "\"a\nb\"",
        "\"a\u{1}b\"",
        "\"\u{7f}\"",
        "\"\u{2028}\"",
        " \r\n\t\"a\"",
        "\u{a0}\"a\"",
        r#""a":"#,
        r#""a" :1"#,
        r#""a","#,
        r#""a" "#,
        "true",
        "false",
        "true,",
        "false]",
        "truely",
        "true1",
        "true_",
        "True",
        "tru",
        "fals",
        "  true",
        r#""c0ff""#,
        r#""C0FF""#,
        r#""c0f""#,
        r#""c0ffe""#,
        r#""c0ffee""#,
        r#""c0ff"#,
        r#""c0f"#,
        r#"c0ff""#,
        r#" "c0ff" "#,
        r#""zzzz""#,
        r#""\u0063""#,
        r#""c0\""#,
    ] {
        at_each_level(|| reads_as_reference(text.as_bytes()));
    }
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xc0\xaf\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xc3\"",
        b"\"\xc3",
        b"\"\xff\x01",
        b"\"\\n\xff\\q\"",
        b"\"\xff\\",
        b"\"\xc3\xa9\\",
        b"\"a\xff",
    ] {
        at_each_level(|| reads_as_reference(bytes));
    }
}

#[test]
fn something_special_at_every_place() {
    at_each_level(|| {
        for len in 0..70 {
            let clean = "abcdefghij".repeat(7)[..len].to_owned();
            writes_as_reference(&clean);
            for at in 0..len {
                for special in ["\"", "\\", "\n", "\u{1}", "é", "\\n", "\\u00e9", "\\q"] {
                    let text = format!("{}{special}{}", &clean[..at], &clean[at..]);
                    writes_as_reference(&text);
                    reads_as_reference(format!("\"{text}\", more").as_bytes());
                    reads_as_reference(format!("\"{text}").as_bytes());
                }
            }
        }
    });
}

#[test]
fn booleans() {
    let mut out = Vec::new();
    quote::push_bool(&mut out, true);
    quote::push_bool(&mut out, false);
    assert_eq!(out, b"truefalse");
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        at_each_level(|| {
            reads_as_reference(&bytes);
            reads_as_reference(&[b"\"", &bytes[..]].concat());
        });
    }

    #[test]
    fn almost_strings(text in "[ \n]{0,2}\"?([a-f0-9 é\n]|\\\\[nu\"\\\\x]|\\\\u[d0][8c][0-9a-f]{2}){0,40}\"?[ :,]{0,2}") {
        at_each_level(|| reads_as_reference(text.as_bytes()));
    }

    #[test]
    fn round_trips(text in "\\PC{0,60}[\\x00-\\x7f]{0,40}") {
        at_each_level(|| writes_as_reference(&text));
    }
}
