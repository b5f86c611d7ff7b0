//! Escapes of JSON strings and of XML, both ways.

mod json;
mod xml;

pub use json::{
    JsonEnd, LoneSurrogate, json_escape, json_escaped_len, json_str, json_string, json_string_end,
    json_to_slice, push_json, push_json_ascii, push_json_bytes, push_json_string, push_json_text,
    push_unescaped_json, push_unescaped_json_str, read_json_str, read_json_string,
    unescape_json_in_place,
};
pub(crate) use xml::short as short_xml;
pub use xml::{
    Forbidden, XmlPlace, XmlReading, is_xml, push_unescaped_xml, push_xml, push_xml_attribute,
    push_xml_bytes, unescape_xml, unescape_xml_in_place, xml_reference,
};
