//! JSON escapes, compared with the reference implementation, with and without AVX2.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::borrow::Cow;

use polywire_text::cpu::{self, Level};
use polywire_text::escape::{
    LoneSurrogate, json_escape, json_str, json_string_end, json_to_slice, push_json,
    push_json_string, push_json_text, push_unescaped_json, push_unescaped_json_str,
};
use polywire_text::quote;
use polywire_text::reference::{self, json as slow};
use polywire_text::{Malformed, Text};
use proptest::prelude::*;

const POLICIES: [LoneSurrogate; 2] = [LoneSurrogate::Reject, LoneSurrogate::Replace];

/// Runs a check with and without AVX2. Other tests may change the level concurrently, as results do
/// not depend on it.
fn on_both_levels(check: impl Fn()) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        check();
    }
}

/// All functions that escape these bytes match the reference.
fn escapes(bytes: &[u8]) {
    let expected = slow::escape(bytes);
    on_both_levels(|| {
        let mut out = b"before".to_vec();
        quote::push_bytes(&mut out, bytes);
        assert_eq!(
            out[7..out.len() - 1].escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "of {}",
            bytes.escape_ascii()
        );
        // Through buffers of several sizes, of which the smallest takes one step each.
        for room in [200, 232, 500, 6 * bytes.len() + 200] {
            let (mut out, mut rest, mut buffer) = (Vec::new(), bytes, vec![0xaa; room]);
            loop {
                let (read, written) = json_to_slice(rest, &mut buffer);
                out.extend_from_slice(&buffer[..written]);
                rest = &rest[read..];
                if rest.is_empty() {
                    break;
                }
                assert!(read > 0, "{room} bytes are enough for a step");
            }
            assert_eq!(out, expected, "through {room} bytes");
        }
        if let Ok(text) = str::from_utf8(bytes) {
            let mut out = b"before".to_vec();
            push_json(&mut out, text);
            assert_eq!(&out[6..], expected);
            out.clear();
            push_json_string(&mut out, text, *b"\",");
            assert_eq!(out, [&b"\""[..], &expected, b"\","].concat());
        }
    });
}

/// All functions that read these bytes match the reference, including errors.
fn unescapes(bytes: &[u8]) {
    for lone in POLICIES {
        let inside = slow::unescape(bytes, lone);
        let string = slow::string(bytes, lone);
        let end = slow::string_end(bytes);
        on_both_levels(|| {
            let shown = || bytes.escape_ascii().to_string();
            let mut out = b"before".to_vec();
            let found = push_unescaped_json(&mut out, bytes, lone);
            assert_eq!(found, inside.clone().map(|_| ()), "{}", shown());
            let empty = Vec::new();
            assert_eq!(&out[6..], inside.as_ref().unwrap_or(&empty), "{}", shown());

            assert_eq!(json_string_end(bytes), end, "{}", shown());
            strings(bytes, lone, &inside, &string);
        });
    }
}

