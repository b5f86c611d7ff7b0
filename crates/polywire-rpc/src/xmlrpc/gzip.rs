//! Bodies in gzip: RFC 9110, section 8.4.1.3.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

/// How much is decompressed between two looks at the limit.
const PIECE: u64 = 64 * 1024;

/// Why a body could not be decompressed.
#[derive(Debug)]
pub(super) enum Undone {
    /// It is no gzip.
    Malformed(std::io::Error),
    /// It becomes longer than it may.
    TooLarge,
}

/// Undoes gzip, up to a limit of bytes.
pub(super) fn decompressed(body: &[u8], limit: usize) -> Result<Bytes, Undone> {
    let mut decoder = MultiGzDecoder::new(body);
    let mut whole = Vec::new();
    loop {
        let before = whole.len();
        let read = (&mut decoder).take(PIECE).read_to_end(&mut whole);
        read.map_err(Undone::Malformed)?;
        if whole.len() > limit {
            return Err(Undone::TooLarge);
        }
        if whole.len() == before {
            return Ok(Bytes::from(whole));
        }
    }
}

/// A body in gzip.
pub(super) fn compressed(body: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::default());
    encoder.write_all(body)?;
    Ok(Bytes::from(encoder.finish()?))
}
