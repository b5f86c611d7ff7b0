//! Properties of the decoder: splits, truncations, changes, and the reference beside it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use polywire_aws::checksum::Algorithm;
use polywire_aws::chunked::{
    AnySignature, ChunkAuthenticator, ChunkLayout, ChunkedErrorKind, Decoder, DecoderOptions,
    Encoder, Framing,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::bodies;
use crate::reference;
use crate::support::{Sigv4, decode, feed, signed};

#[test]
fn each_split_gives_the_same() {
    for body in bodies::all() {
        let expected = decode(body.decoder(), &body.bytes).unwrap();
        assert_eq!(expected.data, body.data, "{}", body.name);
        for first in 0..body.bytes.len() {
            for second in [first, first + 1, first + 70] {
                let mut decoder = body.decoder();
                let (decoded, result) = feed(&mut decoder, &body.bytes, &[first, second]);
                assert_eq!(
                    (decoded, result),
                    (expected.clone(), Ok(())),
                    "{}",
                    body.name
                );
            }
        }
        let every_byte: Vec<usize> = (0..body.bytes.len()).collect();
        let (decoded, result) = feed(&mut body.decoder(), &body.bytes, &every_byte);
        assert_eq!((decoded, result), (expected, Ok(())), "{}", body.name);
    }
}

#[test]
fn each_truncation_is_an_error() {
    for body in bodies::all() {
        for len in 0..body.bytes.len() {
            let mut decoder = body.decoder();
            let (decoded, result) = feed(&mut decoder, &body.bytes[..len], &[len / 2]);
            let error = result.unwrap_err();
            assert!(
                matches!(error.kind, ChunkedErrorKind::Truncated { .. }),
                "{error}"
            );
            assert_eq!(error.code(), "IncompleteBody");
            assert_eq!(error.offset, len as u64);
            assert!(body.data.starts_with(&decoded.data));
        }
    }
}

/// All values of a byte for one body; for the others each flipped bit, and characters that the grammar uses.
fn changes(original: u8, all: bool) -> Vec<u8> {
    let mut values: Vec<u8> = match all {
        true => (0..=255).collect(),
        false => (0..8)
            .map(|bit| original ^ 1 << bit)
            .chain(*b"\r\n\t 09af;:*\0")
            .collect(),
    };
    values.retain(|&value| value != original);
    values
}

/// What was signed, and its signature, of each chunk and the trailers of a body that is known to be valid: much faster
/// than to compute the same signatures for each change.
#[derive(Clone, Default)]
struct Signatures(Arc<Mutex<VecDeque<[Vec<u8>; 2]>>>);

/// Accepts the recorded signatures in their order.
struct Expected(VecDeque<[Vec<u8>; 2]>);

impl ChunkAuthenticator for Signatures {
    fn chunk(&mut self, sha256: &[u8; 32], signature: &[u8]) -> bool {
        self.trailer(sha256, signature)
    }

    fn trailer(&mut self, signed: &[u8], signature: &[u8]) -> bool {
        self.0
            .lock()
            .unwrap()
            .push_back([signed.to_vec(), signature.to_vec()]);
        true
    }
}

impl ChunkAuthenticator for Expected {
    fn chunk(&mut self, sha256: &[u8; 32], signature: &[u8]) -> bool {
        self.trailer(sha256, signature)
    }

    fn trailer(&mut self, signed: &[u8], signature: &[u8]) -> bool {
        self.0
            .pop_front()
            .is_some_and(|expected| expected == [signed, signature])
    }
}

#[test]
fn each_change_of_a_signed_body_is_an_error() {
    for body in bodies::all()
        .into_iter()
        .filter(|body| body.framing.is_signed())
    {
        let unchanged = decode(body.decoder(), &body.bytes).unwrap();
        let signatures = Signatures::default();
        let decoder = Decoder::new(body.framing, signatures.clone(), body.options.clone());
        decode(decoder, &body.bytes).unwrap();
        let signatures = signatures.0.lock().unwrap().clone();
        for (index, &original) in body.bytes.iter().enumerate() {
            for value in changes(original, body.name == "signed, trailer") {
                let mut bytes = body.bytes.clone();
                bytes[index] = value;
                let expected = Expected(signatures.clone());
                let decoder = Decoder::new(body.framing, expected, body.options.clone());
                let Ok(decoded) = decode(decoder, &bytes) else {
                    continue;
                };
                // Two changes have no meaning: the case of sizes and names, and white space after a value, in place
                // of a part of its line end.
                let same_case = value.eq_ignore_ascii_case(&original);
                let white_space =
                    body.options.line_feed_trailers && matches!(original, b'\r' | b'\n');
                assert!(
                    same_case || white_space,
                    "{}: {index} {original} {value}",
                    body.name
                );
                assert_eq!(
                    decoded, unchanged,
                    "{}: {index} {original} {value}",
                    body.name
                );
            }
        }
    }
}

#[test]
fn each_added_byte_is_an_error() {
    for body in bodies::all() {
        let len = body.bytes.len();
        for byte in [b'\r', b'\n', b'0', 0] {
            let mut bytes = body.bytes.clone();
            bytes.push(byte);
            for splits in [vec![], vec![len], vec![len - 1, len]] {
                let (_, result) = feed(&mut body.decoder(), &bytes, &splits);
                let error = result.unwrap_err();
                assert_eq!(error.kind, ChunkedErrorKind::TrailingData, "{}", body.name);
                assert_eq!(error.offset, len as u64);
            }
        }
    }
}

/// What a mutation of a body may insert: parts of the grammar.
const TOKENS: [&str; 17] = [
    "\r\n",
    "\n",
    "\r",
    "0",
    "1",
    "a",
    "ffffffffffffffff",
    "0000000000000000",
    ";",
    ";chunk-signature=",
    "*",
    ":",
    " ",
    "x-amz-trailer-signature:",
    "x-amz-checksum-crc32:",
    "b:c\r\n",
    "\0",
];

#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, &'static str),
    Remove(Index),
    Replace(Index, u8),
    Repeat(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), select(&TOKENS[..])).prop_map(|(at, token)| Edit::Insert(at, token)),
        any::<Index>().prop_map(Edit::Remove),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Edit::Replace(at, byte)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Edit::Repeat(from, to)),
    ]
}

