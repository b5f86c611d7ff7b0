//! The input as a JSON string, and as bytes to escape.

use polywire_text::cpu::{self, Level};
use polywire_text::escape::{
    LoneSurrogate, json_str, json_string_end, push_json_string, push_unescaped_json,
    push_unescaped_json_str,
};
use polywire_text::quote;
use polywire_text::reference::{self, json as twin};

/// Escapes and unescapes the bytes, with and without AVX2, and compares with the reference.
pub(crate) fn any(data: &[u8]) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        escape(data);
        for lone in [LoneSurrogate::Reject, LoneSurrogate::Replace] {
            unescape(data, lone);
        }
    }
}

fn escape(data: &[u8]) {
    let expected = twin::escape(data);
    let mut out = Vec::new();
    quote::push_bytes(&mut out, data);
    assert_eq!(out.pop(), Some(b'"'));
    assert_eq!(out.remove(0), b'"');
    assert_eq!(out, expected);
    assert_eq!(
        json_string_end(&out).map_err(|error| error.offset),
        Err(out.len())
    );
    let mut back = Vec::new();
    push_unescaped_json(&mut back, &out, LoneSurrogate::Reject).unwrap();
    assert_eq!(back, data);
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    out.clear();
    push_json_string(&mut out, text, *b"\",");
    let string = str::from_utf8(&out[1..]).unwrap();
    let (read, len) = json_str(string, LoneSurrogate::Reject).unwrap();
    assert_eq!((&*read, &out[1 + len..]), (text, &b","[..]));
    let mut back = String::new();
    let escaped = str::from_utf8(&expected).unwrap();
    push_unescaped_json_str(&mut back, escaped, LoneSurrogate::Reject).unwrap();
    assert_eq!(back, text);
}

fn unescape(data: &[u8], lone: LoneSurrogate) {
    let expected = twin::unescape(data, lone);
    let mut out = b"before".to_vec();
    let found = push_unescaped_json(&mut out, data, lone);
    assert_eq!(found.map(|()| out[6..].to_vec()), expected);
    assert!(found.is_ok() || out == b"before");

    let expected = twin::string(data, lone);
    assert_eq!(json_string_end(data), twin::string_end(data));
    let mut text = String::new();
    let quoted = [b"\"", data].concat();
    let found = quote::read(&mut text, &quoted, lone).map(|rest| quoted.len() - rest.len());
    let twin = reference::quote::unquote(&quoted, 0, lone);
    assert_eq!(found.map(|end| (text, end)), twin);
    if let Ok(data) = str::from_utf8(data) {
        assert_eq!(
            json_str(data, lone).map(|(text, read)| (text.into_owned().into_bytes(), read)),
            expected
        );
    }
}
