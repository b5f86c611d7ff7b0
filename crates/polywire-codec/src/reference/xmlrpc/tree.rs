//! XML as a tree: the part of XML 1.0 that has no document types.

use std::collections::BTreeSet;

use polywire_schema::{Error, ErrorKind};
use polywire_text::escape::{XmlPlace, XmlReading, is_xml};
use polywire_text::reference::xml;

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

/// Reads a whole document. Lenient: characters that XML forbids are read.
pub(super) fn parse(text: &str, lenient: bool) -> Result<Element, Error> {
    let marked = text.starts_with('\u{feff}');
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // Section 2.2: they may stand nowhere.
    if !lenient && !text.chars().all(is_xml) {
        return Err(wrong("characters that XML 1.0 allows"));
    }
    encoding(text, marked)?;
    let mut parser = Parser {
        rest: text,
        lenient,
    };
    parser.misc()?;
    let root = parser.element(0)?;
    parser.misc()?;
    match parser.rest {
        "" => Ok(root),
        _ => Err(wrong("the end of the document")),
    }
}

/// Section 4.3.3: the encoding that is declared, if one is. What is all ASCII is the
/// same in every encoding that we could be sent; a byte order mark says UTF-8.
fn encoding(text: &str, marked: bool) -> Result<(), Error> {
    let Some((declaration, _)) = text
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split_once("?>"))
    else {
        return Ok(());
    };
    let Some((_, value)) = declaration.split_once("encoding") else {
        return Ok(());
    };
    let Some(value) = value.trim_start().strip_prefix('=') else {
        return Ok(());
    };
    let value = value.trim_start();
    let Some(quote) = value.chars().next().filter(|quote| "\"'".contains(*quote)) else {
        return Ok(());
    };
    let name = value[1..].split(quote).next().unwrap_or_default();
    let known = ["utf-8", "utf8", "us-ascii", "ascii"];
    match known.contains(&&*name.to_ascii_lowercase()) || (text.is_ascii() && !marked) {
        true => Ok(()),
        false => Err(wrong("the encoding UTF-8")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    lenient: bool,
}

impl<'a> Parser<'a> {
    fn skip(&mut self, start: &str) -> bool {
        let found = self.rest.strip_prefix(start);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn reading(&self) -> XmlReading {
        match self.lenient {
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
            self.name()?;
            self.until("?>")?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Section 2.8: what may stand around the root.
    fn misc(&mut self) -> Result<(), Error> {
        while self.spaces() || self.markup()? {}
        Ok(())
    }

    fn name(&mut self) -> Result<&'a str, Error> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_:.-".contains(c) || !c.is_ascii();
        let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        match name {
            "" => Err(wrong("a name")),
            name => Ok(name),
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
        let text = xml::unescaped(raw.as_bytes(), XmlPlace::Text, self.reading())
            .map_err(|malformed| wrong(malformed.expected))?;
        Ok(Node::Text {
            text,
            layout: raw.chars().all(is_space),
        })
    }
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
