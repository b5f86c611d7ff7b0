//! Scans, compared with a loop over bytes, with and without AVX2.

use polywire_text::cpu::{self, Level};
use polywire_text::reference::scan as slow;
use polywire_text::scan;
use proptest::prelude::*;

/// A scan and its reference.
type Pair = (fn(&[u8]) -> usize, fn(&[u8]) -> usize);

const SCANS: [Pair; 5] = [
    (scan::xml_text, slow::xml_text),
    (scan::json_clean, slow::json_clean),
    (scan::xml_data, slow::xml_data),
    (scan::white_space, slow::white_space),
    (scan::xml_name, slow::xml_name),
];

fn agrees(bytes: &[u8]) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        for (fast, slow) in SCANS {
            assert_eq!(fast(bytes), slow(bytes), "{}", bytes.escape_ascii());
        }
    }
}

#[test]
fn one_byte_at_each_place() {
    for len in 0..=130 {
        for clean in *b"a " {
            let mut bytes = vec![clean; len];
            agrees(&bytes);
            for at in 0..len {
                for byte in *b"\"\\<>&\r\x1f\x7f\xff" {
                    bytes[at] = byte;
                    agrees(&bytes);
                }
                bytes[at] = clean;
            }
        }
    }
}

/// After the first 64 bytes, there are loops of 64 and 128.
#[test]
fn one_byte_at_each_place_of_more() {
    for len in [
        191, 192, 193, 255, 256, 257, 319, 320, 321, 383, 384, 385, 450,
    ] {
        for clean in *b"a " {
            let mut bytes = vec![clean; len];
            agrees(&bytes);
            for at in 60..len {
                bytes[at] = if clean == b'a' { b'<' } else { b'\\' };
                agrees(&bytes);
                bytes[at] = clean;
            }
        }
    }
}

#[test]
fn every_byte() {
    for len in [1, 5, 12, 16, 40, 64, 100, 300] {
        for byte in 0..=u8::MAX {
            let mut bytes = vec![b'a'; len];
            bytes[len - 1] = byte;
            agrees(&bytes);
            bytes.fill(byte);
            agrees(&bytes);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(
        prop_oneof![60 => 0x20..=0xff_u8, 1 => 0..0x20_u8, 1 => Just(b'"'), 1 => Just(b'\\'),
            1 => Just(b'<'), 1 => Just(b'&'), 1 => Just(b'>')], 0..300)) {
        agrees(&bytes);
    }

    #[test]
    fn any_space(bytes in "[ \t\r\n]{0,200}[a ]{0,3}") {
        agrees(bytes.as_bytes());
    }
}
