//! As XML text and attributes, percent-encoding and forms.

use polywire_text::escape::{
    Forbidden, XmlPlace, XmlReading, push_unescaped_xml, push_xml_bytes, unescape_xml,
    unescape_xml_in_place,
};
use polywire_text::percent::{self, Plus};
use polywire_text::reference::{percent as percent_twin, xml as xml_twin};
use polywire_text::{form, utf8};

/// Reads and writes the bytes as each, and holds every answer, errors too,
/// against the readable twin's.
pub(crate) fn any(data: &[u8]) {
    for place in [XmlPlace::Text, XmlPlace::Attribute] {
        for forbidden in [Forbidden::Refuse, Forbidden::Replace, Forbidden::Strip] {
            escape(data, place, forbidden);
        }
        for reading in [XmlReading::Strict, XmlReading::Lenient] {
            unescape(data, place, reading);
        }
    }
    encode(data);
    for plus in [Plus::Literal, Plus::Space] {
        decode(data, plus);
    }
    if let Ok(text) = utf8::validate(data) {
        pairs(text);
    }
}

fn escape(data: &[u8], place: XmlPlace, forbidden: Forbidden) {
    let mut out = Vec::new();
    let written = push_xml_bytes(&mut out, data, place, forbidden);
    let twin = xml_twin::escaped(data, place, forbidden);
    assert_eq!(
        written.map(|()| &out[..]),
        twin.as_deref().map(str::as_bytes).map_err(|error| *error)
    );
    if written.is_ok() {
        let mut back = Vec::new();
        let read = push_unescaped_xml(&mut back, &out, place, XmlReading::Strict);
        assert_eq!(read, Ok(()));
        assert!(forbidden != Forbidden::Refuse || back == data);
        assert!(out.capacity() <= 2 * out.len().max(data.len()) + 600);
    }
}

fn unescape(data: &[u8], place: XmlPlace, reading: XmlReading) {
    let twin = xml_twin::unescaped(data, place, reading);
    let expected = twin.as_deref().map(str::as_bytes).map_err(|error| *error);
    let mut out = Vec::new();
    let read = push_unescaped_xml(&mut out, data, place, reading);
    assert_eq!(read.map(|()| &out[..]), expected);
    let mut own = data.to_vec();
    let read = unescape_xml_in_place(&mut own, place, reading);
    assert_eq!(read.map(|len| &own[..len]), expected);
    if let Ok(text) = utf8::validate(data) {
        let read = unescape_xml(text, place, reading);
        assert_eq!(
            read.as_deref().map(str::as_bytes).map_err(|error| *error),
            expected
        );
    }
}

fn encode(data: &[u8]) {
    for (set, twin) in [
        (&percent::UNRESERVED, percent_twin::encoded(data, b"")),
        (&percent::PATH, percent_twin::encoded(data, b"/")),
        (&form::WHATWG, percent_twin::form_encoded(data)),
    ] {
        let mut out = Vec::new();
        percent::push_bytes(&mut out, data, set);
        assert_eq!(out, twin.as_bytes());
        let back = percent::decode_bytes(&out, Plus::Space);
        assert_eq!(back.as_deref(), Ok(data));
    }
}

fn decode(data: &[u8], plus: Plus) {
    let twin = percent_twin::decoded(data, plus);
    let expected = twin.as_deref().map_err(|error| *error);
    let read = percent::decode_bytes(data, plus);
    assert_eq!(read.as_deref().map_err(|error| *error), expected);
    let mut own = data.to_vec();
    let read = percent::decode_in_place(&mut own, plus);
    assert_eq!(read.map(|len| &own[..len]), expected);
    if let (Ok(text), Plus::Literal) = (utf8::validate(data), plus) {
        let read = percent::decode(text).map(String::from);
        assert_eq!(read, percent_twin::decoded_text(text, plus));
    }
}

fn pairs(text: &str) {
    let read: Vec<_> = form::pairs(text)
        .map(|pair| {
            let pair = pair?;
            let (key, value) = (String::from(pair.key), String::from(pair.value));
            Ok((key, value, pair.offset, pair.value_offset))
        })
        .collect();
    assert_eq!(read, percent_twin::pairs(text));
}
