//! Fast paths for short values between fixed bytes.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::element_reader::{double, integer, long_integer, xml_text};
use polywire_text::element_writer::{push_i64, push_xml, push_xml_text};
use polywire_text::{Text, escape};
use proptest::prelude::*;

proptest! {
    #[test]
    fn integers(text in "[0-9]{0,9}", behind in "(<|</|</a|-)", pad in "[0-9<]{0,9}") {
        let bytes = format!("{text}{behind}{pad}");
        let expected = match text.len() {
            1..=7 if bytes.len() >= 8 && bytes[text.len()..].starts_with("</") => {
                Some((text.parse().unwrap(), text.len()))
            }
            _ => None,
        };
        prop_assert_eq!(integer(bytes.as_bytes(), b"</"), expected);
    }

    #[test]
    fn long_integers(text in "-?[0-9]{0,17}", behind in "(<|</|</a|-)", pad in "[0-9<]{0,17}") {
        let bytes = format!("{text}{behind}{pad}");
        let sign = usize::from(text.starts_with('-'));
        let digits = text.len() - sign;
        let room = bytes.len() >= 16 + sign;
        let expected = match digits {
            1..=15 if room && bytes[text.len()..].starts_with("</") => {
                Some((text.parse().unwrap(), text.len()))
            }
            _ => None,
        };
        prop_assert_eq!(long_integer(bytes.as_bytes(), b"</"), expected);
    }

    #[test]
    fn doubles(text in "-?[0-9]{0,5}(\\.[0-9]{0,5})?(e1)?", pad in "[0-9<]{0,9}") {
        let bytes = format!("{text}</{pad}");
        match double(bytes.as_bytes(), b"</") {
            Some((value, len)) => {
                prop_assert_eq!(len, text.len());
                prop_assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
            None => {
                let digits = text.bytes().filter(u8::is_ascii_digit).count();
                let plain = !text.starts_with(['-', '.', '0']) && !text.ends_with('.');
                prop_assert!(digits == 0 || digits > 6 || !plain || text.contains('e'), "{}", bytes);
            }
        }
    }

    #[test]
    fn texts(
        document in "[aé&<\r\n]{0,2}<[abcé\n\t\u{fffe}]{0,70}(</a>|</b>|&|>|\r|\u{1})[ab<>/é]{0,60}",
        at in 0..90_usize,
    ) {
        let inside = document.get(at..).and_then(|rest| rest.strip_prefix('<'));
        match xml_text(&document, at, b"<", b"</a>") {
            Some((text, start)) => {
                prop_assert_eq!(start, at + 1);
                let (expected, _) = inside.unwrap().split_once("</a>").unwrap();
                prop_assert_eq!(text, expected);
                let special = text.contains(['<', '>', '&', '\r', '\u{1}', '\u{fffe}']);
                prop_assert!(!special);
            }
            None => {
                let plain = inside.and_then(|rest| rest.split_once("</a>"));
                let plain = plain.is_some_and(|(text, _)| {
                    text.bytes().all(|byte| byte == b'\n' || byte.is_ascii_lowercase())
                });
                prop_assert!(!plain);
            }
        }
    }
}

proptest! {
    #[test]
    fn written_numbers(value in prop_oneof![any::<i64>(), -1000..1000_i64, any::<i32>().prop_map(i64::from)]) {
        let mut out = b"before".to_vec();
        push_i64(&mut out, b"<", value, b">>");
        prop_assert_eq!(String::from_utf8(out).unwrap(), format!("before<{value}>>"));
    }

    #[test]
    fn written_texts(text in "([a-z]{0,30}|[a-z&<>\r\u{1}é\u{ffff}]{0,24})") {
        let mut escaped = Vec::new();
        let whole = escape::push_xml(&mut escaped, &text);
        let clean = whole.is_ok() && escaped == text.as_bytes();
        for kind in 0..2 {
            let mut out = b"before".to_vec();
            let pushed = match kind {
                0 => push_xml(&mut out, b"<", &text, b"</>"),
                _ => push_xml_text(&mut out, b"<", &Text::from(text.as_str()), b"</>"),
            };
            prop_assert!(!pushed || clean);
            let expected = match pushed {
                true => format!("before<{text}</>"),
                false => "before".to_owned(),
            };
            prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
            prop_assert!(pushed || !clean || !text.is_ascii() || text.len() > 15);
        }
    }
}

#[test]
fn the_ends_of_lengths() {
    for value in [
        i64::MIN,
        i64::MAX,
        0,
        -1,
        99_999_999,
        100_000_000,
        -99_999_999,
        -100_000_000,
        9_999_999_999_999_999,
        10_000_000_000_000_000,
        -9_999_999_999_999_999,
    ] {
        let mut out = Vec::new();
        push_i64(&mut out, b"", value, b"");
        assert_eq!(String::from_utf8(out).unwrap(), value.to_string());
    }
}
