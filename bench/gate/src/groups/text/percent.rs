//! Percent-encoding and forms, both ways.

use std::borrow::Cow;

use super::letters;
use crate::{Group, same, same_bytes};
use polywire_text::{form, percent, reference};

/// Adds the cases.
pub fn cases(group: &mut Group) {
    let (text, expected) = (text(8192), encoded(&text(8192)));
    group
        .case("percent out, 8 KiB, 5%")
        .bytes(text.len())
        .polywire_writes(
            move |out| percent::push_bytes(out, text.as_bytes(), &percent::UNRESERVED),
            move |out| same_bytes(out, expected.as_bytes()),
        )
        .target_allocations(0);
    let (expected, text) = (self::text(8192), encoded(&self::text(8192)));
    group
        .case("percent in, 8 KiB, 5%")
        .bytes(text.len())
        .polywire(
            move || percent::decode(&text).map(Cow::into_owned),
            move |read| same(read, &Ok(expected.clone())),
        );

    let query = query();
    let expected = sizes(&pairs(&query));
    let (read, written) = (query.clone(), pairs(&query));
    group.case("form in, 1 KiB").bytes(query.len()).polywire(
        move || {
            form::pairs(&read).fold((0, 0), |(count, bytes), pair| match pair {
                Ok(pair) => (count + 1, bytes + pair.key.len() + pair.value.len()),
                Err(_) => (0, 0),
            })
        },
        move |found| same(found, &expected),
    );
    group
        .case("form out, 1 KiB")
        .bytes(query.len())
        .polywire_writes(
            move |out| {
                let mut writer = form::Writer::new(out, &form::WHATWG);
                for (key, value) in &written {
                    writer.pair(key, value);
                }
            },
            move |out| same_bytes(out, query.as_bytes()),
        )
        .target_allocations(0);
}

/// Letters, and 5% of characters that have to be encoded.
pub fn text(len: usize) -> String {
    letters(len, 50, [' ', '/', '%', '='])
}

/// The text with all but the unreserved characters encoded.
pub fn encoded(text: &str) -> String {
    reference::percent::encoded(text.as_bytes(), b"")
}

/// A form of about 1 KiB.
pub fn query() -> String {
    let text = letters(1024, 30, [' ', '/', '%', '=']);
    let mut rest = &*text;
    let mut pairs = Vec::new();
    while rest.len() > 40 {
        let at = pairs.len();
        let (key, behind) = rest.split_at(6 + at * 5 % 7);
        let (value, behind) = behind.split_at(8 + at * 3 % 19);
        let encoded = |text: &str| reference::percent::form_encoded(text.as_bytes());
        pairs.push(format!("{}={}", encoded(key), encoded(value)));
        rest = behind;
    }
    pairs.join("&")
}

/// The keys and values of a form.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = reference::percent::pairs(query).into_iter();
    pairs
        .filter_map(Result::ok)
        .map(|(key, value, ..)| (key, value))
        .collect()
}

/// How many pairs a form has, and the bytes of their keys and values.
pub fn sizes(pairs: &[(String, String)]) -> (usize, usize) {
    let bytes = pairs.iter().map(|(key, value)| key.len() + value.len());
    (pairs.len(), bytes.sum())
}
