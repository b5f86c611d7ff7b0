//! Scans, byte by byte: see [`scan`](crate::scan).

/// As [`scan::json_clean`](crate::scan::json_clean).
#[must_use]
pub fn json_clean(bytes: &[u8]) -> usize {
    before(bytes, |byte| byte == b'"' || byte == b'\\' || byte < 0x20)
}

/// As [`scan::xml_data`](crate::scan::xml_data).
#[must_use]
pub fn xml_data(bytes: &[u8]) -> usize {
    before(bytes, |byte| b"<&".contains(&byte) || forbidden(byte))
}

/// As [`scan::white_space`](crate::scan::white_space).
#[must_use]
pub fn white_space(bytes: &[u8]) -> usize {
    before(bytes, |byte| !b" \t\r\n".contains(&byte))
}

/// As [`scan::xml_text`](crate::scan::xml_text).
#[must_use]
pub fn xml_text(bytes: &[u8]) -> usize {
    before(bytes, |byte| b"<&>\xef".contains(&byte) || forbidden(byte))
}

/// As [`scan::xml_name`](crate::scan::xml_name).
#[must_use]
pub fn xml_name(bytes: &[u8]) -> usize {
    before(bytes, |byte| {
        byte < 0x80 && !byte.is_ascii_alphanumeric() && !b"-._".contains(&byte)
    })
}

/// A control character other than tab and line feed.
fn forbidden(byte: u8) -> bool {
    byte < 0x20 && byte != b'\t' && byte != b'\n'
}

/// The number of bytes before the first for which `is_end` is true.
fn before(bytes: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|byte| is_end(*byte))
        .unwrap_or(bytes.len())
}
