//! Percent-encoding and forms, both ways.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use crate::{Case, Group, same, same_bytes};
use polywire_text::percent::{self, Plus};
use polywire_text::{form, reference};

const TEXT: usize = 8 * 1024;
const REAL: &str = "bench/nostr/text_real_8k.bin";

/// The unreserved characters, as the peer says it.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

pub(super) fn cases(group: &mut Group) {
    for (name, share) in [("0%", 0), ("5%", 50), ("50%", 500)] {
        let text = text(TEXT, share);
        writes(group.case(format!("percent out, 8 KiB, {name}")), &text);
        reads(group.case(format!("percent in, 8 KiB, {name}")), &text);
    }
    let cyrillic = "все буквы ".repeat(TEXT / 19);
    writes(group.case("percent out, 8 KiB, Cyrillic"), &cyrillic);
    reads(group.case("percent in, 8 KiB, Cyrillic"), &cyrillic);
    group.case_from("percent out, 8 KiB, real", [REAL], |case, [text]| {
        writes(case, &String::from_utf8_lossy(text));
    });
    group.case_from("percent in, 8 KiB, real", [REAL], |case, [text]| {
        reads(case, &String::from_utf8_lossy(text));
    });
    short(group);
    growth(group);
    forms(group);
}

/// Letters, and of each thousand characters so many that must be encoded.
fn text(len: usize, share: u32) -> String {
    let mut state = 0x2545_f491_u32;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..len)
        .map(|_| match random() % 1000 {
            kind if kind < share => [' ', '/', '%', '='][random() as usize % 4],
            _ => char::from(b'a' + (random() % 26) as u8),
        })
        .collect()
}

fn encoded(text: &str) -> String {
    reference::percent::encoded(text.as_bytes(), b"")
}

