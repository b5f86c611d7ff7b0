//! Base64, compared with the reference implementation, with every alphabet and padding.
#![allow(clippy::unwrap_used, reason = "tests")]

use polywire_text::base64::{self, Alphabet, Base64, Padding};
use polywire_text::reference::base64 as slow;
use proptest::prelude::*;

const ALPHABETS: [Alphabet; 2] = [Alphabet::Standard, Alphabet::UrlSafe];
const PADDINGS: [Padding; 3] = [Padding::Required, Padding::Forbidden, Padding::Optional];

fn each(check: impl Fn(Base64, Alphabet, Padding)) {
    for alphabet in ALPHABETS {
        for padding in PADDINGS {
            check(Base64::new(alphabet, padding), alphabet, padding);
        }
    }
}

fn reads_as_reference(text: &[u8]) {
    each(|base64, alphabet, padding| {
        let expected = slow::decode(text, alphabet, padding, false);
        let what = String::from_utf8_lossy(text);
        let blob = base64.decode(text).map(|blob| blob.to_vec());
        assert_eq!(blob, expected, "{what} {alphabet:?} {padding:?}");
        let mut out = b"before".to_vec();
        let appended = base64.push_decoded(&mut out, text);
        assert_eq!(appended.map(|()| out[6..].to_vec()), expected);
        assert_eq!(&out[..6], b"before");
        assert!(appended.is_ok() || out.len() == 6);
        let mut out = vec![0; text.len()];
        let written = base64.decode_to_slice(text, &mut out);
        assert_eq!(written.map(|bytes| bytes.to_vec()), expected);
        match &expected {
            Ok(bytes) => assert_eq!(base64.decoded_len(text), Some(bytes.len())),
            Err(_) => assert!(base64.decoded_len(text).is_none_or(|len| len <= text.len())),
        }
        let spaced = base64.decode_with_white_space(text);
        let expected = slow::decode(text, alphabet, padding, true);
        assert_eq!(
            spaced.map(|blob| blob.to_vec()),
            expected,
            "{what:?} {alphabet:?} {padding:?}"
        );
    });
}

fn writes_as_reference(bytes: &[u8]) {
    each(|base64, alphabet, padding| {
        let text = slow::encode(bytes, alphabet, padding);
        let mut out = b"before".to_vec();
        base64.push(&mut out, bytes);
        assert_eq!(&out[6..], text.as_bytes());
        assert_eq!(base64.encoded_len(bytes.len()), text.len());
        let mut out = String::with_capacity("before".len() + text.len());
        out.push_str("before");
        let capacity = out.capacity();
        base64.push_str(&mut out, bytes);
        assert_eq!(out[6..], text);
        assert_eq!(out.capacity(), capacity);
        assert_eq!(&base64.decode(text.as_bytes()).unwrap()[..], bytes);
    });
}

#[test]
fn a_bad_byte_is_found_at_every_place_of_every_length() {
    for len in 0..=66 {
        let bytes: Vec<u8> = (0..len).map(|at| (at * 37 + len) as u8).collect();
        writes_as_reference(&bytes);
        let clean = slow::encode(&bytes, Alphabet::Standard, Padding::Required);
        reads_as_reference(clean.as_bytes());
        reads_as_reference(clean.trim_end_matches('=').as_bytes());
        for at in 0..clean.len() {
            let mut text = clean.clone().into_bytes();
            for byte in *b"=-\n\xff" {
                text[at] = byte;
                reads_as_reference(&text);
            }
        }
    }
}

#[test]
fn padding_and_stray_bits() {
    for text in [
        "",
        "=",
        "==",
        "===",
        "====",
        "A",
        "AA",
        "AAA",
        "AAAA",
        "A=",
        "A==",
        "A===",
        "AA=",
        "AA==",
        "AA===",
        "AAA=",
        "AAA==",
        "AAAA=",
        "AAAA==",
        "AAAA====",
        "AA==AA==",
        "AA=A",
        "=AAA",
        "AB==",
        "AP==",
        "AAB=",
        "AAD=",
        "AB",
        "AAB",
        "AA\n==",
        "A-_=",
        "A+/=",
        "AA= =",
        " ",
        "\n\n",
        "A A = =",
        "AA==\n",
        "\u{a0}AAA",
    ] {
        reads_as_reference(text.as_bytes());
    }
    let error = base64::decode(b"AB==").unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected base64 whose last character has no stray bits at byte 1"
    );
}

#[test]
fn short_buffers_have_an_offset() {
    let bytes = [7; 40];
    let text = slow::encode(&bytes, Alphabet::Standard, Padding::Required);
    for room in 0..40 {
        let mut out = vec![0; room];
        let error = base64::STANDARD
            .decode_to_slice(text.as_bytes(), &mut out)
            .unwrap_err();
        // The characters before fit, and this one does not.
        assert!(error.offset * 6 / 8 <= room);
        assert!((error.offset + 1) * 6 / 8 > room);
    }
}

#[test]
fn lines_of_every_width_around_the_buffer() {
    let bytes: Vec<u8> = (0..3100).map(|at| (at * 7) as u8).collect();
    for len in [760, 766, 767, 768, 769, 770, 780, 1535, 1536, 1537, 3100] {
        let text = slow::encode(&bytes[..len], Alphabet::Standard, Padding::Required);
        for width in [1, 2, 3, 15, 16, 17, 60, 76, 1023, 1024, 1025] {
            for break_ in ["\n", "\r\n", "\n    "] {
                let lines: Vec<&str> = text
                    .as_bytes()
                    .chunks(width)
                    .map(|line| std::str::from_utf8(line).unwrap())
                    .collect();
                let mut lines = lines.join(break_);
                for end in ["", "\n", "        \n            "] {
                    lines.push_str(end);
                    let blob = base64::STANDARD.decode_with_white_space(lines.as_bytes());
                    assert_eq!(&blob.unwrap()[..], &bytes[..len]);
                }
                let mut early = lines.clone();
                early.replace_range(lines.len() / 2..lines.len() / 2 + 1, "=");
                let blob = base64::STANDARD.decode_with_white_space(early.as_bytes());
                let expected = slow::decode(
                    early.as_bytes(),
                    Alphabet::Standard,
                    Padding::Required,
                    true,
                );
                assert_eq!(blob.map(|blob| blob.to_vec()), expected);
            }
        }
    }
}

#[test]
fn many_small_pieces_grow_a_vector_seldom() {
    let (mut out, mut moves, mut room) = (Vec::new(), 0, 0);
    for _ in 0..10_000 {
        base64::push(&mut out, b"abc");
        moves += usize::from(out.capacity() != room);
        room = out.capacity();
    }
    let (mut out, mut room) = (Vec::new(), 0);
    for _ in 0..10_000 {
        base64::STANDARD.push_decoded(&mut out, b"YWJj").unwrap();
        moves += usize::from(out.capacity() != room);
        room = out.capacity();
    }
    assert!(moves < 50, "{moves}");
}

fn almost_base64() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        40 => prop::sample::select(b"ABCXYZabcxyz0189".to_vec()),
        2 => prop::sample::select(b"+/-_".to_vec()),
        1 => prop::sample::select(b"= \n\r\t?".to_vec()),
    ];
    (proptest::collection::vec(byte, 0..200), 0..4_usize).prop_map(|(mut text, padding)| {
        text.resize(text.len() + padding, b'=');
        text
    })
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        writes_as_reference(&bytes);
        reads_as_reference(&bytes);
    }

    #[test]
    fn almost_base64_is_compared(text in almost_base64()) {
        reads_as_reference(&text);
    }
}
