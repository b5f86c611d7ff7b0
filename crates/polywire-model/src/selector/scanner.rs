//! The scanner of selectors: names, numbers and quoted text.

use polywire_schema::{is_identifier, is_namespace};

use super::error::SelectorError;

pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    /// Consumes a token if it is next.
    pub(super) fn take(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    /// Consumes a token, or returns an error if it is not next.
    pub(super) fn need(&mut self, token: &str, expected: &str) -> Result<(), SelectorError> {
        match self.take(token) {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn identifier(&mut self, expected: &str) -> Result<&'a str, SelectorError> {
        let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_identifier(name) {
            return Err(self.unexpected(expected));
        }
        self.at += name.len();
        Ok(name)
    }

    /// A name, a shape id, a number, or text in quotes.
    pub(super) fn value(&mut self, expected: &str) -> Result<String, SelectorError> {
        self.skip_space();
        match self.peek() {
            Some(quote @ ('"' | '\'')) => self.quoted(quote),
            Some('-' | '0'..='9') => self.number(),
            _ => self.shape_id(expected),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, SelectorError> {
        let Some(length) = self.rest()[1..].find(quote) else {
            let message = "the text in quotes doesn't end";
            let error = SelectorError::new(self.text, self.at, usize::MAX, message);
            return Err(error.expected(format!("`{quote}` after it")));
        };
        let text = &self.rest()[1..=length];
        self.at += length + 2;
        Ok(text.to_owned())
    }

    fn number(&mut self) -> Result<String, SelectorError> {
        let start = self.at;
        self.take("-");
        let mut is_whole = self.digits();
        if is_whole && self.take(".") {
            is_whole = self.digits();
        }
        if is_whole && (self.take("e") || self.take("E")) {
            if !self.take("-") {
                self.take("+");
            }
            is_whole = self.digits();
        }
        match is_whole {
            true => Ok(self.text[start..self.at].to_owned()),
            false => Err(self.unexpected("a digit")),
        }
    }

    fn digits(&mut self) -> bool {
        let digits = self.run(|c| c.is_ascii_digit());
        self.at += digits.len();
        !digits.is_empty()
    }

    fn shape_id(&mut self, expected: &str) -> Result<String, SelectorError> {
        let text = self.run(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '#'));
        let is_id = match text.split_once('#') {
            Some((namespace, name)) => is_namespace(namespace) && is_identifier(name),
            None => is_namespace(text),
        };
        if !is_id {
            return Err(self.unexpected(expected));
        }
        self.at += text.len();
        Ok(text.to_owned())
    }

    fn run(&self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        &rest[..end]
    }

    /// A syntax error at the current position.
    #[cold]
    pub(super) fn unexpected(&self, expected: &str) -> SelectorError {
        let word = self.run(|c| c.is_alphanumeric() || c == '_');
        let (width, message) = match self.peek() {
            None => (1, "the selector ends too early".to_owned()),
            Some(_) if !word.is_empty() => {
                let width = word.chars().count();
                let shown: String = word.chars().take(40).collect();
                (width, format!("`{shown}` is not expected here"))
            }
            Some(found) => (1, format!("`{found}` is not expected here")),
        };
        SelectorError::new(self.text, self.at, width, message).expected(expected)
    }

    /// An error about the text since `start`.
    #[cold]
    pub(super) fn error_from(&self, start: usize, message: impl Into<String>) -> SelectorError {
        let read = self.text[start..self.at].trim_end();
        SelectorError::new(self.text, start, read.chars().count(), message)
    }
}
