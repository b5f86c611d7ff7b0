//! XML escapes, compared with the reference implementation, and mistakes of other programs.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::borrow::Cow;

use polywire_text::cpu::{self, Level};
use polywire_text::escape::{
    Forbidden, XmlPlace, XmlReading, push_xml, push_xml_attribute, push_xml_bytes, unescape_xml,
};
use polywire_text::{Malformed, reference};
use proptest::prelude::*;

const PLACES: [XmlPlace; 2] = [XmlPlace::Text, XmlPlace::Attribute];
const READINGS: [XmlReading; 2] = [XmlReading::Strict, XmlReading::Lenient];
const POLICIES: [Forbidden; 3] = [Forbidden::Reject, Forbidden::Replace, Forbidden::Strip];

/// Runs a check with and without AVX2. Other tests may change the level concurrently, as results do
/// not depend on it.
fn at_each_level(check: impl Fn()) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        check();
    }
}

fn escapes_as_reference(bytes: &[u8]) {
    for place in PLACES {
        for forbidden in POLICIES {
            let expected = reference::xml::escaped(bytes, place, forbidden);
            let mut out = b"before".to_vec();
            let found = push_xml_bytes(&mut out, bytes, place, forbidden);
            let found = found.map(|()| String::from_utf8(out.split_off(6)).unwrap());
            assert_eq!(out, b"before");
            assert_eq!(
                found,
                expected,
                "{place:?} {forbidden:?} {}",
                bytes.escape_ascii()
            );
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            let mut out = Vec::new();
            let found = match place {
                XmlPlace::Text => push_xml(&mut out, text),
                XmlPlace::Attribute => push_xml_attribute(&mut out, text),
            };
            let found = found.map(|()| String::from_utf8(out).unwrap());
            assert_eq!(
                found,
                reference::xml::escaped(bytes, place, Forbidden::Reject)
            );
        }
    }
}

fn unescapes_as_reference(bytes: &[u8]) {
    for place in PLACES {
        for reading in READINGS {
            let expected = reference::xml::unescaped(bytes, place, reading);
            if let Ok(text) = std::str::from_utf8(bytes) {
                let found = unescape_xml(text, place, reading);
                if let Ok(Cow::Borrowed(found)) = found {
                    assert_eq!(found, text);
                }
                assert_eq!(
                    found.map(Cow::into_owned),
                    expected,
                    "{place:?} {reading:?} {text}"
                );
            }
        }
    }
}

/// Each of `pieces` at offsets of texts of many lengths, also followed by a second one.
fn at_each_place(pieces: &[&[u8]], check: impl Fn(&[u8])) {
    for len in (0..36).chain([47, 48, 49, 63, 64, 65, 95, 96, 97, 111, 127, 128, 129, 257]) {
        let clean = vec![b'x'; len];
        check(&clean);
        for piece in pieces {
            let places: Vec<usize> = match len {
                0..20 | 32 | 97 => (0..=len).collect(),
                _ => vec![0, 1, len / 2, len - 1, len],
            };
            for place in places {
                let mut bytes = clean.clone();
                bytes.splice(place..place, piece.iter().copied());
                check(&bytes);
                bytes.extend_from_slice(piece);
                check(&bytes);
            }
        }
    }
}

#[test]
fn escapes_stand_anywhere() {
    let pieces: [&[u8]; 16] = [
        b"&",
        b"<",
        b">",
        b"\r",
        b"\n",
        b"\t",
        b"\"",
        b"'",
        b"\0",
        b"\x1f",
        b"\x7f",
        "\u{85}".as_bytes(),
        "\u{fffd}".as_bytes(),
        "\u{fffe}".as_bytes(),
        "\u{ffff}\x01".as_bytes(),
        b"\xef\xbf",
    ];
    at_each_level(|| at_each_place(&pieces, escapes_as_reference));
}

#[test]
fn references_stand_anywhere() {
    let pieces: [&[u8]; 18] = [
        b"&amp;",
        b"&lt;",
        b"&quot;&apos;",
        b"&#9;",
        b"&#x10FFFF;",
        b"&#27;",
        b"&gt",
        b"&#",
        b"<",
        b"\r",
        b"\r\n",
        b"\n",
        b"\t",
        b"\x1b",
        b"]]>",
        "\u{fffe}".as_bytes(),
        b"\xff",
        b">",
    ];
    at_each_level(|| at_each_place(&pieces, unescapes_as_reference));
}

#[test]
fn every_byte_is_written_as_by_the_reference() {
    at_each_level(|| {
        for byte in 0..=0xff_u8 {
            for before in [0, 1, 40, 100, 200] {
                let mut bytes = vec![b'.'; before];
                bytes.push(byte);
                bytes.extend_from_slice(&[b'.'; 70]);
                escapes_as_reference(&bytes);
                unescapes_as_reference(&bytes);
            }
        }
    });
}

#[test]
fn every_character_goes_through_a_reference() {
    for code in (0..0x300)
        .chain(0xd700..0xe100)
        .chain(0xfff0..0x1_0010)
        .chain(0x10_fff0..0x11_0010)
    {
        for text in [
            format!("&#{code};"),
            format!("&#x{code:x};"),
            format!("&#x000{code:X}; "),
        ] {
            unescapes_as_reference(text.as_bytes());
        }
    }
    unescapes_as_reference(b"&#99999999999999999999;");
    unescapes_as_reference(b"&#xFFFFFFFFF;");
    let read = |text| unescape_xml(text, XmlPlace::Text, XmlReading::Strict);
    assert_eq!(read("&#65").unwrap_err().offset, 4);
    assert_eq!(read("&lt").unwrap_err().offset, 1);
}

