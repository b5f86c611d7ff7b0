//! Hexadecimal, and arrays of strings as the Nostr protocol has them.

use super::random;
use crate::{Group, same};
use polywire_text::escape::LoneSurrogate;
use polywire_text::hex::{self, Case};
use polywire_text::list::{self, Strings};
use polywire_text::reference;

/// JSON arrays of strings: names and data files.
pub const STRING_ARRAYS: [(&str, &str); 2] = [
    ("string array of 3", "bench/nostr/strarray_3.json"),
    ("string array of 100", "bench/nostr/strarray_100.json"),
];

/// Adds the cases.
pub fn cases(group: &mut Group) {
    let keys = keys();
    let digits = digits();
    group
        .case("hex, append 100 keys of 32 bytes")
        .bytes(keys.len())
        .polywire_writes(
            move |out| {
                for key in keys.as_chunks::<32>().0 {
                    hex::push(out, key);
                }
            },
            move |out| same(out, digits.as_bytes()),
        )
        .target_allocations(0);
    group
        .case("hex, read 100 keys of 32 bytes, any case")
        .bytes(digits.len())
        .polywire_with(
            vec![[0; 32]; 100],
            move |out| {
                let mut pairs = digits.as_bytes().as_chunks::<64>().0.iter().zip(out);
                pairs.all(|(text, out)| hex::decode_to_slice(text, out, Case::Any).is_ok())
            },
            move |out, all| *all && out.as_flattened() == keys,
        );

    for count in [20, 100] {
        hex_arrays(group, count);
    }
    for (name, file) in STRING_ARRAYS {
        string_arrays(group, name, file);
    }
}

fn hex_arrays(group: &mut Group, count: usize) {
    let (keys, array) = (&keys().as_chunks::<32>().0[..count], hex_array(count));
    group
        .case(format!("hex array of {count}, read"))
        .bytes(array.len())
        .polywire(
            move || {
                let mut keys: Vec<[u8; 32]> = Vec::new();
                let rest = list::read_hex_arrays(&mut keys, array, Case::Lower);
                rest.map(|_| keys)
            },
            move |found| found.as_ref().is_ok_and(|found| found == keys),
        )
        .target_allocations(1);
    group
        .case(format!("hex array of {count}, write"))
        .bytes(array.len())
        .polywire_writes(
            move |out| list::push_hex(out, keys),
            move |out| same(out, array),
        )
        .target_allocations(0);
}

fn string_arrays(group: &mut Group, name: &str, file: &str) {
    group.case_from(format!("{name}, read"), [file], |case, [array]| {
        let array = without_raw_controls(array);
        let texts = strings(array);
        case.bytes(array.len())
            .polywire(
                move || {
                    let mut strings = Strings::new();
                    let rest = strings.read(array, LoneSurrogate::Reject);
                    rest.map(|_| strings)
                },
                move |found| found.as_ref().is_ok_and(|found| found.iter().eq(&texts)),
            )
            .target_allocations(2);
    });
    group.case_from(format!("{name}, write"), [file], |case, [array]| {
        let array = without_raw_controls(array);
        let texts = strings(array);
        case.bytes(array.len())
            .polywire_writes(
                move |out| list::push_strings(out, &texts),
                move |out| same(&strings(out), &strings(array)),
            )
            .target_allocations(0);
    });
}

/// 100 keys of 32 bytes.
pub fn keys() -> &'static [u8] {
    let mut random = random(5);
    let keys: Vec<u8> = (0..3200).map(|_| random() as u8).collect();
    keys.leak()
}

/// The keys in hexadecimal, without anything between them.
pub fn digits() -> &'static str {
    reference::hex::encode(keys()).leak()
}

/// The first keys as a JSON array of strings.
pub fn hex_array(count: usize) -> &'static [u8] {
    let keys = digits().as_bytes().as_chunks::<64>().0;
    let keys: Vec<String> = keys
        .iter()
        .take(count)
        .map(|key| format!("\"{}\"", String::from_utf8_lossy(key)))
        .collect();
    format!("[{}]", keys.join(",")).leak().as_bytes()
}

/// The array with `\u` escapes for the control characters that the file holds unescaped,
/// which JSON forbids.
pub fn without_raw_controls(array: &[u8]) -> &'static [u8] {
    let mut out = Vec::new();
    for byte in array {
        match byte {
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(*byte),
        }
    }
    out.leak()
}

/// The strings of a JSON array.
pub fn strings(array: &[u8]) -> Vec<String> {
    serde_json::from_slice(array).unwrap_or_default()
}
