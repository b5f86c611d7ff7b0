//! The metrics page, the redirect to the pages, and the response to a request without a protocol.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};

use super::answer::Answer;
use super::app::{App, Pages};
use super::body::RequestBody;

impl App {
    /// Answers a request for a page, after its body has been read.
    pub(super) fn page(
        self: &Arc<Self>,
        pages: &Pages,
        head: &http::request::Parts,
        mut body: RequestBody,
    ) -> Answer {
        let mut request = Request::from_parts(head.clone(), Bytes::new());
        if body.is_empty() {
            return Answer::Ready(pages(&request));
        }
        let (app, pages) = (Arc::clone(self), Arc::clone(pages));
        Answer::Boxed(Box::pin(async move {
            let limit = app.engine.limits.bytes();
            let read = poll_fn(|context| body.poll_read(limit, &app.engine.memory, context));
            match read.await {
                Ok(bytes) => {
                    *request.body_mut() = bytes;
                    pages(&request)
                }
                Err(fault) => text(fault.status(), format!("{fault}\n")),
            }
        }))
    }

    /// Whether the server has metrics.
    pub(super) fn has_metrics(&self) -> bool {
        #[cfg(feature = "websocket")]
        if !self.websockets.is_empty() {
            return true;
        }
        self.frames.is_some()
    }

    /// The metrics in the text format of Prometheus.
    #[cold]
    pub(super) fn metrics(&self) -> Response<Bytes> {
        let mut text = String::new();
        if self.frames.is_some() {
            text = self.flow.stats(self.engine.memory.taken()).to_prometheus();
        }
        #[cfg(feature = "websocket")]
        if !self.websockets.is_empty() {
            text.push_str(&self.websockets.stats().to_prometheus());
        }
        let mut response = Response::new(Bytes::from(text));
        let kind = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, kind);
        response
    }
}

/// Redirects `/_polywire` to `/_polywire/`, where the pages are.
pub(super) fn to_pages() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    let location = http::HeaderValue::from_static("/_polywire/");
    response
        .headers_mut()
        .insert(http::header::LOCATION, location);
    response
}

fn text(status: StatusCode, text: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = status;
    let plain = http::HeaderValue::from_static("text/plain; charset=utf-8");
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, plain);
    response
}

/// The response to a request that no protocol claims.
pub(super) fn unclaimed() -> Response<Bytes> {
    let text = "No protocol of this server knows such a request.\n";
    let mut response = Response::new(Bytes::from_static(text.as_bytes()));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}
