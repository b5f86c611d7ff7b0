//! Strings that outlive the decoder.

use std::borrow::Cow;

use polywire_schema::{Body, Text};

/// Converts a text to a `Text`, which shares the memory of the body if the text is part of one.
pub(crate) fn text(body: Option<&Body>, text: Cow<'_, str>) -> Text {
    match (body, text) {
        (Some(body), Cow::Borrowed(text)) => body.text(text),
        (_, Cow::Borrowed(text)) => Text::from(text),
        (_, Cow::Owned(text)) => Text::from(text),
    }
}
