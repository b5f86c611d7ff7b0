//! Errors of selectors.

use std::error::Error;
use std::fmt;

/// How many bytes of the selector a message shows before and after the location.
const WINDOW: usize = 60;

/// The reason why a text is not a selector, or why a selector could not be evaluated.
///
/// [`Display`](fmt::Display) shows the part of the selector with the location underlined.
///
/// # Examples
///
/// ```
/// use polywire_model::Selector;
///
/// let error = Selector::parse("structure > membr").unwrap_err();
/// assert_eq!(error.offset(), 12);
/// assert_eq!(error.message(), "`membr` is not a shape type");
/// assert_eq!(
///     error.to_string(),
///     "`membr` is not a shape type: did you mean `member`?\n \
///      | structure > membr\n \
///      |             ^^^^^"
/// );
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SelectorError {
    offset: usize,
    message: String,
    expected: Option<String>,
    hint: Option<String>,
    shown: String,
    /// The start of the underline in `shown`, and its width, in characters.
    underline: (usize, usize),
}

impl SelectorError {
    #[cold]
    pub(super) fn new(text: &str, offset: usize, width: usize, message: impl Into<String>) -> Self {
        let offset = floor(text, offset);
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let before: Vec<char> = text[start..offset].chars().rev().take(WINDOW).collect();
        let line = text[offset..].split('\n').next().unwrap_or_default();
        let mut shown: String = before.iter().rev().collect();
        shown.extend(line.chars().take(WINDOW));
        let width = width.clamp(1, line.chars().count().clamp(1, WINDOW));
        Self {
            offset,
            message: message.into(),
            expected: None,
            hint: None,
            shown: shown.replace(char::is_control, " "),
            underline: (before.len(), width),
        }
    }

    pub(super) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }

    pub(super) fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// The byte offset of the error in the text of the selector.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The error, in one sentence.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What was expected there, if known.
    #[must_use]
    pub fn expected_here(&self) -> Option<&str> {
        self.expected.as_deref()
    }

    /// A suggestion, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

impl fmt::Display for SelectorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message.replace(char::is_control, "\u{b7}"))?;
        if let Some(hint) = &self.hint {
            write!(formatter, ": {hint}")?;
        }
        let (start, width) = self.underline;
        write!(formatter, "\n | {}", self.shown.trim_end())?;
        write!(formatter, "\n | {:start$}{}", "", "^".repeat(width))?;
        match &self.expected {
            Some(expected) => write!(formatter, " expected {expected}"),
            None => Ok(()),
        }
    }
}

impl Error for SelectorError {}
