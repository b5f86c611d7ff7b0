//! XML character data, escaped and unescaped.

use std::borrow::Cow;

use super::{letters, pieces};
use crate::{Group, same, same_bytes};
use polywire_text::escape::{Forbidden, XmlPlace, XmlReading, push_xml, unescape_xml};
use polywire_text::reference::xml as reference;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    for (name, special) in [
        ("XML text out, 8 KiB, 0%", 0),
        ("XML text out, 8 KiB, 5%", 50),
    ] {
        let text = text(8192, special);
        let expected = escaped(&text);
        group
            .case(name)
            .bytes(text.len())
            .polywire_writes(
                move |out| _ = push_xml(out, &text),
                move |out| same_bytes(out, expected.as_bytes()),
            )
            .target_allocations(0);
    }
    reads(group, "XML text in, 8 KiB, 0%", 8192, 0);
    reads(group, "XML text in, 8 KiB, 5%", 8192, 50);
    reads(group, "XML text in, 16 KiB, 5%", 2 * 8192, 50);
    group.extend("XML text in, 16 KiB, 5%", |case| {
        case.target_instructions_of_case("XML text in, 8 KiB, 5%", 2.1);
    });
    short(group);
}

fn reads(group: &mut Group, name: &str, len: usize, special: u64) {
    let text = text(len, special);
    let escaped = escaped(&text);
    group.case(name).bytes(escaped.len()).polywire(
        move || unescape_xml(&escaped, XmlPlace::Text, XmlReading::Strict).map(Cow::into_owned),
        move |read| same(read, &Ok(text.clone())),
    );
}

fn short(group: &mut Group) {
    let texts = short_texts();
    let written: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    let expected = written.concat();
    let all = texts.concat();
    group
        .case("XML text out, 1000 of 20 bytes")
        .bytes(all.len())
        .polywire_writes(
            move |out| {
                for text in &texts {
                    _ = push_xml(out, text);
                }
            },
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .target_allocations(0);
    group
        .case("XML text in, 1000 of 20 bytes")
        .bytes(written.iter().map(String::len).sum())
        .polywire_writes(
            move |out| {
                for text in &written {
                    let read = unescape_xml(text, XmlPlace::Text, XmlReading::Strict);
                    out.extend_from_slice(read.unwrap_or_default().as_bytes());
                }
            },
            move |out| same_bytes(out, all.as_bytes()),
        );
}

/// Words with `special` of each 1000 characters to escape.
pub fn text(len: usize, special: u64) -> String {
    letters(len, special, ['&', '<', '>', '&'])
}

/// The text as character data.
pub fn escaped(text: &str) -> String {
    reference::escaped(text.as_bytes(), XmlPlace::Text, Forbidden::Reject).unwrap_or_default()
}

/// 1000 texts of about 20 bytes, a quarter of them with something to escape.
pub fn short_texts() -> Vec<String> {
    pieces(&text(40_000, 14))
}
