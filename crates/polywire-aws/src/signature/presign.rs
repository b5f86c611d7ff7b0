//! Presigned URLs.

use std::time::Duration;

use polywire_text::percent;

use super::canonical::{Canonical, Content};
use super::error::ErrorKind;
use super::head::{X_AMZ_SECURITY_TOKEN, parameter};
use super::sign::{check_day, select_headers};
use super::{Payload, RequestHead, Settings, SignatureError, SigningKey, SigningTime};

/// The longest lifetime of a presigned URL: seven days.
pub const MAX_EXPIRY: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Presigns a request: returns its query with the parameters of the signature. `expires` is the
/// lifetime, in whole seconds.
///
/// All headers of `head` are signed, except those that [`sign_request`](super::sign_request) does not
/// sign; so they must be sent with the URL, and `head` usually has only `Host`. The payload of S3 is
/// [`Payload::Unsigned`], that of other services the hash of the body.
///
/// # Errors
///
/// The lifetime is less than a second or more than [`MAX_EXPIRY`]; the key is for another day than
/// `time`.
///
/// ```
/// use polywire_aws::signature::{
///     Credentials, Payload, RequestHead, Settings, SigningKey, SigningTime, presign,
/// };
/// use std::time::Duration;
///
/// // The example of the Amazon S3 API reference.
/// let credentials =
///     Credentials::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
/// let time = SigningTime::parse("20130524T000000Z").unwrap();
/// let key = SigningKey::derive(&credentials, time.date(), "us-east-1", "s3");
/// let head = RequestHead {
///     method: "GET",
///     path: "/test.txt",
///     query: "",
///     authority: Some("examplebucket.s3.amazonaws.com"),
///     headers: &http::HeaderMap::new(),
/// };
/// let day = Duration::from_secs(86400);
/// let query = presign(head, Payload::Unsigned, &key, &Settings::S3, time, day)?;
/// assert!(query.ends_with(
///     "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
/// ));
/// # Ok::<(), polywire_aws::signature::SignatureError>(())
/// ```
pub fn presign(
    head: RequestHead<'_>,
    payload: Payload,
    key: &SigningKey,
    settings: &Settings,
    time: SigningTime,
    expires: Duration,
) -> Result<String, SignatureError> {
    check_day(key, time)?;
    if expires.as_secs() == 0 || expires > MAX_EXPIRY {
        let message = "a presigned URL is valid for 1 second to 7 days";
        return Err(SignatureError::new(ErrorKind::InvalidExpiry, message));
    }
    // The token is a parameter.
    let headers = select_headers(head, |name| *name == X_AMZ_SECURITY_TOKEN);
    let mut names: Vec<&str> = headers.iter().map(|header| header.name).collect();
    names.dedup();

    let encode = |text: &str| {
        let mut encoded = String::new();
        percent::push(&mut encoded, text);
        encoded
    };
    let credentials = key.credentials();
    let credential = format!("{}/{}", credentials.access_key_id(), key.scope());
    let token = credentials.session_token().map(encode);
    let mut parameters = vec![
        (parameter::ALGORITHM, key.algorithm().name().to_owned()),
        (parameter::CREDENTIAL, encode(&credential)),
        (parameter::DATE, time.as_str().to_owned()),
        (parameter::EXPIRES, expires.as_secs().to_string()),
        (parameter::SIGNED_HEADERS, encode(&names.join(";"))),
    ];
    if let Some(region_set) = key.region_set() {
        parameters.push((parameter::REGION_SET, encode(region_set)));
    }
    if let Some(token) = &token
        && settings.sign_session_token
    {
        parameters.push((parameter::SECURITY_TOKEN, token.clone()));
    }
    let borrowed: Vec<(&str, &str)> = parameters
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let canonical = Canonical::new(
        &Content {
            method: head.method,
            path: head.path,
            path_rule: settings.path,
            query: head.query,
            query_without: &[],
            query_with: &borrowed,
            headers: &headers,
            payload: payload.text(&mut [0; 64]),
        },
        key.algorithm(),
        time,
        key.scope(),
    );
    let signature = key.sign(canonical.string_to_sign());

    let mut query = String::from(head.query);
    let mut push = |name: &str, value: &str| {
        if !query.is_empty() && !query.ends_with('&') {
            query.push('&');
        }
        query.push_str(name);
        query.push('=');
        query.push_str(value);
    };
    for (name, value) in borrowed {
        push(name, value);
    }
    if let Some(token) = &token
        && !settings.sign_session_token
    {
        push(parameter::SECURITY_TOKEN, token);
    }
    push(parameter::SIGNATURE, signature.as_str());
    Ok(query)
}

/// Presigns a request by replacing the query of its URI; see [`presign`].
///
/// # Errors
///
/// As [`presign`]. The request is unchanged.
pub fn presign_request(
    parts: &mut http::request::Parts,
    payload: Payload,
    key: &SigningKey,
    settings: &Settings,
    time: SigningTime,
    expires: Duration,
) -> Result<(), SignatureError> {
    let head = RequestHead::from(&*parts);
    let query = presign(head, payload, key, settings, time, expires)?;
    let target = format!("{}?{query}", parts.uri.path());
    let mut uri = parts.uri.clone().into_parts();
    let too_long = |_| SignatureError::new(ErrorKind::Malformed, "the URI is too long");
    uri.path_and_query = Some(target.try_into().map_err(too_long)?);
    let too_long = |_| SignatureError::new(ErrorKind::Malformed, "the URI is not complete");
    parts.uri = http::Uri::from_parts(uri).map_err(too_long)?;
    Ok(())
}
