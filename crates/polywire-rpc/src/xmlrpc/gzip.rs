//! gzip (RFC 9110, section 8.4.1.3): bodies of requests, and of responses.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use polywire_protocol::{GzipDecompressor, GzipError};

/// So many pieces of 64 KiB are decompressed before other tasks have their turn: some 0.5 ms.
const TURN: usize = 4;

/// Compresses a body with gzip.
pub(super) fn compressed(body: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::default());
    encoder.write_all(body)?;
    Ok(Bytes::from(encoder.finish()?))
}

/// Decompresses the body of a response of at most `limit` bytes. Other tasks of the thread have
/// their turns in between.
pub(super) async fn decompressed(body: &[u8], limit: usize) -> Result<Vec<u8>, GzipError<()>> {
    let mut decompressor = GzipDecompressor::new(body);
    for step in 1_usize.. {
        match decompressor.step().map_err(GzipError::Malformed)? {
            None => break,
            Some(length) if length > limit => return Err(GzipError::Limit(())),
            Some(_) if step.is_multiple_of(TURN) => tokio::task::yield_now().await,
            Some(_) => {}
        }
    }
    Ok(decompressor.into_output())
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Decompresses a body. Returns the result, and how often other tasks could run.
    fn decompress(body: &[u8], limit: usize) -> (Result<Vec<u8>, GzipError<()>>, usize) {
        let mut future = pin!(decompressed(body, limit));
        let mut context = Context::from_waker(Waker::noop());
        let mut turns = 0;
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(result) => return (result, turns),
                Poll::Pending => turns += 1,
            }
        }
    }

    #[test]
    fn decompression_yields_to_other_tasks() {
        for (len, turns) in [(0, 0), (1_000, 0), (100_000, 0), (16 << 20, 64)] {
            let body = compressed(&vec![7; len]).unwrap();
            let (output, had) = decompress(&body, 16 << 20);
            assert_eq!(output.unwrap().len(), len);
            assert_eq!(had, turns, "{len} bytes");
        }
        // 4,000 empty members after a member of 4 MiB.
        let empty = compressed(b"").unwrap();
        let body = compressed(&vec![7; 4 << 20]).unwrap();
        let body = [body.to_vec(), empty.repeat(4_000)].concat();
        let (output, turns) = decompress(&body, 16 << 20);
        assert_eq!(output.unwrap().len(), 4 << 20);
        assert!(turns > 1_000, "{turns}");
    }

    #[test]
    fn limits() {
        let body = compressed(&vec![7; 16 << 20]).unwrap();
        let (output, turns) = decompress(&body, 1 << 20);
        assert!(matches!(output, Err(GzipError::Limit(()))));
        assert!(turns <= 4, "{turns}");
        let body = compressed(b"").unwrap().repeat(1 << 16);
        let (output, _) = decompress(&body, 1 << 20);
        assert!(matches!(output, Err(GzipError::Malformed(_))));
    }
}
