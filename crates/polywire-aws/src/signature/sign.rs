//! Signing a request in its header.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::canonical::{Canonical, Content, Header, Headers, PathRule, sort_headers};
use super::error::ErrorKind;
use super::head::{
    AUTHORIZATION, X_AMZ_CONTENT_SHA256, X_AMZ_DATE, X_AMZ_REGION_SET, X_AMZ_SECURITY_TOKEN,
};
use super::{Payload, RequestHead, Signature, SignatureError, SigningKey, SigningTime};

/// How requests to a service are signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Settings {
    /// How the path becomes part of the canonical request.
    pub path: PathRule,
    /// Add the header `x-amz-content-sha256` to all requests. Requests whose payload is not the hash
    /// of the body always get it, because servers cannot know the payload otherwise.
    pub content_sha256: bool,
    /// Whether the signature covers `X-Amz-Security-Token`. Some services, such as AWS IoT, expect
    /// that it is added to a presigned URL after signing.
    pub sign_session_token: bool,
}

impl Settings {
    /// For Amazon S3.
    pub const S3: Self = Self {
        path: PathRule::S3,
        content_sha256: true,
        sign_session_token: true,
    };
    /// For all other services.
    pub const STANDARD: Self = Self {
        path: PathRule::STANDARD,
        content_sha256: false,
        sign_session_token: true,
    };

    /// [`S3`](Self::S3) for signing names of S3, such as `s3` and `s3express`; otherwise
    /// [`STANDARD`](Self::STANDARD).
    #[must_use]
    pub fn for_service(signing_name: &str) -> Self {
        match signing_name {
            "s3" | "s3express" | "s3-object-lambda" | "s3-outposts" => Self::S3,
            _ => Self::STANDARD,
        }
    }
}

/// Signs a request: replaces the headers `Authorization`, `x-amz-date`, and where they are needed
/// `x-amz-content-sha256`, `x-amz-security-token` and `x-amz-region-set`.
///
/// Returns the signature, from which the signatures of chunks and events continue.
///
/// All other headers are signed, except those that proxies change (`Connection`, `User-Agent`, ...).
/// Without the header `Host`, the host of the URI is signed; the client must send the same.
///
/// # Errors
///
/// The key is for another day than `time`, or the credentials contain characters that a header cannot
/// have. Then the headers of the signature may be partially replaced; the request must not be sent.
///
/// ```
/// use polywire_aws::signature::{Credentials, KeyCache, Payload, Settings, SigningTime, sign_request};
///
/// let credentials =
///     Credentials::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
/// let time = SigningTime::parse("20150830T123600Z").unwrap();
/// let key = KeyCache::default().key(&credentials, time, "us-east-1", "service");
///
/// let request = http::Request::get("https://example.amazonaws.com/").body(()).unwrap();
/// let (mut parts, ()) = request.into_parts();
/// sign_request(&mut parts, Payload::of(b""), &key, &Settings::STANDARD, time)?;
/// assert_eq!(
///     parts.headers["authorization"],
///     "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
///      SignedHeaders=host;x-amz-date, \
///      Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
/// );
/// # Ok::<(), polywire_aws::signature::SignatureError>(())
/// ```
pub fn sign_request(
    parts: &mut http::request::Parts,
    payload: Payload,
    key: &SigningKey,
    settings: &Settings,
    time: SigningTime,
) -> Result<Signature, SignatureError> {
    insert_headers(&mut parts.headers, payload, key, settings, time)?;
    let head = RequestHead::from(&*parts);
    let (signature, authorization) = authorization(head, payload, key, settings, time)?;
    parts.headers.insert(AUTHORIZATION, authorization);
    Ok(signature)
}

