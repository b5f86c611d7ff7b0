//! Reading the signature of a request: `Authorization`, or the query of a presigned URL.
//!
//! ```text
//! authorization  = algorithm SP field "," field "," field         fields in any order
//! field          = "Credential=" credential / "SignedHeaders=" names / "Signature=" 1*hexdigit
//! credential     = access-key-id "/" scope
//! names          = name *( ";" name )            lower case, strictly ascending
//! ```

use std::borrow::Cow;
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use polywire_text::Timestamp;
use polywire_text::percent::{self, Plus};
use smallvec::SmallVec;

use super::error::{ErrorKind, Form};
use super::head::{
    AUTHORIZATION, X_AMZ_CONTENT_SHA256, X_AMZ_DATE, X_AMZ_REGION_SET, X_AMZ_SECURITY_TOKEN,
    parameter,
};
use super::scope::TERMINATOR;
use super::{
    Algorithm, Credentials, Date, MAX_EXPIRY, Payload, RequestHead, Scope, Signature,
    SignatureError, SigningKey, SigningTime,
};

/// The largest length of `Authorization` and of `X-Amz-Credential`, `X-Amz-SignedHeaders` and
/// `X-Amz-Region-Set`, in bytes.
const MAX_FIELD: usize = 8192;
/// The largest length of a session token, in bytes.
const MAX_TOKEN: usize = 16_384;
/// The largest length of an access key id, a region and a service, in bytes. AWS documents 128 for
/// access key ids.
const MAX_NAME: usize = 128;
/// The largest number of signed headers.
const MAX_SIGNED_HEADERS: usize = 128;

/// A request whose signature was read, but not verified yet.
///
/// A server looks up the access key id, which may take time, and then calls
/// [`Verifier::verify`](super::Verifier::verify).
#[derive(Clone, Debug)]
pub struct SignedRequest<'a> {
    pub(super) head: RequestHead<'a>,
    pub(super) form: Form,
    pub(super) algorithm: Algorithm,
    pub(super) access_key_id: Cow<'a, str>,
    pub(super) scope: Scope,
    pub(super) time: SigningTime,
    /// Lower case, strictly ascending.
    pub(super) signed_headers: Cow<'a, str>,
    pub(super) signature: Signature,
    pub(super) payload: Option<Payload>,
    pub(super) session_token: Option<Cow<'a, [u8]>>,
    pub(super) region_set: Option<Cow<'a, str>>,
    pub(super) expires: Option<Duration>,
}

impl<'a> SignedRequest<'a> {
    /// Reads the signature.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Missing`] if there is none: servers may accept such a request as anonymous. Other
    /// kinds if it cannot be read, is incomplete, or exceeds a limit: 8 KiB for `Authorization`, 128
    /// bytes for the access key id, 128 signed headers, 16 KiB for the session token.
    pub fn parse(head: impl Into<RequestHead<'a>>) -> Result<Self, SignatureError> {
        let head = head.into();
        let parameters = Parameters::collect(head.query)?;
        let authorization = single(head.headers, &AUTHORIZATION)?;
        match (authorization, parameters.is_signature()) {
            (Some(_), true) => Err(SignatureError::new(
                ErrorKind::BothForms,
                "the request has an Authorization header and a signature in the query",
            )),
            (Some(authorization), false) => parse_header(head, authorization),
            (None, true) => parse_query(head, parameters).map_err(|e| e.in_form(Form::Query)),
            (None, false) if parameters.is_version_2 => Err(unsupported().in_form(Form::Query)),
            (None, false) => Err(SignatureError::new(
                ErrorKind::Missing,
                "the request is not signed",
            )),
        }
    }

    /// The access key id, to look up the credentials.
    #[must_use]
    pub fn access_key_id(&self) -> &str {
        &self.access_key_id
    }

    /// The version of the signature.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Where the signature is.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The day, region and service that the client has signed for. The service of the test double
    /// that has several on one port.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The session token of temporary credentials. Do not log it.
    #[must_use]
    pub fn session_token(&self) -> Option<&[u8]> {
        self.session_token.as_deref()
    }

