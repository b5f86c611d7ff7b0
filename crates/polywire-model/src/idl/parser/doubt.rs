//! Words in brackets that may be the next statement, or values like any other.
//!
//! Where a bracket was left open, `structure City` at the start of a line is the
//! next shape, and the message should say so there, not at the end of the file.
//! But arrays, lists of shape ids and enums hold plain words, and shapes and
//! constants may have the names of keywords. So parsing goes on as if the words
//! were values, and comes back to them when it fails.

use super::{Parser, Reported};
use crate::diagnostic::Mark;
use crate::idl::lexer::{Lexer, Token};
use crate::source::SourceLocation;

/// How often parsing goes back within a file. Each time may cost a pass over the
/// rest of it.
const MAX_RETURNS: u32 = 20;

/// The state of the parser before words that may be a statement.
pub(super) struct Doubt<'t> {
    lexer: Lexer<'t>,
    current: Token,
    docs: String,
    docs_start: Option<usize>,
    problems: Mark,
}

impl<'t> Parser<'t, '_> {
    /// The place, when the current token and the next look like a statement. The
    /// grammar wants both on one line with nothing but space between.
    pub(super) fn doubt(&self) -> Option<Doubt<'t>> {
        if self.returns >= MAX_RETURNS || !self.at_statement() {
            return None;
        }
        let next = self.lexer.clone().next();
        let between = &self.text[self.current.end..next.start];
        between
            .bytes()
            .all(|byte| matches!(byte, b' ' | b'\t'))
            .then(|| Doubt {
                lexer: self.lexer.clone(),
                current: self.current,
                docs: self.docs.clone(),
                docs_start: self.docs_start,
                problems: self.problems.mark(),
            })
    }

    /// The bracket at `open` has no end: says so at the doubtful words, where
    /// there were any, and goes back to them.
    #[cold]
    pub(super) fn unclosed_since(
        &mut self,
        doubt: Option<Doubt<'t>>,
        expected: &str,
        open: SourceLocation,
    ) -> Reported {
        if let Some(doubt) = doubt {
            self.lexer = doubt.lexer;
            self.current = doubt.current;
            self.docs = doubt.docs;
            self.docs_start = doubt.docs_start;
            self.trailing_doc = None;
            self.problems.go_back(doubt.problems);
            self.returns += 1;
        }
        self.unclosed(expected, open)
    }
}
