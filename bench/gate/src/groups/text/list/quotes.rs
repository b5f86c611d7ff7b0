//! Quoted strings, keys, booleans and hexadecimal in quotes.

use crate::{Group, Quote, same};
use polywire_text::hex::Case;
use polywire_text::quote;

use super::{HERE, LONE, Orly, data};

pub(super) fn cases(group: &mut Group) {
    quoted(group);
    quoted_hex(group);
    keys(group);
    booleans(group);
}

fn quoted(group: &mut Group) {
    let large = Orly {
        function: "UnmarshalQuoted, 8 KB",
        published: 27_000.0,
        here: 27_000.0,
        bytes: 0,
        allocations: 0,
    };
    if let Some(text) = data(group, "bench/nostr/text_small.bin") {
        quoted_text(group, "small", text, None, None);
    }
    if let Some(text) = data(group, "bench/nostr/text_real_8k.bin") {
        quoted_text(group, "8 KB", text, Some(&large), None);
        let twice: &'static [u8] = text.repeat(2).leak();
        quoted_text(group, "8 KB, twice the input", twice, None, Some("8 KB"));
    }
}

fn quoted_text(
    group: &mut Group,
    name: &str,
    text: &'static [u8],
    orly: Option<&Orly>,
    half: Option<&str>,
) {
    // A text that was cut at some byte ends before it.
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut quoted = Vec::new();
    quote::push(&mut quoted, text);
    let quoted: &'static [u8] = quoted.leak();
    let write = group
        .case(format!("quote, {name}"))
        .bytes(text.len())
        .polywire_writes(
            move |out| quote::push(out, text),
            move |out| same(out, quoted),
        )
        .peer_writes(
            "serde_json",
            move |out| _ = serde_json::to_writer(out, text),
            move |out| same(out, quoted),
        )
        .peer_writes(
            "sonic-rs",
            move |out| _ = sonic_rs::to_writer(out, text),
            move |out| same(out, quoted),
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if let Some(half) = half {
        write.target_instructions_of_case(format!("quote, {half}"), 2.1);
    }
    let read = group
        .case(format!("unquote, {name}"))
        .bytes(quoted.len())
        .polywire_with(
            String::new(),
            move |out| {
                out.clear();
                quote::read(out, quoted, LONE).is_ok()
            },
            move |out, fine| *fine && out == text,
        )
        .peer(
            "serde_json, String",
            move || serde_json::from_slice::<String>(quoted).unwrap_or_default(),
            move |found| found == text,
        )
        .peer(
            "sonic-rs, String",
            move || sonic_rs::from_slice::<String>(quoted).unwrap_or_default(),
            move |found| found == text,
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if let Some(orly) = orly {
        let source = format!(
            "{}, Go, measured on the same kind of machine",
            orly.function
        );
        read.quote(Quote::new(HERE, source).nanoseconds(orly.here));
        read.target_ratio_time(HERE, 5.0);
    }
    if let Some(half) = half {
        read.target_instructions_of_case(format!("unquote, {half}"), 2.1);
    }
}

fn quoted_hex(group: &mut Group) {
    for (name, file) in [("32 B", "hex_quoted_32"), ("1 KB", "hex_quoted_1024")] {
        let Some(quoted) = data(group, &format!("bench/nostr/{file}.json")) else {
            continue;
        };
        let text: &'static str = serde_json::from_slice(quoted).unwrap_or_default();
        let bytes: &'static [u8] = const_hex::decode(text).unwrap_or_default().leak();
        assert!(!bytes.is_empty());
        let decode = move |text: &str, out: &mut Vec<u8>| {
            out.resize(text.len() / 2, 0);
            const_hex::decode_to_slice(text, out).is_ok()
        };
        group
            .case(format!("quoted hex, {name}, read"))
            .bytes(quoted.len())
            .polywire_with(
                Vec::new(),
                move |out| {
                    out.clear();
                    quote::read_hex(out, quoted, Case::Lower).is_ok()
                },
                move |out, fine| *fine && out == bytes,
            )
            .peer_with(
                "serde_json, const-hex",
                Vec::new(),
                move |out| serde_json::from_slice(quoted).is_ok_and(|text| decode(text, out)),
                move |out, fine| *fine && out == bytes,
            )
            .peer_with(
                "sonic-rs, const-hex",
                Vec::new(),
                move |out| sonic_rs::from_slice(quoted).is_ok_and(|text| decode(text, out)),
                move |out, fine| *fine && out == bytes,
            )
            .target_allocations(0)
            .target_near_best(1.1);
        group
            .case(format!("quoted hex, {name}, write"))
            .bytes(quoted.len())
            .polywire_writes(
                move |out| quote::push_hex(out, bytes),
                move |out| same(out, quoted),
            )
            .peer_writes(
                "const-hex, String",
                move |out| {
                    out.push(b'"');
                    out.extend_from_slice(const_hex::encode(bytes).as_bytes());
                    out.push(b'"');
                },
                move |out| same(out, quoted),
            )
            .target_allocations(0)
            .target_near_best(1.1);
    }
}

/// The keys of an event and of a filter.
const KEYS: &[&str] = &[
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

// The seed published no figure for keys, so peers of the same job stand here.
// Copying a name between quotes without a look at it would be less work: no
// peer does that.
fn keys(group: &mut Group) {
    let keys = KEYS;
    let written: String = keys.iter().map(|key| format!("\"{key}\":")).collect();
    let written: &'static [u8] = written.leak().as_bytes();
    group
        .case("16 keys, write")
        .bytes(written.len())
        .polywire_writes(
            move |out| {
                for key in keys {
                    quote::push_key(out, key);
                }
            },
            move |out| same(out, written),
        )
        .peer_writes(
            "serde_json",
            move |out| {
                for key in keys {
                    let _ = serde_json::to_writer(&mut *out, key);
                    out.push(b':');
                }
            },
            move |out| same(out, written),
        )
        .peer_writes(
            "sonic-rs",
            move |out| {
                for key in keys {
                    let _ = sonic_rs::to_writer(&mut *out, key);
                    out.push(b':');
                }
            },
            move |out| same(out, written),
        )
        .target_allocations(0)
        .target_near_best(1.1);
    let len: usize = keys.iter().map(|key| key.len()).sum();
    group
        .case("16 keys, read")
        .bytes(written.len())
        .polywire(
            move || {
                let (mut rest, mut sum) = (written, 0);
                while let Ok((key, behind)) = quote::read_key(rest, LONE) {
                    sum += key.len();
                    rest = behind;
                }
                sum
            },
            move |found| same(found, &len),
        )
        .peer(
            "serde_json, &str",
            move || {
                let (mut rest, mut sum) = (written, 0);
                loop {
                    let mut keys = serde_json::Deserializer::from_slice(rest).into_iter::<&str>();
                    let Some(Ok(key)) = keys.next() else {
                        return sum;
                    };
                    sum += key.len();
                    rest = rest.get(keys.byte_offset() + 1..).unwrap_or_default();
                }
            },
            move |found| same(found, &len),
        )
        .target_allocations(0)
        .target_near_best(1.1);
}

fn booleans(group: &mut Group) {
    // No pattern that a predictor of branches learns.
    let mut state = 1_u32;
    let values: Vec<bool> = (0..1000)
        .map(|_| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            state >> 31 == 1
        })
        .collect();
    let values: &'static [bool] = values.leak();
    let written: String = values.iter().map(|value| format!("{value},")).collect();
    let written: &'static [u8] = written.leak().as_bytes();
    group
        .case("1000 booleans, write")
        .bytes(written.len())
        .polywire_writes(
            move |out| {
                for value in values {
                    quote::push_bool(out, *value);
                    out.push(b',');
                }
            },
            move |out| same(out, written),
        )
        .peer_writes(
            "std",
            move |out| {
                for value in values {
                    let text = if *value { &b"true"[..] } else { b"false" };
                    out.extend_from_slice(text);
                    out.push(b',');
                }
            },
            move |out| same(out, written),
        )
        .peer_writes(
            "serde_json",
            move |out| {
                for value in values {
                    let _ = serde_json::to_writer(&mut *out, value);
                    out.push(b',');
                }
            },
            move |out| same(out, written),
        )
        .target_allocations(0)
        .target_near_best(1.1);
    let count = values.iter().filter(|value| **value).count();
    group
        .case("1000 booleans, read")
        .bytes(written.len())
        .polywire(
            move || {
                let (mut rest, mut count) = (written, 0);
                while let Ok((value, [_, behind @ ..])) = quote::read_bool(rest) {
                    count += usize::from(value);
                    rest = behind;
                }
                count
            },
            move |found| same(found, &count),
        )
        .peer(
            "std",
            move || {
                let (mut rest, mut count) = (written, 0);
                while let Some(at) = rest.iter().position(|byte| *byte == b',') {
                    count += usize::from(str::from_utf8(&rest[..at]) == Ok("true"));
                    rest = &rest[at + 1..];
                }
                count
            },
            move |found| same(found, &count),
        )
        .target_allocations(0)
        .target_near_best(1.1);
}
