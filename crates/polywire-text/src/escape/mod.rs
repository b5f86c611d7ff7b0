//! Escapes of JSON strings and of XML, both ways.

mod json;
mod xml;

pub use json::{json_escape, push_json, push_json_string};
pub use xml::{
    Forbidden, XmlPlace, XmlReading, is_xml, push_unescaped_xml, push_xml, push_xml_attribute,
    push_xml_bytes, unescape_xml, unescape_xml_in_place, xml_reference,
};

use crate::scan;

/// Appends the first `len` bytes of `window`; short ones at a fixed width
/// where the window allows it.
#[inline]
fn push_clean(out: &mut Vec<u8>, window: &[u8], len: usize) {
    scan::Run::new(window, len).push_to(out);
}
