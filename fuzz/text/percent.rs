//! The input as percent-encoding and forms.

use polywire_text::percent::{self, Plus};
use polywire_text::reference::percent as percent_twin;
use polywire_text::{form, utf8};

/// Reads and writes the bytes as both, and compares results and errors with the reference.
pub(crate) fn any(data: &[u8]) {
    encode(data);
    for plus in [Plus::Literal, Plus::Space] {
        decode(data, plus);
    }
    if let Ok(text) = utf8::validate(data) {
        pairs(text);
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
