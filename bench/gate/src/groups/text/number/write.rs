//! Writing numbers.

use crate::{Group, same_bytes};
use polywire_text::number::{self, Spelling};

use super::{COUNT, Texts, doubles, of_digits, of_mixed_digits, random, singles, text};

/// A subject: writes each number and a comma.
fn writes<T: Copy + 'static>(
    values: &[T],
    write: impl Fn(&mut Vec<u8>, T) + 'static,
) -> impl Fn(&mut Vec<u8>) + 'static {
    let values = values.to_vec();
    move |out| {
        for value in &values {
            write(out, *value);
            out.push(b',');
        }
    }
}

pub(super) fn integers(group: &mut Group) {
    let of = |digits: u32| {
        random(7)
            .take(COUNT)
            .map(move |random| of_digits(random, digits) as i64)
    };
    let kinds: [(&str, Vec<i64>); 4] = [
        ("of 10 digits", of(10).collect()),
        ("of 1-4 digits", of_mixed_digits(4)),
        ("of 1-19 digits", of_mixed_digits(19)),
        (
            "of all 64 bits",
            random(9).take(COUNT).map(|value| value as i64).collect(),
        ),
    ];
    for (kind, values) in kinds {
        let texts = Texts::new(&values);
        let right = move |found: &[u8]| same_bytes(found, &texts.0.0);
        group
            .case(format!("number: write {COUNT} integers {kind}"))
            .bytes(Texts::new(&values).len())
            .polywire_writes(writes(&values, number::push::<i64>), right.clone())
            .peer_writes(
                "itoa",
                writes(&values, |out, value| {
                    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                }),
                right.clone(),
            )
            .peer_writes(
                "lexical-core",
                writes(&values, |out, value| {
                    let mut buffer = [0; 20];
                    out.extend_from_slice(lexical_core::write(value, &mut buffer));
                }),
                right.clone(),
            )
            .peer_writes(
                "std",
                writes(&values, |out, value| {
                    use std::io::Write;
                    let _ = write!(out, "{value}");
                }),
                right,
            )
            .target_near_best(1.1)
            .target_allocations(0);
    }
    let values: Vec<i128> = random(3)
        .zip(random(4))
        .map(|(high, low)| (u128::from(high) << 64 | u128::from(low)) as i128)
        .map(|value| value >> (value & 63))
        .take(COUNT)
        .collect();
    let texts = Texts::new(&values);
    let right = move |found: &[u8]| same_bytes(found, &texts.0.0);
    group
        .case(format!("number: write {COUNT} integers of 128 bits"))
        .bytes(Texts::new(&values).len())
        .polywire_writes(writes(&values, number::push::<i128>), right.clone())
        .peer_writes(
            "itoa",
            writes(&values, |out, value| {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            }),
            right.clone(),
        )
        .peer_writes(
            "lexical-core",
            writes(&values, |out, value| {
                let mut buffer = [0; 40];
                out.extend_from_slice(lexical_core::write(value, &mut buffer));
            }),
            right,
        )
        .target_near_best(1.1)
        .target_allocations(0);
}

pub(super) fn floats(group: &mut Group) {
    for (kind, values) in doubles() {
        let shortest = |out: &mut Vec<u8>, value: f64| {
            out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
        };
        let mut expected = Vec::new();
        for value in &values {
            let mut text = Vec::new();
            shortest(&mut text, *value);
            expected.extend_from_slice(text.strip_suffix(b".0").unwrap_or(&text));
            expected.push(b',');
        }
        let len = expected.len();
        // The peers' layouts differ, so of theirs the values are checked.
        let read = values.clone();
        let reads_back = move |found: &[u8]| {
            let found = text(found).split_terminator(',').map(str::parse::<f64>);
            found.eq(read.iter().copied().map(Ok))
        };
        group
            .case(format!("number: write {COUNT} {kind}"))
            .bytes(len)
            .polywire_writes(writes(&values, number::push_f64), move |found| {
                same_bytes(found, &expected)
            })
            .peer_writes("zmij", writes(&values, shortest), reads_back.clone())
            .peer_writes(
                "ryu",
                writes(&values, |out, value| {
                    out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
                }),
                reads_back.clone(),
            )
            .peer_writes(
                "std",
                writes(&values, |out, value| {
                    use std::io::Write;
                    let _ = write!(out, "{value}");
                }),
                reads_back.clone(),
            )
            .target_near_best(1.1)
            .target_allocations(0);
        group
            .case(format!("number: write {COUNT} {kind} without exponents"))
            .bytes(len)
            .polywire_writes(
                writes(&values, |out, value| {
                    let _ = number::push_float(out, value, Spelling::XML_RPC);
                }),
                reads_back.clone(),
            )
            .peer_writes(
                "std",
                writes(&values, |out, value| {
                    use std::io::Write;
                    let _ = write!(out, "{value}");
                }),
                reads_back,
            )
            .target_near_best(1.1)
            .target_allocations(0);
    }
    let values = singles();
    let len = Texts::new(&values).len();
    let read = values.clone();
    let reads_back = move |found: &[u8]| {
        let found = text(found).split_terminator(',').map(str::parse::<f32>);
        found.eq(read.iter().copied().map(Ok))
    };
    group
        .case(format!("number: write {COUNT} floats of 32 bits"))
        .bytes(len)
        .polywire_writes(writes(&values, number::push_f32), reads_back.clone())
        .peer_writes(
            "zmij",
            writes(&values, |out, value| {
                out.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes());
            }),
            reads_back.clone(),
        )
        .peer_writes(
            "ryu",
            writes(&values, |out, value| {
                out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
            }),
            reads_back,
        )
        .target_near_best(1.1)
        .target_allocations(0);
}
