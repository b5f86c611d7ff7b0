//! JSON (RFC 8259) as a tree, parsed one character at a time.

use crate::Profile;

/// A JSON value. Strings are lists of code points, so that they can contain lone surrogates.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`, `true` or `false`.
    Word(&'static str),
    /// A number, with its original text.
    Number(String),
    /// A string.
    String(Vec<u32>),
    /// An array.
    Array(Vec<Json>),
    /// An object, with its members in order.
    Object(Vec<(Vec<u32>, Json)>),
}

/// Parses a document. `None` if it is not JSON, or nested deeper than `depth` levels.
#[must_use]
pub fn parse(text: &str, profile: Profile, depth: usize) -> Option<Json> {
    let mut reader = Reader {
        rest: text.chars().collect::<Vec<_>>(),
        at: 0,
        profile,
    };
    let value = reader.value(depth)?;
    reader.space();
    (reader.at == reader.rest.len()).then_some(value)
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    profile: Profile,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some('\t' | '\n' | '\r' | ' ')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.space();
        match self.peek()? {
            '"' => self.string().map(Json::String),
            '[' => {
                let depth = depth.checked_sub(1)?;
                self.next();
                let mut items = Vec::new();
                self.space();
                if self.peek()? == ']' {
                    self.next();
                    return Some(Json::Array(items));
                }
                loop {
                    items.push(self.value(depth)?);
                    self.space();
                    match self.next()? {
                        ',' => {}
                        ']' => return Some(Json::Array(items)),
                        _ => return None,
                    }
                }
            }
            '{' => {
                let depth = depth.checked_sub(1)?;
                self.next();
                let mut members = Vec::new();
                self.space();
                if self.peek()? == '}' {
                    self.next();
                    return Some(Json::Object(members));
                }
                loop {
                    self.space();
                    let key = self.string()?;
                    self.space();
                    if self.next()? != ':' {
                        return None;
                    }
                    members.push((key, self.value(depth)?));
                    self.space();
                    match self.next()? {
                        ',' => {}
                        '}' => return Some(Json::Object(members)),
                        _ => return None,
                    }
                }
            }
            't' => self.word("true"),
            'f' => self.word("false"),
            'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &'static str) -> Option<Json> {
        for expected in word.chars() {
            if self.next()? != expected {
                return None;
            }
        }
        Some(Json::Word(word))
    }

    fn digits(&mut self, out: &mut String) -> usize {
        let before = out.len();
        while let Some(digit @ '0'..='9') = self.peek() {
            out.push(digit);
            self.at += 1;
        }
        out.len() - before
    }

    fn number(&mut self) -> Option<Json> {
        let mut out = String::new();
        if self.peek() == Some('-') {
            out.push(self.next()?);
        }
        let start = out.len();
        let digits = self.digits(&mut out);
        if digits == 0 || digits > 1 && out[start..].starts_with('0') {
            return None;
        }
        if self.peek() == Some('.') {
            out.push(self.next()?);
            if self.digits(&mut out) == 0 {
                return None;
            }
        }
        if let Some('e' | 'E') = self.peek() {
            out.push(self.next()?);
            if let Some('+' | '-') = self.peek() {
                out.push(self.next()?);
            }
            if self.digits(&mut out) == 0 {
                return None;
            }
        }
        Some(Json::Number(out))
    }

    fn string(&mut self) -> Option<Vec<u32>> {
        if self.next()? != '"' {
            return None;
        }
        let mut out = Vec::new();
        loop {
            match self.next()? {
                '"' => break,
                '\\' => out.push(match self.next()? {
                    'b' => 8,
                    't' => 9,
                    'n' => 10,
                    'f' => 12,
                    'r' => 13,
                    same @ ('"' | '\\' | '/') => u32::from(same),
                    'u' => {
                        let mut unit = 0;
                        for _ in 0..4 {
                            unit = 16 * unit + self.next()?.to_digit(16)?;
                        }
                        // Marked as escaped: only escaped code units form pairs.
                        unit | ESCAPED
                    }
                    _ => return None,
                }),
                control if u32::from(control) < 0x20 && !self.profile.raw_control_characters => {
                    return None;
                }
                character => out.push(u32::from(character)),
            }
        }
        let text = join_pairs(&out);
        let lone = text.iter().any(|unit| (0xd800..0xe000).contains(unit));
        (!lone || self.profile.lone_surrogates).then_some(text)
    }
}

/// Marks a code unit that was written as an escape.
const ESCAPED: u32 = 1 << 31;

/// Joins escaped surrogate pairs and removes the marks.
fn join_pairs(units: &[u32]) -> Vec<u32> {
    let mut out = Vec::new();
    let mut rest = units;
    while let [first, tail @ ..] = rest {
        rest = tail;
        let value = first & !ESCAPED;
        if (0xd800..0xdc00).contains(&value)
            && let [second, tail @ ..] = tail
            && (0xdc00..0xe000).contains(&(second & !ESCAPED))
        {
            out.push(0x1_0000 + (value - 0xd800) * 0x400 + ((second & !ESCAPED) - 0xdc00));
            rest = tail;
        } else {
            out.push(value);
        }
    }
    out
}

/// Writes a value like `JSON.stringify`, but numbers with their original text.
pub fn stringify(value: &Json, out: &mut String) {
    match value {
        Json::Word(word) => out.push_str(word),
        Json::Number(number) => out.push_str(number),
        Json::String(text) => stringify_string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                stringify(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                stringify_string(key, out);
                out.push(':');
                stringify(value, out);
            }
            out.push('}');
        }
    }
}

fn stringify_string(text: &[u32], out: &mut String) {
    out.push('"');
    for &unit in text {
        match unit {
            0x08 => out.push_str("\\b"),
            0x09 => out.push_str("\\t"),
            0x0a => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            0x0d => out.push_str("\\r"),
            0x22 => out.push_str("\\\""),
            0x5c => out.push_str("\\\\"),
            _ => match char::from_u32(unit) {
                Some(character) if unit >= 0x20 => out.push(character),
                _ => out.push_str(&format!("\\u{unit:04x}")),
            },
        }
    }
    out.push('"');
}
