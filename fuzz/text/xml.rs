//! The input as XML text and attributes.

use polywire_text::escape::{Forbidden, XmlPlace, XmlReading, push_xml_bytes, unescape_xml};
use polywire_text::reference::xml as xml_twin;
use polywire_text::utf8;

/// Reads and writes the bytes as each, and compares results and errors with the reference.
pub(crate) fn any(data: &[u8]) {
    for place in [XmlPlace::Text, XmlPlace::Attribute] {
        for forbidden in [Forbidden::Reject, Forbidden::Replace, Forbidden::Strip] {
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
        let text = utf8::validate(&out).unwrap();
        let back = unescape_xml(text, place, XmlReading::Strict).unwrap();
        assert!(forbidden != Forbidden::Reject || back.as_bytes() == data);
        assert!(out.capacity() <= 2 * out.len().max(data.len()) + 600);
    }
}

fn unescape(data: &[u8], place: XmlPlace, reading: XmlReading) {
    let twin = xml_twin::unescaped(data, place, reading);
    let expected = twin.as_deref().map(str::as_bytes).map_err(|error| *error);
    if let Ok(text) = utf8::validate(data) {
        let read = unescape_xml(text, place, reading);
        assert_eq!(
            read.as_deref().map(str::as_bytes).map_err(|error| *error),
            expected
        );
    }
}
