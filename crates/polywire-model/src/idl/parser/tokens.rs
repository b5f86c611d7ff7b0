//! Reads tokens, reports unexpected ones, and recovers.

use super::{ParseResult, Parser, SyntaxError, is_keyword};
use crate::diagnostic::Problem;
use crate::idl::lexer::{Lexer, TokenKind};
use crate::idl::syntax::Name;
use crate::idl::text;
use crate::rules;
use crate::source::SourceLocation;

/// Tokens.
impl Parser<'_, '_> {
    pub(super) fn here(&self) -> SourceLocation {
        SourceLocation::new(self.file, self.current.start)
    }

    pub(super) fn advance(&mut self) {
        self.current = self.lexer.next();
        self.docs.clear();
        self.docs_start = None;
        self.trailing_doc = None;
        self.skip_docs();
    }

    /// Doc comments have an effect only before shapes and members. Elsewhere they are comments.
    pub(super) fn skip_docs(&mut self) {
        let first = self.current;
        while self.current.kind == TokenKind::DocComment {
            if self.docs_start.is_some() {
                self.docs.push('\n');
            } else if !self.current.after_newline {
                self.trailing_doc = Some(self.current.start);
            }
            self.docs_start.get_or_insert(self.current.start);
            self.docs.push_str(text::doc_line(self.current_text()));
            self.current = self.lexer.next();
            self.current.after_newline |= first.after_newline;
        }
    }

    /// Where the grammar requires a line break, `///` before it is a comment, and not the
    /// documentation of the next shape or member.
    pub(super) fn drop_trailing_doc(&mut self) {
        let Some(start) = self.trailing_doc.take() else {
            return;
        };
        let mut rest = Lexer::new(self.text);
        rest.go_to(start);
        let dropped = rest.next();
        let next = rest.next();
        let length = text::doc_line(&self.text[dropped.start..dropped.end]).len();
        if next.kind == TokenKind::DocComment {
            // With the line break after it.
            self.docs.drain(..=length);
            self.docs_start = Some(next.start);
        } else {
            self.docs.clear();
            self.docs_start = None;
        }
    }

    pub(super) fn take_name(&mut self) -> Name {
        let name = Name {
            text: self.current_text().to_owned(),
            location: self.here(),
        };
        self.advance();
        name
    }

    pub(super) fn expect(&mut self, kind: TokenKind, expected: &str) -> ParseResult<()> {
        if self.current.kind != kind {
            return Err(self.unexpected(expected));
        }
        self.advance();
        Ok(())
    }

    /// The kind of the token after the current one.
    pub(super) fn next_kind(&self) -> TokenKind {
        self.lexer.clone().next().kind
    }

    pub(super) fn at_keyword(&self, keyword: &str) -> bool {
        self.current.kind == TokenKind::Word && self.current_text() == keyword
    }

    /// Whether the current token starts a statement at the start of a line, where a member or value
    /// was expected: the previous shape is not closed. A member can be named like a keyword, but
    /// then a colon follows.
    pub(super) fn at_statement(&self) -> bool {
        self.current.at_line_start
            && self.current.kind == TokenKind::Word
            && is_keyword(self.current_text())
            && self.next_kind() == TokenKind::Word
    }

    pub(super) fn line_break(&mut self, what: &str) {
        self.drop_trailing_doc();
        if !self.current.after_newline && self.current.kind != TokenKind::EndOfFile {
            self.unexpected(&format!("a line break after {what}"));
        }
    }

    #[cold]
    pub(super) fn unexpected(&mut self, expected: &str) -> SyntaxError {
        let problem = self.unexpected_problem(expected);
        self.problems.push(problem);
        SyntaxError
    }

    /// Reports an unexpected token where a bracket should have been closed.
    #[cold]
    pub(super) fn unclosed(&mut self, expected: &str, open: SourceLocation) -> SyntaxError {
        let problem = self.unexpected_problem(expected).related("opened", open);
        self.problems.push(problem);
        SyntaxError
    }

    pub(super) fn unexpected_problem(&self, expected: &str) -> Problem {
        let message = match self.current.kind {
            TokenKind::EndOfFile => "unexpected end of file".to_owned(),
            TokenKind::Unterminated => "this string is not closed".to_owned(),
            TokenKind::MalformedNumber => "this number is malformed".to_owned(),
            _ => format!("{} is not expected here", self.found()),
        };
        let expected = match self.current.kind {
            TokenKind::Unterminated => "a closing quote",
            TokenKind::MalformedNumber => "a number such as `-1` or `2.5e3`",
            _ => expected,
        };
        Problem::error(rules::SYNTAX, self.here(), message).expected(expected)
    }

    /// The current token for a message.
    pub(super) fn found(&self) -> String {
        match self.current.kind {
            TokenKind::EndOfFile => "the end of the file".to_owned(),
            TokenKind::String | TokenKind::TextBlock => "a string".to_owned(),
            TokenKind::Number => "a number".to_owned(),
            _ => {
                let text: String = self.current_text().chars().take(60).collect();
                format!("`{}`", text.escape_debug())
            }
        }
    }

    /// Skips to the next line that starts with a statement.
    pub(super) fn skip_to_statement(&mut self, start: usize) {
        if self.current.start == start {
            self.advance();
        }
        while self.current.kind != TokenKind::EndOfFile {
            let starts = match self.current.kind {
                TokenKind::At => true,
                TokenKind::Word => is_keyword(self.current_text()),
                _ => false,
            };
            if starts && self.current.at_line_start {
                return;
            }
            self.advance();
        }
    }

    /// Skips to the next line that can start a member, or to the brace that closes the shape.
    /// `false` if the shape seems to be unclosed.
    pub(super) fn skip_to_member(&mut self, start: usize) -> bool {
        let mut depth = 0_usize;
        if self.current.start == start && !self.at_statement() {
            depth = usize::from(is_opening(self.current.kind));
            self.advance();
        }
        loop {
            match self.current.kind {
                TokenKind::EndOfFile => return false,
                TokenKind::CloseBrace if depth == 0 => return true,
                TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParenthesis => {
                    depth = depth.saturating_sub(1);
                }
                kind if is_opening(kind) => depth += 1,
                TokenKind::At | TokenKind::Dollar | TokenKind::Word => {
                    if self.current.at_line_start && self.at_statement() {
                        return false;
                    }
                    if depth == 0 && self.current.after_newline {
                        return true;
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    pub(super) fn skip_to_end(&mut self) {
        while self.current.kind != TokenKind::EndOfFile {
            self.advance();
        }
    }
}

impl<'t> Parser<'t, '_> {
    /// The text of the current token, borrowed from the file.
    pub(super) fn current_text(&self) -> &'t str {
        &self.text[self.current.start..self.current.end]
    }
}

fn is_opening(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParenthesis
    )
}
