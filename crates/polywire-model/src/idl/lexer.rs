//! The lexer: text to tokens, one at a time.
//!
//! A shape id such as `example.weather#City$name` is one token, because it cannot contain spaces.
//! Commas are white space, as the specification says.

use polywire_text::number::json_number;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TokenKind {
    At,
    CloseBrace,
    CloseBracket,
    CloseParenthesis,
    Colon,
    ColonEquals,
    Dollar,
    DocComment,
    EndOfFile,
    Equals,
    /// A malformed number. The token ends where a digit was expected.
    MalformedNumber,
    Number,
    OpenBrace,
    OpenBracket,
    OpenParenthesis,
    /// A quoted string with its quotes.
    String,
    /// `"""` to `"""`.
    TextBlock,
    /// A string or text block that does not end.
    Unterminated,
    /// A character that cannot start a token.
    Unknown,
    /// An identifier, a namespace or a shape id.
    Word,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether there is a line break between the previous token and this one.
    pub(super) after_newline: bool,
    /// Whether it is at the very start of a line.
    pub(super) at_line_start: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // A byte order mark is not part of the grammar; editors write it.
        let at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Self { text, at }
    }

    /// Moves to the start of a token.
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The next token. At the end, every call returns `EndOfFile`.
    pub(super) fn next(&mut self) -> Token {
        let bytes = self.text.as_bytes();
        let mut after_newline = self.at == 0;
        let start = loop {
            match bytes.get(self.at) {
                Some(b'\n') => after_newline = true,
                Some(b' ' | b'\t' | b'\r' | b',') => {}
                Some(b'/') if bytes[self.at..].starts_with(b"//") => {
                    if bytes.get(self.at + 2) == Some(&b'/') {
                        break self.at;
                    }
                    self.at = self.line_end();
                    continue;
                }
                _ => break self.at,
            }
            self.at += 1;
        };
        let kind = self.scan();
        let at_line_start = start == 0 || bytes[start - 1] == b'\n';
        Token {
            kind,
            start,
            end: self.at,
            after_newline,
            at_line_start,
        }
    }

    /// Moves past the token at the cursor.
    fn scan(&mut self) -> TokenKind {
        let bytes = self.text.as_bytes();
        let Some(&first) = bytes.get(self.at) else {
            return TokenKind::EndOfFile;
        };
        let single = match first {
            b'@' => TokenKind::At,
            b'$' => TokenKind::Dollar,
            b'=' => TokenKind::Equals,
            b'(' => TokenKind::OpenParenthesis,
            b')' => TokenKind::CloseParenthesis,
            b'[' => TokenKind::OpenBracket,
            b']' => TokenKind::CloseBracket,
            b'{' => TokenKind::OpenBrace,
            b'}' => TokenKind::CloseBrace,
            b':' => {
                if bytes.get(self.at + 1) == Some(&b'=') {
                    self.at += 2;
                    return TokenKind::ColonEquals;
                }
                TokenKind::Colon
            }
            b'/' if bytes[self.at..].starts_with(b"///") => {
                self.at = self.line_end();
                return TokenKind::DocComment;
            }
            b'"' => return self.string(),
            b'-' | b'0'..=b'9' => return self.number(),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => return self.word(),
            _ => {
                self.at += self.text[self.at..]
                    .chars()
                    .next()
                    .map_or(1, char::len_utf8);
                return TokenKind::Unknown;
            }
        };
        self.at += 1;
        single
    }

    /// `Identifier *("." Identifier) ["#" Identifier] ["$" Identifier]`. The parser checks the
    /// parts.
    fn word(&mut self) -> TokenKind {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            let joins = matches!(byte, b'.' | b'#' | b'$')
                && bytes
                    .get(self.at + 1)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
            if !(byte.is_ascii_alphanumeric() || *byte == b'_' || joins) {
                break;
            }
            self.at += 1;
        }
        TokenKind::Word
    }

    fn number(&mut self) -> TokenKind {
        let bytes = self.text.as_bytes();
        let continues = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        let (end, mut kind) = match json_number(&bytes[self.at..]) {
            Ok((length, _)) => (self.at + length, TokenKind::Number),
            // At least one byte, so that the parser makes progress.
            Err(flaw) => (self.at + flaw.offset.max(1), TokenKind::MalformedNumber),
        };
        // `01`, `1x`, `1.2.3`: one malformed number, not a number and another token.
        let rest = bytes.get(end..).unwrap_or_default().iter();
        let rest = rest.take_while(|byte| continues(byte)).count();
        if rest > 0 {
            kind = TokenKind::MalformedNumber;
        }
        let end = end + rest;
        self.at = end.min(self.text.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        kind
    }

    fn string(&mut self) -> TokenKind {
        let bytes = self.text.as_bytes();
        let (kind, quotes): (_, &[u8]) = if bytes[self.at..].starts_with(b"\"\"\"") {
            (TokenKind::TextBlock, b"\"\"\"")
        } else {
            (TokenKind::String, b"\"")
        };
        let mut at = self.at + quotes.len();
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 2,
                b'"' if bytes[at..].starts_with(quotes) => {
                    self.at = at + quotes.len();
                    return kind;
                }
                _ => at += 1,
            }
        }
        self.at = bytes.len();
        TokenKind::Unterminated
    }

    fn line_end(&self) -> usize {
        self.text[self.at..]
            .find('\n')
            .map_or(self.text.len(), |length| self.at + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(text);
        let mut kinds = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == TokenKind::EndOfFile {
                return kinds;
            }
            assert!(
                token.end > token.start,
                "the lexer stands still at {}",
                token.start
            );
            kinds.push(token.kind);
        }
    }

    #[test]
    fn tokens_of_a_shape() {
        use TokenKind::*;
        assert_eq!(
            kinds("@a(b: -1.5)\nlist X.y#Z$w { m := \"\\\"\", } // c\n/// d\n"),
            [
                At,
                Word,
                OpenParenthesis,
                Word,
                Colon,
                Number,
                CloseParenthesis,
                Word,
                Word,
                OpenBrace,
                Word,
                ColonEquals,
                String,
                CloseBrace,
                DocComment
            ]
        );
        assert_eq!(kinds("\"\"\"\n a \"\" \\\"\"\" b\"\"\""), [TextBlock]);
        assert_eq!(
            kinds("01 1x 1.2.3 -0 1e"),
            [
                MalformedNumber,
                MalformedNumber,
                MalformedNumber,
                Number,
                MalformedNumber
            ]
        );
        assert_eq!(kinds("\"abc"), [Unterminated]);
        assert_eq!(kinds("\"abc\\"), [Unterminated]);
        assert_eq!(
            kinds("-é 1.é ~ é"),
            [
                MalformedNumber,
                Unknown,
                MalformedNumber,
                Unknown,
                Unknown,
                Unknown
            ]
        );
    }
}
