//! The head of a request, and the names of headers and parameters of signatures.

use std::fmt;

use http::{HeaderMap, HeaderName};

pub(super) const AUTHORIZATION: HeaderName = http::header::AUTHORIZATION;
pub(super) const X_AMZ_CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
pub(super) const X_AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
pub(super) const X_AMZ_REGION_SET: HeaderName = HeaderName::from_static("x-amz-region-set");
pub(super) const X_AMZ_SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

/// Names of query parameters.
pub(super) mod parameter {
    pub(in super::super) const ALGORITHM: &str = "X-Amz-Algorithm";
    pub(in super::super) const CONTENT_SHA256: &str = "X-Amz-Content-Sha256";
    pub(in super::super) const CREDENTIAL: &str = "X-Amz-Credential";
    pub(in super::super) const DATE: &str = "X-Amz-Date";
    pub(in super::super) const EXPIRES: &str = "X-Amz-Expires";
    pub(in super::super) const REGION_SET: &str = "X-Amz-Region-Set";
    pub(in super::super) const SECURITY_TOKEN: &str = "X-Amz-Security-Token";
    pub(in super::super) const SIGNATURE: &str = "X-Amz-Signature";
    pub(in super::super) const SIGNED_HEADERS: &str = "X-Amz-SignedHeaders";
}

/// What a signature covers of a request, besides the body.
///
/// [`From`] converts the head of an HTTP request. Fill in the fields to use a path that
/// [`http::Uri`] cannot express.
#[derive(Clone, Copy)]
pub struct RequestHead<'a> {
    /// The method: `GET`.
    pub method: &'a str,
    /// The path as it is sent, so usually percent-encoded.
    pub path: &'a str,
    /// The query as it is sent, without `?`; empty if there is none.
    pub query: &'a str,
    /// The value of `Host` for requests that do not have this header: `:authority` of HTTP/2.
    pub authority: Option<&'a str>,
    /// All headers.
    pub headers: &'a HeaderMap,
}

impl fmt::Debug for RequestHead<'_> {
    /// Without query and header values, which may have signatures and session tokens.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead")
            .field("method", &self.method)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl<'a> From<&'a http::request::Parts> for RequestHead<'a> {
    /// The authority is that of the URI, without the default port of its scheme, which clients do not
    /// send in `Host`.
    fn from(parts: &'a http::request::Parts) -> Self {
        Self {
            method: parts.method.as_str(),
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or_default(),
            authority: host_to_send(&parts.uri),
            headers: &parts.headers,
        }
    }
}

/// The host of a URI as clients send it: without the default port of the scheme, and without user
/// and password.
fn host_to_send(uri: &http::Uri) -> Option<&str> {
    let authority = uri.authority()?.as_str();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let default_port = match uri.scheme_str() {
        Some("https") => ":443",
        Some("http") => ":80",
        _ => return Some(host),
    };
    Some(host.strip_suffix(default_port).unwrap_or(host))
}