fn apply(bytes: &mut Vec<u8>, edit: &Edit) {
    let len = bytes.len();
    if len == 0 {
        return;
    }
    match edit {
        Edit::Insert(at, token) => {
            let at = at.index(len + 1);
            bytes.splice(at..at, token.bytes());
        }
        Edit::Remove(at) => {
            bytes.remove(at.index(len));
        }
        Edit::Replace(at, byte) => bytes[at.index(len)] = *byte,
        Edit::Repeat(from, to) => {
            let (from, to) = (from.index(len), to.index(len));
            let part = bytes[from.min(to)..from.max(to)].to_vec();
            bytes.splice(from..from, part);
        }
    }
}

const FRAMINGS: [Framing; 5] = [
    Framing::UnsignedTrailer,
    Framing::Signed,
    Framing::SignedTrailer,
    Framing::SignedEcdsa,
    Framing::SignedEcdsaTrailer,
];

/// Compares the decoder, fed in two ways, with the reference.
fn compare(
    framing: Framing,
    options: &DecoderOptions,
    bytes: &[u8],
    splits: &[usize],
) -> Result<bool, TestCaseError> {
    let expected = reference::decode(framing, &mut AnySignature, options, bytes);
    let decoder = || Decoder::new(framing, AnySignature, options.clone());
    let (decoded, result) = feed(&mut decoder(), bytes, splits);
    prop_assert_eq!(result.is_ok(), expected.is_some(), "{:?}", result);
    let (whole, whole_result) = feed(&mut decoder(), bytes, &[]);
    prop_assert_eq!(whole_result, result);
    if let Some(expected) = expected {
        prop_assert_eq!(&decoded, &expected);
        prop_assert_eq!(&whole, &expected);
        return Ok(true);
    }
    Ok(false)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn arbitrary_bytes_are_as_in_the_reference(
        framing in select(&FRAMINGS[..]),
        bytes in vec(any::<u8>(), 0..200),
        splits in vec(0_usize..200, 0..4),
    ) {
        compare(framing, &DecoderOptions::default(), &bytes, &splits)?;
    }

    #[test]
    fn edited_bodies_are_as_in_the_reference(
        index in any::<Index>(),
        framing in proptest::option::weighted(0.2, select(&FRAMINGS[..])),
        edits in vec(edit(), 0..4),
        mut splits in vec(0_usize..700, 0..6),
        line_feed_trailers in any::<bool>(),
        limits in proptest::option::weighted(0.2, (0_u64..40, 0_usize..3, 0_usize..130)),
        any_length in any::<bool>(),
        any_trailers in any::<bool>(),
    ) {
        let mut bodies = bodies::all();
        let body = bodies.swap_remove(index.index(bodies.len()));
        let mut bytes = body.bytes;
        edits.iter().for_each(|edit| apply(&mut bytes, edit));
        splits.sort_unstable();
        let mut options = body.options;
        options.line_feed_trailers |= line_feed_trailers;
        if let Some((max_chunk, max_trailers, max_trailer_bytes)) = limits {
            options = DecoderOptions { max_chunk, max_trailers, max_trailer_bytes, ..options };
        }
        if any_length {
            options.decoded_length = None;
        }
        if any_trailers {
            options.declared_trailers = None;
        }
        compare(framing.unwrap_or(body.framing), &options, &bytes, &splits)?;
    }

    #[test]
    fn decoders_read_what_encoders_write(
        pieces in vec(vec(any::<u8>(), 0..70), 0..8),
        chunk_size in 1_usize..40,
        layout in 0..4,
        checksum in proptest::option::of(select(&Algorithm::ALL[..])),
        splits in vec(0_usize..700, 0..4),
    ) {
        const SEED: &str = "seed";
        let data = pieces.concat();
        let size = std::num::NonZeroUsize::new(chunk_size).unwrap();
        let mut encoder = match layout {
            0 => Encoder::signed(Sigv4::new(SEED), size, checksum),
            1 => Encoder::unsigned(ChunkLayout::Fixed(size), checksum),
            2 => Encoder::unsigned(ChunkLayout::Single(data.len() as u64), checksum),
            _ => Encoder::unsigned(ChunkLayout::Pieces, checksum),
        };
        let mut headers = http::HeaderMap::new();
        encoder.apply_headers(&mut headers, data.len() as u64);
        let encoded_length = encoder.encoded_length(data.len() as u64);
        let framing = encoder.framing();
        let mut out = Vec::new();
        for piece in pieces {
            encoder.push(Bytes::from(piece), &mut out).unwrap();
        }
        let sent = encoder.finish(&mut out).unwrap();
        let body = out.concat();
        if layout != 3 {
            prop_assert_eq!(encoded_length, Some(body.len() as u64));
        }

        let options = DecoderOptions {
            declared_trailers: Some(
                DecoderOptions::from_headers(&headers).unwrap().declared_trailers.unwrap_or_default(),
            ),
            ..DecoderOptions::from_headers(&headers).unwrap()
        };
        let mut decoder = signed(framing, SEED, options);
        let (decoded, result) = feed(&mut decoder, &body, &splits);
        prop_assert_eq!(result, Ok(()));
        prop_assert_eq!(&decoded.data, &data);

        let mut verifier = polywire_aws::chunked::BodyVerifier::from_headers(&headers).unwrap();
        verifier.update(&decoded.data).unwrap();
        if let Some(trailers) = &decoded.trailers {
            verifier.trailers(trailers).unwrap();
        }
        let checksums = verifier.finish().unwrap();
        prop_assert_eq!(checksums.sent(), sent.as_ref());
    }
}
