//! Reads and writes JSON.
//!
//! This is not serde_json, because nodes need the location of every value and key, for messages.
//! The reader makes one pass over the bytes, copies each string once, and limits the depth.

use std::collections::HashSet;
use std::sync::Arc;

use polywire_text::escape::{self, JsonEnd, LoneSurrogate};
use polywire_text::{number, scan};

use crate::diagnostic::{Diagnostic, Problem, Problems, resolve};
use crate::node::{Entry, Node, NodeValue, Number, Object};
use crate::rules;
use crate::source::{SourceLocation, Sources};

/// The maximum depth of arrays and objects, here and in the IDL. Real models stay below 30. The
/// limit keeps recursion far from a stack overflow.
pub(crate) const MAX_DEPTH: usize = 128;

/// The maximum depth of a model in JSON. The traits of members are six levels deep, and their
/// values can be as deep as in the IDL.
pub(crate) const MAX_MODEL_DEPTH: usize = MAX_DEPTH + 6;

impl Node {
    /// Reads one JSON value.
    ///
    /// # Errors
    ///
    /// A diagnostic with line and column if the text is not one JSON value, is nested deeper than
    /// 128 levels, or has a duplicate key in an object.
    // The diagnostic is created once, so its size does not matter.
    #[expect(clippy::result_large_err)]
    pub fn parse_json(text: &str) -> Result<Self, Diagnostic> {
        let mut problems = Problems::default();
        let node = read(text, 0, MAX_DEPTH, &mut problems).map(|(node, _)| node);
        match node {
            Some(node) if !problems.has_errors() => Ok(node),
            _ => {
                let mut sources = Sources::default();
                sources.add("<json>", Arc::from(text));
                let mut diagnostics = problems.into_diagnostics(&sources);
                if diagnostics.is_empty() {
                    // `read` returns a node or adds a problem, so this is not reached.
                    let problem =
                        Problem::error(rules::JSON_SYNTAX, SourceLocation::NONE, "no JSON value");
                    return Err(resolve(problem, &sources));
                }
                Err(diagnostics.swap_remove(0))
            }
        }
    }

    /// The node as JSON on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        written(self, None)
    }

    /// The node as JSON in several lines, indented by four spaces.
    #[must_use]
    pub fn to_json_pretty(&self) -> String {
        written(self, Some(0)) + "\n"
    }
}

/// Reads one JSON value and nothing after it. `None` after a syntax error, which is added to
/// `problems`. Duplicate keys are added, too, and their first value is used. The value can be
/// nested `most` levels deep, and its depth is returned.
pub(crate) fn read(
    text: &str,
    file: u32,
    most: usize,
    problems: &mut Problems,
) -> Option<(Node, usize)> {
    let mut reader = Reader {
        text,
        bytes: text.as_bytes(),
        at: 0,
        file,
        most,
        deepest: 0,
        problems,
    };
    // A byte order mark is not JSON, but some editors write it.
    if text.starts_with('\u{feff}') {
        reader.at = 3;
    }
    let outcome = reader.value(0).and_then(|node| {
        reader.space();
        if reader.at < reader.bytes.len() {
            return Err(reader.unexpected("the end of the file"));
        }
        Ok(node)
    });
    match outcome {
        Ok(node) => Some((node, reader.deepest)),
        Err(problem) => {
            problems.push(*problem);
            None
        }
    }
}

type Outcome<T> = Result<T, Box<Problem>>;

struct Reader<'t, 'p> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    file: u32,
    /// `deepest <= most`
    most: usize,
    deepest: usize,
    problems: &'p mut Problems,
}

impl Reader<'_, '_> {
    fn value(&mut self, depth: usize) -> Outcome<Node> {
        self.space();
        let location = SourceLocation::new(self.file, self.at);
        if depth > self.most {
            let message = format!("the JSON is nested deeper than {} levels", self.most);
            return Err(Box::new(Problem::error(rules::TOO_DEEP, location, message)));
        }
        self.deepest = self.deepest.max(depth);
        let value = match self.bytes.get(self.at) {
            Some(b'"') => NodeValue::String(self.string()?),
            Some(b'{') => NodeValue::Object(self.object(depth)?),
            Some(b'[') => NodeValue::Array(self.array(depth)?),
            Some(b'-' | b'0'..=b'9') => NodeValue::Number(self.number()?),
            Some(b't') if self.word("true") => NodeValue::Bool(true),
            Some(b'f') if self.word("false") => NodeValue::Bool(false),
            Some(b'n') if self.word("null") => NodeValue::Null,
            _ => return Err(self.unexpected("a JSON value")),
        };
        Ok(Node::new(value, location))
    }

