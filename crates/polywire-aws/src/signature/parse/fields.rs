//! The parts that both forms have.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};

use crate::signature::error::ErrorKind;
use crate::signature::scope::TERMINATOR;
use crate::signature::{Algorithm, Date, Payload, Scope, Signature, SignatureError};

/// The largest length of `Authorization` and of `X-Amz-Credential`, `X-Amz-SignedHeaders` and
/// `X-Amz-Region-Set`, in bytes.
pub(super) const MAX_FIELD: usize = 8192;
/// The largest length of a session token, in bytes.
pub(super) const MAX_TOKEN: usize = 16_384;
/// The largest length of an access key id, a region and a service, in bytes. AWS documents 128 for
/// access key ids.
pub(super) const MAX_NAME: usize = 128;
/// The largest number of signed headers.
pub(super) const MAX_SIGNED_HEADERS: usize = 128;

/// Splits at the first `separator`, which must be ASCII.
pub(in crate::signature) fn split_once(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(separator, text.as_bytes())?;
    Some((&text[..at], &text[at + 1..]))
}

/// The value of a header that may occur once.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a [u8]>, SignatureError> {
    let mut values = headers.get_all(name).iter();
    let value = values.next();
    if values.next().is_some() {
        return Err(duplicate(name.as_str()));
    }
    Ok(value.map(|value| value.as_bytes().trim_ascii()))
}

pub(super) fn parse_algorithm(name: &str) -> Result<Algorithm, SignatureError> {
    match Algorithm::parse(name) {
        Some(Algorithm::V4a) if !cfg!(feature = "sigv4a") => Err(unsupported()),
        Some(algorithm) => Ok(algorithm),
        None => Err(unsupported()),
    }
}

/// Splits from the right, because some servers have access key ids that contain slashes.
pub(in crate::signature) fn parse_credential(
    algorithm: Algorithm,
    credential: &str,
) -> Result<(&str, Scope), SignatureError> {
    let error = || {
        malformed(match algorithm {
            Algorithm::V4 => {
                "Credential must be <access key id>/YYYYMMDD/<region>/<service>/aws4_request"
            }
            Algorithm::V4a => "Credential must be <access key id>/YYYYMMDD/<service>/aws4_request",
        })
    };
    let is_name = |name: &&str| {
        !name.is_empty()
            && name.len() <= MAX_NAME
            && name.bytes().all(|byte| byte.is_ascii_graphic())
    };
    let mut rest = credential;
    let mut last = || {
        let slash = memchr::memrchr(b'/', rest.as_bytes())?;
        let part = &rest[slash + 1..];
        rest = &rest[..slash];
        Some(part)
    };
    if last() != Some(TERMINATOR) {
        return Err(error());
    }
    let service = last().filter(is_name).ok_or_else(error)?;
    let region = match algorithm {
        Algorithm::V4 => last().filter(is_name).ok_or_else(error)?,
        Algorithm::V4a => "",
    };
    let date = last().and_then(Date::parse).ok_or_else(error)?;
    let access_key_id = Some(rest).filter(is_name).ok_or_else(error)?;
    let scope = match algorithm {
        Algorithm::V4 => Scope::new(date, region, service),
        Algorithm::V4a => Scope::new_v4a(date, service),
    };
    Ok((access_key_id, scope))
}

/// Requires lower-case names in strictly ascending order, as the canonical request has them. Other
/// characters do not matter: no header has such a name.
pub(super) fn check_names(names: &str) -> Result<(), SignatureError> {
    let is_ordered = || {
        let mut previous: &[u8] = b"";
        names.as_bytes().split(|byte| *byte == b';').all(|name| {
            let is_after = previous < name;
            previous = name;
            is_after
        })
    };
    if names.len() > MAX_FIELD
        || names.bytes().filter(|byte| *byte == b';').count() >= MAX_SIGNED_HEADERS
    {
        return Err(malformed(
            "SignedHeaders has more than 128 names or 8192 bytes",
        ));
    }
    if names.bytes().any(|byte| byte.is_ascii_uppercase()) || !is_ordered() {
        return Err(malformed(
            "SignedHeaders must be lower-case names in ascending order",
        ));
    }
    Ok(())
}

pub(super) fn parse_signature(
    algorithm: Algorithm,
    text: &str,
) -> Result<Signature, SignatureError> {
    Signature::parse(algorithm, text.as_bytes())
        .ok_or_else(|| malformed("Signature must be lower-case hexadecimal digits"))
}

pub(super) fn parse_payload(text: Option<&[u8]>) -> Result<Option<Payload>, SignatureError> {
    let Some(text) = text else { return Ok(None) };
    let payload = str::from_utf8(text).ok().and_then(Payload::parse);
    let error = || {
        SignatureError::new(
            ErrorKind::InvalidPayloadHash,
            "x-amz-content-sha256 must be UNSIGNED-PAYLOAD, a keyword that begins with STREAMING-, \
             or 64 lower-case hexadecimal digits",
        )
    };
    payload.map(Some).ok_or_else(error)
}

pub(super) fn check_token(
    token: Option<Cow<'_, [u8]>>,
) -> Result<Option<Cow<'_, [u8]>>, SignatureError> {
    if token.as_ref().is_some_and(|token| token.len() > MAX_TOKEN) {
        let message = "the session token is longer than 16384 bytes";
        return Err(SignatureError::new(ErrorKind::InvalidToken, message));
    }
    Ok(token)
}

pub(super) fn parse_region_set(text: Option<&[u8]>) -> Result<&str, SignatureError> {
    let text = text.filter(|text| text.len() <= MAX_FIELD);
    let text = text.and_then(|text| str::from_utf8(text).ok());
    text.ok_or_else(|| malformed("X-Amz-Region-Set is missing, too long, or not UTF-8"))
}

#[cold]
pub(super) fn malformed(what: &str) -> SignatureError {
    let message = format!("the authorization of the request is malformed; {what}");
    SignatureError::new(ErrorKind::Malformed, message)
}

#[cold]
pub(super) fn duplicate(name: &str) -> SignatureError {
    SignatureError::new(
        ErrorKind::Duplicate,
        format!("{name} occurs more than once"),
    )
}

#[cold]
pub(super) fn unsupported() -> SignatureError {
    SignatureError::new(
        ErrorKind::UnsupportedAlgorithm,
        "The authorization mechanism you have provided is not supported. Please use \
         AWS4-HMAC-SHA256.",
    )
}
