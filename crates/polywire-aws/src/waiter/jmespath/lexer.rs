//! Tokens of JMESPath.

use serde_json::Value;

use super::{Comparison, ParseError};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    And,
    At,
    Colon,
    Comma,
    Compare(Comparison),
    Dot,
    End,
    /// `[?`
    Filter,
    /// `[]`
    Flatten,
    LeftBrace,
    LeftBracket,
    LeftParenthesis,
    Literal(Value),
    /// A name without quotes.
    Name(String),
    Not,
    Number(i64),
    Or,
    Pipe,
    /// A name in quotes.
    QuotedName(String),
    RightBrace,
    RightBracket,
    RightParenthesis,
    Star,
}

pub(super) fn error(offset: usize, message: impl Into<String>) -> ParseError {
    ParseError {
        offset,
        message: std::borrow::Cow::Owned(message.into()),
    }
}

/// The tokens with their offsets; the last is [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, ParseError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let starts = |prefix: &str| rest.starts_with(prefix);
        let (token, len) = match first {
            ' ' | '\t' | '\r' | '\n' => {
                at += 1;
                continue;
            }
            '&' if starts("&&") => (Token::And, 2),
            '@' => (Token::At, 1),
            ':' => (Token::Colon, 1),
            ',' => (Token::Comma, 1),
            '.' => (Token::Dot, 1),
            '[' if starts("[?") => (Token::Filter, 2),
            '[' if starts("[]") => (Token::Flatten, 2),
            '[' => (Token::LeftBracket, 1),
            ']' => (Token::RightBracket, 1),
            '{' => (Token::LeftBrace, 1),
            '}' => (Token::RightBrace, 1),
            '(' => (Token::LeftParenthesis, 1),
            ')' => (Token::RightParenthesis, 1),
            '*' => (Token::Star, 1),
            '|' if starts("||") => (Token::Or, 2),
            '|' => (Token::Pipe, 1),
            '=' if starts("==") => (Token::Compare(Comparison::Equal), 2),
            '!' if starts("!=") => (Token::Compare(Comparison::NotEqual), 2),
            '!' => (Token::Not, 1),
            '<' if starts("<=") => (Token::Compare(Comparison::LessOrEqual), 2),
            '<' => (Token::Compare(Comparison::Less), 1),
            '>' if starts(">=") => (Token::Compare(Comparison::GreaterOrEqual), 2),
            '>' => (Token::Compare(Comparison::Greater), 1),
            '"' => quoted_name(rest, at)?,
            '\'' => raw_string(rest, at)?,
            '`' => literal(rest, at)?,
            '-' | '0'..='9' => number(rest, at)?,
            'a'..='z' | 'A'..='Z' | '_' => {
                let is_outside = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                let len = rest.find(is_outside).unwrap_or(rest.len());
                (Token::Name(rest[..len].to_owned()), len)
            }
            other => return Err(error(at, format!("unexpected `{other}`"))),
        };
        tokens.push((token, at));
        at += len;
    }
    tokens.push((Token::End, text.len()));
    Ok(tokens)
}

/// The length of a text from one delimiter to the next that has no backslash before it, with both.
fn delimited(rest: &str, delimiter: u8, at: usize) -> Result<usize, ParseError> {
    let mut is_escaped = false;
    for (index, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            byte if byte == delimiter => return Ok(index + 1),
            _ => {}
        }
    }
    Err(error(
        at,
        format!("the `{}` is not closed", char::from(delimiter)),
    ))
}

/// A name in quotes is a JSON string.
fn quoted_name(rest: &str, at: usize) -> Result<(Token, usize), ParseError> {
    let len = delimited(rest, b'"', at)?;
    let name = serde_json::from_str(&rest[..len])
        .map_err(|_| error(at, "the name in quotes is not a JSON string"))?;
    Ok((Token::QuotedName(name), len))
}

/// `'text'`, in which only the quote and the backslash can be escaped; other backslashes stay.
fn raw_string(rest: &str, at: usize) -> Result<(Token, usize), ParseError> {
    let len = delimited(rest, b'\'', at)?;
    let text = rest[1..len - 1].replace("\\'", "'");
    Ok((Token::Literal(Value::String(text)), len))
}

/// A JSON value between back-ticks.
fn literal(rest: &str, at: usize) -> Result<(Token, usize), ParseError> {
    let len = delimited(rest, b'`', at)?;
    let text = rest[1..len - 1].replace("\\`", "`");
    let value = serde_json::from_str(&text)
        .map_err(|_| error(at, "the literal between back-ticks is not JSON"))?;
    Ok((Token::Literal(value), len))
}

fn number(rest: &str, at: usize) -> Result<(Token, usize), ParseError> {
    let digits = rest[1..]
        .find(|c: char| !c.is_ascii_digit())
        .map_or(rest.len(), |len| len + 1);
    let number = rest[..digits].parse();
    let number = number.map_err(|_| error(at, "expected an integer"))?;
    Ok((Token::Number(number), digits))
}
