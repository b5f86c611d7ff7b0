//! [`Text`], the string type: up to 23 bytes inline, longer ones share the request's body.

use std::ops::Deref;

use crate::{Group, same};
use polywire_text::{Body, Text};

/// How many strings a case handles.
pub const COUNT: usize = 1000;
/// Kind and length of the strings.
pub const KINDS: [(&str, usize); 2] = [("short", 12), ("long", 40)];

const _: () = assert!(size_of::<Text>() == 24);

/// Adds the cases.
pub fn cases(group: &mut Group) {
    for (kind, len) in KINDS {
        making(group, kind, len);
    }
    let [(_, short), (_, long)] = KINDS;
    let body = Body::from(source(short));
    let texts = texts(&body, short);
    let sum = last_bytes(&texts);
    group
        .case("clone 1000 short strings and look at each")
        .bytes(COUNT * short)
        .polywire(
            move || last_bytes(&texts.to_vec()),
            move |found| same(found, &sum),
        );
    let strings = strings(long);
    group
        .case("copy 1000 long strings of all sorts of places")
        .bytes(COUNT * long)
        .polywire(
            move || strings.iter().map(|own| Text::from(own.as_str())).collect(),
            move |texts: &Vec<Text>| same(&total(texts), &(COUNT * long)),
        );
}

/// Strings of a body, as a decoder makes them: none has an allocation of its own.
fn making(group: &mut Group, kind: &str, len: usize) {
    let source = source(len);
    group
        .case(format!("make and drop {COUNT} {kind} strings of a body"))
        .bytes(COUNT * len)
        .polywire(
            move || {
                let body = Body::from(source.clone());
                total(&texts(&body, len))
            },
            move |sum| same(sum, &(COUNT * len)),
        )
        // The copy of the source and the vector of strings. Long strings share the body, which
        // takes two more.
        .target_allocations(if len <= 23 { 2 } else { 4 });
}

fn texts(body: &Body, len: usize) -> Vec<Text> {
    let text = polywire_text::utf8::validate(body.as_bytes()).unwrap_or_default();
    let part = |at: usize| {
        let window = &text[at * len..];
        Text::inline_prefix(window, len).unwrap_or_else(|| body.text(&window[..len]))
    };
    (0..COUNT).map(part).collect()
}

/// The text that holds all strings of a length, and some bytes behind them.
pub fn source(len: usize) -> String {
    (0..COUNT * len + 64)
        .map(|at| char::from(b'a' + (at % 26) as u8))
        .collect()
}

/// The strings as the standard library has them.
pub fn strings(len: usize) -> Vec<String> {
    let source = source(len);
    let part = |at| source[at * len..at * len + len].to_owned();
    (0..COUNT).map(part).collect()
}

/// The bytes of all strings.
pub fn total<T: Deref<Target = str>>(strings: &[T]) -> usize {
    strings.iter().map(|string| string.len()).sum()
}

/// The sum of the last bytes: a look at each string.
pub fn last_bytes<T: Deref<Target = str>>(strings: &[T]) -> usize {
    let last = |string: &T| string.as_bytes().last().copied().map_or(0, usize::from);
    strings.iter().map(last).sum()
}
