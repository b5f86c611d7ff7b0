//! Small bodies of each framing, which other tests take apart.

use polywire_aws::chunked::{ChunkSigner, Decoder, DecoderOptions, Framing};
use sha2::{Digest, Sha256};

use crate::support::{Sigv4, signed};

/// The seed of the bodies; any text would do.
const SEED: &str = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";

pub(crate) struct Body {
    pub(crate) name: &'static str,
    pub(crate) framing: Framing,
    pub(crate) options: DecoderOptions,
    pub(crate) bytes: Vec<u8>,
    pub(crate) data: &'static [u8],
}

impl Body {
    pub(crate) fn decoder(&self) -> Decoder {
        signed(self.framing, SEED, self.options.clone())
    }
}

/// Frames chunks, the last of which is empty, and trailers.
fn frame(framing: Framing, chunks: &[&[u8]], trailers: &str, line_end: &str) -> Vec<u8> {
    let mut signer = Sigv4::new(SEED);
    let mut body = Vec::new();
    for chunk in chunks {
        body.extend_from_slice(format!("{:x}", chunk.len()).as_bytes());
        if framing.is_signed() {
            body.extend_from_slice(b";chunk-signature=");
            body.extend_from_slice(&signer.chunk(&Sha256::digest(chunk).into()));
        }
        body.extend_from_slice(b"\r\n");
        body.extend_from_slice(chunk);
        if !chunk.is_empty() {
            body.extend_from_slice(b"\r\n");
        }
    }
    if !trailers.is_empty() {
        body.extend_from_slice(trailers.as_bytes());
        body.extend_from_slice(line_end.as_bytes());
    }
    if framing == Framing::SignedTrailer {
        body.extend_from_slice(b"x-amz-trailer-signature:");
        body.extend_from_slice(&signer.trailer(format!("{trailers}\n").as_bytes()));
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"\r\n");
    body
}

pub(crate) fn all() -> Vec<Body> {
    const DATA: &[u8] = b"Hello, chunks!\r\n0\r\n\r\nand more";
    const TRAILER: &str = "x-amz-checksum-crc32:y/Q5Jg==";

    let chunks: [&[u8]; 4] = [&DATA[..1], &DATA[1..19], &DATA[19..], b""];
    let declared = || DecoderOptions {
        decoded_length: Some(DATA.len() as u64),
        declared_trailers: Some(vec!["x-amz-checksum-crc32".to_owned()]),
        ..DecoderOptions::default()
    };
    let body = |name, framing, options, trailer, line_end| {
        let bytes = frame(framing, &chunks, trailer, line_end);
        Body {
            name,
            framing,
            options,
            bytes,
            data: DATA,
        }
    };
    let plain = || DecoderOptions {
        decoded_length: Some(DATA.len() as u64),
        ..DecoderOptions::default()
    };
    let line_feeds = || DecoderOptions {
        line_feed_trailers: true,
        ..declared()
    };
    vec![
        body("unsigned", Framing::UnsignedTrailer, plain(), "", ""),
        body(
            "unsigned, trailer",
            Framing::UnsignedTrailer,
            declared(),
            TRAILER,
            "\r\n",
        ),
        body("signed", Framing::Signed, plain(), "", ""),
        body(
            "signed, trailer",
            Framing::SignedTrailer,
            declared(),
            TRAILER,
            "\r\n",
        ),
        body(
            "signed, verified",
            Framing::SignedTrailer,
            DecoderOptions {
                verified_chunks: Some(64),
                ..declared()
            },
            TRAILER,
            "\r\n",
        ),
        // The form of the client of MinIO for Go.
        body(
            "unsigned, line feeds",
            Framing::UnsignedTrailer,
            line_feeds(),
            TRAILER,
            "\n\r\n",
        ),
        body(
            "signed, line feeds",
            Framing::SignedTrailer,
            line_feeds(),
            TRAILER,
            "\n\r\n",
        ),
        Body {
            name: "empty",
            framing: Framing::SignedTrailer,
            options: DecoderOptions {
                decoded_length: Some(0),
                ..declared()
            },
            bytes: frame(Framing::SignedTrailer, &[b""], TRAILER, "\r\n"),
            data: b"",
        },
    ]
}
