//! Strings that outlive their reader.

use std::borrow::Cow;

use polywire_schema::{Body, Text};

/// The text, which shares the body that it was read from, if there is one.
pub(crate) fn text(body: Option<&Body>, text: Cow<'_, str>) -> Text {
    match (body, text) {
        (Some(body), Cow::Borrowed(text)) => body.text(text),
        (_, Cow::Borrowed(text)) => Text::from(text),
        (_, Cow::Owned(text)) => Text::from(text),
    }
}
