//! Changing requests before they are sent, and checking responses.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::{Request, Response};
use polywire_schema::Operation;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The result of [`Interceptor::before_send`].
pub type InterceptorFuture<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;

/// Changes the requests of a [`Client`](crate::Client) over HTTP before they are sent, such as by a signature, and checks
/// the responses.
///
/// [`ClientBuilder::interceptor`](crate::ClientBuilder::interceptor) adds it.
pub trait Interceptor: fmt::Debug + Send + Sync + 'static {
    /// Changes a request. It has its final URL, headers and body. A body that is a stream is the
    /// [`PayloadStream`](polywire_protocol::PayloadStream) in its extensions. `operation` is `None` for messages with
    /// several calls.
    ///
    /// # Errors
    ///
    /// The request must not be sent. The call fails with [`CallErrorKind::Encode`](crate::CallErrorKind::Encode).
    fn before_send<'a>(
        &'a self,
        operation: Option<Operation<'a>>,
        request: &'a mut Request<Bytes>,
    ) -> InterceptorFuture<'a>;

    /// Checks a response, or the stream in its extensions, before it is decoded.
    ///
    /// # Errors
    ///
    /// The response cannot be trusted. The call fails with
    /// [`CallErrorKind::Decode`](crate::CallErrorKind::Decode).
    fn after_response(
        &self,
        operation: Option<Operation<'_>>,
        response: &mut Response<Bytes>,
    ) -> Result<(), BoxError> {
        let _ = (operation, response);
        Ok(())
    }
}
