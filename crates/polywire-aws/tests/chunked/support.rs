//! SigV4 of chunks as its description says, and functions that drive a decoder.

use std::fmt::Write;
use std::sync::LazyLock;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use polywire_aws::chunked::{
    ChunkAuthenticator, ChunkSigner, ChunkedError, Decoder, DecoderOptions, Event, Framing,
    Trailers,
};
use sha2::{Digest, Sha256};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const TIME: &str = "20130524T000000Z";
const SCOPE: &str = "20130524/us-east-1/s3/aws4_request";

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap();
        out
    })
}

fn hmac(key: &[u8], data: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(data.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// The signatures of the published example: key, time and scope of S3's documentation.
pub(crate) struct Sigv4 {
    key: &'static [u8],
    previous: String,
}

impl Sigv4 {
    pub(crate) fn new(seed: &str) -> Self {
        static KEY: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let secret = format!("AWS4{SECRET}").into_bytes();
            SCOPE.split('/').fold(secret, |key, part| hmac(&key, part))
        });
        Self {
            key: &KEY,
            previous: seed.to_owned(),
        }
    }

    fn sign(&mut self, algorithm: &str, hashes: &str) -> [u8; 64] {
        let string = format!("{algorithm}\n{TIME}\n{SCOPE}\n{}\n{hashes}", self.previous);
        self.previous = hex(&hmac(self.key, &string));
        self.previous.as_bytes().try_into().unwrap()
    }
}

impl ChunkSigner for Sigv4 {
    fn chunk(&mut self, sha256: &[u8; 32]) -> [u8; 64] {
        let hashes = format!("{}\n{}", hex(&Sha256::digest(b"")), hex(sha256));
        self.sign("AWS4-HMAC-SHA256-PAYLOAD", &hashes)
    }

    fn trailer(&mut self, canonical: &[u8]) -> [u8; 64] {
        self.sign("AWS4-HMAC-SHA256-TRAILER", &hex(&Sha256::digest(canonical)))
    }
}

impl ChunkAuthenticator for Sigv4 {
    fn chunk(&mut self, sha256: &[u8; 32], signature: &[u8]) -> bool {
        ChunkSigner::chunk(self, sha256) == signature
    }

    fn trailer(&mut self, canonical: &[u8], signature: &[u8]) -> bool {
        ChunkSigner::trailer(self, canonical) == signature
    }
}

/// Everything that a decoder returned.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) data: Vec<u8>,
    pub(crate) trailers: Option<Trailers>,
}

/// Feeds pieces that end at these offsets, and the rest. Returns what came before an error, too.
pub(crate) fn feed(
    decoder: &mut Decoder,
    body: &[u8],
    splits: &[usize],
) -> (Decoded, Result<(), ChunkedError>) {
    let mut decoded = Decoded::default();
    let body = Bytes::copy_from_slice(body);
    let mut start = 0;
    for &end in splits.iter().chain([&body.len()]) {
        let end = end.clamp(start, body.len());
        let mut input = body.slice(start..end);
        start = end;
        loop {
            match decoder.feed(&mut input) {
                Ok(Event::NeedInput | Event::End) => break,
                Ok(Event::Data(data)) => {
                    assert!(!data.is_empty());
                    decoded.data.extend_from_slice(&data);
                }
                Ok(Event::Trailers(trailers)) => {
                    assert_eq!(decoded.trailers, None);
                    decoded.trailers = Some(trailers);
                }
                Err(error) => {
                    // The error stays, also if more comes.
                    assert_eq!(decoder.feed(&mut Bytes::from("0\r\n\r\n")), Err(error));
                    assert_eq!(decoder.finish(), Err(error));
                    return (decoded, Err(error));
                }
            }
        }
        assert!(input.is_empty());
    }
    (decoded, decoder.finish())
}

/// Decodes a whole body.
pub(crate) fn decode(mut decoder: Decoder, body: &[u8]) -> Result<Decoded, ChunkedError> {
    let (decoded, result) = feed(&mut decoder, body, &[]);
    result.map(|()| decoded)
}

pub(crate) fn signed(framing: Framing, seed: &str, options: DecoderOptions) -> Decoder {
    Decoder::new(framing, Sigv4::new(seed), options)
}