#[test]
fn the_first_of_several_errors_is_reported() {
    for (text, offset) in [
        ("a\u{fffe}b\u{1}", 1),
        ("a\u{1}b\u{fffe}", 1),
        ("<\u{ffff}", 1),
        ("\u{fffd}\u{ffff}", 3),
    ] {
        let mut out = Vec::new();
        assert_eq!(push_xml(&mut out, text).unwrap_err().offset, offset);
        assert_eq!(out, b"");
    }
    let read = |text| unescape_xml(text, XmlPlace::Text, XmlReading::Strict);
    assert_eq!(read("]]> &x;").unwrap_err().offset, 0);
    assert_eq!(read("&x; ]]>").unwrap_err().offset, 1);
    assert_eq!(read("&#12]]>").unwrap_err().offset, 4);
    assert_eq!(read("\u{ffff}]]>").unwrap_err().offset, 0);
}

// What libiqxmlrpc does with text. Its CDATA and comments are markup, which the
// codec reads: `polywire-codec`, `xmlrpc`.

#[test]
fn text_before_an_entity_is_kept() {
    let read = |text| unescape_xml(text, XmlPlace::Text, XmlReading::Strict).unwrap();
    assert_eq!(
        read("before &amp; between &lt; behind"),
        "before & between < behind"
    );
}

#[test]
fn white_space_alone_is_kept() {
    let read = |text| unescape_xml(text, XmlPlace::Text, XmlReading::Strict).unwrap();
    assert_eq!(read(" \t\n "), " \t\n ");
    let mut out = Vec::new();
    push_xml(&mut out, " \t\n ").unwrap();
    assert_eq!(out, b" \t\n ");
}

#[test]
fn control_characters_nul_and_bad_utf8_are_not_written_raw() {
    for bytes in [
        &b"\x1b[31m"[..],
        b"\0",
        b"a\x01",
        b"\xff",
        b"caf\xe9",
        b"\xed\xa0\x80",
    ] {
        for place in PLACES {
            let mut out = Vec::new();
            assert!(push_xml_bytes(&mut out, bytes, place, Forbidden::default()).is_err());
            assert_eq!(out, b"");
            push_xml_bytes(&mut out, bytes, place, Forbidden::Replace).unwrap();
            assert!(std::str::from_utf8(&out).unwrap().contains('\u{fffd}'));
        }
    }
}

#[test]
fn the_end_of_cdata_never_stands_in_text() {
    let mut out = Vec::new();
    push_xml(&mut out, "]]>").unwrap();
    assert_eq!(out, b"]]&gt;");
}

#[test]
fn c1_controls_and_line_separators_are_characters() {
    let text = "\u{7f}\u{80}\u{85}\u{9f}\u{2028}";
    for place in PLACES {
        let mut out = Vec::new();
        push_xml_bytes(&mut out, text.as_bytes(), place, Forbidden::Reject).unwrap();
        assert_eq!(out, text.as_bytes());
        assert_eq!(unescape_xml(text, place, XmlReading::Strict).unwrap(), text);
    }
}

#[test]
fn no_more_is_reserved_than_is_needed() {
    let text = "a & b, ".repeat(10_000);
    let mut out = Vec::new();
    push_xml(&mut out, &text).unwrap();
    assert!(
        out.capacity() <= 2 * out.len() + 300,
        "{} {}",
        out.capacity(),
        out.len()
    );
}

/// Text in which whatever matters to a reader or a writer is frequent.
fn adversarial() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => "[a-z ]{0,40}".prop_map(String::into_bytes),
        2 => "[&<>'\"\r\n\t;#x\\]]{1,6}".prop_map(String::into_bytes),
        2 => "&(lt|gt|amp|quot|apos|#1[03]|#x1F600|#9|nbsp);?".prop_map(String::into_bytes),
        1 => "[é\u{85}\u{fffd}，😀]{1,9}".prop_map(String::into_bytes),
        1 => prop_oneof![Just("]]>"), Just("\u{fffe}"), Just("\x1b"), Just("\0")]
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..3),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The same without errors, for what only long good text reaches.
fn good() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé ]{0,70}",
        2 => "(&(lt|gt|amp|quot|apos|#1[03]|#x1F600|#9);){1,5}",
        1 => "(&amp;[a-zé>]){1,20}",
        1 => "[\r\n\t>，]{1,4}",
    ];
    proptest::collection::vec(piece, 0..40)
        .prop_map(|pieces| pieces.concat().replace(['<', '\u{0}'], ""))
}

proptest! {
    #[test]
    fn adversarial_bytes_match_the_reference(bytes in adversarial()) {
        at_each_level(|| {
            escapes_as_reference(&bytes);
            unescapes_as_reference(&bytes);
        });
    }

    #[test]
    fn valid_text_matches_the_reference(text in good()) {
        at_each_level(|| {
            escapes_as_reference(text.as_bytes());
            unescapes_as_reference(text.as_bytes());
        });
    }

    #[test]
    fn round_trips(text in good()) {
        let round = |push: fn(&mut Vec<u8>, &str) -> Result<(), Malformed>, place| {
            let mut out = Vec::new();
            push(&mut out, &text).unwrap();
            let out = String::from_utf8(out).unwrap();
            unescape_xml(&out, place, XmlReading::Strict).unwrap().into_owned()
        };
        prop_assert_eq!(&round(push_xml, XmlPlace::Text), &text);
        prop_assert_eq!(&round(push_xml_attribute, XmlPlace::Attribute), &text);
    }
}
