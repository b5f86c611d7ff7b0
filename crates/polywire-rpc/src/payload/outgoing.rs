//! Sending a stream as a body.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body, Frame, SizeHint};
use polywire_schema::{ByteStream, StreamError};

/// A body of bytes in memory or of a stream.
#[derive(Debug)]
pub(crate) enum OutgoingBody {
    /// `None` after the bytes were sent.
    Bytes(Option<Bytes>),
    Stream(ByteStream),
}

impl From<Bytes> for OutgoingBody {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl Body for OutgoingBody {
    type Data = Bytes;
    type Error = StreamError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamError>>> {
        match self.get_mut() {
            Self::Bytes(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Stream(stream) => {
                let piece = Pin::new(stream).poll_next(context);
                piece.map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_none(),
            // hyper stops reading at `true`. The check of the length happens when the end of the stream is read.
            Self::Stream(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Bytes(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Stream(stream) => stream
                .len()
                .map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}
