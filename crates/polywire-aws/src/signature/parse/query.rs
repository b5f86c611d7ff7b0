//! The query form: the parameters `X-Amz-*` of a presigned URL.

use std::borrow::Cow;
use std::time::Duration;

use polywire_text::percent::{self, Plus};
use smallvec::SmallVec;

use super::fields::{
    check_names, check_token, duplicate, malformed, parse_algorithm, parse_credential,
    parse_payload, parse_region_set, parse_signature, single,
};
use crate::signature::error::{ErrorKind, Form};
use crate::signature::head::{X_AMZ_CONTENT_SHA256, X_AMZ_SECURITY_TOKEN, parameter};
use crate::signature::{
    Algorithm, MAX_EXPIRY, RequestHead, SignatureError, SignedRequest, SigningTime,
};

pub(super) fn parse_query<'a>(
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
pub(super) struct Parameters<'a> {
    found: SmallVec<[(&'static str, Cow<'a, str>); 8]>,
    /// Whether the query has a signature of Version 2.
    pub(super) is_version_2: bool,
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

    pub(super) fn collect(query: &'a str) -> Result<Self, SignatureError> {
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
    pub(super) fn is_signature(&self) -> bool {
        let required = [
            parameter::ALGORITHM,
            parameter::CREDENTIAL,
            parameter::SIGNATURE,
        ];
        self.found.iter().any(|(name, _)| required.contains(name))
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let at = self.found.iter().position(|(found, _)| *found == name)?;
        Some(self.found.swap_remove(at).1)
    }
}

pub(super) fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

pub(super) fn parse_expires(text: &str) -> Result<Duration, SignatureError> {
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
