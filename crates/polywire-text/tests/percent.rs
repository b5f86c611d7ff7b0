//! Percent-encoding and forms, compared with the reference implementation.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::borrow::Cow;

use polywire_text::cpu::{self, Level};
use polywire_text::percent::{self, Plus, Set};
use polywire_text::{Text, form, reference};
use proptest::prelude::*;

/// Runs a check with and without AVX2. Other tests may change the level concurrently, as results do
/// not depend on it.
fn at_each_level(check: impl Fn()) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        check();
    }
}

fn encoded(bytes: &[u8], set: &Set) -> String {
    let mut out = b"%".to_vec();
    percent::push_bytes(&mut out, bytes, set);
    assert_eq!(out.remove(0), b'%');
    String::from_utf8(out).unwrap()
}

#[test]
fn unreserved_characters_are_not_encoded() {
    for character in (0..0x180).filter_map(char::from_u32) {
        for len in 0..26 {
            for at in 0..len {
                let mut text: Vec<char> = vec!['z'; len];
                text[at] = character;
                let text: String = text.into_iter().collect();
                let stays = encoded(text.as_bytes(), &percent::UNRESERVED) == text;
                let text = Text::from(text);
                assert_eq!(
                    percent::is_inline_unreserved(&text),
                    stays && text.is_inline(),
                    "{text}"
                );
            }
        }
    }
}

fn encodes_as_reference(bytes: &[u8]) {
    use reference::percent as slow;
    assert_eq!(
        encoded(bytes, &percent::UNRESERVED),
        slow::encoded(bytes, b"")
    );
    assert_eq!(encoded(bytes, &percent::PATH), slow::encoded(bytes, b"/"));
    assert_eq!(encoded(bytes, &form::WHATWG), slow::form_encoded(bytes));
}

fn decodes_as_reference(bytes: &[u8]) {
    for plus in [Plus::Literal, Plus::Space] {
        let expected = reference::percent::decoded(bytes, plus);
        let found = percent::decode_bytes(bytes, plus);
        if let Ok(Cow::Borrowed(found)) = found {
            assert_eq!(found, bytes);
        }
        assert_eq!(found.map(Cow::into_owned), expected);
        if let Ok(text) = std::str::from_utf8(bytes) {
            let found = match plus {
                Plus::Literal => percent::decode(text),
                Plus::Space => percent::decode_query(text),
            };
            let expected = reference::percent::decoded_text(text, plus);
            assert_eq!(found.map(Cow::into_owned), expected);
        }
    }
}

fn parses_as_reference(text: &str) {
    let found: Vec<_> = form::pairs(text)
        .map(|pair| {
            let pair = pair?;
            let (key, value) = (pair.key.into_owned(), pair.value.into_owned());
            Ok((key, value, pair.offset, pair.value_offset))
        })
        .collect();
    assert_eq!(found, reference::percent::pairs(text));
}

#[test]
fn every_byte_stands_anywhere() {
    at_each_level(|| {
        for byte in 0..=0xff_u8 {
            for len in [0, 1, 15, 16, 17, 31, 32, 33, 95, 96, 97, 130] {
                for at in [0, len / 2, len] {
                    let mut bytes = vec![b'a'; len];
                    bytes.insert(at, byte);
                    encodes_as_reference(&bytes);
                    decodes_as_reference(&bytes);
                }
            }
        }
    });
}

#[test]
fn escapes_stand_anywhere() {
    at_each_level(|| {
        for len in (0..36).chain([63, 64, 65, 95, 96, 97, 127, 128, 129]) {
            for piece in [
                "%41", "%c3%bc", "%FF", "%", "%4", "%4g", "%g4", "+", "%%", "ü",
            ] {
                let all = len < 20 || matches!(len, 32 | 96 | 129);
                let places = (0..=len).filter(|at| all || [0, 1, len / 2, len].contains(at));
                for at in places {
                    let mut text = "a".repeat(len);
                    text.insert_str(at, piece);
                    decodes_as_reference(text.as_bytes());
                    text.push_str("%20b");
                    decodes_as_reference(text.as_bytes());
                    encodes_as_reference(text.as_bytes());
                }
            }
        }
    });
}

