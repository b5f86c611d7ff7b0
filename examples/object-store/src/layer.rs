//! What S3 does with HTTP that its model does not say.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_RANGE, EXPECT};
use http::{HeaderValue, Request, Response, StatusCode};
use polywire::protocol::{Fault, s3};
use polywire::rpc::RoutedCall;
use polywire::schema::{Location, Member, Operation};
use polywire::text::percent;
use tower::{Layer, Service};

use crate::error::Error;

const ACL: &str = "x-amz-acl";

/// Moves buckets from the host into the path, removes an empty `x-amz-acl`, and gives parts of objects the status 206.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    domains: Arc<[String]>,
}

impl Http {
    /// For hosts `BUCKET.DOMAIN`.
    #[must_use]
    pub(crate) fn new(domains: Vec<String>) -> Self {
        Self {
            domains: domains.into(),
        }
    }
}

impl<S> Layer<S> for Http {
    type Service = HttpService<S>;

    fn layer(&self, inner: S) -> HttpService<S> {
        HttpService {
            inner,
            domains: Arc::clone(&self.domains),
        }
    }
}

/// A service with [`Http`] around it.
#[derive(Clone, Debug)]
pub(crate) struct HttpService<S> {
    inner: S,
    domains: Arc<[String]>,
}

impl<S, B, R> Service<Request<B>> for HttpService<S>
where
    S: Service<Request<B>, Response = Response<R>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<R>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let domains: Vec<&str> = self.domains.iter().map(String::as_str).collect();
        s3::path_style(&mut head, &domains);
        // Some clients send it for an object that has none. The model allows only its values.
        if head.headers.get(ACL).is_some_and(HeaderValue::is_empty) {
            head.headers.remove(ACL);
        }
        // There is nothing to go on with, so the answer comes at once. Connections
        // of botocore do not recover from that: they take the next answer wrong.
        let is_empty = head
            .headers
            .get(CONTENT_LENGTH)
            .is_some_and(|len| len == "0");
        let is_last = is_empty && head.headers.contains_key(EXPECT);
        let answer = self.inner.call(Request::from_parts(head, body));
        Box::pin(async move {
            let mut response = answer.await?;
            if response.headers().contains_key(CONTENT_RANGE) && response.status() == 200 {
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            }
            if is_last {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok(response)
        })
    }
}

/// Whether a query asks for something that the operation does not have. The request would be
/// taken for one of an operation that the store has: `DELETE /bucket?policy` for DeleteBucket.
///
/// S3 names such operations by a parameter without a value. Other parameters that an operation
/// does not know are ignored, as S3 does: signatures, and `x-id` of some clients. Names are
/// read as the router reads them, to which `%61cl` is `acl`.
fn names_other(query: &str, operation: Operation<'_>) -> bool {
    let (_, uri, _) = operation.http().unwrap_or_default();
    let literals = uri.split_once('?').map_or("", |(_, literals)| literals);
    let is_known = |name: &str| {
        let mut members = operation.input().members();
        let is_member = |member: Member<'_>| {
            member.location() == Location::Query && member.location_name() == name
        };
        literals.split('&').any(|literal| literal == name) || members.any(is_member)
    };
    query.split('&').any(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        percent::decode_query(name).is_ok_and(|name| match &*name {
            // There are no versions.
            "versionId" => true,
            name => value.is_empty() && !name.is_empty() && !is_known(name),
        })
    })
}

/// Refuses what this store would misunderstand.
///
/// # Errors
///
/// The request asks for something that is not there.
pub(crate) fn check(routed: &RoutedCall, most: usize) -> Result<(), Fault> {
    let call = &routed.context;
    let query = call.uri().query().unwrap_or_default();
    let is_other = |operation| names_other(query, operation);
    if routed.operation().is_some_and(is_other) {
        return Err(Error::NotImplemented("This store does not have that operation.").into());
    }
    let header = |name: &str| {
        call.headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    // A body without a length is refused while it is read.
    let length = header("content-length").and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > most) {
        let reason = "The body is larger than what this store reads of one request: \
                      upload it in parts, or start the store with a larger --body.";
        return Err(Error::EntityTooLarge(reason).into());
    }
    let is_streaming =
        header("x-amz-content-sha256").is_some_and(|sum| sum.starts_with("STREAMING-"));
    let is_chunked =
        header("content-encoding").is_some_and(|coding| coding.contains("aws-chunked"));
    if is_streaming || is_chunked {
        let reason = "Bodies in signed chunks and trailing checksums are not read: \
                      set request_checksum_calculation to when_required.";
        return Err(Error::NotImplemented(reason).into());
    }
    if header("x-amz-copy-source").is_some() && query.contains("uploadId=") {
        return Err(Error::NotImplemented("Parts cannot be copied from objects.").into());
    }
    Ok(())
}
