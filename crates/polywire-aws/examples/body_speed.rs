//! Prints how fast bodies are decoded and hashed, in MB/s (10^6 bytes of data a second).
//!
//! `cargo run --release -p polywire-aws --example body_speed -- [megabytes]`
//!
//! The body has chunks of 64 KiB and arrives in pieces of 64 KiB that do not begin where chunks do. Each measurement
//! checks the length of the data and its checksum, and is the best of five.

#![expect(clippy::print_stdout, reason = "the output of the program")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use bytes::Bytes;
use polywire_aws::checksum::{Algorithm, Checksum, Hasher};
use polywire_aws::chunked::{
    AnySignature, ChunkLayout, ChunkSigner, DEFAULT_CHUNK_SIZE, Decoder, DecoderOptions, Encoder,
    Event, Framing,
};

const PIECE: usize = 64 << 10;

/// Signatures of zeros: SHA-256 of the data is computed, the HMAC of 200 bytes is not.
struct Zeros;

impl ChunkSigner for Zeros {
    fn chunk(&mut self, _: &[u8; 32]) -> [u8; 64] {
        [b'0'; 64]
    }

    fn trailer(&mut self, _: &[u8]) -> [u8; 64] {
        [b'0'; 64]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let megabytes = std::env::args()
        .nth(1)
        .map_or(Ok(256), |text| text.parse::<usize>())?;
    let data: Vec<u8> = (0_u32..)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .take(megabytes * 1_000_000)
        .collect();
    let data = Bytes::from(data);
    let body = encode(
        Encoder::unsigned(ChunkLayout::Fixed(DEFAULT_CHUNK_SIZE), None),
        &data,
    )?;
    let signed = encode(Encoder::signed(Zeros, DEFAULT_CHUNK_SIZE, None), &data)?;

    let unsigned = || Decoder::unsigned(DecoderOptions::default());
    measure("decode, no hash", &data, || decode(unsigned(), &body, None));
    for algorithm in [
        Algorithm::Crc32,
        Algorithm::Crc32c,
        Algorithm::Crc64Nvme,
        Algorithm::Sha256,
        Algorithm::Md5,
    ] {
        measure(&format!("{algorithm} alone"), &data, || {
            hash(&data, algorithm)
        });
        measure(&format!("decode and {algorithm}"), &data, || {
            decode(unsigned(), &body, Some(algorithm))
        });
    }
    let decoder = |verified_chunks| {
        let options = DecoderOptions {
            verified_chunks,
            ..DecoderOptions::default()
        };
        Decoder::new(Framing::Signed, AnySignature, options)
    };
    measure("decode, signed chunks", &data, || {
        decode(decoder(None), &signed, None)
    });
    measure("decode, verified chunks", &data, || {
        decode(decoder(Some(PIECE)), &signed, None)
    });
    measure("encode", &data, || {
        let encoder = Encoder::unsigned(ChunkLayout::Fixed(DEFAULT_CHUNK_SIZE), None);
        let mut out = Vec::new();
        push(encoder, &data, &mut out)?;
        Ok((data.len(), None))
    });
    Ok(())
}

type Answer = Result<(usize, Option<Checksum>), Box<dyn Error>>;

/// Runs five times, and checks what comes out.
fn measure(name: &str, data: &Bytes, run: impl Fn() -> Answer) {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        let (len, checksum) = black_box(run()).unwrap_or_else(|error| panic!("{name}: {error}"));
        best = best.min(start.elapsed().as_secs_f64());
        assert_eq!(len, data.len(), "{name}");
        if let Some(checksum) = checksum {
            assert_eq!(checksum, Checksum::of(checksum.algorithm(), data), "{name}");
        }
    }
    println!("{name:<24} {:>10.0} MB/s", data.len() as f64 / best / 1e6);
}

fn hash(data: &Bytes, algorithm: Algorithm) -> Answer {
    let mut hasher = Hasher::new(algorithm);
    data.chunks(PIECE).for_each(|piece| hasher.update(piece));
    Ok((data.len(), Some(hasher.finish())))
}

fn decode(mut decoder: Decoder, body: &Bytes, algorithm: Option<Algorithm>) -> Answer {
    let mut hasher = algorithm.map(Hasher::new);
    let mut len = 0;
    let mut start = 0;
    while start < body.len() {
        let end = (start + PIECE).min(body.len());
        let mut input = body.slice(start..end);
        start = end;
        loop {
            match decoder.feed(&mut input)? {
                Event::NeedInput | Event::End => break,
                Event::Data(data) => {
                    len += black_box(&data).len();
                    if let Some(hasher) = &mut hasher {
                        hasher.update(&data);
                    }
                }
                Event::Trailers(_) => {}
            }
        }
    }
    decoder.finish()?;
    Ok((len, hasher.map(Hasher::finish)))
}

fn push(mut encoder: Encoder, data: &Bytes, out: &mut Vec<Bytes>) -> Result<(), Box<dyn Error>> {
    let mut data = data.clone();
    while !data.is_empty() {
        let piece = data.split_to(PIECE.min(data.len()));
        encoder.push(piece, out)?;
    }
    encoder.finish(out)?;
    Ok(())
}

fn encode(encoder: Encoder, data: &Bytes) -> Result<Bytes, Box<dyn Error>> {
    let mut out = Vec::new();
    push(encoder, data, &mut out)?;
    Ok(Bytes::from(out.concat()))
}
