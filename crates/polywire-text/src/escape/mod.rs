//! Escapes of JSON strings and of XML, both ways.

mod json;
mod xml;

pub use json::{
    JsonEnd, LoneSurrogate, json_escape, json_escaped_len, json_string, json_string_end, push_json,
    push_json_ascii, push_json_bytes, push_json_string, read_json_str, read_json_string,
    unescape_json, unescape_json_in_place, unescape_json_str,
};
pub use xml::{is_xml, push_xml, xml_reference};

use crate::scan;

/// Appends the first `len` bytes of `window`; short ones at a fixed width
/// where the window allows it.
#[inline]
fn push_clean(out: &mut Vec<u8>, window: &[u8], len: usize) {
    scan::Run::new(window, len).push_to(out);
}
