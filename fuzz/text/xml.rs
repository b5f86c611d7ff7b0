//! As XML text and attributes.

use polywire_text::escape::{
    Forbidden, XmlPlace, XmlReading, push_unescaped_xml, push_xml_bytes, unescape_xml,
    unescape_xml_in_place,
};
use polywire_text::reference::xml as xml_twin;
use polywire_text::utf8;

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
