//! Parses JSON text into a tree, rule by rule of the grammar in RFC 8259.

use polywire_schema::{Error, ErrorKind, Limits};
use polywire_text::escape::LoneSurrogate;
use polywire_text::number::Grammar;
use polywire_text::reference::{json, number};

use crate::reference::node::{Data, Node, check_depth, error};

/// Reads one value and the white space around it.
pub(super) fn parse(text: &str, start: usize, limits: &Limits) -> Result<Node, Error> {
    let mut parser = Parser {
        text,
        at: start,
        depth: 0,
        limits: *limits,
    };
    // Section 8.1: implementations may ignore a byte order mark.
    if start == 0 && text.starts_with('\u{feff}') {
        parser.at = 3;
    }
    parser.white_space();
    let mut value = parser.value()?;
    parser.white_space();
    value.end = parser.at;
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// The number of open objects and arrays.
    depth: usize,
    limits: Limits,
}

impl Parser<'_> {
    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn wrong(&self, expected: &'static str) -> Error {
        let kind = match self.next() {
            Some(_) => ErrorKind::Syntax,
            None => ErrorKind::Truncated,
        };
        error(kind, self.at, expected)
    }

    /// Section 2: `ws = *( %x20 / %x09 / %x0A / %x0D )`.
    fn white_space(&mut self) {
        while let Some(' ' | '\t' | '\n' | '\r') = self.next() {
            self.at += 1;
        }
    }

    /// Section 2: skips a structural character with white space around it. Returns whether it was
    /// there.
    fn token(&mut self, token: char) -> bool {
        self.white_space();
        let there = self.next() == Some(token);
        if there {
            self.at += 1;
            self.white_space();
        }
        there
    }

    fn value(&mut self) -> Result<Node, Error> {
        let start = self.at;
        let data = match self.next() {
            Some('{') => Data::Map(self.elements(['{', '}'], Self::member)?),
            Some('[') => Data::List(self.elements(['[', ']'], Self::value)?),
            Some('"') => Data::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            _ => self.name()?,
        };
        let end = self.at;
        Ok(Node { start, end, data })
    }

    /// Elements between brackets, with commas between them.
    fn elements<T>(
        &mut self,
        [open, close]: [char; 2],
        element: fn(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        self.depth += 1;
        check_depth(&self.limits, self.depth, self.at)?;
        let mut elements = Vec::new();
        self.token(open);
        while !self.token(close) {
            if !elements.is_empty() && !self.token(',') {
                return Err(self.wrong("a comma or the closing bracket"));
            }
            elements.push(element(self)?);
        }
        self.depth -= 1;
        Ok(elements)
    }

    /// Section 4.
    fn member(&mut self) -> Result<(Node, Node), Error> {
        if self.next() != Some('"') {
            return Err(self.wrong("a key in quotes"));
        }
        let key = self.value()?;
        match self.token(':') {
            true => Ok((key, self.value()?)),
            false => Err(self.wrong("a colon after the key")),
        }
    }

    /// Section 6.
    fn number(&mut self) -> Result<Data, Error> {
        let rest = &self.text[self.at..];
        let (len, _) = number::number(rest.as_bytes(), Grammar::Json)
            .map_err(|malformed| self.malformed(malformed.offset, malformed.expected))?;
        self.at += len;
        Ok(Data::Digits(rest[..len].to_owned()))
    }

    /// Section 7.
    fn string(&mut self) -> Result<String, Error> {
        self.at += 1;
        let rest = &self.text.as_bytes()[self.at..];
        let (bytes, len) = json::string(rest, LoneSurrogate::Reject)
            .map_err(|malformed| self.malformed(malformed.offset, malformed.expected))?;
        let string = String::from_utf8(bytes).map_err(|_| self.wrong("UTF-8"))?;
        self.at += len;
        Ok(string)
    }

    fn malformed(&self, offset: usize, expected: &'static str) -> Error {
        let offset = self.at + offset;
        let kind = match offset < self.text.len() {
            true => ErrorKind::Syntax,
            false => ErrorKind::Truncated,
        };
        error(kind, offset, expected)
    }

    /// Section 3: `false / null / true`.
    fn name(&mut self) -> Result<Data, Error> {
        for (name, data) in [
            ("null", Data::Null),
            ("true", Data::Boolean(true)),
            ("false", Data::Boolean(false)),
        ] {
            if self.text[self.at..].starts_with(name) {
                self.at += name.len();
                return Ok(data);
            }
        }
        Err(self.wrong("a JSON value"))
    }
}
