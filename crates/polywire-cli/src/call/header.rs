//! Parses header arguments.

use http::header::{HeaderName, HeaderValue};
use polywire::text::base64;

use crate::Failure;

/// Returns the value of an `authorization` header for HTTP Basic (RFC 7617).
pub(super) fn basic(user: &str, password: &str) -> Result<HeaderValue, Failure> {
    let mut text = b"Basic ".to_vec();
    base64::push(&mut text, format!("{user}:{password}").as_bytes());
    let mut value = HeaderValue::try_from(text).map_err(Failure::usage)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The headers of one -H option.
#[derive(Clone, Debug)]
pub(crate) struct Headers(pub(crate) Vec<(HeaderName, HeaderValue)>);

/// Parses a header, or the headers in a file. Files keep secrets out of command lines.
pub(crate) fn headers(text: &str) -> Result<Headers, String> {
    let Some(path) = text.strip_prefix('@') else {
        return Ok(Headers(vec![header(text)?]));
    };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let all = lines.map(|(index, line)| {
        // The message omits the line, which may contain a secret.
        let (name, mut value) =
            header(line).map_err(|error| format!("{path}, line {}: {error}", index + 1))?;
        value.set_sensitive(true);
        Ok((name, value))
    });
    all.collect::<Result<_, String>>().map(Headers)
}

fn header(text: &str) -> Result<(HeaderName, HeaderValue), String> {
    let (name, value) = text.split_once(':').ok_or("expected NAME: VALUE")?;
    let name = name
        .trim()
        .parse()
        .map_err(|error| format!("invalid name: {error}"))?;
    let value = value
        .trim()
        .parse()
        .map_err(|error| format!("invalid value: {error}"))?;
    Ok((name, value))
}
