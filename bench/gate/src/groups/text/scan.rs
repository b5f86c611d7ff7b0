//! Scanning for the end of a string, and validation of UTF-8.

use crate::{Group, same};
use polywire_text::{scan, utf8};

/// Adds the cases.
pub fn cases(group: &mut Group) {
    let document = document();
    group
        .case("scan: to the next quote, backslash or control, 120 bytes, 1000 times")
        .bytes(document.len())
        .polywire(strides(document, scan::json_clean), move |sum| {
            same(sum, &(document.len() - 1000))
        });
    let text = mixed_scripts();
    group
        .case("UTF-8: 419 KB of many scripts")
        .bytes(text.len())
        .polywire(
            move || utf8::validate(text.as_bytes()).map_or(0, str::len),
            move |len| same(len, &text.len()),
        );
    for (what, script) in SHORT_SCRIPTS {
        let total = short_strings(script).iter().map(String::len).sum();
        group
            .case(format!("UTF-8: 1000 short strings, {what}"))
            .bytes(total)
            .polywire(
                each_short(script, |bytes| utf8::validate(bytes).map_or(0, str::len)),
                move |sum| same(sum, &total),
            );
    }
}

/// 1000 runs of letters, each followed by a quote. The lengths vary around 120 bytes, so that
/// branch prediction cannot learn them.
pub fn document() -> &'static [u8] {
    let run = |at: usize| {
        let letters = (0..100 + at * 7919 % 40).map(|at| b'a' + (at % 26) as u8);
        letters.chain([b'"'])
    };
    (0..1000).flat_map(run).collect::<Vec<u8>>().leak()
}

/// A subject that goes from quote to quote and returns the number of bytes between them.
pub fn strides(
    document: &'static [u8],
    find: impl Fn(&[u8]) -> usize + 'static,
) -> impl Fn() -> usize + 'static {
    move || {
        let (mut at, mut sum) = (0, 0);
        while at < document.len() {
            let len = find(&document[at..]);
            sum += len;
            at += len + 1;
        }
        sum
    }
}

/// 419 KB of Latin, Cyrillic, Japanese and emoji.
pub fn mixed_scripts() -> &'static str {
    let mixed = "Some ASCII, ein paar Umlaute wie äöü, русский текст, 日本語 and 😀.\n";
    mixed.repeat(419_000 / mixed.len()).leak()
}

/// Name and alphabet of the cases of short strings.
pub const SHORT_SCRIPTS: [(&str, &str); 2] = [
    ("ASCII", "abcdefghijklmnopqrstuvwxyz"),
    ("Umlauts", "xäyöüz"),
];

fn short_strings(script: &str) -> Vec<String> {
    (0..1000)
        .map(|at| script.chars().cycle().take(1 + at * 7919 % 40).collect())
        .collect()
}

/// A subject that validates 1000 strings of 1 to 40 characters and adds up the lengths that
/// `validate` returns.
pub fn each_short(
    script: &str,
    validate: impl Fn(&[u8]) -> usize + 'static,
) -> impl Fn() -> usize + 'static {
    let strings = short_strings(script);
    move || strings.iter().map(|text| validate(text.as_bytes())).sum()
}
