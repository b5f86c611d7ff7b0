//! The body of a request as hyper reads it, and how a chunked body ended.
//!
//! hyper finds the end of trailers by CRLF, but its parser also ends lines at a bare LF. RFC 9112,
//! section 2.2, allows both. A proxy that ends the request at a bare LF sees a second request
//! there, checks it, and forwards bytes that this server reads differently. So a connection is
//! closed after trailers, and after a chunked body that was not fully read.
//!
//! If this is known before the response, the connection closes after the response. If the response
//! is sent while the body is still being read, the next request waits for the end of the body. It
//! gets status 400 if the connection has to close.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Version;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::Notify;

/// The body of a request. It is no larger than hyper's.
pub(super) enum IncomingBody {
    Plain(Incoming),
    InChunks(Box<InChunks>),
}

/// A body in chunks of HTTP/1.
pub(super) struct InChunks {
    body: Incoming,
    chunks: Arc<Chunks>,
}

impl IncomingBody {
    pub(super) fn new(version: Version, body: Incoming) -> Self {
        // hyper reads a body of HTTP/1 without a length in chunks.
        if version == Version::HTTP_11 && body.size_hint().exact().is_none() {
            let chunks = Arc::default();
            return Self::InChunks(Box::new(InChunks { body, chunks }));
        }
        Self::Plain(body)
    }

    /// The state of a body in chunks.
    pub(super) fn chunks(&self) -> Option<&Arc<Chunks>> {
        match self {
            Self::Plain(_) => None,
            Self::InChunks(body) => Some(&body.chunks),
        }
    }

    fn body(&self) -> &Incoming {
        match self {
            Self::Plain(body) => body,
            Self::InChunks(body) => &body.body,
        }
    }
}

impl Body for IncomingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match self.get_mut() {
            Self::Plain(body) => Pin::new(body).poll_frame(context),
            Self::InChunks(body) => {
                let frame = ready!(Pin::new(&mut body.body).poll_frame(context));
                body.chunks.note(frame.as_ref());
                Poll::Ready(frame)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body().size_hint()
    }
}

impl Drop for InChunks {
    fn drop(&mut self) {
        self.chunks.end(Chunks::UNCLEAR);
    }
}

/// How far a body in chunks has been read.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    state: AtomicU8,
    ended: Notify,
}

impl Chunks {
    const READING: u8 = 0;
    /// Read to its end, without trailers.
    const ENDED: u8 = 1;
    /// Ended with trailers or an error, or not read to its end.
    const UNCLEAR: u8 = 2;

    fn note(&self, frame: Option<&Result<Frame<Bytes>, hyper::Error>>) {
        match frame {
            Some(Ok(frame)) if !frame.is_trailers() => {}
            Some(_) => self.end(Self::UNCLEAR),
            None => self.end(Self::ENDED),
        }
    }

    /// Sets the state. Only the first call has an effect.
    fn end(&self, state: u8) {
        let (own, relaxed) = (&self.state, Ordering::Relaxed);
        if own
            .compare_exchange(Self::READING, state, relaxed, relaxed)
            .is_ok()
        {
            self.ended.notify_one();
        }
    }

    /// Whether the body was read to its end and had no trailers.
    pub(super) fn have_ended(&self) -> bool {
        self.state.load(Ordering::Relaxed) == Self::ENDED
    }

    /// Whether the connection must close after the body, because the start of the next request is not certain.
    pub(super) fn are_unclear(&self) -> bool {
        self.state.load(Ordering::Relaxed) == Self::UNCLEAR
    }

    /// Waits for the end; false if it is unclear. One task at a time may wait.
    pub(super) async fn ended(&self) -> bool {
        while self.state.load(Ordering::Relaxed) == Self::READING {
            self.ended.notified().await;
        }
        self.have_ended()
    }
}
