//! XML as a tree: the part of XML 1.0 that has no document types.

use std::collections::BTreeSet;

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::{XmlPlace, XmlReading, is_xml};
use polywire_text::reference::xml;

use crate::xmlrpc::Leniency;

/// Elements in each other: above what the deepest message can have, and so little
/// that reading them needs no care about the stack.
const DEEPEST: usize = 4 * 512 + 8;

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    /// Whether it was written `<name/>`.
    pub(super) closed: bool,
    pub(super) content: Vec<Node>,
}

#[derive(Debug)]
pub(super) enum Node {
    Element(Element),
    /// A piece of text. It is layout if it is white space that stands there as such:
    /// neither as CDATA nor as a reference.
    Text {
        text: String,
        layout: bool,
    },
}

pub(super) fn error(kind: ErrorKind, expected: &'static str) -> Error {
    Error::new(kind).in_format("XML-RPC").expected(expected)
}

fn wrong(expected: &'static str) -> Error {
    error(ErrorKind::Syntax, expected)
}

pub(super) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

/// Reads a whole document.
pub(super) fn parse(text: &str, leniency: Leniency) -> Result<Element, Error> {
    let marked = text.starts_with('\u{feff}');
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = match leniency.leading_space() {
        true => text.trim_start_matches(is_space),
        false => text,
    };
    // Section 2.2: they may stand nowhere.
    if !leniency.control_characters() && !text.chars().all(is_xml) {
        return Err(wrong("characters that XML 1.0 allows"));
    }
    let rest = declaration(text, marked)?;
    let mut parser = Parser { rest, leniency };
    parser.misc()?;
    let root = parser.element(0)?;
    parser.misc()?;
    match parser.rest {
        "" => Ok(root),
        _ => Err(wrong("the end of the document")),
    }
}

/// Sections 2.8 and 4.3.3: what behind the declaration comes, if there is one. The
/// encoding that it names has to be ours; what is all ASCII is the same in every encoding
/// that we could be sent; a byte order mark says UTF-8.
fn declaration(text: &str, marked: bool) -> Result<&str, Error> {
    let Some(inside) = text.strip_prefix("<?xml") else {
        return Ok(text);
    };
    if !inside.starts_with(|c| is_space(c) || c == '?') {
        return Ok(text);
    }
    let (mut inside, rest) = inside
        .split_once("?>")
        .ok_or_else(|| error(ErrorKind::Truncated, "?>"))?;
    let mut declared = Vec::new();
    while let Some((name, behind)) = inside.split_once('=') {
        let behind = behind.trim_start_matches(is_space);
        let quote = behind.chars().next().filter(|c| "\"'".contains(*c));
        let quote = quote.ok_or_else(|| wrong("a quote"))?;
        let (value, behind) = behind[1..]
            .split_once(quote)
            .ok_or_else(|| wrong("a quote at the end"))?;
        if !name.starts_with(is_space) {
            return Err(wrong("white space before each part"));
        }
        declared.push((name.trim_matches(is_space), value));
        inside = behind;
    }
    if !inside.chars().all(is_space) {
        return Err(wrong("the end of the declaration"));
    }
    let names: Vec<_> = declared.iter().map(|(name, _)| *name).collect();
    let orders: [&[&str]; 4] = [
        &["version"],
        &["version", "encoding"],
        &["version", "standalone"],
        &["version", "encoding", "standalone"],
    ];
    if !orders.contains(&&*names) {
        return Err(wrong("version, encoding, standalone"));
    }
    for (name, value) in declared {
        match name {
            "version" => {
                let digits = value.strip_prefix("1.").unwrap_or_default();
                if digits.is_empty() || digits.contains(|c: char| !c.is_ascii_digit()) {
                    return Err(wrong("version 1.0"));
                }
            }
            "encoding" => {
                let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
                if !value.starts_with(|c: char| c.is_ascii_alphabetic())
                    || !value.chars().all(allowed)
                {
                    return Err(wrong("the name of an encoding"));
                }
                let known = ["utf-8", "utf8", "us-ascii", "ascii"];
                let known = known.contains(&&*value.to_ascii_lowercase());
                if !known && (!text.is_ascii() || marked) {
                    return Err(wrong("the encoding UTF-8"));
                }
            }
            _ if !["yes", "no"].contains(&value) => return Err(wrong("yes or no")),
            _ => {}
        }
    }
    Ok(rest)
}

