//! What S3 does with HTTP that its model does not say.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_RANGE, EXPECT};
use http::{HeaderValue, Request, Response, StatusCode};
use polywire::protocol::{Fault, s3};
use polywire::text::percent;
use tower::{Layer, Service};

use crate::error::Error;

/// Moves buckets from the host into the path and gives parts of objects the status 206.
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

/// What stands in the query of operations that this store does not have. Their
/// requests would be taken for those that it has: `PUT /bucket/key?acl` for an
/// object.
const OTHERS: [&str; 34] = [
    "abac",
    "accelerate",
    "acl",
    "analytics",
    "annotation",
    "attributes",
    "cors",
    "encryption",
    "intelligent-tiering",
    "inventory",
    "legal-hold",
    "lifecycle",
    "logging",
    "metadataConfiguration",
    "metadataTable",
    "metrics",
    "notification",
    "object-lock",
    "ownershipControls",
    "policy",
    "policyStatus",
    "publicAccessBlock",
    "renameObject",
    "replication",
    "requestPayment",
    "restore",
    "retention",
    "select",
    "tagging",
    "torrent",
    "versionId",
    "versioning",
    "versions",
    "website",
];

/// Whether a query names an operation that this store does not have. Names are
/// read as the router reads them, to which `%61cl` is `acl`.
fn names_other(query: &str) -> bool {
    query.split('&').any(|part| {
        let name = part.split('=').next().unwrap_or_default();
        percent::decode_query(name).is_ok_and(|name| OTHERS.contains(&&*name))
    })
}

/// Refuses what this store would misunderstand.
///
/// # Errors
///
/// The request asks for something that is not there.
pub(crate) fn check(call: &polywire::rpc::Context) -> Result<(), Fault> {
    let query = call.uri().query().unwrap_or_default();
    if names_other(query) {
        return Err(Error::NotImplemented("This store does not have that operation.").into());
    }
    let header = |name: &str| {
        call.headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
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

#[cfg(test)]
mod tests {
    use super::names_other;

    #[test]
    fn operations_of_others() {
        for query in [
            "acl",
            "x-id=PutObject&acl=",
            "%61cl",
            "versionId=1",
            "a&torrent",
        ] {
            assert!(names_other(query), "{query}");
        }
        for query in ["", "list-type=2&prefix=acl", "uploads", "%zz", "acls"] {
            assert!(!names_other(query), "{query}");
        }
    }
}
