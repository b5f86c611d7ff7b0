//! Headers of requests in `aws-chunked`.

use http::{HeaderMap, HeaderName};

use super::BodyError;

pub(super) const CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
pub(super) const DECODED_LENGTH: HeaderName =
    HeaderName::from_static("x-amz-decoded-content-length");
pub(super) const SDK_ALGORITHM: HeaderName =
    HeaderName::from_static("x-amz-sdk-checksum-algorithm");
pub(super) const TRAILER: HeaderName = HeaderName::from_static("x-amz-trailer");
pub(super) const AWS_CHUNKED: &str = "aws-chunked";

/// More names than any client declares; each is compared with each trailer.
const MAX_DECLARED: usize = 16;

/// The text of the only header of this name; none if there is none.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, BodyError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(BodyError::invalid_header(name, "one value"));
    }
    match value.to_str() {
        Ok(value) => Ok(Some(value.trim_matches([' ', '\t']))),
        Err(_) => Err(BodyError::invalid_header(name, "visible ASCII characters")),
    }
}

/// The length of the body that a header contains: decimal digits only.
pub(super) fn length(headers: &HeaderMap, name: &HeaderName) -> Result<Option<u64>, BodyError> {
    let Some(value) = single(headers, name)? else {
        return Ok(None);
    };
    // `parse` alone would accept `+1`.
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(length) if digits => Ok(Some(length)),
        _ => Err(BodyError::invalid_header(name, "a number of bytes")),
    }
}

/// The names in `x-amz-trailer`, in lower case; none if the header is not there.
pub(super) fn declared_trailers(headers: &HeaderMap) -> Result<Option<Vec<String>>, BodyError> {
    if !headers.contains_key(TRAILER) {
        return Ok(None);
    }
    let mut names = Vec::new();
    for value in headers.get_all(TRAILER) {
        let value = value
            .to_str()
            .map_err(|_| BodyError::invalid_header(&TRAILER, "names of trailers"))?;
        for name in value.split(',') {
            let name = name.trim_matches([' ', '\t']);
            if HeaderName::from_bytes(name.as_bytes()).is_err() || names.len() == MAX_DECLARED {
                return Err(BodyError::invalid_header(
                    &TRAILER,
                    "at most 16 names of trailers",
                ));
            }
            names.push(name.to_ascii_lowercase());
        }
    }
    Ok(Some(names))
}

/// A list of content encodings without `aws-chunked`: what a server stores with an object. None if nothing remains.
/// A list without `aws-chunked` is unchanged.
///
/// ```
/// use polywire_aws::chunked::without_aws_chunked;
///
/// assert_eq!(without_aws_chunked("gzip, aws-chunked").as_deref(), Some("gzip"));
/// assert_eq!(without_aws_chunked("deflate,gzip").as_deref(), Some("deflate,gzip"));
/// assert_eq!(without_aws_chunked("aws-chunked"), None);
/// ```
#[must_use]
pub fn without_aws_chunked(content_encoding: &str) -> Option<String> {
    let is_aws_chunked = |coding: &&str| coding.eq_ignore_ascii_case(AWS_CHUNKED);
    let codings = content_encoding
        .split(',')
        .map(|coding| coding.trim_matches([' ', '\t']));
    let codings: Vec<&str> = codings.filter(|coding| !coding.is_empty()).collect();
    if codings.is_empty() {
        return None;
    }
    if !codings.iter().any(is_aws_chunked) {
        return Some(content_encoding.to_owned());
    }
    let rest: Vec<&str> = codings
        .into_iter()
        .filter(|coding| !is_aws_chunked(coding))
        .collect();
    (!rest.is_empty()).then(|| rest.join(", "))
}
