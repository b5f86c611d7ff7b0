//! Headers that the command line names.

use http::header::{HeaderName, HeaderValue};
use polywire::text::base64;

use crate::Failure;

/// `Basic ...` of RFC 7617.
pub(super) fn basic(user: &str, password: &str) -> Result<HeaderValue, Failure> {
    let mut text = b"Basic ".to_vec();
    base64::push(&mut text, format!("{user}:{password}").as_bytes());
    let mut value = HeaderValue::try_from(text).map_err(Failure::usage)?;
    value.set_sensitive(true);
    Ok(value)
}

/// What one -H names.
#[derive(Clone, Debug)]
pub(crate) struct Headers(pub(crate) Vec<(HeaderName, HeaderValue)>);

/// Reads a header, or those of a file, so that no secret has to stand in a command line.
pub(crate) fn headers(text: &str) -> Result<Headers, String> {
    let Some(path) = text.strip_prefix('@') else {
        return Ok(Headers(vec![header(text)?]));
    };
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let all = lines.map(|(index, line)| {
        // Without the line itself, which may be a secret: that is what files are for.
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
        .map_err(|error| format!("the name: {error}"))?;
    let value = value
        .trim()
        .parse()
        .map_err(|error| format!("the value: {error}"))?;
    Ok((name, value))
}
