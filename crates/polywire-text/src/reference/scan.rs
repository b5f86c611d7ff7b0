//! The twin of [`scan`](crate::scan): byte by byte.

/// What [`scan::json_clean`](crate::scan::json_clean) answers.
#[must_use]
pub fn json_clean(bytes: &[u8]) -> usize {
    before(bytes, |byte| byte == b'"' || byte == b'\\' || byte < 0x20)
}

/// What [`scan::xml_data`](crate::scan::xml_data) answers.
#[must_use]
pub fn xml_data(bytes: &[u8]) -> usize {
    before(bytes, |byte| b"<&".contains(&byte) || forbidden(byte))
}

/// What [`scan::white_space`](crate::scan::white_space) answers.
#[must_use]
pub fn white_space(bytes: &[u8]) -> usize {
    before(bytes, |byte| !b" \t\r\n".contains(&byte))
}

/// What [`scan::ascii`](crate::scan::ascii) answers.
#[must_use]
pub fn ascii(bytes: &[u8]) -> usize {
    before(bytes, |byte| byte >= 0x80)
}

/// What [`scan::xml_name`](crate::scan::xml_name) answers.
#[must_use]
pub fn xml_name(bytes: &[u8]) -> usize {
    before(bytes, |byte| {
        byte < 0x80 && !byte.is_ascii_alphanumeric() && !b"-._".contains(&byte)
    })
}

/// A control character that does not stand in XML as it is.
fn forbidden(byte: u8) -> bool {
    byte < 0x20 && byte != b'\t' && byte != b'\n'
}

/// How many bytes stand before the first such.
fn before(bytes: &[u8], is_end: impl Fn(u8) -> bool) -> usize {
    bytes
        .iter()
        .position(|byte| is_end(*byte))
        .unwrap_or(bytes.len())
}
