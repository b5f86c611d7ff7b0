//! The string type: 24 bytes around an `Arc`, as it is, against 32 bytes
//! around `Bytes`, as it might be; and `String`.

use bytes::Bytes;
use polywire_bench::{Group, same};
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
        let source: String = (0..COUNT * len + 64)
            .map(|at| char::from(b'a' + (at % 26) as u8))
            .collect();
        making(group, kind, len, &source);
        using(group, kind, len, &source);
    }
}

fn making(group: &mut Group, kind: &str, len: usize, source: &str) {
    let (text, wide, plain) = (source.to_owned(), source.to_owned(), source.to_owned());
    let total = COUNT * len;
    group
        .case(format!("make and drop {COUNT} {kind} strings of a body"))
        .bytes(total)
        .polywire(
            move || {
                let body = Body::from(text.clone());
                let strings: Vec<Text> = {
                    let text = valid(&body);
                    (0..COUNT)
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
                let strings: Vec<Wide> = (0..COUNT)
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
                let strings: Vec<String> = (0..COUNT)
                    .map(|at| body[at * len..at * len + len].to_owned())
                    .collect();
                strings.iter().map(String::len).sum::<usize>()
            },
            move |sum| same(sum, &total),
        );
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
        );
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
