//! The HTTP response of the server and its body.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

use polywire_protocol::PayloadStream;

use super::cast::downcast;
use crate::payload::OutgoingBody;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A response of the server.
pub type HttpResponse = Response<ResponseBody>;

/// The response of a call. Its body is the stream of the output, if it has one.
pub(super) fn of_call(mut response: Response<Bytes>) -> HttpResponse {
    match response.extensions_mut().remove::<PayloadStream>() {
        None => response.map(ResponseBody::from),
        Some(PayloadStream(stream)) => {
            let body = OutgoingBody::Stream(stream).map_err(|error| {
                tracing::warn!(%error, "the stream of an output broke off");
                error
            });
            response.map(|_| ResponseBody::new(body))
        }
    }
}

/// A plain-text response.
pub(super) fn text(status: StatusCode, text: impl Into<Bytes>) -> HttpResponse {
    let mut response = Response::new(ResponseBody::from(text.into()));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

/// The error of a request body that ended early, or of a response body that a layer could not
/// produce.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct BodyError(pub(super) BoxError);

impl BodyError {
    /// Creates an error. A [`Fault`](polywire_protocol::Fault) becomes the result of the call.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(error.into())
    }
}

/// The body of a response: bytes in memory, or a stream that a layer produces.
///
/// Protocols encode responses into one piece of bytes, whose length is known. A layer around HTTP
/// requests may return any other body ([`ServerBuilder::http_layer`]); a body without a known
/// length is sent in chunks over HTTP/1.1. The default is an empty body.
///
/// [`ServerBuilder::http_layer`]: crate::ServerBuilder::http_layer
#[derive(Default)]
pub struct ResponseBody(Kind);

enum Kind {
    /// `None` if the body is empty or has been sent.
    Bytes(Option<Bytes>),
    Boxed(UnsyncBoxBody<Bytes, BodyError>),
}

impl Default for Kind {
    fn default() -> Self {
        Self::Bytes(None)
    }
}

impl ResponseBody {
    /// Boxes a body, unless it is a `ResponseBody` already.
    pub fn new<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        downcast(body).unwrap_or_else(|body| {
            let body = body.map_err(BodyError::new).boxed_unsync();
            Self(Kind::Boxed(body))
        })
    }

    /// The bytes of the body. `None` if they are not in memory, and after they have been read with
    /// [`Body::poll_frame`].
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            Kind::Bytes(bytes) => bytes.as_deref(),
            Kind::Boxed(_) => None,
        }
    }

    /// Whether the rest of the body is not in memory.
    pub(super) fn is_streaming(&self) -> bool {
        matches!(&self.0, Kind::Boxed(body) if !body.is_end_stream())
    }

    /// Keeps `guard` until the body has been produced or is dropped.
    pub(super) fn with_guard(self, guard: impl Send + Unpin + 'static) -> Self {
        if !self.is_streaming() {
            return self;
        }
        let guarded = GuardedBody {
            body: self,
            _guard: guard,
        };
        Self(Kind::Boxed(UnsyncBoxBody::new(guarded)))
    }
}

impl From<Bytes> for ResponseBody {
    fn from(bytes: Bytes) -> Self {
        Self(Kind::Bytes(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.get_mut().0 {
            Kind::Bytes(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Kind::Boxed(body) => Pin::new(body).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Bytes(bytes) => bytes.is_none(),
            Kind::Boxed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Bytes(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Kind::Boxed(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Bytes(bytes) => f.debug_tuple("ResponseBody").field(bytes).finish(),
            Kind::Boxed(_) => f.debug_struct("ResponseBody").finish_non_exhaustive(),
        }
    }
}

/// A body and a value that is dropped with it.
struct GuardedBody<G> {
    body: ResponseBody,
    _guard: G,
}

impl<G: Unpin> Body for GuardedBody<G> {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
