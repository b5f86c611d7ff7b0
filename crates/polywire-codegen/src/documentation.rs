//! Documentation of models as rustdoc takes it.

/// A documentation as Markdown for rustdoc.
pub(crate) fn markdown(text: &str) -> String {
    text.trim().to_owned()
}
