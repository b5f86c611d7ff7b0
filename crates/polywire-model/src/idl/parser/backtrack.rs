//! Backtracking for unclosed brackets.
//!
//! If a bracket was not closed, `structure City` at the start of a line is the next shape, and the
//! error should be reported there and not at the end of the file. But arrays, lists of shape ids
//! and enums contain plain words, and names can be equal to keywords. So the parser first treats
//! such words as values, and returns to them if that fails.

use super::{Parser, SyntaxError};
use crate::diagnostic::Checkpoint;
use crate::idl::lexer::{Lexer, Token};
use crate::source::SourceLocation;

/// The maximum number of returns within a file. Each can cost a pass over the rest of it.
const MAX_RETURNS: u32 = 20;

/// The state of the parser before words that could be a statement.
pub(super) struct PossibleStatement<'t> {
    lexer: Lexer<'t>,
    current: Token,
    docs: String,
    docs_start: Option<usize>,
    problems: Checkpoint,
}

impl<'t> Parser<'t, '_> {
    /// The state, if the current token and the next look like a statement. The grammar requires
    /// both on one line with only white space between them.
    pub(super) fn possible_statement(&self) -> Option<PossibleStatement<'t>> {
        if self.returns >= MAX_RETURNS || !self.at_statement() {
            return None;
        }
        let next = self.lexer.clone().next();
        let between = &self.text[self.current.end..next.start];
        between
            .bytes()
            .all(|byte| matches!(byte, b' ' | b'\t'))
            .then(|| PossibleStatement {
                lexer: self.lexer.clone(),
                current: self.current,
                docs: self.docs.clone(),
                docs_start: self.docs_start,
                problems: self.problems.mark(),
            })
    }

    /// Reports the unclosed bracket at `open`: at the words that could be a statement, if there
    /// were any, and returns to them.
    #[cold]
    pub(super) fn unclosed_since(
        &mut self,
        doubt: Option<PossibleStatement<'t>>,
        expected: &str,
        open: SourceLocation,
    ) -> SyntaxError {
        if let Some(doubt) = doubt {
            self.lexer = doubt.lexer;
            self.current = doubt.current;
            self.docs = doubt.docs;
            self.docs_start = doubt.docs_start;
            self.trailing_doc = None;
            self.problems.roll_back(doubt.problems);
            self.returns += 1;
        }
        self.unclosed(expected, open)
    }
}
