//! Headers that every answer has.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CONTENT_SECURITY_POLICY, SERVER, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Request, header::InvalidHeaderValue};
use http_body_util::combinators::BoxBody;
use tower::{Layer, Service};

use crate::server::{BodyError, HttpResponse, HttpService, Peer};

/// A layer around HTTP requests that adds headers to answers. One that an answer
/// has already stays as it is.
///
/// ```
/// use std::time::Duration;
///
/// use polywire_rpc::ServerBuilder;
/// use polywire_rpc::layers::SecurityHeaders;
///
/// fn harden(builder: ServerBuilder) -> Result<ServerBuilder, Box<dyn std::error::Error>> {
///     let headers = SecurityHeaders::new()
///         .hsts(Duration::from_secs(365 * 24 * 60 * 60))
///         .content_security_policy("default-src 'none'")?
///         .no_sniff()
///         .server("greeter")?;
///     Ok(builder.http_layer(headers))
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct SecurityHeaders {
    all: Vec<(HeaderName, HeaderValue)>,
    encrypted: Option<HeaderValue>,
}

impl SecurityHeaders {
    /// None as yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `Strict-Transport-Security`, in whole seconds: browsers call the host over
    /// HTTPS alone for that time. It goes out over encrypted connections only, since
    /// RFC 6797, section 7.2, forbids it elsewhere.
    #[must_use]
    pub fn hsts(mut self, time: Duration) -> Self {
        let value = format!("max-age={}", time.as_secs());
        self.encrypted = HeaderValue::try_from(value).ok();
        self
    }

    /// `Content-Security-Policy`: what a browser may load for a page.
    ///
    /// # Errors
    ///
    /// It is no value of a header.
    pub fn content_security_policy(self, policy: &str) -> Result<Self, InvalidHeaderValue> {
        Ok(self.header(CONTENT_SECURITY_POLICY, policy.parse()?))
    }

    /// `X-Content-Type-Options: nosniff`: browsers take answers for what they say
    /// they are.
    #[must_use]
    pub fn no_sniff(self) -> Self {
        self.header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
    }

    /// `Server`: what the server calls itself. Without this it says nothing.
    ///
    /// # Errors
    ///
    /// It is no value of a header.
    pub fn server(self, name: &str) -> Result<Self, InvalidHeaderValue> {
        Ok(self.header(SERVER, name.parse()?))
    }

    /// Any other header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.all.retain(|(own, _)| *own != name);
        self.all.push((name, value));
        self
    }

    fn add(&self, response: &mut HttpResponse, encrypted: bool) {
        let headers = response.headers_mut();
        for (name, value) in &self.all {
            headers.entry(name).or_insert_with(|| value.clone());
        }
        if let (Some(value), true) = (&self.encrypted, encrypted) {
            let entry = headers.entry(STRICT_TRANSPORT_SECURITY);
            entry.or_insert_with(|| value.clone());
        }
    }
}

impl Layer<HttpService> for SecurityHeaders {
    type Service = WithHeaders;

    fn layer(&self, inner: HttpService) -> WithHeaders {
        WithHeaders {
            inner,
            headers: Arc::new(self.clone()),
        }
    }
}

/// A service whose answers have more headers.
#[derive(Clone)]
pub struct WithHeaders {
    inner: HttpService,
    headers: Arc<SecurityHeaders>,
}

impl Service<Request<BoxBody<Bytes, BodyError>>> for WithHeaders {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<BoxBody<Bytes, BodyError>>) -> Self::Future {
        let peer = request.extensions().get::<Peer>();
        let encrypted = peer.is_some_and(Peer::is_encrypted);
        let answer = self.inner.call(request);
        let headers = Arc::clone(&self.headers);
        Box::pin(async move {
            let mut response = answer.await?;
            headers.add(&mut response, encrypted);
            Ok(response)
        })
    }
}
