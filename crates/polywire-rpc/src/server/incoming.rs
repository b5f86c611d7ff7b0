//! The body of a request as hyper reads it, and how a body in chunks ended.
//!
//! hyper looks for CRLF at the ends of trailers, and then reads them with a parser that takes a
//! bare LF for the end of a line. RFC 9112, section 2.2, allows both, so a proxy may find the end
//! of the request at an LF that is the middle of a trailer for hyper. What follows is then a
//! request for the proxy, whose rules it passes, and has no meaning or another one here. So a
//! connection serves no request after trailers, nor after a body in chunks that was not read to
//! its end. If this is known before the response, the connection ends behind the response. If the
//! response comes first, while the body is still read, the next request waits for the end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::Version;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::sync::Notify;

/// The body of a request.
pub(super) struct IncomingBody {
    body: Incoming,
    /// `None` for a body that is not in chunks of HTTP/1.
    chunks: Option<Arc<Chunks>>,
}

impl IncomingBody {
    pub(super) fn new(version: Version, body: Incoming) -> Self {
        // hyper reads a body of HTTP/1 without a length in chunks.
        let in_chunks = version == Version::HTTP_11 && body.size_hint().exact().is_none();
        Self {
            body,
            chunks: in_chunks.then(Arc::default),
        }
    }

    /// Where the end of a body in chunks is noted.
    pub(super) const fn chunks(&self) -> Option<&Arc<Chunks>> {
        self.chunks.as_ref()
    }
}

impl Body for IncomingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(chunks) = &self.chunks {
            chunks.note(frame.as_ref());
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for IncomingBody {
    fn drop(&mut self) {
        if let Some(chunks) = &self.chunks {
            chunks.end(Chunks::UNCLEAR);
        }
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
    /// With trailers, broken, or not read to its end.
    const UNCLEAR: u8 = 2;

    fn note(&self, frame: Option<&Result<Frame<Bytes>, hyper::Error>>) {
        match frame {
            Some(Ok(frame)) if !frame.is_trailers() => {}
            Some(_) => self.end(Self::UNCLEAR),
            None => self.end(Self::ENDED),
        }
    }

    /// The first end counts.
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

    /// Whether nothing behind the body can be taken for a request.
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