#[test]
fn every_pair_of_digits_is_read() {
    for high in 0..=0xff_u8 {
        for low in 0..=0xff_u8 {
            decodes_as_reference(&[b'%', high, low]);
        }
    }
}

#[test]
fn offsets_of_invalid_input() {
    assert_eq!(percent::decode("ab%4").unwrap_err().offset, 2);
    assert_eq!(percent::decode("%zz").unwrap_err().offset, 0);
    assert_eq!(percent::decode("%41ü%ff").unwrap_err().offset, 5);
    assert_eq!(percent::decode("a+b").unwrap(), "a+b");
    assert_eq!(percent::decode_query("a+b%2B").unwrap(), "a b+");
}

#[test]
fn a_set_shows_the_bytes_that_it_keeps() {
    let shown = format!("{:?}", form::WHATWG);
    assert!(shown.starts_with("Set(\"*-.0123") && shown.ends_with("xyz +\")"));
}

#[test]
fn a_form_is_read_as_the_url_standard_says() {
    for text in [
        "",
        "&",
        "&&",
        "=",
        "&=&",
        "a",
        "a=",
        "=b",
        "a=b=c",
        "a&b=&c=1&",
        "a+%2b=+&%zz=1",
    ] {
        parses_as_reference(text);
    }
}

#[test]
fn a_form_is_written_and_read() {
    let mut out = b"?".to_vec();
    let mut writer = form::Writer::new(&mut out, &percent::UNRESERVED);
    writer.pair("", "").pair("a b", "~*").pair("c", "");
    assert_eq!(out, b"?=&a%20b=~%2A&c=");
}

proptest! {
    #[test]
    fn encoding_matches_the_reference(bytes in proptest::collection::vec(
        prop_oneof![6 => b'a'..=b'z', 1 => Just(b' '), 1 => any::<u8>()], 0..400)) {
        at_each_level(|| encodes_as_reference(&bytes));
    }

    #[test]
    fn what_any_set_writes_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for (set, plus) in [
            (&percent::UNRESERVED, Plus::Literal),
            (&percent::PATH, Plus::Literal),
            (&form::WHATWG, Plus::Space),
        ] {
            let out = encoded(&bytes, set);
            prop_assert!(out.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            let decoded = percent::decode_bytes(out.as_bytes(), plus).unwrap();
            prop_assert_eq!(&*decoded, &bytes[..]);
        }
    }

    #[test]
    fn decoding_matches_the_reference(text in "([a-z]{0,40}|%[0-9a-fA-F]{2}|(%D0%B[0-9]){1,9}|[%+é&=]|%[0-9a-h]{0,2}){0,30}") {
        at_each_level(|| decodes_as_reference(text.as_bytes()));
    }

    #[test]
    fn round_trips(text in any::<String>(), other in any::<String>()) {
        let mut encoded = String::new();
        percent::push(&mut encoded, &text);
        prop_assert_eq!(percent::decode(&encoded).unwrap(), text.as_str());
        encoded.clear();
        percent::push_path(&mut encoded, &text);
        prop_assert_eq!(percent::decode(&encoded).unwrap(), text.as_str());
        for set in [&percent::UNRESERVED, &form::WHATWG] {
            let mut out = Vec::new();
            form::Writer::new(&mut out, set).pair(&text, &other).pair("b", &text);
            let out = String::from_utf8(out).unwrap();
            let pairs: Vec<_> = form::pairs(&out).map(Result::unwrap).collect();
            prop_assert_eq!(&pairs[0].key, &text);
            prop_assert_eq!(&pairs[0].value, &other);
            prop_assert_eq!(&pairs[1].value, &text);
        }
    }

    #[test]
    fn forms_match_the_reference(text in "([a-z]{0,20}|[&=+%é]|%[0-9a-f]{2}|%2[06]){0,30}") {
        parses_as_reference(&text);
    }
}
