//! Escapes of JSON strings and of XML.

mod json;
mod xml;

pub use json::{
    JsonEnd, LoneSurrogate, json_escape, json_str, json_string_end, json_to_slice, push_json,
    push_json_string, push_json_text, push_unescaped_json, push_unescaped_json_str,
};
pub(crate) use json::{push_json_bytes, read_json_string};
pub(crate) use xml::short as short_xml;
pub use xml::{
    Forbidden, XML_CHARACTER, XmlPlace, XmlReading, is_xml, push_xml, push_xml_attribute,
    push_xml_bytes, unescape_xml,
};
