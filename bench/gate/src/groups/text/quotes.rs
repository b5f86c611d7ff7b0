//! Quoted strings, keys, booleans, lists and hexadecimal in quotes, and JSON escapes both ways
//! in one call.

use super::json::{LINE, quoted, utf8};
use super::list::{digits, keys};
use super::{REAL_TEXT, random};
use crate::{Group, same, same_bytes};
use polywire_text::escape::{LoneSurrogate, push_json, push_unescaped_json};
use polywire_text::hex::Case;
use polywire_text::{list, quote};

/// The keys of an event and of a filter of the Nostr protocol.
const KEYS: [&str; 16] = [
    "id",
    "pubkey",
    "created_at",
    "kind",
    "tags",
    "content",
    "sig",
    "ids",
    "authors",
    "kinds",
    "since",
    "until",
    "limit",
    "search",
    "#e",
    "#p",
];

/// Adds the cases.
pub fn cases(group: &mut Group) {
    for (what, file) in [
        ("a line of 116 bytes", LINE),
        ("8 KB of real text", REAL_TEXT),
    ] {
        there_and_back(group, what, file);
    }
    for (size, file) in [("small", LINE), ("8 KB", REAL_TEXT)] {
        strings(group, size, file);
    }
    short_list(group);
    names(group);
    quoted_hex(group);
    booleans(group);
}

/// Escapes a text and unescapes the result. Both buffers are kept across calls.
fn there_and_back(group: &mut Group, what: &str, file: &str) {
    let name = format!("JSON: there and back, {what}");
    group.case_from(name, [file], |case, [bytes]| {
        let text = utf8(bytes);
        case.polywire_with(
            (Vec::new(), Vec::new()),
            move |(escaped, back)| {
                escaped.clear();
                back.clear();
                push_json(escaped, text);
                push_unescaped_json(back, escaped, LoneSurrogate::Reject).is_ok()
            },
            move |(_, back), _| same_bytes(back, bytes),
        )
        .target_allocations(0);
    });
}

/// One string with its quotes, both ways.
fn strings(group: &mut Group, size: &str, file: &str) {
    group.case_from(format!("quote, {size}"), [file], |case, [bytes]| {
        let text = utf8(bytes);
        case.polywire_writes(
            move |out| quote::push(out, text),
            move |out| same_bytes(out, quoted(text).as_bytes()),
        )
        .target_allocations(0);
    });
    group.case_from(format!("unquote, {size}"), [file], |case, [bytes]| {
        let quoted = quoted(utf8(bytes)).as_bytes();
        case.bytes(quoted.len())
            .polywire_with(
                String::new(),
                move |out| {
                    out.clear();
                    quote::read(out, quoted, LoneSurrogate::Reject).is_ok()
                },
                move |out, _| same_bytes(out.as_bytes(), bytes),
            )
            .target_allocations(0);
    });
}

fn short_list(group: &mut Group) {
    let list = br#""item1","item2","item3""#;
    group
        .case("list of 3, write")
        .bytes(list.len())
        .polywire_writes(
            |out| {
                let items = ["item1", "item2", "item3"];
                list::push_separated(out, items, b',', quote::push);
            },
            move |out| same_bytes(out, list),
        )
        .target_allocations(0);
}

fn names(group: &mut Group) {
    let written: String = KEYS.iter().map(|key| format!("\"{key}\":")).collect();
    group
        .case("keys: write 16")
        .bytes(written.len())
        .polywire_writes(
            |out| {
                for key in KEYS {
                    quote::push_key(out, key);
                }
            },
            move |out| same_bytes(out, written.as_bytes()),
        )
        .target_allocations(0);
}

fn quoted_hex(group: &mut Group) {
    let key = &keys()[..32];
    let quoted = format!("\"{}\"", &digits()[..64]);
    group
        .case("quoted hex, 32 B, read")
        .bytes(quoted.len())
        .polywire_with(
            Vec::new(),
            move |out| {
                out.clear();
                quote::read_hex(out, quoted.as_bytes(), Case::Lower).is_ok()
            },
            move |out, _| same_bytes(out, key),
        )
        .target_allocations(0);
}

fn booleans(group: &mut Group) {
    let mut random = random(9);
    let values: Vec<bool> = (0..1000).map(|_| random() % 2 == 1).collect();
    let written: String = values.iter().map(|value| format!("{value},")).collect();
    group
        .case("booleans: read 1000")
        .bytes(written.len())
        .polywire_with(
            Vec::new(),
            move |out| {
                out.clear();
                let mut rest = written.as_bytes();
                while let Ok((value, [_, behind @ ..])) = quote::read_bool(rest) {
                    out.push(value);
                    rest = behind;
                }
            },
            move |out, ()| same(out, &values),
        )
        .target_allocations(0);
}