    fn array(&mut self, depth: usize) -> Outcome<Vec<Node>> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.take(b']') {
                return Ok(items);
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Outcome<Object> {
        self.at += 1;
        let mut entries = Vec::new();
        self.space();
        if self.take(b'}') {
            return Ok(Object::from_entries(entries));
        }
        loop {
            self.space();
            let key_location = SourceLocation::new(self.file, self.at);
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.unexpected("a key in quotes"));
            }
            let key = self.string()?;
            self.space();
            if !self.take(b':') {
                return Err(self.unexpected("`:`"));
            }
            let value = self.value(depth + 1)?;
            entries.push(Entry {
                key,
                key_location,
                value,
            });
            self.space();
            if self.take(b'}') {
                drop_repeated_keys(&mut entries, self.problems);
                return Ok(Object::from_entries(entries));
            }
            if !self.take(b',') {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
    }

    fn number(&mut self) -> Outcome<Number> {
        match number::json_number(&self.bytes[self.at..]) {
            Ok((length, _)) => {
                let text = &self.text[self.at..self.at + length];
                self.at += length;
                Ok(Number::from_scanned(text))
            }
            Err(flaw) => {
                self.at += flaw.offset;
                Err(self.unexpected(flaw.expected))
            }
        }
    }

    /// The string whose opening quote is at the cursor.
    fn string(&mut self) -> Outcome<String> {
        let start = self.at + 1;
        let rest = &self.text[start..];
        let flaw = match escape::json_string_end(rest.as_bytes()) {
            Ok(JsonEnd { len, escaped }) => {
                self.at = start + len + 1;
                let inside = &rest[..len];
                if !escaped {
                    return Ok(inside.to_owned());
                }
                let mut out = String::new();
                match escape::push_unescaped_json_str(&mut out, inside, LoneSurrogate::Reject) {
                    Ok(()) => return Ok(out),
                    Err(flaw) => flaw,
                }
            }
            Err(flaw) if flaw.offset < rest.len() => flaw,
            Err(flaw) => {
                let location = SourceLocation::new(self.file, self.at);
                let message = "this string is not closed";
                return Err(Box::new(
                    Problem::error(rules::JSON_SYNTAX, location, message).expected(flaw.expected),
                ));
            }
        };
        self.at = start + flaw.offset;
        Err(self.unexpected(flaw.expected))
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.bytes[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn space(&mut self) {
        self.at += scan::white_space(&self.bytes[self.at..]);
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> Box<Problem> {
        let found = match self
            .text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
        {
            Some(c) if c.is_control() => {
                format!("`{}` is not expected here", c.escape_debug())
            }
            Some(c) => format!("`{c}` is not expected here"),
            None => "unexpected end of file".to_owned(),
        };
        let location = SourceLocation::new(self.file, self.at);
        Box::new(Problem::error(rules::JSON_SYNTAX, location, found).expected(expected))
    }
}

/// Keeps the first entry of each key and reports the others.
pub(crate) fn drop_repeated_keys(entries: &mut Vec<Entry>, problems: &mut Problems) {
    const FEW: usize = 12;
    let repeated = if entries.len() <= FEW {
        entries
            .iter()
            .enumerate()
            .any(|(i, e)| entries[..i].iter().any(|o| o.key == e.key))
    } else {
        let mut seen = HashSet::with_capacity(entries.len());
        !entries.iter().all(|entry| seen.insert(entry.key.as_str()))
    };
    if !repeated {
        return;
    }
    let mut seen = std::collections::HashMap::new();
    entries.retain(|entry| match seen.get(&entry.key) {
        None => {
            seen.insert(entry.key.clone(), entry.key_location);
            true
        }
        Some(first) => {
            problems.push(
                Problem::error(
                    rules::DUPLICATE_KEY,
                    entry.key_location,
                    format!("the key `{}` occurs twice in this object", entry.key),
                )
                .related("first", *first),
            );
            false
        }
    });
}

fn written(node: &Node, indent: Option<usize>) -> String {
    let mut out = Vec::new();
    write_node(&mut out, node, indent);
    // The bytes are complete strings and ASCII, so they are UTF-8.
    String::from_utf8(out)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Writes a node; `indent` is the depth for pretty output, `None` for one line.
fn write_node(out: &mut Vec<u8>, node: &Node, indent: Option<usize>) {
    match node.value() {
        NodeValue::Null => out.extend_from_slice(b"null"),
        NodeValue::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        NodeValue::Number(number) => {
            out.extend_from_slice(number.to_string().as_bytes());
        }
        NodeValue::String(text) => write_string(out, text),
        NodeValue::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                separate(out, index, indent);
                write_node(out, item, indent.map(|depth| depth + 1));
            }
            finish(out, items.is_empty(), indent);
            out.push(b']');
        }
        NodeValue::Object(object) => {
            out.push(b'{');
            for (index, (key, value)) in object.iter().enumerate() {
                separate(out, index, indent);
                write_string(out, key);
                out.extend_from_slice(if indent.is_some() { b": " } else { b":" });
                write_node(out, value, indent.map(|depth| depth + 1));
            }
            finish(out, object.is_empty(), indent);
            out.push(b'}');
        }
    }
}

fn separate(out: &mut Vec<u8>, index: usize, indent: Option<usize>) {
    if index > 0 {
        out.push(b',');
    }
    if let Some(depth) = indent {
        new_line(out, depth + 1);
    }
}

fn finish(out: &mut Vec<u8>, is_empty: bool, indent: Option<usize>) {
    if let (false, Some(depth)) = (is_empty, indent) {
        new_line(out, depth);
    }
}

fn new_line(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    for _ in 0..depth {
        out.extend_from_slice(b"    ");
    }
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    escape::push_json(out, text);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let diagnostic = Node::parse_json(text).unwrap_err();
        let place = format!(
            "{:?}:{:?}",
            diagnostic.line().unwrap(),
            diagnostic.column().unwrap()
        );
        format!(
            "{place} {}",
            diagnostic.expected.unwrap_or(diagnostic.message)
        )
    }

    #[test]
    fn values_survive_a_round_trip() {
        let text = r#"{"a":[1,-2.50,"x\"\\\n\b\u0001é😀",null,true,{}],"b":{"c":[]}}"#;
        let node = Node::parse_json(text).unwrap();
        assert_eq!(node.to_json(), text);
        assert_eq!(Node::parse_json(&node.to_json_pretty()).unwrap(), node);
        let escaped = Node::parse_json(r#""\ud83d\ude00\/\b\f""#).unwrap();
        assert_eq!(escaped.as_str(), Some("😀/\u{8}\u{c}"));
    }

    #[test]
    fn errors_name_the_place_and_what_was_expected() {
        assert_eq!(problem(""), "1:1 a JSON value");
        assert_eq!(problem("{\n  \"a\" 1}"), "2:7 `:`");
        assert_eq!(problem("[1 2]"), "1:4 `,` or `]`");
        assert_eq!(problem("[1,]"), "1:4 a JSON value");
        assert_eq!(problem("{a:1}"), "1:2 a key in quotes");
        assert_eq!(problem("\"ab"), "1:1 the closing quote of a string");
        assert_eq!(problem("\"\\u00"), "1:1 the closing quote of a string");
        assert_eq!(
            problem("\"a\nb\""),
            "1:3 an escape, since control characters cannot stand in a string"
        );
        assert_eq!(
            problem("[\"\\ud800\"]"),
            "1:9 the second half of a surrogate pair"
        );
        assert_eq!(problem("\"\\u00é\""), "1:6 four hexadecimal digits");
        assert_eq!(problem("-x"), "1:2 a digit");
        assert_eq!(problem("[01]"), "1:3 no digit after a leading zero");
        assert_eq!(problem("[1e]"), "1:4 a digit of the exponent");
        assert_eq!(
            problem("[\"\\q\"]"),
            "1:4 one of \" \\ / b f n r t u after a backslash"
        );
        assert_eq!(problem("1 2"), "1:3 the end of the file");
        assert_eq!(
            problem("{\"a\":1,\"a\":2}"),
            "1:8 the key `a` occurs twice in this object"
        );
        assert_eq!(
            problem(&"[".repeat(100_000)),
            "1:130 the JSON is nested deeper than 128 levels"
        );
    }
}
