//! Node values and names.

use super::{ParseResult, Parser, SyntaxError};
use crate::diagnostic::Problem;
use crate::idl::lexer::TokenKind;
use crate::idl::syntax::{Name, Value, ValueKind};
use crate::idl::text;
use crate::json::MAX_DEPTH;
use crate::node::Number;
use crate::rules;
use crate::source::SourceLocation;

/// Node values.
impl Parser<'_, '_> {
    pub(super) fn value(&mut self, depth: usize) -> ParseResult<Value> {
        let location = self.here();
        if depth > MAX_DEPTH {
            let message = format!("values are nested deeper than {MAX_DEPTH} levels");
            self.problems
                .push(Problem::error(rules::TOO_DEEP, location, message));
            // Continuing would report every closing bracket.
            self.skip_to_end();
            return Err(SyntaxError);
        }
        let kind = match self.current.kind {
            TokenKind::OpenBrace => ValueKind::Object(self.object(depth)?),
            TokenKind::OpenBracket => {
                self.advance();
                let mut items = Vec::new();
                let mut doubt = None;
                while self.current.kind != TokenKind::CloseBracket {
                    doubt = doubt.or_else(|| self.possible_statement());
                    if self.current.kind == TokenKind::EndOfFile {
                        return Err(self.unclosed_since(doubt, "a value or `]`", location));
                    }
                    match self.value(depth + 1) {
                        Ok(item) => items.push(item),
                        Err(SyntaxError) if doubt.is_some() => {
                            return Err(self.unclosed_since(doubt, "a value or `]`", location));
                        }
                        Err(SyntaxError) => return Err(SyntaxError),
                    }
                }
                self.advance();
                ValueKind::Array(items)
            }
            TokenKind::String | TokenKind::TextBlock => ValueKind::String(self.string()?),
            TokenKind::Number => {
                let number = Number::from_scanned(self.current_text());
                self.advance();
                ValueKind::Number(number)
            }
            TokenKind::Word => {
                let text = self.current_text();
                self.advance();
                match text {
                    "true" => ValueKind::Bool(true),
                    "false" => ValueKind::Bool(false),
                    "null" => ValueKind::Null,
                    _ => ValueKind::ShapeId(text.to_owned()),
                }
            }
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Value { kind, location })
    }

    /// `{ key: value ... }`. The brace is the current token.
    pub(super) fn object(&mut self, depth: usize) -> ParseResult<Vec<(Name, Value)>> {
        let open = self.here();
        self.advance();
        let mut entries = Vec::new();
        while self.current.kind != TokenKind::CloseBrace {
            if self.current.kind == TokenKind::EndOfFile || self.at_statement() {
                return Err(self.unclosed("a key or `}`", open));
            }
            entries.push(self.entry(depth)?);
        }
        self.advance();
        Ok(entries)
    }

    pub(super) fn entry(&mut self, depth: usize) -> ParseResult<(Name, Value)> {
        let key = self.name_or_string("a key")?;
        self.expect(TokenKind::Colon, "`:`")?;
        Ok((key, self.value(depth + 1)?))
    }

    pub(super) fn string(&mut self) -> ParseResult<String> {
        let token = self.current;
        let text = &self.text[token.start..token.end];
        let result = match token.kind {
            TokenKind::TextBlock => text::block(text),
            _ => text::quoted(text),
        };
        match result {
            Ok(text) => {
                self.advance();
                Ok(text)
            }
            Err(error) => {
                let location = SourceLocation::new(self.file, token.start + error.offset);
                self.problems.push(
                    Problem::error(rules::SYNTAX, location, "this string is malformed")
                        .expected(error.expected),
                );
                // The error is within the string, so parsing continues after it.
                self.advance();
                Ok(String::new())
            }
        }
    }

    pub(super) fn name_or_string(&mut self, expected: &str) -> ParseResult<Name> {
        match self.current.kind {
            TokenKind::String => {
                let location = self.here();
                Ok(Name {
                    text: self.string()?,
                    location,
                })
            }
            TokenKind::Word if polywire_schema::is_identifier(self.current_text()) => {
                Ok(self.take_name())
            }
            TokenKind::Word => {
                let hint = format!("write \"{}\"", self.current_text());
                let problem = self.unexpected_problem(&format!("{expected}, in quotes"));
                self.problems.push(problem.hint(hint));
                Err(SyntaxError)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    pub(super) fn identifier(&mut self, expected: &str) -> ParseResult<Name> {
        let is_identifier = self.current.kind == TokenKind::Word
            && polywire_schema::is_identifier(self.current_text());
        if !is_identifier {
            return Err(self.unexpected(expected));
        }
        Ok(self.take_name())
    }

    pub(super) fn shape_id(&mut self, expected: &str) -> ParseResult<Name> {
        if self.current.kind != TokenKind::Word {
            return Err(self.unexpected(expected));
        }
        Ok(self.take_name())
    }

    /// `[` shape ids `]`
    pub(super) fn shape_ids(&mut self, expected: &str) -> ParseResult<Vec<Name>> {
        let open = self.here();
        self.expect(TokenKind::OpenBracket, "`[`")?;
        let mut names = Vec::new();
        let mut doubt = None;
        while self.current.kind != TokenKind::CloseBracket {
            doubt = doubt.or_else(|| self.possible_statement());
            if self.current.kind != TokenKind::Word {
                return Err(self.unclosed_since(doubt, &format!("{expected} or `]`"), open));
            }
            names.push(self.take_name());
        }
        self.advance();
        Ok(names)
    }
}