    /// The time of the request.
    #[must_use]
    pub fn time(&self) -> SigningTime {
        self.time
    }

    /// The payload, if the head has it. `None`: the signature covers the hash of the body, so the
    /// server must have read the body before it verifies; or S3's default for presigned URLs,
    /// [`Payload::Unsigned`].
    #[must_use]
    pub fn payload(&self) -> Option<Payload> {
        self.payload
    }

    /// Derives the key for this request from the credentials of its access key id. Servers that
    /// verify many requests use [`KeyCache::key_for`](super::KeyCache::key_for).
    #[must_use]
    pub fn signing_key(&self, credentials: &Credentials) -> SigningKey {
        let scope = &self.scope;
        match self.algorithm {
            #[cfg(feature = "sigv4a")]
            Algorithm::V4a => {
                let region_set = self.region_set.as_deref().unwrap_or_default();
                SigningKey::derive_v4a(credentials, scope.date(), region_set, scope.service())
            }
            _ => SigningKey::derive(credentials, scope.date(), scope.region(), scope.service()),
        }
    }
}

/// Splits at the first `separator`, which must be ASCII.
pub(super) fn split_once(text: &str, separator: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(separator, text.as_bytes())?;
    Some((&text[..at], &text[at + 1..]))
}

/// The value of a header that may occur once.
fn single<'a>(
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

fn parse_header<'a>(
    head: RequestHead<'a>,
    authorization: &'a [u8],
) -> Result<SignedRequest<'a>, SignatureError> {
    let text = str::from_utf8(authorization).map_err(|_| malformed("it is not UTF-8"))?;
    if text.len() > MAX_FIELD {
        return Err(malformed("it is longer than 8192 bytes"));
    }
    let (algorithm, mut rest) = split_once(text, b' ').unwrap_or((text, ""));
    let algorithm = parse_algorithm(algorithm)?;
    let (mut credential, mut names, mut signature) = (None, None, None);
    loop {
        let (field, others) = split_once(rest, b',').map_or((rest, None), |(a, b)| (a, Some(b)));
        let (name, value) = split_once(field, b'=').ok_or_else(|| {
            malformed("expected Credential=, SignedHeaders= and Signature=, separated by commas")
        })?;
        let field = match name.trim_ascii() {
            "Credential" => &mut credential,
            "SignedHeaders" => &mut names,
            "Signature" => &mut signature,
            _ => return Err(malformed("it has an unknown field")),
        };
        if field.replace(value.trim_ascii()).is_some() {
            return Err(malformed("a field occurs twice"));
        }
        match others {
            Some(others) => rest = others,
            None => break,
        }
    }
    let missing = |name| move || malformed(name);
    let credential = credential.ok_or_else(missing("Credential is missing"))?;
    let names = names.ok_or_else(missing("SignedHeaders is missing"))?;
    let signature = signature.ok_or_else(missing("Signature is missing"))?;
    let (access_key_id, scope) = parse_credential(algorithm, credential)?;
    check_names(names)?;
    let token = single(head.headers, &X_AMZ_SECURITY_TOKEN)?;
    let region_set = single(head.headers, &X_AMZ_REGION_SET)?;
    Ok(SignedRequest {
        head,
        form: Form::Header,
        algorithm,
        access_key_id: Cow::Borrowed(access_key_id),
        scope,
        time: parse_time(head.headers)?,
        signed_headers: Cow::Borrowed(names),
        signature: parse_signature(algorithm, signature)?,
        payload: parse_payload(single(head.headers, &X_AMZ_CONTENT_SHA256)?)?,
        session_token: check_token(token.map(Cow::Borrowed))?,
        region_set: match (algorithm, region_set) {
            (Algorithm::V4, _) => None,
            (Algorithm::V4a, region_set) => Some(Cow::Borrowed(parse_region_set(region_set)?)),
        },
        expires: None,
    })
}