/// The first half of [`sign_request`]: inserts the headers that a signature needs, except for
/// `Authorization`.
///
/// # Errors
///
/// The credentials contain characters that a header cannot have.
pub fn insert_headers(
    headers: &mut HeaderMap,
    payload: Payload,
    key: &SigningKey,
    settings: &Settings,
    time: SigningTime,
) -> Result<(), SignatureError> {
    headers.insert(X_AMZ_DATE, header_value(time.as_str())?);
    if settings.content_sha256 || !matches!(payload, Payload::Sha256(_)) {
        headers.insert(
            X_AMZ_CONTENT_SHA256,
            header_value(payload.text(&mut [0; 64]))?,
        );
    }
    if let Some(token) = key.credentials().session_token() {
        let mut token = header_value(token)?;
        token.set_sensitive(true);
        headers.insert(X_AMZ_SECURITY_TOKEN, token);
    } else {
        headers.remove(X_AMZ_SECURITY_TOKEN);
    }
    if let Some(region_set) = key.region_set() {
        headers.insert(X_AMZ_REGION_SET, header_value(region_set)?);
    }
    Ok(())
}

/// The second half of [`sign_request`]: returns the signature and the value of `Authorization` for a
/// head that has all other headers. For clients whose requests are not of the crate `http`.
///
/// # Errors
///
/// As [`sign_request`].
pub fn authorization(
    head: RequestHead<'_>,
    payload: Payload,
    key: &SigningKey,
    settings: &Settings,
    time: SigningTime,
) -> Result<(Signature, HeaderValue), SignatureError> {
    check_day(key, time)?;
    let without_token = !settings.sign_session_token;
    let canonical = Canonical::new(
        &Content {
            method: head.method,
            path: head.path,
            path_rule: settings.path,
            query: head.query,
            query_without: &[],
            query_with: &[],
            headers: &select_headers(head, |name| without_token && *name == X_AMZ_SECURITY_TOKEN),
            payload: payload.text(&mut [0; 64]),
        },
        key.algorithm(),
        time,
        key.scope(),
    );
    let signature = key.sign(canonical.string_to_sign());
    let pieces: [&[u8]; 9] = [
        key.algorithm().name().as_bytes(),
        b" Credential=",
        key.credentials().access_key_id().as_bytes(),
        b"/",
        key.scope().as_str().as_bytes(),
        b", SignedHeaders=",
        canonical.names(),
        b", Signature=",
        signature.as_bytes(),
    ];
    // With the exact capacity, so that `Bytes` takes the vector over.
    let value = Bytes::from(pieces.concat());
    let mut value = HeaderValue::from_maybe_shared(value).map_err(invalid_header)?;
    value.set_sensitive(true);
    Ok((signature, value))
}

pub(super) fn check_day(key: &SigningKey, time: SigningTime) -> Result<(), SignatureError> {
    if key.scope().date() == time.date() {
        return Ok(());
    }
    let message = format!(
        "the key is for {}, but the time is {time}",
        key.scope().date()
    );
    Err(SignatureError::new(ErrorKind::WrongKey, message))
}

fn header_value(text: &str) -> Result<HeaderValue, SignatureError> {
    HeaderValue::from_str(text).map_err(invalid_header)
}

/// The error does not contain the value, which may be a session token.
#[cold]
fn invalid_header<E>(_: E) -> SignatureError {
    let message = "the credentials contain characters that a header cannot have";
    SignatureError::new(ErrorKind::InvalidCredentials, message)
}

/// The headers that are signed, in the order of their names, and the host.
pub(super) fn select_headers<'a>(
    head: RequestHead<'a>,
    is_excluded: impl Fn(&HeaderName) -> bool,
) -> Headers<'a> {
    let mut selected = Headers::new();
    let mut has_host = false;
    for (name, value) in head.headers {
        if !is_hop_by_hop(name.as_str()) && !is_excluded(name) {
            has_host |= *name == http::header::HOST;
            selected.push(Header::new(name.as_str(), value.as_bytes()));
        }
    }
    if let Some(authority) = head.authority
        && !has_host
    {
        selected.push(Header::new("host", authority.as_bytes()));
    }
    sort_headers(&mut selected);
    selected
}

/// Headers that are not signed: they are for one connection, or proxies and HTTP clients add or
/// change them after signing.
fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "authorization"
            | "connection"
            | "expect"
            | "keep-alive"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "user-agent"
            | "x-amzn-trace-id"
    )
}