/// Section 2.3: the ranges of what may begin a name, and of what else may stand in it.
const NAME_START: [(u32, u32); 16] = [
    (0x3a, 0x3a),
    (0x41, 0x5a),
    (0x5f, 0x5f),
    (0x61, 0x7a),
    (0xc0, 0xd6),
    (0xd8, 0xf6),
    (0xf8, 0x2ff),
    (0x370, 0x37d),
    (0x37f, 0x1fff),
    (0x200c, 0x200d),
    (0x2070, 0x218f),
    (0x2c00, 0x2fef),
    (0x3001, 0xd7ff),
    (0xf900, 0xfdcf),
    (0xfdf0, 0xfffd),
    (0x1_0000, 0xe_ffff),
];
const NAME_ELSE: [(u32, u32); 5] = [
    (0x2d, 0x2e),
    (0x30, 0x39),
    (0xb7, 0xb7),
    (0x300, 0x36f),
    (0x203f, 0x2040),
];

fn is_in(ranges: &[(u32, u32)], character: char) -> bool {
    let code = u32::from(character);
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&code))
}

/// Production 4a.
fn is_name(character: char) -> bool {
    is_name_start(character) || is_in(&NAME_ELSE, character)
}

/// Production 4.
fn is_name_start(character: char) -> bool {
    is_in(&NAME_START, character)
}

struct Parser<'a> {
    rest: &'a str,
    leniency: Leniency,
}

impl<'a> Parser<'a> {
    fn skip(&mut self, start: &str) -> bool {
        let found = self.rest.strip_prefix(start);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn reading(&self) -> XmlReading {
        match self.leniency.control_characters() {
            true => XmlReading::Lenient,
            false => XmlReading::Strict,
        }
    }

    /// Whether there was white space.
    fn spaces(&mut self) -> bool {
        let before = self.rest.len();
        self.rest = self.rest.trim_start_matches(is_space);
        self.rest.len() < before
    }

    /// All up to this end, which is skipped.
    fn until(&mut self, end: &str) -> Result<&'a str, Error> {
        let (before, rest) = self
            .rest
            .split_once(end)
            .ok_or_else(|| error(ErrorKind::Truncated, "the end of what began"))?;
        self.rest = rest;
        Ok(before)
    }

    /// Sections 2.5 and 2.6: a comment or processing instruction. Whether there was one.
    fn markup(&mut self) -> Result<bool, Error> {
        if self.skip("<!--") {
            self.until("--")?;
            return match self.skip(">") {
                true => Ok(true),
                false => Err(wrong("no two dashes in a comment")),
            };
        }
        if self.skip("<?") {
            let target = self.name()?;
            let behind = self.until("?>")?;
            if target.eq_ignore_ascii_case("xml") {
                return Err(wrong("the declaration at the beginning, once"));
            }
            return match behind.is_empty() || behind.starts_with(is_space) {
                true => Ok(true),
                false => Err(wrong("white space behind a target")),
            };
        }
        Ok(false)
    }

    /// Section 2.8: what may stand around the root.
    fn misc(&mut self) -> Result<(), Error> {
        while self.spaces() || self.markup()? {}
        Ok(())
    }