fn parse_query<'a>(
    head: RequestHead<'a>,
    mut parameters: Parameters<'a>,
) -> Result<SignedRequest<'a>, SignatureError> {
    let mut take = |name: &str| {
        let value = parameters.take(name);
        value.ok_or_else(|| malformed(&format!("the parameter {name} is missing")))
    };
    let algorithm = parse_algorithm(&take(parameter::ALGORITHM)?)?;
    let credential = take(parameter::CREDENTIAL)?;
    let date = take(parameter::DATE)?;
    let names = take(parameter::SIGNED_HEADERS)?;
    let signature = take(parameter::SIGNATURE)?;
    let region_set = match algorithm {
        Algorithm::V4 => None,
        Algorithm::V4a => Some(take(parameter::REGION_SET)?),
    };
    let (access_key_id, scope) = parse_credential(algorithm, &credential)?;
    check_names(&names)?;
    if let Some(region_set) = &region_set {
        parse_region_set(Some(region_set.as_bytes()))?;
    }
    let time = SigningTime::parse(&date)
        .ok_or_else(|| malformed("X-Amz-Date must have the format YYYYMMDDTHHMMSSZ"))?;
    let expires = parameters.take(parameter::EXPIRES);
    let expires = expires.map(|expires| parse_expires(&expires)).transpose()?;

    let payload = (
        single(head.headers, &X_AMZ_CONTENT_SHA256)?,
        parameters.take(parameter::CONTENT_SHA256),
    );
    let payload = match payload {
        (Some(_), Some(_)) => return Err(duplicate(parameter::CONTENT_SHA256)),
        (Some(header), None) => Some(Cow::Borrowed(header)),
        (None, parameter) => parameter.map(into_bytes),
    };
    let token = (
        single(head.headers, &X_AMZ_SECURITY_TOKEN)?,
        parameters.take(parameter::SECURITY_TOKEN),
    );
    let token = match token {
        (Some(_), Some(_)) => return Err(duplicate(parameter::SECURITY_TOKEN)),
        (Some(header), None) => Some(Cow::Borrowed(header)),
        (None, parameter) => parameter.map(into_bytes),
    };
    Ok(SignedRequest {
        head,
        form: Form::Query,
        algorithm,
        access_key_id: Cow::Owned(access_key_id.to_owned()),
        scope,
        time,
        signature: parse_signature(algorithm, &signature)?,
        signed_headers: names,
        payload: parse_payload(payload.as_deref())?,
        session_token: check_token(token)?,
        region_set,
        expires,
    })
}

/// The parameters `X-Amz-*` of a signature, decoded.
struct Parameters<'a> {
    found: SmallVec<[(&'static str, Cow<'a, str>); 8]>,
    /// Whether the query has a signature of Version 2.
    is_version_2: bool,
}

impl<'a> Parameters<'a> {
    const NAMES: [&'static str; 9] = [
        parameter::ALGORITHM,
        parameter::CONTENT_SHA256,
        parameter::CREDENTIAL,
        parameter::DATE,
        parameter::EXPIRES,
        parameter::REGION_SET,
        parameter::SECURITY_TOKEN,
        parameter::SIGNATURE,
        parameter::SIGNED_HEADERS,
    ];

