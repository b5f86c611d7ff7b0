//! Scanning, and validation of UTF-8.

use crate::{Group, same};
use polywire_text::{scan, utf8};

pub(super) fn cases(group: &mut Group) {
    scans(group);
    validation(group);
    growth(group);
}

/// How far the first byte of note is. Lengths vary, so that the processor cannot
/// learn them.
fn scans(group: &mut Group) {
    for (what, base) in [("120 bytes", 100), ("20 bytes", 1), ("2000 bytes", 1900)] {
        let spread = if base > 1000 { 200 } else { 40 };
        let lens: Vec<usize> = (0..1000).map(|at| base + at * 7919 % spread).collect();
        let document: Vec<u8> = lens
            .iter()
            .flat_map(|len| (0..*len).map(|at| b'a' + (at % 26) as u8).chain([b'"']))
            .collect();
        let document: &'static [u8] = document.leak();
        let total: usize = lens.iter().sum();
        let run = move |find: fn(&[u8]) -> usize| {
            move || {
                let (mut at, mut sum) = (0, 0);
                while at < document.len() {
                    let len = find(&document[at..]);
                    sum += len;
                    at += len + 1;
                }
                sum
            }
        };
        group
            .case(format!(
                "scan: to the next quote, backslash or control, {what}, 1000 times"
            ))
            .bytes(document.len())
            .polywire(run(scan::json_clean), move |sum| same(sum, &total))
            .peer(
                "memchr3, which sees no controls",
                run(|bytes| memchr::memchr3(b'"', b'\\', b'\n', bytes).unwrap_or(bytes.len())),
                move |sum| same(sum, &total),
            )
            .peer(
                "byte loop",
                run(|bytes| {
                    bytes
                        .iter()
                        .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))
                        .unwrap_or(bytes.len())
                }),
                move |sum| same(sum, &total),
            )
            .target_allocations(0)
            .target_near_best(1.1);
    }
}

fn validation(group: &mut Group) {
    let mixed = "Some ASCII, ein paar Umlaute wie äöü, русский текст, 日本語 and 😀.\n";
    let long: String = mixed.repeat(419_000 / mixed.len());
    let ascii = "Only ASCII here, as most of what a wire carries is.\n".repeat(8_000);
    for (what, text) in [("419 KB of many scripts", long), ("416 KB of ASCII", ascii)] {
        let text: &'static str = text.leak();
        group
            .case(format!("UTF-8: {what}"))
            .bytes(text.len())
            .polywire(
                move || utf8::validate(text.as_bytes()).map_or(0, str::len),
                move |len| same(len, &text.len()),
            )
            .peer(
                "simdutf8",
                move || simdutf8::basic::from_utf8(text.as_bytes()).map_or(0, str::len),
                move |len| same(len, &text.len()),
            )
            .peer(
                "std",
                move || str::from_utf8(text.as_bytes()).map_or(0, str::len),
                move |len| same(len, &text.len()),
            )
            .target_near_best(1.1);
    }
    for (what, script) in [
        ("ASCII", "abcdefghijklmnopqrstuvwxyz"),
        ("Umlauts", "xäyöüz"),
    ] {
        let pieces: Vec<String> = (0..1000)
            .map(|at| script.chars().cycle().take(1 + at * 7919 % 40).collect())
            .collect();
        let pieces: &'static [String] = pieces.leak();
        let total: usize = pieces.iter().map(String::len).sum();
        let run = move |validate: fn(&[u8]) -> usize| {
            move || {
                pieces
                    .iter()
                    .map(|text| validate(text.as_bytes()))
                    .sum::<usize>()
            }
        };
        group
            .case(format!("UTF-8: 1000 short strings, {what}"))
            .bytes(total)
            .polywire(
                run(|bytes| utf8::validate(bytes).map_or(0, str::len)),
                move |sum| same(sum, &total),
            )
            .peer(
                "simdutf8",
                run(|bytes| simdutf8::basic::from_utf8(bytes).map_or(0, str::len)),
                move |sum| same(sum, &total),
            )
            .peer(
                "std",
                run(|bytes| str::from_utf8(bytes).map_or(0, str::len)),
                move |sum| same(sum, &total),
            )
            .target_near_best(1.1);
    }
}

fn growth(group: &mut Group) {
    type Scan = fn(&[u8]) -> usize;
    let functions: [(&str, u8, Scan); 4] = [
        ("json_clean", b'a', scan::json_clean),
        ("xml_data", b'a', scan::xml_data),
        ("white_space", b' ', scan::white_space),
        ("UTF-8", b'a', |bytes| {
            utf8::validate(bytes).map_or(0, str::len)
        }),
    ];
    for (function, byte, run) in functions {
        let once = format!("scan: {function} of 4000 bytes");
        for (name, len) in [
            (once.clone(), 4000),
            (format!("{once}, twice the input"), 8000),
        ] {
            let bytes: &'static [u8] = vec![byte; len].leak();
            let case = group.case(name);
            case.bytes(len)
                .polywire(move || run(bytes), move |found| same(found, &len));
            if len == 8000 {
                case.target_instructions_of_case(once.clone(), 2.1);
            }
        }
    }
}