/// The functions that return a `str`.
fn strings(
    bytes: &[u8],
    lone: LoneSurrogate,
    inside: &Result<Vec<u8>, Malformed>,
    string: &Result<(Vec<u8>, usize), Malformed>,
) {
    let mut out = "before".to_owned();
    if let Ok(text) = str::from_utf8(bytes) {
        let found = push_unescaped_json_str(&mut out, text, lone);
        assert_eq!(found.map(|()| out.as_bytes()[6..].to_vec()), inside.clone());
        assert!(found.is_ok() || out == "before");
        out.truncate(6);
    }
    let expected = string.clone().and_then(|(text, read)| {
        let invalid = str::from_utf8(&bytes[..read]).map_err(|error| error.valid_up_to());
        match (String::from_utf8(text), invalid) {
            (Ok(text), Ok(_)) => Ok((text, read)),
            (Err(_), Err(offset)) => Err(Malformed::new(offset, "UTF-8")),
            _ => panic!("input and output are both UTF-8 or neither"),
        }
    });
    let quoted = [b"\"", bytes].concat();
    let found = quote::read(&mut out, &quoted, lone);
    let read = found.map(|rest| (out[6..].to_owned(), quoted.len() - rest.len()));
    assert_eq!(read, reference::quote::unquote(&quoted, 0, lone));
    assert!(found.is_ok() || out == "before");
    let owned = |(text, read): (Cow<'_, str>, usize)| (text.into_owned(), read);
    if let Ok(text) = str::from_utf8(bytes) {
        assert_eq!(json_str(text, lone).map(owned), expected);
    }
}

/// Bytes with something at each offset: most code paths depend on the offset in a block of 16, 32
/// or 64.
fn at_each_place(lens: impl Iterator<Item = usize>, what: &[&[u8]], check: impl Fn(&[u8])) {
    for len in lens {
        let clean: Vec<u8> = (0..len).map(|at| b'a' + (at % 26) as u8).collect();
        check(&clean);
        for what in what {
            for at in 0..len {
                let mut bytes = clean.clone();
                bytes.splice(at..at + 1, what.iter().copied());
                check(&bytes);
            }
        }
    }
}

#[test]
fn one_special_byte_at_each_place_is_escaped() {
    let what: [&[u8]; 5] = [b"\"", b"\n", b"\x1f", "é".as_bytes(), "\\😀".as_bytes()];
    at_each_place(
        (0..70).chain([95, 96, 97, 127, 128, 129, 130]),
        &what,
        escapes,
    );
}

#[test]
fn every_byte_is_escaped() {
    for len in [1, 3, 15, 16, 31, 33, 64, 100, 300] {
        for byte in 0..=u8::MAX {
            escapes(&vec![byte; len]);
            let mut bytes = vec![b'a'; len];
            bytes[len / 2] = byte;
            escapes(&bytes);
        }
    }
}

#[test]
fn one_escape_at_each_place_is_read() {
    let what: [&[u8]; 6] = [
        br"\n",
        br"\u00e9",
        br"\ud83d\ude00",
        br"\ud83d",
        br"\\\",
        b"\"",
    ];
    let lens = || (0..36).chain([62, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129, 130]);
    at_each_place(lens(), &what, unescapes);
    at_each_place(
        [64, 70, 129].into_iter(),
        &[b"\\\"", b"\x1f", b"\\\x00", b"\\x"],
        |bytes| {
            unescapes(bytes);
            unescapes(&[bytes, b"\" behind"].concat());
        },
    );
}

#[test]
fn runs_of_backslashes_around_the_edges_of_blocks() {
    for before in [0, 1, 13, 14, 15, 16, 29, 30, 31, 32, 60, 61, 62, 63, 64, 65] {
        for run in (0..12).chain([31, 32, 33, 63, 64, 65, 127, 128, 129, 130]) {
            for behind in [
                &b""[..],
                b"n",
                b"\"",
                b"\"\"",
                b"u0041\"",
                b"n and more, with no end",
            ] {
                let bytes = [&vec![b'a'; before][..], &vec![b'\\'; run], behind].concat();
                unescapes(&bytes);
                unescapes(&[&bytes, &vec![b'z'; 70][..]].concat());
            }
        }
    }
}

#[test]
fn every_short_escape_and_no_other() {
    for byte in 0..=u8::MAX {
        for before in [0, 20, 61, 62, 63] {
            let mut bytes = vec![b'a'; before];
            bytes.extend([b'\\', byte]);
            unescapes(&bytes);
            bytes.extend([b'z'; 80]);
            unescapes(&bytes);
        }
    }
}

#[test]
fn surrogates_in_pairs_and_alone() {
    let halves = [
        "\\ud800", "\\udbff", "\\udc00", "\\uDFFF", "\\u0041", "\\n", "x", "\\u12", "",
    ];
    for before in [0, 30, 53, 58, 64] {
        for first in halves {
            for second in halves {
                for third in halves {
                    let text = format!("{}{first}{second}{third}", "a".repeat(before));
                    unescapes(text.as_bytes());
                }
            }
        }
    }
    let mut out = Vec::new();
    let bytes = br"\ud800\ud800\udc00\udc00";
    push_unescaped_json(&mut out, bytes, LoneSurrogate::Replace).unwrap();
    assert_eq!(out, "\u{fffd}\u{10000}\u{fffd}".as_bytes());
}

#[test]
fn every_unit_among_others() {
    for from in (0..0x1_0000_u32).step_by(64) {
        let units = from..from + 64;
        let lower: String = units.clone().map(|unit| format!("\\u{unit:04x}")).collect();
        unescapes(lower.as_bytes());
        let upper: String = units.map(|unit| format!("\\u{unit:04X}")).collect();
        unescapes(format!("{upper}\" behind").as_bytes());
    }
    for byte in 0..=u8::MAX {
        for place in 0..6 {
            let mut bytes = br"\u65e5\u0009\u00e9\u65e5".to_vec();
            bytes[6 + place] = byte;
            unescapes(&bytes);
        }
    }
}

#[test]
fn clean_bytes_between_escapes() {
    let escapes = [r"\u000b", r"\n", r"\u65e5\u672c", r"\ud83d\ude00", r"\x"];
    for between in 0..40 {
        let clean = "z".repeat(between);
        for first in escapes {
            for second in escapes {
                let text = format!("{first}{clean}{second}{clean}{first}{second}{clean}");
                unescapes(text.as_bytes());
                unescapes(format!("{text}\"{text}").as_bytes());
            }
        }
    }
}

#[test]
fn the_reserve_suffices() {
    for escape in [
        r"\n",
        r"\u000b",
        r"\u65e5",
        r"\ud83d\ude00",
        r"a\n",
        r"a\u000b",
    ] {
        for times in 0..70 {
            let bytes = escape.repeat(times).into_bytes();
            on_both_levels(|| {
                let mut out = Vec::with_capacity(bytes.len());
                let capacity = out.capacity();
                push_unescaped_json(&mut out, &bytes, LoneSurrogate::Reject).unwrap();
                assert_eq!(out.capacity(), capacity);
            });
        }
    }
}

// Mistakes of an earlier implementation.

#[test]
fn a_backslash_before_u_is_written_as_two() {
    let mut out = Vec::new();
    push_json(&mut out, r"\u0041");
    assert_eq!(out, br"\\u0041");
    escapes(br"control chars \u0000 \u001f");
}

#[test]
fn unicode_escapes_are_decoded() {
    let mut out = Vec::new();
    push_unescaped_json(&mut out, br"\u0041\u00e9\u65e5", LoneSurrogate::Reject).unwrap();
    assert_eq!(out, "Aé日".as_bytes());
}

#[test]
fn a_trailing_backslash_is_an_error() {
    for len in [0, 1, 15, 31, 63, 64, 127] {
        let bytes = [&vec![b'a'; len][..], b"\\"].concat();
        let error =
            push_unescaped_json(&mut Vec::new(), &bytes, LoneSurrogate::Reject).unwrap_err();
        assert_eq!(error.offset, len + 1);
    }
}

#[test]
fn a_string_without_its_closing_quote_is_an_error() {
    for len in [0, 1, 15, 31, 63, 64, 127] {
        let bytes = vec![b'a'; len];
        let text = str::from_utf8(&bytes).unwrap();
        let error = json_str(text, LoneSurrogate::Reject).unwrap_err();
        assert_eq!(error, Malformed::new(len, "the closing quote of a string"));
    }
}

#[test]
fn the_reserve_is_bounded() {
    for len in [0, 10, 100, 10_000] {
        for byte in *b"a\n\x01" {
            let bytes = vec![byte; len];
            let mut out = Vec::new();
            push_json(&mut out, str::from_utf8(&bytes).unwrap());
            assert!(out.capacity() <= 2 * out.len() + 256, "{}", out.capacity());
            let mut back = Vec::new();
            push_unescaped_json(&mut back, &out, LoneSurrogate::Reject).unwrap();
            assert_eq!(back, bytes);
            assert!(back.capacity() <= out.len() + 128, "{}", back.capacity());
            // A short string at the beginning of a long document.
            out.push(b'"');
            out.extend([b' '; 10_000]);
            out.insert(0, b'"');
            let mut back = String::new();
            quote::read(&mut back, &out, LoneSurrogate::Reject).unwrap();
            assert!(back.capacity() <= 2 * len + 256, "{}", back.capacity());
        }
    }
}

/// Bytes that matter to JSON more often than chance would have them.
fn bytes_of_json() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        20 => any::<u8>(),
        20 => b'a'..=b'z',
        3 => 0..0x20_u8,
        3 => Just(b'"'),
        3 => Just(b'\\'),
    ];
    proptest::collection::vec(byte, 0..300)
}

