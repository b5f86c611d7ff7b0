//! As a JSON string and as bytes to escape.

use polywire_text::cpu::{self, Level};
use polywire_text::escape::{
    LoneSurrogate, json_escaped_len, json_str, json_string, json_string_end, push_json_ascii,
    push_json_bytes, push_json_string, push_unescaped_json, push_unescaped_json_str, read_json_str,
    read_json_string, unescape_json_in_place,
};
use polywire_text::reference::json as twin;

/// Escapes the bytes and reads them as an escaped string, on both levels of the
/// processor: each way as the twins do, and what was escaped is read again.
pub(crate) fn any(data: &[u8]) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        escape(data);
        for lone in [LoneSurrogate::Refuse, LoneSurrogate::Replace] {
            unescape(data, lone);
        }
    }
}

fn escape(data: &[u8]) {
    let expected = twin::escape(data);
    let mut out = Vec::new();
    push_json_bytes(&mut out, data);
    assert_eq!(out, expected);
    assert_eq!(json_escaped_len(data), expected.len());
    assert_eq!(
        json_string_end(&out).map_err(|error| error.offset),
        Err(out.len())
    );
    let mut back = Vec::new();
    push_unescaped_json(&mut back, &out, LoneSurrogate::Refuse).unwrap();
    assert_eq!(back, data);
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    out.clear();
    push_json_string(&mut out, text, *b"\",");
    let (read, len) = json_string(&out[1..], LoneSurrogate::Refuse).unwrap();
    assert_eq!((&*read, &out[1 + len..]), (text, &b","[..]));
    out.clear();
    push_json_ascii(&mut out, text);
    assert_eq!(out, twin::escape_ascii(text));
    let mut back = String::new();
    let ascii = str::from_utf8(&out).unwrap();
    push_unescaped_json_str(&mut back, ascii, LoneSurrogate::Refuse).unwrap();
    assert_eq!(back, text);
}

fn unescape(data: &[u8], lone: LoneSurrogate) {
    let expected = twin::unescape(data, lone);
    let mut out = b"before".to_vec();
    let found = push_unescaped_json(&mut out, data, lone);
    assert_eq!(found.map(|()| out[6..].to_vec()), expected);
    assert!(found.is_ok() || out == b"before");
    let mut bytes = data.to_vec();
    let found = unescape_json_in_place(&mut bytes, lone);
    assert_eq!(found.map(|len| bytes[..len].to_vec()), expected);

    let expected = twin::string(data, lone);
    out.truncate(6);
    let found = read_json_string(&mut out, data, lone);
    assert_eq!(found.map(|read| (out[6..].to_vec(), read)), expected);
    assert_eq!(json_string_end(data), twin::string_end(data));
    let mut text = String::new();
    let found = read_json_str(&mut text, data, lone);
    match (found, expected) {
        (Ok(read), Ok(expected)) => {
            assert_eq!((text.as_bytes(), read), (&expected.0[..], expected.1));
        }
        (Err(found), Err(expected)) => assert_eq!(found, expected),
        (Err(found), Ok(expected)) => {
            assert_eq!(found.expected, "UTF-8");
            assert!(String::from_utf8(expected.0).is_err());
        }
        (Ok(_), Err(expected)) => panic!("read what the twin refuses: {expected}"),
    }
    assert_eq!(json_string(data, lone).map(|(_, read)| read), found);
    if let Ok(data) = str::from_utf8(data) {
        assert_eq!(json_str(data, lone), json_string(data.as_bytes(), lone));
    }
}
