//! The header form: `Authorization` and the headers `x-amz-*`.

use std::borrow::Cow;

use http::HeaderMap;
use polywire_text::Timestamp;

use super::fields::{
    MAX_FIELD, check_names, check_token, malformed, parse_algorithm, parse_credential,
    parse_payload, parse_region_set, parse_signature, single, split_once,
};
use crate::signature::error::{ErrorKind, Form};
use crate::signature::head::{
    X_AMZ_CONTENT_SHA256, X_AMZ_DATE, X_AMZ_REGION_SET, X_AMZ_SECURITY_TOKEN,
};
use crate::signature::{Algorithm, RequestHead, SignatureError, SignedRequest, SigningTime};

pub(super) fn parse_header<'a>(
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

pub(super) fn parse_time(headers: &HeaderMap) -> Result<SigningTime, SignatureError> {
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
