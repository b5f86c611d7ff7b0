//! Compression of request bodies: RFC 9110, section 8.4.1.3.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Compresses a body with gzip.
pub(super) fn compressed(body: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::default());
    encoder.write_all(body)?;
    Ok(Bytes::from(encoder.finish()?))
}
