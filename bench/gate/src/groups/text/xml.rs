//! Escapes of XML, both ways.

use std::borrow::Cow;

use crate::{Case, Group, same, same_bytes};
use polywire_text::escape::{
    Forbidden, XmlPlace, XmlReading, push_unescaped_xml, push_xml, push_xml_attribute,
    push_xml_bytes, unescape_xml, unescape_xml_in_place,
};
use quick_xml::escape;

const TEXT: usize = 8 * 1024;
const REAL: &str = "bench/nostr/text_real_8k.bin";

pub(super) fn cases(group: &mut Group) {
    for (name, share) in [("0%", 0), ("5%", 50), ("50%", 500)] {
        let text = text(TEXT, share);
        writes(group.case(format!("XML text out, 8 KiB, {name}")), &text);
        reads(group.case(format!("XML text in, 8 KiB, {name}")), &text);
    }
    growth(group);
    group.case_from("XML text out, 8 KiB, real", [REAL], |case, [text]| {
        writes(case, &valid(text));
    });
    group.case_from("XML text in, 8 KiB, real", [REAL], |case, [text]| {
        reads(case, &valid(text));
    });
    short(group);
    attributes(group);
    policies(group);
}

/// Words, and of each thousand characters so many that must be escaped.
fn text(len: usize, share: u32) -> String {
    let mut state = 0x2545_f491_u32;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let mut text = String::new();
    while text.len() < len {
        let kind = random() % 1000;
        text.push(match random() % 28 {
            which if kind < share => ['&', '<', '>', '&'][which as usize % 4],
            26 | 27 => ' ',
            letter => char::from(b'a' + letter as u8),
        });
    }
    text
}

/// The file's text without what XML cannot carry.
fn valid(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    let pushed = push_xml_bytes(&mut out, bytes, XmlPlace::Text, Forbidden::Strip);
    assert_eq!(pushed, Ok(()));
    escape::unescape(&String::from_utf8_lossy(&out)).map_or_else(|_| String::new(), Cow::into_owned)
}

fn escaped(text: &str) -> String {
    escape::partial_escape(text).into_owned()
}

