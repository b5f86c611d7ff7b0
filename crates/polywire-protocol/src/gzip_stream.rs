//! Compression of streams with gzip (RFC 1952).

use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_core::Stream;
use polywire_schema::{ByteStream, StreamError, StreamErrorKind};

/// Compresses a stream while it is read. The result has no known length.
///
/// Memory is bounded: each piece of the source is compressed before the next one is read.
pub(crate) fn compressed(source: ByteStream) -> ByteStream {
    ByteStream::new(GzipStream {
        source,
        encoder: Some(GzEncoder::new(Vec::new(), Compression::default())),
    })
}

struct GzipStream {
    source: ByteStream,
    /// `None` after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl Stream for GzipStream {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        let failed =
            |error: std::io::Error| StreamError::new(StreamErrorKind::Corrupt).with_source(error);
        loop {
            let Some(encoder) = &mut self.encoder else {
                return Poll::Ready(None);
            };
            // What the encoder has finished. It keeps up to a block of the input.
            if !encoder.get_ref().is_empty() {
                let ready = std::mem::take(encoder.get_mut());
                return Poll::Ready(Some(Ok(ready.into())));
            }
            let piece = match Pin::new(&mut self.source).poll_next(context) {
                Poll::Ready(piece) => piece,
                Poll::Pending => return Poll::Pending,
            };
            let Some(encoder) = &mut self.encoder else {
                return Poll::Ready(None);
            };
            match piece {
                Some(Ok(bytes)) => {
                    if let Err(error) = encoder.write_all(&bytes) {
                        self.encoder = None;
                        return Poll::Ready(Some(Err(failed(error))));
                    }
                }
                Some(Err(error)) => {
                    // Without the end of the format, which would make the part that was sent look complete.
                    self.encoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    let end = self.encoder.take().map(GzEncoder::finish);
                    return Poll::Ready(end.map(|end| end.map(Bytes::from).map_err(failed)));
                }
            }
        }
    }
}
