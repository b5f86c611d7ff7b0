//! Streams that encode or check another stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use polywire_aws::checksum::{Checksum, Hasher};
use polywire_aws::chunked::Encoder;
use polywire_schema::{ByteStream, StreamError, StreamErrorKind};

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Item = Option<Result<Bytes, StreamError>>;

/// A stream in `aws-chunked`.
pub(super) struct EncodedStream {
    source: ByteStream,
    /// `None` after the last chunk.
    encoder: Option<Encoder>,
    /// Encoded bytes that have not been read.
    encoded: VecDeque<Bytes>,
}

impl EncodedStream {
    /// Encodes a stream of `len` bytes.
    pub(super) fn stream(
        source: ByteStream,
        encoder: Encoder,
        len: u64,
    ) -> Result<ByteStream, BoxError> {
        let len = encoder
            .encoded_length(len)
            .ok_or("the stream is too long")?;
        let own = Self {
            source,
            encoder: Some(encoder),
            encoded: VecDeque::new(),
        };
        Ok(ByteStream::with_len(own, len))
    }
}

impl Stream for EncodedStream {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Item> {
        let own = &mut *self;
        loop {
            if let Some(piece) = own.encoded.pop_front() {
                return Poll::Ready(Some(Ok(piece)));
            }
            let Some(encoder) = &mut own.encoder else {
                return Poll::Ready(None);
            };
            let mut encoded = Vec::new();
            let result = match ready!(Pin::new(&mut own.source).poll_next(context)) {
                Some(Ok(piece)) => encoder.push(piece, &mut encoded),
                Some(Err(error)) => {
                    own.encoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
                None => match own.encoder.take() {
                    Some(encoder) => encoder.finish(&mut encoded).map(drop),
                    None => Ok(()),
                },
            };
            if let Err(error) = result {
                let error = StreamError::new(StreamErrorKind::WrongLength).with_source(error);
                return Poll::Ready(Some(Err(error)));
            }
            own.encoded.extend(encoded);
        }
    }
}

/// A stream that ends with an error if its bytes do not have the expected checksum.
pub(super) struct CheckedStream {
    source: ByteStream,
    expected: Checksum,
    /// `None` after the end.
    hasher: Option<Hasher>,
}

impl CheckedStream {
    pub(super) fn stream(source: ByteStream, expected: Checksum) -> ByteStream {
        let len = source.len();
        let own = Self {
            source,
            expected,
            hasher: Some(Hasher::new(expected.algorithm())),
        };
        match len {
            Some(len) => ByteStream::with_len(own, len),
            None => ByteStream::new(own),
        }
    }
}

impl Stream for CheckedStream {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Item> {
        let own = &mut *self;
        let item = ready!(Pin::new(&mut own.source).poll_next(context));
        Poll::Ready(match (item, &mut own.hasher) {
            (Some(Ok(piece)), Some(hasher)) => {
                hasher.update(&piece);
                Some(Ok(piece))
            }
            (None, hasher) => {
                let Some(computed) = hasher.take().map(Hasher::finish) else {
                    return Poll::Ready(None);
                };
                if computed == own.expected {
                    return Poll::Ready(None);
                }
                let message = format!(
                    "the body has the checksum {computed}, expected {} as in {}",
                    own.expected,
                    computed.algorithm().header_name()
                );
                Some(Err(
                    StreamError::new(StreamErrorKind::Corrupt).with_source(message)
                ))
            }
            (item, _) => item,
        })
    }
}