/// The caller's buffer beside a string of its own that has to be copied there,
/// which is how quick-xml's writer works.
fn writes(case: &mut Case, text: &str) {
    let (own, peer) = (text.to_owned(), text.to_owned());
    let (expected, expected_of_peer) = (escaped(text), escaped(text));
    case.bytes(text.len())
        .polywire_writes(
            move |out| _ = push_xml(out, &own),
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .peer_writes(
            "quick-xml",
            move |out| out.extend_from_slice(escape::partial_escape(&*peer).as_bytes()),
            move |out| same_bytes(out, expected_of_peer.as_bytes()),
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

fn reads(case: &mut Case, text: &str) {
    let (own, peer) = (escaped(text), escaped(text));
    let (expected, expected_of_peer) = (text.to_owned(), text.to_owned());
    case.bytes(own.len())
        .polywire(
            move || {
                let read = unescape_xml(&own, XmlPlace::Text, XmlReading::Strict);
                read.map(Cow::into_owned)
            },
            move |read| same(read, &Ok(expected.clone())),
        )
        .peer(
            "quick-xml",
            move || escape::unescape(&peer).map(Cow::into_owned),
            move |read| same(read, &Ok(expected_of_peer.clone())),
        )
        .target_near_best(1.1)
        .target_allocations(1);
}

/// Twice the input, at most 2.1 times the instructions.
fn growth(group: &mut Group) {
    for (suffix, len) in [("", 64 * 1024), (", twice the input", 128 * 1024)] {
        let text = text(len, 50);
        let name = |what: &str| format!("XML {what}, 64 KiB{suffix}");
        let target = |case: &mut Case, what: &str| {
            if !suffix.is_empty() {
                case.target_instructions_of_case(format!("XML {what}, 64 KiB"), 2.1);
            }
        };

        let what = "text out";
        let (own, expected) = (text.clone(), escaped(&text));
        let case = group.case(name(what)).bytes(len).polywire_writes(
            move |out| _ = push_xml(out, &own),
            move |out| same_bytes(out, expected.as_bytes()),
        );
        target(case, what);

        let what = "bytes out, replaced";
        let bad = text.replace('&', "\u{ffff}\u{1}");
        let expected = escaped(&bad.replace(['\u{1}', '\u{ffff}'], "\u{fffd}"));
        let case = group.case(name(what)).bytes(bad.len()).polywire_writes(
            move |out| {
                let place = XmlPlace::Text;
                _ = push_xml_bytes(out, bad.as_bytes(), place, Forbidden::Replace);
            },
            move |out| same_bytes(out, expected.as_bytes()),
        );
        target(case, what);

        let what = "attribute out";
        let (own, expected) = (text.clone(), escaped(&text));
        let case = group.case(name(what)).bytes(len).polywire_writes(
            move |out| _ = push_xml_attribute(out, &own),
            move |out| same_bytes(out, expected.as_bytes()),
        );
        target(case, what);

        for (what, place) in [
            ("text in", XmlPlace::Text),
            ("attribute in", XmlPlace::Attribute),
        ] {
            let (own, expected) = (escaped(&text), text.clone());
            let case = group.case(name(what)).bytes(own.len()).polywire_writes(
                move |out| _ = push_unescaped_xml(out, own.as_bytes(), place, XmlReading::Strict),
                move |out| same_bytes(out, expected.as_bytes()),
            );
            target(case, what);
        }

        let what = "text in place";
        let (own, expected) = (escaped(&text), text.clone());
        let case = group.case(name(what)).bytes(own.len()).polywire_with(
            Vec::new(),
            move |bytes| {
                bytes.clear();
                bytes.extend_from_slice(own.as_bytes());
                unescape_xml_in_place(bytes, XmlPlace::Text, XmlReading::Strict)
            },
            move |bytes, len| same_bytes(&bytes[..len.unwrap_or(0)], expected.as_bytes()),
        );
        target(case, what);
    }
}

/// A thousand strings of about twenty bytes, a quarter of them with something
/// to escape.
fn short(group: &mut Group) {
    let long = text(40_000, 14);
    let texts: Vec<String> = (0..1000)
        .map(|at| long[at * 37..at * 37 + 12 + at * 7 % 17].to_owned())
        .collect();
    let bytes = texts.iter().map(String::len).sum();
    let expected: String = texts.iter().map(|text| escaped(text)).collect();
    let expected_of_peer = expected.clone();
    let (own, peer) = (texts.clone(), texts.clone());
    group
        .case("XML text out, 1000 of 20 bytes")
        .bytes(bytes)
        .polywire_writes(
            move |out| {
                for text in &own {
                    _ = push_xml(out, text);
                }
            },
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .peer_writes(
            "quick-xml",
            move |out| {
                for text in &peer {
                    out.extend_from_slice(escape::partial_escape(&**text).as_bytes());
                }
            },
            move |out| same_bytes(out, expected_of_peer.as_bytes()),
        )
        .target_near_best(1.1)
        .target_allocations(0);

    let all: String = texts.concat();
    let all_of_peer = all.clone();
    let own: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
    let peer = own.clone();
    group
        .case("XML text in, 1000 of 20 bytes")
        .bytes(own.iter().map(String::len).sum())
        .polywire_writes(
            move |out| {
                for text in &own {
                    let read = unescape_xml(text, XmlPlace::Text, XmlReading::Strict);
                    out.extend_from_slice(read.unwrap_or_default().as_bytes());
                }
            },
            move |out| same_bytes(out, all.as_bytes()),
        )
        .peer_writes(
            "quick-xml",
            move |out| {
                for text in &peer {
                    out.extend_from_slice(escape::unescape(text).unwrap_or_default().as_bytes());
                }
            },
            move |out| same_bytes(out, all_of_peer.as_bytes()),
        )
        .target_near_best(1.1);
}

fn attributes(group: &mut Group) {
    let text = text(1024, 20);
    let quoted = text.replace('e', "\"");
    let (own, peer) = (quoted.clone(), quoted.clone());
    let (expected, expected_of_peer) = (
        escape::escape(&*quoted).into_owned(),
        escape::escape(&*quoted).into_owned(),
    );
    let (written, written_of_peer) = (expected.clone(), expected.clone());
    group
        .case("XML attribute out, 1 KiB")
        .bytes(quoted.len())
        .polywire_writes(
            move |out| _ = push_xml_attribute(out, &own),
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .peer_writes(
            "quick-xml",
            move |out| out.extend_from_slice(escape::escape(&*peer).as_bytes()),
            move |out| same_bytes(out, expected_of_peer.as_bytes()),
        )
        .target_near_best(1.1)
        .target_allocations(0);
    let (back, back_of_peer) = (quoted.clone(), quoted);
    group
        .case("XML attribute in, 1 KiB")
        .bytes(written.len())
        .polywire(
            move || {
                let read = unescape_xml(&written, XmlPlace::Attribute, XmlReading::Strict);
                read.map(Cow::into_owned)
            },
            move |read| same(read, &Ok(back.clone())),
        )
        .peer(
            "quick-xml, not normalised",
            move || escape::unescape(&written_of_peer).map(Cow::into_owned),
            move |read| same(read, &Ok(back_of_peer.clone())),
        )
        .target_near_best(1.1)
        .target_allocations(1);
}

/// Terminal colours, which a supervisor of processes has in its logs.
fn policies(group: &mut Group) {
    let text = text(TEXT, 10).replace("q", "\x1b[1m");
    let expected = escaped(&text.replace('\x1b', "\u{fffd}"));
    group
        .case("XML text out, 8 KiB, control characters replaced")
        .bytes(text.len())
        .polywire_writes(
            move |out| {
                let place = XmlPlace::Text;
                _ = push_xml_bytes(out, text.as_bytes(), place, Forbidden::Replace);
            },
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .target_allocations(0);
}