fn writes(case: &mut Case, text: &str) {
    let (own, peer) = (text.to_owned(), text.to_owned());
    let (expected, expected_of_peer) = (encoded(text), encoded(text));
    case.bytes(text.len())
        .polywire_writes(
            move |out| percent::push_bytes(out, own.as_bytes(), &percent::UNRESERVED),
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .peer_writes(
            "percent-encoding",
            move |out| {
                for part in utf8_percent_encode(&peer, UNRESERVED) {
                    out.extend_from_slice(part.as_bytes());
                }
            },
            move |out| same_bytes(out, expected_of_peer.as_bytes()),
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

fn reads(case: &mut Case, text: &str) {
    let (own, peer) = (encoded(text), encoded(text));
    let (expected, expected_of_peer) = (text.to_owned(), text.to_owned());
    case.bytes(own.len())
        .polywire(
            move || percent::decode(&own).map(Cow::into_owned),
            move |read| same(read, &Ok(expected.clone())),
        )
        .peer(
            "percent-encoding",
            move || percent_decode_str(&peer).decode_utf8().map(Cow::into_owned),
            move |read| same(read, &Ok(expected_of_peer.clone())),
        )
        .target_near_best(1.1)
        .target_allocations(1);
}

/// A thousand labels and values of about twenty bytes.
fn short(group: &mut Group) {
    let long = text(40_000, 20);
    let texts: Vec<String> = (0..1000)
        .map(|at| long[at * 37..at * 37 + 12 + at * 7 % 17].to_owned())
        .collect();
    let bytes = texts.iter().map(String::len).sum();
    let expected = encoded(&texts.concat());
    let expected_of_peer = expected.clone();
    let (own, peer) = (texts.clone(), texts.clone());
    group
        .case("percent out, 1000 of 20 bytes")
        .bytes(bytes)
        .polywire_writes(
            move |out| {
                for text in &own {
                    percent::push_bytes(out, text.as_bytes(), &percent::UNRESERVED);
                }
            },
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .peer_writes(
            "percent-encoding",
            move |out| {
                for text in &peer {
                    for part in utf8_percent_encode(text, UNRESERVED) {
                        out.extend_from_slice(part.as_bytes());
                    }
                }
            },
            move |out| same_bytes(out, expected_of_peer.as_bytes()),
        )
        .target_near_best(1.1)
        .target_allocations(0);

    let (all, all_of_peer) = (texts.concat(), texts.concat());
    let own: Vec<String> = texts.iter().map(|text| encoded(text)).collect();
    let peer = own.clone();
    group
        .case("percent in, 1000 of 20 bytes")
        .bytes(own.iter().map(String::len).sum())
        .polywire_writes(
            move |out| {
                for text in &own {
                    out.extend_from_slice(percent::decode(text).unwrap_or_default().as_bytes());
                }
            },
            move |out| same_bytes(out, all.as_bytes()),
        )
        .peer_writes(
            "percent-encoding",
            move |out| {
                for text in &peer {
                    let read = percent_decode_str(text).decode_utf8();
                    out.extend_from_slice(read.unwrap_or_default().as_bytes());
                }
            },
            move |out| same_bytes(out, all_of_peer.as_bytes()),
        )
        .target_near_best(1.1);
}

/// Twice the input, at most 2.1 times the instructions.
fn growth(group: &mut Group) {
    for (suffix, len) in [("", 64 * 1024), (", twice the input", 128 * 1024)] {
        let text = text(len, 50);
        let name = |what: &str| format!("{what}, 64 KiB{suffix}");
        let target = |case: &mut Case, what: &str| {
            if !suffix.is_empty() {
                case.target_instructions_of_case(format!("{what}, 64 KiB"), 2.1);
            }
        };

        let what = "percent out";
        let (own, expected) = (text.clone(), encoded(&text));
        let case = group.case(name(what)).bytes(len).polywire_writes(
            move |out| percent::push_bytes(out, own.as_bytes(), &percent::UNRESERVED),
            move |out| same_bytes(out, expected.as_bytes()),
        );
        target(case, what);

        let what = "percent in";
        let (own, expected) = (encoded(&text), text.clone());
        let case = group.case(name(what)).bytes(own.len()).polywire_writes(
            move |out| _ = percent::push_decoded(out, own.as_bytes(), Plus::Space),
            move |out| same_bytes(out, expected.as_bytes()),
        );
        target(case, what);

        let what = "percent in place";
        let (own, expected) = (encoded(&text), text.clone());
        let case = group.case(name(what)).bytes(own.len()).polywire_with(
            Vec::new(),
            move |bytes| {
                bytes.clear();
                bytes.extend_from_slice(own.as_bytes());
                percent::decode_in_place(bytes, Plus::Literal)
            },
            move |bytes, len| same_bytes(&bytes[..len.unwrap_or(0)], expected.as_bytes()),
        );
        target(case, what);

        let what = "form in";
        let (own, count) = query(len);
        let case = group.case(name(what)).bytes(own.len()).polywire(
            move || form::pairs(&own).filter(Result::is_ok).count(),
            move |found| same(found, &count),
        );
        target(case, what);
    }
}

/// A query of about so many bytes, and the number of its pairs.
fn query(len: usize) -> (String, usize) {
    let long = text(len, 30);
    let mut out = Vec::new();
    let mut writer = form::Writer::new(&mut out, &form::WHATWG);
    let mut count = 0;
    let mut rest = &*long;
    while rest.len() > 40 {
        let (key, value) = rest.split_at(6 + count * 5 % 7);
        let (value, behind) = value.split_at(8 + count * 3 % 19);
        writer.pair(key, value);
        rest = behind;
        count += 1;
    }
    (String::from_utf8(out).unwrap_or_default(), count)
}

fn forms(group: &mut Group) {
    let (query, count) = query(1024);
    let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    let (own, peer) = (query.clone(), query.clone());
    let sum: usize = pairs
        .iter()
        .map(|(key, value)| key.len() + value.len())
        .sum();
    let expected = (count, sum);
    group
        .case("form in, 1 KiB")
        .bytes(query.len())
        .polywire(
            move || {
                form::pairs(&own).fold((0, 0), |(count, sum), pair| match pair {
                    Ok(pair) => (count + 1, sum + pair.key.len() + pair.value.len()),
                    Err(_) => (0, 0),
                })
            },
            move |found| same(found, &expected),
        )
        .peer(
            "form_urlencoded",
            move || {
                form_urlencoded::parse(peer.as_bytes())
                    .fold((0, 0), |(count, sum), (key, value)| {
                        (count + 1, sum + key.len() + value.len())
                    })
            },
            move |found| same(found, &expected),
        )
        .target_near_best(1.1);

    let peer = pairs.clone();
    let written = query.clone();
    group
        .case("form out, 1 KiB")
        .bytes(query.len())
        .polywire_writes(
            move |out| {
                let mut writer = form::Writer::new(out, &form::WHATWG);
                for (key, value) in &pairs {
                    writer.pair(key, value);
                }
            },
            move |out| same_bytes(out, query.as_bytes()),
        )
        .peer_writes(
            "form_urlencoded, byte_serialize",
            move |out| {
                let mut between = "";
                for (key, value) in &peer {
                    out.extend_from_slice(between.as_bytes());
                    between = "&";
                    for part in form_urlencoded::byte_serialize(key.as_bytes()) {
                        out.extend_from_slice(part.as_bytes());
                    }
                    out.push(b'=');
                    for part in form_urlencoded::byte_serialize(value.as_bytes()) {
                        out.extend_from_slice(part.as_bytes());
                    }
                }
            },
            move |out| same_bytes(out, written.as_bytes()),
        )
        .target_near_best(1.1)
        .target_allocations(0);
}
