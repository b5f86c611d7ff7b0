//! The string type: 24 bytes around an `Arc`, as it is, against 32 bytes
//! around `Bytes`, as it might be; and `String`.

use std::ops::Deref;

use bytes::Bytes;
use crate::{Case, Group, same};
use polywire_text::{Body, Text};

/// The other layout: up to 23 bytes inline, or a `Bytes`.
#[derive(Clone)]
enum Wide {
    Inline { len: u8, bytes: [u8; 23] },
    Shared(Bytes),
}

const _: () = assert!(size_of::<Text>() == 24);
const _: () = assert!(size_of::<Wide>() == 32);

impl Wide {
    fn new(body: &Bytes, start: usize, end: usize) -> Self {
        let len = end - start;
        if len <= 23
            && let Some(chunk) = body.get(start..).and_then(<[u8]>::first_chunk::<23>)
        {
            return Self::Inline {
                len: len as u8,
                bytes: *chunk,
            };
        }
        Self::Shared(body.slice(start..end))
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Inline { len, bytes } => &bytes[..usize::from(*len).min(23)],
            Self::Shared(bytes) => bytes,
        }
    }
}

/// How many strings a case handles.
const COUNT: usize = 1000;

pub(super) fn cases(group: &mut Group) {
    for (kind, len) in [("short", 12), ("long", 40)] {
        let source: String = (0..2 * COUNT * len + 64)
            .map(|at| char::from(b'a' + (at % 26) as u8))
            .collect();
        // Both bodies of a pair are copied by the same method: the C library's
        // `memcpy` changes its own somewhere below 12,000 bytes, to one that
        // callgrind counts an instruction a byte for. And none is so large (64
        // KiB) that its strings would be copied out of it.
        let count = if len <= 23 { 2 * COUNT } else { COUNT };
        let name = |count| format!("make and drop {count} {kind} strings of a body");
        let half = count / 2;
        making(group, &name(half), half, len, &source[..half * len + 64]);
        making(group, &name(count), count, len, &source[..count * len + 64])
            .target_near_best(1.1)
            .target_instructions_of_case(name(half), 2.1);
        using(group, kind, len, &source);
        copying(group, kind, len, &source);
        comparing(group, kind, len, &source);
    }
}

/// Beside `String`, whoever has it: a copy of each, and from each.
fn copying(group: &mut Group, kind: &str, len: usize, source: &str) {
    let strings = |source: &str| -> Vec<String> {
        let part = |at| source[at * len..at * len + len].to_owned();
        (0..COUNT).map(part).collect()
    };
    let total = COUNT * len;
    let (one, two) = (strings(source), strings(source));
    group
        .case(format!(
            "copy {COUNT} {kind} strings of all sorts of places"
        ))
        .bytes(total)
        .polywire(
            move || one.iter().map(|own| Text::from(own.as_str())).collect(),
            move |texts: &Vec<Text>| same(&sizes(texts), &total),
        )
        .peer(
            "String",
            move || two.iter().map(|own| own.as_str().to_owned()).collect(),
            move |strings: &Vec<String>| same(&sizes(strings), &total),
        )
        .target_near_best(1.1)
        .target_allocations(if len <= 23 { 1 } else { COUNT as u64 + 1 });
}

fn sizes<T: Deref<Target = str>>(strings: &[T]) -> usize {
    strings.iter().map(|string| string.len()).sum()
}

/// Each with an equal one that stands elsewhere.
fn comparing(group: &mut Group, kind: &str, len: usize, source: &str) {
    let texts = |source: &str| -> Vec<Text> {
        let part = |at| Text::from(&source[at * len..at * len + len]);
        (0..COUNT).map(part).collect()
    };
    let (one, two) = (texts(source), texts(source));
    let plain = |texts: &[Text]| -> Vec<String> { texts.iter().map(Text::to_string).collect() };
    let (three, four) = (plain(&one), plain(&two));
    group
        .case(format!("compare {COUNT} {kind} strings"))
        .bytes(COUNT * len)
        .polywire(
            move || one.iter().zip(&two).filter(|(a, b)| a == b).count(),
            move |count| same(count, &COUNT),
        )
        .peer(
            "String",
            move || three.iter().zip(&four).filter(|(a, b)| a == b).count(),
            move |count| same(count, &COUNT),
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

fn making<'a>(
    group: &'a mut Group,
    name: &str,
    count: usize,
    len: usize,
    source: &str,
) -> &'a mut Case {
    let (text, wide, plain) = (source.to_owned(), source.to_owned(), source.to_owned());
    let total = count * len;
    group
        .case(name)
        .bytes(total)
        .polywire(
            move || {
                let body = Body::from(text.clone());
                let strings: Vec<Text> = {
                    let text = valid(&body);
                    (0..count)
                        .map(|at| text_at(&body, text, at * len, len))
                        .collect()
                };
                strings.iter().map(|string| string.len()).sum::<usize>()
            },
            move |sum| same(sum, &total),
        )
        .peer(
            "32 bytes, Bytes",
            move || {
                let body = Bytes::from(wide.clone());
                let strings: Vec<Wide> = (0..count)
                    .map(|at| Wide::new(&body, at * len, at * len + len))
                    .collect();
                strings
                    .iter()
                    .map(|string| string.as_bytes().len())
                    .sum::<usize>()
            },
            move |sum| same(sum, &total),
        )
        .peer(
            "String",
            move || {
                let body = plain.clone();
                let strings: Vec<String> = (0..count)
                    .map(|at| body[at * len..at * len + len].to_owned())
                    .collect();
                strings.iter().map(String::len).sum::<usize>()
            },
            move |sum| same(sum, &total),
        )
}

fn using(group: &mut Group, kind: &str, len: usize, source: &str) {
    let body = Body::from(source.to_owned());
    let texts: Vec<Text> = (0..COUNT)
        .map(|at| text_at(&body, valid(&body), at * len, len))
        .collect();
    let bytes = Bytes::from(source.to_owned());
    let wides: Vec<Wide> = (0..COUNT)
        .map(|at| Wide::new(&bytes, at * len, at * len + len))
        .collect();
    let strings: Vec<String> = texts.iter().map(|text| text.as_str().to_owned()).collect();
    let sum: usize = strings.iter().map(|string| last(string.as_bytes())).sum();
    group
        .case(format!("clone {COUNT} {kind} strings and look at each"))
        .bytes(COUNT * len)
        .polywire(
            move || {
                texts
                    .to_vec()
                    .iter()
                    .map(|text| last(text.as_bytes()))
                    .sum::<usize>()
            },
            move |found| same(found, &sum),
        )
        .peer(
            "32 bytes, Bytes",
            move || {
                wides
                    .to_vec()
                    .iter()
                    .map(|wide| last(wide.as_bytes()))
                    .sum::<usize>()
            },
            move |found| same(found, &sum),
        )
        .peer(
            "String",
            move || {
                strings
                    .to_vec()
                    .iter()
                    .map(|string| last(string.as_bytes()))
                    .sum::<usize>()
            },
            move |found| same(found, &sum),
        )
        .target_near_best(1.1);
}

fn last(bytes: &[u8]) -> usize {
    bytes.last().copied().map_or(0, usize::from)
}

fn text_at(body: &Body, text: &str, start: usize, len: usize) -> Text {
    let window = &text[start..];
    Text::inline_prefix(window, len).unwrap_or_else(|| body.text(&window[..len]))
}

/// The body as a string, validated once as readers do.
fn valid(body: &Body) -> &str {
    polywire_text::utf8::validate(body.as_bytes()).unwrap_or_default()
}