    fn collect(query: &'a str) -> Result<Self, SignatureError> {
        let mut parameters = Self {
            found: SmallVec::new(),
            is_version_2: false,
        };
        for parameter in query.split('&') {
            // Most parameters are not of a signature. `X` may be encoded.
            if !parameter.starts_with(['X', 'A', '%']) {
                continue;
            }
            let (raw_name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            // Decoded names, because the canonical request is made of them too.
            let name = percent::decode_bytes(raw_name.as_bytes(), Plus::Space);
            let name = name.as_deref().unwrap_or(raw_name.as_bytes());
            if name == b"AWSAccessKeyId" {
                parameters.is_version_2 = true;
            }
            let Some(name) = Self::NAMES
                .into_iter()
                .find(|known| known.as_bytes() == name)
            else {
                continue;
            };
            if parameters.found.iter().any(|(found, _)| *found == name) {
                return Err(duplicate(name).in_form(Form::Query));
            }
            let value = percent::decode_query(value).map_err(|_| {
                let message = format!("the value of {name} is not percent-encoded UTF-8");
                malformed(&message).in_form(Form::Query)
            })?;
            parameters.found.push((name, value));
        }
        Ok(parameters)
    }

    /// Whether these are the parameters of a presigned URL.
    fn is_signature(&self) -> bool {
        let required = [
            parameter::ALGORITHM,
            parameter::CREDENTIAL,
            parameter::SIGNATURE,
        ];
        self.found.iter().any(|(name, _)| required.contains(name))
    }

    fn take(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let at = self.found.iter().position(|(found, _)| *found == name)?;
        Some(self.found.swap_remove(at).1)
    }
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn parse_algorithm(name: &str) -> Result<Algorithm, SignatureError> {
    match Algorithm::parse(name) {
        Some(Algorithm::V4a) if !cfg!(feature = "sigv4a") => Err(unsupported()),
        Some(algorithm) => Ok(algorithm),
        None => Err(unsupported()),
    }
}

/// Splits from the right, because some servers have access key ids that contain slashes.
pub(super) fn parse_credential(
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
fn check_names(names: &str) -> Result<(), SignatureError> {
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

fn parse_signature(algorithm: Algorithm, text: &str) -> Result<Signature, SignatureError> {
    Signature::parse(algorithm, text.as_bytes())
        .ok_or_else(|| malformed("Signature must be lower-case hexadecimal digits"))
}

fn parse_time(headers: &HeaderMap) -> Result<SigningTime, SignatureError> {
    let error = || {
        let message = "AWS authentication requires a valid Date or x-amz-date header";
        SignatureError::new(ErrorKind::MissingDate, message)
    };
    if let Some(text) = single(headers, &X_AMZ_DATE)? {
        let time = str::from_utf8(text).ok().and_then(SigningTime::parse);
        return time.ok_or_else(error);
    }
    let date = single(headers, &http::header::DATE)?.ok_or_else(error)?;
    let text = str::from_utf8(date).map_err(|_| error())?;
    let from_http = || SigningTime::new(Timestamp::parse_http_date(text).ok()?);
    SigningTime::parse(text)
        .or_else(from_http)
        .ok_or_else(error)
}

fn parse_payload(text: Option<&[u8]>) -> Result<Option<Payload>, SignatureError> {
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

fn check_token(token: Option<Cow<'_, [u8]>>) -> Result<Option<Cow<'_, [u8]>>, SignatureError> {
    if token.as_ref().is_some_and(|token| token.len() > MAX_TOKEN) {
        let message = "the session token is longer than 16384 bytes";
        return Err(SignatureError::new(ErrorKind::InvalidToken, message));
    }
    Ok(token)
}

fn parse_region_set(text: Option<&[u8]>) -> Result<&str, SignatureError> {
    let text = text.filter(|text| text.len() <= MAX_FIELD);
    let text = text.and_then(|text| str::from_utf8(text).ok());
    text.ok_or_else(|| malformed("X-Amz-Region-Set is missing, too long, or not UTF-8"))
}

fn parse_expires(text: &str) -> Result<Duration, SignatureError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = if digits { text.parse().ok() } else { None };
    let expires = seconds
        .map(Duration::from_secs)
        .filter(|expires| *expires <= MAX_EXPIRY);
    expires.ok_or_else(|| {
        let message = "X-Amz-Expires must be a number of seconds of at most a week: 604800";
        SignatureError::new(ErrorKind::InvalidExpiry, message)
    })
}

#[cold]
fn malformed(what: &str) -> SignatureError {
    let message = format!("the authorization of the request is malformed; {what}");
    SignatureError::new(ErrorKind::Malformed, message)
}

#[cold]
fn duplicate(name: &str) -> SignatureError {
    SignatureError::new(
        ErrorKind::Duplicate,
        format!("{name} occurs more than once"),
    )
}

#[cold]
fn unsupported() -> SignatureError {
    SignatureError::new(
        ErrorKind::UnsupportedAlgorithm,
        "The authorization mechanism you have provided is not supported. Please use \
         AWS4-HMAC-SHA256.",
    )
}
