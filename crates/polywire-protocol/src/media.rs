//! Media types and content codings in heads: `Content-Type`, `Accept` and `Content-Encoding`.

use std::borrow::Cow;

use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::detect::HeadSummary;
use crate::{Fault, FaultKind};

/// Removes the optional white space around a part of a header value: spaces and tabs (RFC 9110,
/// section 5.6.3). `str::trim` would also remove characters such as U+00A0, which belong to the value.
pub(crate) fn trim_whitespace(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Checks that a body has no content coding (RFC 9110, section 8.4). Protocols do not decode any;
/// see [`decode_content`](crate::decode_content) for gzip.
///
/// # Errors
///
/// The header `Content-Encoding` names a coding other than `identity`.
pub fn check_coding(headers: &HeaderMap) -> Result<(), Fault> {
    // Most requests do not have it, and this costs less than to iterate over its values.
    if !headers.contains_key(CONTENT_ENCODING) {
        return Ok(());
    }
    let mut codings = texts(headers, &CONTENT_ENCODING).flat_map(|text| text.split(','));
    let unknown = |coding: &&str| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity");
    match codings.by_ref().map(trim_whitespace).find(unknown) {
        None => Ok(()),
        Some(coding) => {
            let message = format!("expected a body without a content coding, found {coding:?}");
            Err(Fault::new(FaultKind::UnsupportedMediaType, message))
        }
    }
}

/// Returns the parameter `charset` of the header `Content-Type`.
///
/// ```
/// use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
///
/// let media_type = HeaderValue::from_static("text/xml; charset=\"iso-8859-1\"");
/// let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type)]);
/// assert_eq!(polywire_protocol::charset(&headers), Some("iso-8859-1"));
/// ```
#[must_use]
pub fn charset(headers: &HeaderMap) -> Option<&str> {
    let media_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let parameters = media_type.split(';').skip(1);
    let mut parameters = parameters.filter_map(|parameter| parameter.split_once('='));
    let (_, value) =
        parameters.find(|(name, _)| trim_whitespace(name).eq_ignore_ascii_case("charset"))?;
    Some(trim_whitespace(value).trim_matches('"'))
}

impl HeadSummary<'_> {
    /// Checks that the media type of the body is `wanted`, or one for which `fits` returns `true`.
    pub(crate) fn check_type(
        &self,
        wanted: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Result<(), Fault> {
        let is_ascii = self
            .content_type
            .is_some_and(|value| value.as_bytes().is_ascii());
        if is_ascii && (self.has_media_type(wanted) || self.media_type().is_some_and(fits)) {
            return Ok(());
        }
        Err(self.wrong_type(wanted))
    }

    #[cold]
    fn wrong_type(&self, wanted: &str) -> Fault {
        let found = match self.content_type.map(HeaderValue::to_str) {
            Some(Ok(sent)) => format!("{sent:?}"),
            Some(Err(_)) => "a value that is not ASCII".to_owned(),
            None => "no header content-type".to_owned(),
        };
        let message = format!("expected a body of {wanted}, found {found}");
        Fault::new(FaultKind::UnsupportedMediaType, message)
    }

    /// Checks that the caller accepts a response of this media type. A caller that accepts a type
    /// for which `fits` returns `true` accepts this one too.
    pub(crate) fn check_accept(
        &self,
        media_type: &str,
        fits: impl Fn(&str) -> bool,
    ) -> Result<(), Fault> {
        // Most callers do not send the header.
        if !self.has_accept {
            return Ok(());
        }
        let mut lines = texts(&self.head.headers, &ACCEPT);
        let Some(first) = lines.next() else {
            return Ok(());
        };
        let mut ranges = Cow::Borrowed(first);
        for line in lines {
            // Several headers form one list (RFC 9110, section 5.3).
            ranges = Cow::Owned(format!("{ranges}, {line}"));
        }
        if accepts(&ranges, media_type, fits) {
            return Ok(());
        }
        let message = format!(
            "the media type of the response is {media_type}, which {ranges:?} does not accept"
        );
        Err(Fault::new(FaultKind::NotAcceptable, message))
    }
}

/// Returns whether `fits` returns `true` for the media type in `Content-Type`, without parameters.
pub(crate) fn has_content_type(headers: &HeaderMap, fits: impl Fn(&str) -> bool) -> bool {
    let sent = headers.get(CONTENT_TYPE);
    let sent = sent.and_then(|sent| sent.to_str().ok());
    sent.is_some_and(|sent| fits(essence(sent)))
}

fn texts<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h str> {
    let values = headers.get_all(name).into_iter();
    values.filter_map(|value| value.to_str().ok())
}

/// Returns a media type without its parameters.
pub(crate) fn essence(value: &str) -> &str {
    trim_whitespace(value.split(';').next().unwrap_or_default())
}

/// Returns whether an `Accept` header allows a media type. Among the matching ranges, the most
/// specific one decides (RFC 9110, section 12.5.1). A range for which `fits` returns `true` allows
/// the media type, but with weight zero it does not exclude it.
fn accepts(accept: &str, wanted: &str, fits: impl Fn(&str) -> bool) -> bool {
    let kind = wanted.split('/').next().unwrap_or_default();
    let ranges = accept.split(',').filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next()?;
        let precision = if range.eq_ignore_ascii_case(wanted) {
            3
        } else if fits(range) {
            2
        } else if range
            .strip_suffix("/*")
            .is_some_and(|range| range.eq_ignore_ascii_case(kind))
        {
            1
        } else if range == "*/*" {
            0
        } else {
            return None;
        };
        // A weight of zero excludes the range.
        let is_excluded = parts.any(|parameter| {
            let weight = parameter.strip_prefix(['q', 'Q']);
            let weight = weight.and_then(|weight| weight.trim_start().strip_prefix('='));
            weight.is_some_and(|weight| trim_whitespace(weight).parse() == Ok(0.0))
        });
        (precision != 2 || !is_excluded).then_some((precision, !is_excluded))
    });
    ranges
        .max_by_key(|(precision, _)| *precision)
        .is_some_and(|(_, allowed)| allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accept() {
        let accepts = |accept| accepts(accept, "application/json", |_| false);
        for accept in [
            "*/*",
            "application/*",
            "text/html, */*;q=0.1",
            "Application/JSON;v=1;q=1",
        ] {
            assert!(accepts(accept), "{accept}");
        }
        for accept in [
            "text/*",
            "",
            "*/*;q=0",
            "*/*, application/json; q = 0.000",
            "application",
        ] {
            assert!(!accepts(accept), "{accept}");
        }
    }
    #[test]
    fn content_types() {
        let check = |sent: &[u8]| {
            let request = http::Request::post("/").header(CONTENT_TYPE, sent);
            let (head, ()) = request.body(()).unwrap().into_parts();
            HeadSummary::new(&head).check_type("application/json", |_| false)
        };
        for sent in ["application/json", "Application/JSON ; charset=utf-8"] {
            assert!(check(sent.as_bytes()).is_ok(), "{sent}");
        }
        for sent in [
            &b"application/jsonp"[..],
            b"text/json",
            b"application/json; x=\xe9",
        ] {
            let fault = check(sent).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::UnsupportedMediaType);
        }
    }
}