/// Strings with escapes, some of them wrong.
fn escaped() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        8 => "[a-zé日😀 ]{0,40}",
        6 => "\\\\[\"\\\\/bfnrt]",
        3 => "\\\\u[0-9a-fA-F]{4}",
        2 => "\\\\ud[89ab][0-9a-f]{2}\\\\ud[c-f][0-9a-f]{2}",
        1 => "\\\\u[dD][89a-fA-F][0-9a-f]{2}",
    ];
    let noise = prop_oneof![20 => Just(String::new()), 1 => "[\"\\x00-\\x1f\\\\]|\\\\u[0-9a-g]{3}"];
    (proptest::collection::vec(part, 0..20), noise, any::<bool>()).prop_map(
        |(parts, noise, closed)| {
            let end = if closed { "\", behind" } else { "" };
            format!("{}{noise}{end}", parts.concat()).into_bytes()
        },
    )
}

proptest! {
    #[test]
    fn any_bytes(bytes in bytes_of_json()) {
        escapes(&bytes);
        unescapes(&bytes);
    }

    #[test]
    fn any_text(text in "[\\x00-\\x30\"\\\\a-zé日😀]{0,200}") {
        escapes(text.as_bytes());
    }

    #[test]
    fn any_escapes(bytes in escaped()) {
        unescapes(&bytes);
    }

    #[test]
    fn escaped_bytes_round_trip(bytes in bytes_of_json()) {
        on_both_levels(|| {
            let mut out = Vec::new();
            quote::push_bytes(&mut out, &bytes);
            let mut back = Vec::new();
            let inside = &out[1..out.len() - 1];
            push_unescaped_json(&mut back, inside, LoneSurrogate::Reject).unwrap();
            assert_eq!(back, bytes);
        });
    }
}

