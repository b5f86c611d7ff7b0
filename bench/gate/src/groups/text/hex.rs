//! Hexadecimal, both ways: keys of 32 bytes, a hundred of them in a call, and
//! a kilobyte. The seed published no figures for these, so the best crates
//! stand beside us; `faster-hex` and `const-hex` pick their registers when
//! running, as we do.

use crate::{Group, same};
use polywire_text::hex::{self, Case};

/// Keys in one call.
const KEYS: usize = 100;

pub(super) fn cases(group: &mut Group) {
    write_keys(group);
    read_keys(group);
    for (name, len) in [("1 KB", 1024), ("1 KB, twice the input", 2048)] {
        write_long(group, name, len);
        read_long(group, name, len);
    }
}

/// Bytes that look like a hash.
fn noise(len: usize) -> &'static [u8] {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect::<Vec<u8>>().leak()
}

fn digits(bytes: &[u8]) -> &'static [u8] {
    polywire_text::reference::hex::encode(bytes)
        .leak()
        .as_bytes()
}

fn write_keys(group: &mut Group) {
    let keys = noise(32 * KEYS).as_chunks::<32>().0;
    let expected = digits(keys.as_flattened());
    let check = move |out: &Vec<[u8; 64]>, (): &()| same(out.as_flattened(), expected);
    let state = || vec![[0; 64]; KEYS];
    group
        .case("hex, write 100 keys of 32 bytes into slices")
        .bytes(32 * KEYS)
        .polywire_with(
            state(),
            move |out| {
                for (key, out) in keys.iter().zip(out) {
                    _ = hex::encode_to_slice(key, out);
                }
            },
            check,
        )
        .peer_with(
            "faster-hex",
            state(),
            move |out| {
                for (key, out) in keys.iter().zip(out) {
                    let _ = faster_hex::hex_encode(key, out);
                }
            },
            check,
        )
        .peer_with(
            "const-hex",
            state(),
            move |out| {
                for (key, out) in keys.iter().zip(out) {
                    let _ = const_hex::encode_to_slice(key, out);
                }
            },
            check,
        )
        .target_allocations(0)
        .target_near_best(1.1);
    group
        .case("hex, append 100 keys of 32 bytes")
        .bytes(32 * KEYS)
        .polywire_writes(
            move |out| {
                for key in keys {
                    hex::push(out, key);
                }
            },
            move |out| same(out, expected),
        )
        .peer_writes(
            "const-hex, a String each",
            move |out| {
                for key in keys {
                    out.extend_from_slice(const_hex::encode(key).as_bytes());
                }
            },
            move |out| same(out, expected),
        )
        .target_allocations(0)
        .target_near_best(1.1);
}

fn read_keys(group: &mut Group) {
    let keys = noise(32 * KEYS);
    let text = digits(keys).as_chunks::<64>().0;
    let check = move |out: &Vec<[u8; 32]>, all: &bool| *all && out.as_flattened() == keys;
    let state = || vec![[0; 32]; KEYS];
    // No peer offers a policy for the case; they read any.
    for (name, case) in [("any", Case::Any), ("lower", Case::Lower)] {
        group
            .case(format!("hex, read 100 keys of 32 bytes, {name} case"))
            .bytes(64 * KEYS)
            .polywire_with(
                state(),
                move |out| {
                    let mut pairs = text.iter().zip(out);
                    pairs.all(|(text, out)| hex::decode_to_slice(text, out, case).is_ok())
                },
                check,
            )
            .peer_with(
                "faster-hex, any case",
                state(),
                move |out| {
                    let mut pairs = text.iter().zip(out);
                    pairs.all(|(text, out)| faster_hex::hex_decode(text, out).is_ok())
                },
                check,
            )
            .peer_with(
                "const-hex, any case",
                state(),
                move |out| {
                    let mut pairs = text.iter().zip(out);
                    pairs.all(|(text, out)| const_hex::decode_to_slice(text, out).is_ok())
                },
                check,
            )
            .target_allocations(0)
            .target_near_best(1.1);
    }
}

fn write_long(group: &mut Group, name: &str, len: usize) {
    let bytes = noise(len);
    let expected = digits(bytes);
    let check = move |out: &Vec<u8>, (): &()| same(out, expected);
    let case = group
        .case(format!("hex, write {name}"))
        .bytes(len)
        .polywire_writes(
            move |out| hex::push(out, bytes),
            move |out| same(out, expected),
        )
        .peer_with(
            "faster-hex",
            vec![0; 2 * len],
            move |out: &mut Vec<u8>| _ = faster_hex::hex_encode(bytes, out),
            check,
        )
        .peer_with(
            "const-hex",
            vec![0; 2 * len],
            move |out: &mut Vec<u8>| _ = const_hex::encode_to_slice(bytes, out),
            check,
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if len > 1024 {
        case.target_instructions_of_case("hex, write 1 KB", 2.1);
    }
}

fn read_long(group: &mut Group, name: &str, len: usize) {
    let expected = noise(len);
    let text = digits(expected);
    let check = move |out: &Vec<u8>, fine: &bool| *fine && out == expected;
    let case = group
        .case(format!("hex, read {name}"))
        .bytes(2 * len)
        .polywire_with(
            Vec::new(),
            move |out| {
                out.clear();
                hex::push_decoded(out, text, Case::Any).is_ok()
            },
            check,
        )
        .peer_with(
            "faster-hex",
            vec![0; len],
            move |out: &mut Vec<u8>| faster_hex::hex_decode(text, out).is_ok(),
            check,
        )
        .peer_with(
            "const-hex",
            vec![0; len],
            move |out: &mut Vec<u8>| const_hex::decode_to_slice(text, out).is_ok(),
            check,
        )
        .target_allocations(0)
        .target_near_best(1.1);
    if len > 1024 {
        case.target_instructions_of_case("hex, read 1 KB", 2.1);
    }
}