    fn name(&mut self) -> Result<&'a str, Error> {
        let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        match name.starts_with(is_name_start) {
            true => Ok(name),
            false => Err(wrong("a name")),
        }
    }

    /// Section 3.1: the attributes of a tag. They mean nothing.
    fn attributes(&mut self) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        while self.spaces() && !self.rest.starts_with(['/', '>']) {
            if !names.insert(self.name()?) {
                return Err(wrong("each attribute of a tag once"));
            }
            self.spaces();
            if !self.skip("=") {
                return Err(wrong("= behind the name of an attribute"));
            }
            self.spaces();
            let value = if self.skip("\"") {
                self.until("\"")?
            } else if self.skip("'") {
                self.until("'")?
            } else {
                return Err(wrong("a value in quotes"));
            };
            if value.contains('<') {
                return Err(wrong("no < in the value of an attribute"));
            }
            xml::unescaped(value.as_bytes(), XmlPlace::Attribute, self.reading())
                .map_err(|malformed| wrong(malformed.expected))?;
        }
        Ok(())
    }

    fn element(&mut self, depth: usize) -> Result<Element, Error> {
        if !self.skip("<") {
            return Err(wrong("a tag"));
        }
        let name = self.name()?.to_owned();
        self.attributes()?;
        if self.skip("/>") {
            return Ok(Element {
                name,
                closed: true,
                content: Vec::new(),
            });
        }
        if !self.skip(">") || depth > DEEPEST {
            return Err(wrong("> of a tag"));
        }
        let mut content = Vec::new();
        loop {
            if self.rest.starts_with("<![CDATA[") {
                self.skip("<![CDATA[");
                let text = self.until("]]>")?;
                content.push(Node::Text {
                    text: text.replace("\r\n", "\n").replace('\r', "\n"),
                    layout: false,
                });
            } else if self.skip("</") {
                let end = self.name()?;
                self.spaces();
                return match end == name && self.skip(">") {
                    true => Ok(Element {
                        name,
                        closed: false,
                        content,
                    }),
                    false => Err(wrong("the end tag of the element")),
                };
            } else if self.rest.starts_with('<') {
                if !self.markup()? {
                    content.push(Node::Element(self.element(depth + 1)?));
                }
            } else {
                content.push(self.text()?);
            }
        }
    }

    /// Section 2.4: character data.
    fn text(&mut self) -> Result<Node, Error> {
        let end = self
            .rest
            .find('<')
            .ok_or_else(|| error(ErrorKind::Truncated, "an end tag"))?;
        let (raw, rest) = self.rest.split_at(end);
        self.rest = rest;
        let joined = match self.leniency.surrogate_pairs() {
            true => with_pairs_joined(raw),
            false => raw.to_owned(),
        };
        let text = xml::unescaped(joined.as_bytes(), XmlPlace::Text, self.reading())
            .map_err(|malformed| wrong(malformed.expected))?;
        Ok(Node::Text {
            text,
            layout: raw.chars().all(is_space),
        })
    }
}

/// The text with each pair of references to surrogates replaced by the character that it means.
/// The text is split at each `&`. A part is a reference up to its first `;`.
fn with_pairs_joined(raw: &str) -> String {
    let half = |part: Option<&&str>| -> Option<u16> {
        let (number, _) = part?.strip_prefix("&#")?.split_once(';')?;
        let (digits, radix) = match number.strip_prefix('x') {
            Some(digits) => (digits, 16),
            None => (number, 10),
        };
        let all = digits.chars().all(|digit| digit.is_digit(radix));
        all.then(|| u16::from_str_radix(digits, radix).ok())?
    };
    let mut parts = Vec::new();
    let mut rest = raw;
    while !rest.is_empty() {
        let mut references = rest.match_indices('&').map(|(at, _)| at);
        let end = references.find(|at| *at > 0).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        parts.push(part);
        rest = behind;
    }
    let mut joined = String::new();
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        at += 1;
        let pair = match (half(Some(part)), half(parts.get(at))) {
            (Some(high), Some(low)) if part.ends_with(';') => String::from_utf16(&[high, low]).ok(),
            _ => None,
        };
        match pair {
            Some(pair) if pair.chars().count() == 1 => {
                let (_, behind) = parts[at].split_once(';').unwrap_or_default();
                joined.push_str(&pair);
                joined.push_str(behind);
                at += 1;
            }
            _ => joined.push_str(part),
        }
    }
    joined
}

impl Element {
    /// The elements within, between which nothing stands but layout.
    pub(super) fn children(&self) -> Result<Vec<&Self>, Error> {
        let mut children = Vec::new();
        for node in &self.content {
            match node {
                Node::Element(child) => children.push(child),
                Node::Text { layout: true, .. } => {}
                Node::Text { .. } => return Err(wrong("tags and no text between them")),
            }
        }
        Ok(children)
    }

    /// The only element within.
    pub(super) fn only_child(&self, name: &str) -> Result<&Self, Error> {
        match self.children()?[..] {
            [child] if child.name == name => Ok(child),
            _ => Err(wrong("one element of another name")),
        }
    }

    /// The text within, where no elements are.
    pub(super) fn text(&self) -> Result<String, Error> {
        let mut whole = String::new();
        for node in &self.content {
            match node {
                Node::Text { text, .. } => whole.push_str(text),
                Node::Element(_) => return Err(wrong("text and no tags within")),
            }
        }
        Ok(whole)
    }
}