#[test]
fn json_strings_of_every_length() {
    for len in 0..40 {
        let clean = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq";
        let mut out = b"before".to_vec();
        push_json_string(&mut out, &clean[..len], *b"\",");
        assert_eq!(out, format!("before\"{}\",", &clean[..len]).as_bytes());
        // Also an inline string whose window has special bytes after its end.
        let window = format!("{}{}", &clean[..len], "\"\\\n".repeat(8));
        let inline = Text::inline_prefix(&window, len);
        for text in inline.into_iter().chain([Text::from(&clean[..len])]) {
            let mut out = b"before".to_vec();
            push_json_text(&mut out, &text, *b"\",");
            assert_eq!(out, format!("before\"{}\",", &clean[..len]).as_bytes());
        }
        // Something to escape at each place.
        for at in 0..len {
            let mut text = clean[..len].to_owned();
            text.replace_range(at..=at, "\"");
            let mut out = Vec::new();
            push_json_string(&mut out, &text, *b"\",");
            let escaped = text.replace('"', "\\\"");
            assert_eq!(out, format!("\"{escaped}\",").as_bytes());
            out.clear();
            push_json_text(&mut out, &Text::from(text), *b"\",");
            assert_eq!(out, format!("\"{escaped}\",").as_bytes());
        }
    }
}

#[test]
fn surrogates() {
    assert!(json_escape(br"udc00").is_err());
    assert!(json_escape(br"ud800\u0041").is_err());
    assert!(json_escape(br"ud800\udc0").is_err());
    assert!(json_escape(br"u00g0").is_err());
    assert!(json_escape(b"").is_err());
    assert!(json_escape(b"x").is_err());
}

proptest! {
    #[test]
    fn every_character_has_an_escape(character: char) {
        let mut units = [0; 2];
        let mut text = String::new();
        for unit in character.encode_utf16(&mut units) {
            text.push_str(&format!("\\u{unit:04X}"));
        }
        prop_assert_eq!(json_escape(&text.as_bytes()[1..]), Ok((character, text.len() - 1)));
    }
}
