//! What S3 does with HTTP that its model does not say.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::Body;
use polywire::protocol::Fault;
use polywire::protocol::s3;
use polywire::rpc::auth::Identity;
use polywire::rpc::server::{BodyFilter, FilteredHead, HttpBody, OriginalUri};
use tower::{Layer, Service};

use crate::document::{ResponseBody, complete_error};
use crate::form;
use crate::service::ObjectStore;

const ACL: &str = "x-amz-acl";

/// Removes an empty `x-amz-acl`, which some clients send for an object that has none: the model allows only its values.
/// After authentication, because signatures cover it.
pub(crate) struct WithoutEmptyAcl;

impl BodyFilter for WithoutEmptyAcl {
    fn applies(&self, head: &http::request::Parts, _: Option<&Identity>) -> bool {
        head.headers.get(ACL).is_some_and(HeaderValue::is_empty)
    }

    fn filter(&self, request: FilteredHead<'_>, body: HttpBody) -> Result<HttpBody, Fault> {
        request.head.headers.remove(ACL);
        Ok(body)
    }
}

/// Moves buckets from the host into the path, answers POST forms, adds headers to
/// responses, and completes the documents of errors.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    domains: Arc<[String]>,
    own: Arc<ObjectStore>,
}

impl Http {
    /// For hosts `BUCKET.DOMAIN`.
    #[must_use]
    pub(crate) fn new(domains: Vec<String>, own: Arc<ObjectStore>) -> Self {
        let domains = domains.into();
        Self { domains, own }
    }
}

impl<S> Layer<S> for Http {
    type Service = HttpService<S>;

    fn layer(&self, inner: S) -> HttpService<S> {
        HttpService {
            inner,
            settings: self.clone(),
        }
    }
}

/// A service with [`Http`] around it.
#[derive(Clone, Debug)]
pub(crate) struct HttpService<S> {
    inner: S,
    settings: Http,
}

impl<S, B, R> Service<Request<B>> for HttpService<S>
where
    S: Service<Request<B>, Response = Response<R>, Error = Infallible>,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    R: Body<Data = Bytes> + Send + Unpin + 'static,
{
    type Response = Response<ResponseBody<R>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let resource = head.uri.path().to_owned();
        // Signatures cover the URI as it was received.
        head.extensions.insert(OriginalUri(head.uri.clone()));
        let domains = self.settings.domains.iter().map(String::as_str);
        s3::path_style(&mut head, &domains.collect::<Vec<_>>());
        if form::is_form(&head) {
            let own = Arc::clone(&self.settings.own);
            return Box::pin(async move { Ok(form::answer(&own, &head, body).await) });
        }
        // A client that waits for 100 before it sends an empty body gets the final response instead. Connections of
        // botocore do not recover from that: they take the next response wrong.
        let length = head.headers.get(CONTENT_LENGTH);
        let is_empty = length.is_some_and(|length| length == "0");
        let is_last = is_empty && head.headers.contains_key(EXPECT);
        head.extensions.insert(s3::AnyMediaType);
        let more = ResponseHeaders::default();
        head.extensions.insert(more.clone());
        let answer = self.inner.call(Request::from_parts(head, body));
        Box::pin(async move {
            let response = answer.await?;
            let mut response = complete_error(response, &resource).await;
            more.add_to(response.headers_mut());
            if is_last {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok(response)
        })
    }
}

/// An extension of a request: headers that a handler adds to a response that has no members for them, such as an error.
#[derive(Clone, Debug, Default)]
struct ResponseHeaders(Arc<Mutex<HeaderMap>>);

impl ResponseHeaders {
    fn add_to(&self, headers: &mut HeaderMap) {
        let more = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        headers.extend(more);
    }
}

/// Sets a header of the response to a call.
pub(crate) fn set_header(context: &polywire::rpc::Context, name: HeaderName, value: HeaderValue) {
    if let Some(ResponseHeaders(headers)) = context.extensions().get() {
        headers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, value);
    }
}
