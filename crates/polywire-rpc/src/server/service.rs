//! The server as a service of HTTP requests, with and without layers.

use std::convert::Infallible;
use std::error::Error as _;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, request};
use http_body_util::combinators::BoxBody;
use tower::{Service, ServiceExt};

use super::answer::HttpAnswer;
use super::app::{App, Server};
use super::body::RequestBody;
use super::http_service::{HttpRequest, HttpService, boxed, internal_error};
use super::incoming::IncomingBody;
use super::malformed;
use super::response::{HttpResponse, of_call};
use crate::call::{InFlight, catch_panic};
use crate::peer::Peer;

impl Server {
    /// Handles a request of an HTTP connection. The call counts against the limit until the second value is dropped.
    pub(super) fn answer(
        &self,
        request: Request<IncomingBody>,
        peer: &Peer,
    ) -> (HttpAnswer, Option<InFlight>) {
        let (head, body) = request.into_parts();
        let time = self.app.timeouts.body;
        let in_chunks = body.chunks().is_some();
        // Limits count malformed requests too.
        let admitted = match self.app.check_limits(&head, peer) {
            Ok(in_flight) => malformed::check(&head, in_chunks).map(|()| in_flight),
            Err(response) => Err(malformed::refused(&head, in_chunks, response)),
        };
        let in_flight = match admitted {
            Ok(in_flight) => in_flight,
            Err(response) => {
                drop(RequestBody::incoming(&head, body, time));
                return (HttpAnswer::Refused(response), None);
            }
        };
        let peer = peer.clone();
        let body = RequestBody::incoming(&head, body, time);
        (self.answer_within_limits(head, body, peer), in_flight)
    }

    /// As [`Self::answer`], for a request that did not arrive over an HTTP connection.
    pub(super) fn answer_any(
        &self,
        request: HttpRequest,
        peer: Peer,
    ) -> (HttpAnswer, Option<InFlight>) {
        let (head, body) = request.into_parts();
        let time = self.app.timeouts.body;
        let in_flight = match self.app.check_limits(&head, &peer) {
            Ok(in_flight) => in_flight,
            Err(response) => {
                drop(RequestBody::boxed(&head, body, time));
                return (HttpAnswer::Refused(response), None);
            }
        };
        let body = RequestBody::boxed(&head, body, time);
        (self.answer_within_limits(head, body, peer), in_flight)
    }

    /// Handles a request that is within the limits: with the layers around HTTP requests, if there are any.
    fn answer_within_limits(
        &self,
        head: request::Parts,
        body: RequestBody,
        peer: Peer,
    ) -> HttpAnswer {
        match &self.http {
            Some(http) => {
                let request = Request::from_parts(head, BoxBody::new(body));
                layered(http.clone(), request, peer)
            }
            None => HttpAnswer::Own(self.app.answer(Arc::new(head), body, peer)),
        }
    }
}

/// Calls the layers around HTTP requests. A panic of a layer costs one request, not the connection.
fn layered(http: HttpService, mut request: HttpRequest, peer: Peer) -> HttpAnswer {
    request.extensions_mut().insert(peer);
    HttpAnswer::Layered(Box::pin(async move {
        let mut answer = pin!(http.oneshot(request));
        let ended = poll_fn(|context| {
            catch_panic(|| Ok(answer.as_mut().poll(context)))
                .map_or_else(|fault| Poll::Ready(Err(fault)), |poll| poll.map(Ok))
        });
        match ended.await {
            Ok(Ok(response)) => response,
            Ok(Err(never)) => match never {},
            Err(fault) => {
                let reason = fault.source().map(ToString::to_string);
                tracing::error!(reason, "a layer around HTTP requests failed");
                internal_error()
            }
        }
    }))
}

impl<B> Service<Request<B>> for Server
where
    B: http_body::Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let peer = request.extensions().get::<Peer>();
        let peer = peer.cloned().unwrap_or_default();
        let (answer, in_flight) = self.answer_any(request.map(boxed), peer);
        Box::pin(async move { Ok(answer.await.map(|body| body.with_guard(in_flight))) })
    }
}

/// The service inside all layers around HTTP requests.
#[derive(Clone)]
pub(super) struct InnerService(pub(super) Arc<App>);

impl Service<HttpRequest> for InnerService {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest) -> Self::Future {
        let (head, body) = request.into_parts();
        let peer = head.extensions.get::<Peer>().cloned().unwrap_or_default();
        let body = RequestBody::layered(&head, body, self.0.timeouts.body);
        let answer = self.0.answer(Arc::new(head), body, peer);
        Box::pin(async move { Ok(of_call(answer.await)) })
    }
}
