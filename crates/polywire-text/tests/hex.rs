//! Hexadecimal, compared with the reference implementation, with and without AVX2.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::cpu::{self, Level};
use polywire_text::hex::{self, Case};
use polywire_text::reference::hex as slow;
use proptest::prelude::*;

const CASES: [Case; 2] = [Case::Any, Case::Lower];

/// Runs a check with and without AVX2. Other tests may change the level concurrently, as results do
/// not depend on it.
fn at_each_level(check: impl Fn()) {
    for level in [Level::Baseline, Level::Avx2] {
        cpu::limit(level);
        check();
    }
}

/// All functions that read `text` match the reference.
fn reads_as_reference(text: &[u8]) {
    for case in CASES {
        let mut out = b"before".to_vec();
        let read = hex::push_decoded(&mut out, text, case);
        match slow::decode(text, None, case) {
            Ok(bytes) => {
                assert_eq!(read, Ok(()));
                assert_eq!(out, [&b"before"[..], &bytes].concat());
            }
            Err(error) => {
                assert_eq!(read, Err(error), "{text:?} {case:?}");
                assert_eq!(out, b"before");
            }
        }
        for len in [text.len() / 2, text.len() / 2 + 1, text.len() / 3] {
            let mut out = vec![0xee; len];
            let read = hex::decode_to_slice(text, &mut out, case);
            match slow::decode(text, Some(len), case) {
                Ok(bytes) => assert_eq!((read, out), (Ok(()), bytes)),
                Err(error) => assert_eq!(read, Err(error), "{text:?} {case:?} {len}"),
            }
        }
    }
}

fn writes_as_reference(bytes: &[u8]) {
    let digits = slow::encode(bytes);
    let mut out = b"before".to_vec();
    hex::push(&mut out, bytes);
    assert_eq!(out, format!("before{digits}").as_bytes());
    for room in [0, 1, 40] {
        let mut out = vec![b'.'; digits.len() + room];
        let written = hex::encode_to_slice(bytes, &mut out).unwrap();
        assert_eq!(written, digits.as_bytes());
        assert!(out[digits.len()..].iter().all(|byte| *byte == b'.'));
    }
    if let Some(less) = digits.len().checked_sub(1) {
        let mut out = vec![b'.'; less];
        assert!(hex::encode_to_slice(bytes, &mut out).is_none());
        assert!(out.iter().all(|byte| *byte == b'.'));
    }
}

#[test]
fn a_bad_byte_is_found_at_every_place_of_every_length() {
    at_each_level(|| {
        for len in 0..=130 {
            let clean: Vec<u8> = (0..len).map(|at| b"0123456789abcdef"[at % 16]).collect();
            reads_as_reference(&clean);
            for at in 0..len {
                let mut text = clean.clone();
                for byte in *b"z/:@G`gA\0\x7f\x80\xff" {
                    text[at] = byte;
                    let read = hex::push_decoded(&mut Vec::new(), &text, Case::Lower);
                    assert_eq!(read.unwrap_err().offset, at, "{len} {byte}");
                }
            }
        }
    });
}

#[test]
fn every_byte_alone_is_a_digit_or_not() {
    at_each_level(|| {
        for byte in 0..=u8::MAX {
            for len in [1, 2, 16, 32, 64, 66] {
                reads_as_reference(&vec![byte; len]);
            }
        }
    });
}

#[test]
fn similar_characters_are_rejected() {
    at_each_level(|| {
        let wide = "ａ".repeat(32);
        // A decoder without validation would accept the first.
        for text in [&[b'z'; 64][..], wide.as_bytes(), b"0x00", b" 00 ", b"0g"] {
            reads_as_reference(text);
            assert!(hex::push_decoded(&mut Vec::new(), text, Case::Any).is_err());
        }
    });
}

#[test]
fn every_length_is_written() {
    at_each_level(|| {
        for len in 0..=300 {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 37 + len) as u8).collect();
            writes_as_reference(&bytes);
            reads_as_reference(slow::encode(&bytes).as_bytes());
            reads_as_reference(slow::encode(&bytes).to_ascii_uppercase().as_bytes());
        }
    });
}

#[test]
fn arrays() {
    let text = "c0ff".repeat(16);
    let bytes = hex::decode_to_array::<32>(text.as_bytes(), Case::Lower).unwrap();
    assert_eq!(bytes, [[0xc0, 0xff]; 16].as_flattened());
    let upper = text.to_ascii_uppercase();
    let error = hex::decode_to_array::<32>(upper.as_bytes(), Case::Lower).unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a hexadecimal digit in lower case at byte 0"
    );
    assert_eq!(hex::decode_to_array(upper.as_bytes(), Case::Any), Ok(bytes));
    assert_eq!(hex::decode_to_array::<0>(b"", Case::Any), Ok([]));
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..700)) {
        at_each_level(|| {
            writes_as_reference(&bytes);
            reads_as_reference(&bytes);
        });
    }

    #[test]
    fn almost_digits(text in "[0-9a-fA-F]{0,400}[ -~]{0,1}[0-9a-f]{0,200}") {
        at_each_level(|| reads_as_reference(text.as_bytes()));
    }
}
