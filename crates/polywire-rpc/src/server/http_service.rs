//! The services that layers around HTTP requests wrap.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, ready};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, combinators::BoxBody};
use tower::Service;
use tower::load_shed::error::Overloaded;
use tower::timeout::error::Elapsed;

use super::cast::downcast;
use super::response::{BodyError, HttpResponse, ResponseBody, text};

type BoxError = Box<dyn Error + Send + Sync>;
type HttpFuture = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

/// A request as layers around HTTP requests receive it.
pub type HttpRequest = Request<BoxBody<Bytes, BodyError>>;

/// The service that a layer around HTTP requests wraps: the server, or the layers inside.
///
/// It takes requests with any body, so that layers that wrap the request body work too.
#[derive(Clone)]
pub struct HttpService(Box<dyn ErasedService>);

impl HttpService {
    /// Wraps the service of a layer.
    pub(super) fn new<S, B>(service: S) -> Self
    where
        S: Service<HttpRequest, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Box::new(BodyAdapter {
            service,
            error: None,
        }))
    }
}

/// Boxes a body, unless it is boxed already.
pub(super) fn boxed<B>(body: B) -> BoxBody<Bytes, BodyError>
where
    B: Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<BoxError>,
{
    downcast(body).unwrap_or_else(|body| BoxBody::new(body.map_err(BodyError::new)))
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = HttpFuture;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(context).map(Ok)
    }

    fn call(&mut self, request: Request<B>) -> HttpFuture {
        self.0.call(request.map(boxed))
    }
}

impl_debug!(HttpService {});

/// A service whose types are erased.
trait ErasedService: Send + Sync {
    fn clone_box(&self) -> Box<dyn ErasedService>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()>;

    fn call(&mut self, request: HttpRequest) -> HttpFuture;
}

impl Clone for Box<dyn ErasedService> {
    fn clone(&self) -> Self {
        // Explicit, since the box itself has a method of that name.
        (**self).clone_box()
    }
}

/// The service of a layer. Its errors become responses.
#[derive(Debug)]
struct BodyAdapter<S> {
    service: S,
    /// The error of `poll_ready`, for the next call.
    error: Option<BoxError>,
}

impl<S, B> ErasedService for BodyAdapter<S>
where
    S: Service<HttpRequest, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn clone_box(&self) -> Box<dyn ErasedService> {
        Box::new(Self {
            service: self.service.clone(),
            error: None,
        })
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.error.is_none() {
            let ready = ready!(self.service.poll_ready(context));
            self.error = ready.err().map(Into::into);
        }
        Poll::Ready(())
    }

    fn call(&mut self, request: HttpRequest) -> HttpFuture {
        if let Some(error) = self.error.take() {
            drop(request);
            return Box::pin(ready(Ok(failed(&*error))));
        }
        let response = self.service.call(request);
        Box::pin(async move {
            Ok(match response.await {
                Ok(response) => response.map(ResponseBody::new),
                Err(error) => failed(&*error.into()),
            })
        })
    }
}

/// The response to the error of a layer: 503 for a layer that sheds load, 504 for a timeout, 500
/// for all others.
#[cold]
fn failed(error: &(dyn Error + Send + Sync + 'static)) -> HttpResponse {
    if error.is::<Overloaded>() {
        let words = "The server is overloaded, try again later.\n";
        return text(StatusCode::SERVICE_UNAVAILABLE, words);
    }
    if error.is::<Elapsed>() {
        return text(StatusCode::GATEWAY_TIMEOUT, "The request took too long.\n");
    }
    tracing::error!(%error, "a layer around HTTP requests failed");
    internal_error()
}

/// The response where a layer around HTTP requests failed.
pub(super) fn internal_error() -> HttpResponse {
    let words = "An internal error occurred.\n";
    text(StatusCode::INTERNAL_SERVER_ERROR, words)
}
