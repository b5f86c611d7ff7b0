//! Parses XML into a tree: <https://www.w3.org/TR/xml/>, without document types.

use polywire_schema::{Error, ErrorKind, LimitKind, Limits};
use polywire_text::escape::{XmlPlace, XmlReading, is_xml};
use polywire_text::reference::xml;

use super::declaration::{declaration, is_name, is_name_start};
use crate::reference::node::{Data, Element, Node, error};
use crate::reference::xmlrpc::with_pairs_joined;
use crate::xmlrpc::Leniency;

/// A position in a text.
pub(in crate::reference) struct Parser<'a> {
    text: &'a str,
    at: usize,
    leniency: Leniency,
    limits: Limits,
}

/// The root element of a document, which must contain nothing else.
pub(in crate::reference) fn document(
    text: &str,
    leniency: Leniency,
    limits: &Limits,
) -> Result<Node, Error> {
    let mut parser = Parser::new(text, 0, leniency, limits);
    let marked = parser.skip("\u{feff}");
    if leniency.leading_space() {
        parser.space();
    }
    let behind = declaration(parser.rest(), marked)?;
    parser.at = text.len() - behind.len();
    parser.between()?;
    let root = parser.element()?;
    parser.between()?;
    match parser.rest() {
        "" => Ok(root),
        _ => Err(parser.wrong("the end of the document")),
    }
}

pub(in crate::reference) fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

impl<'a> Parser<'a> {
    pub(in crate::reference) fn new(
        text: &'a str,
        at: usize,
        leniency: Leniency,
        limits: &Limits,
    ) -> Self {
        Self {
            text,
            at,
            leniency,
            limits: *limits,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn wrong(&self, expected: &'static str) -> Error {
        let kind = match self.rest() {
            "" => ErrorKind::Truncated,
            _ => ErrorKind::Syntax,
        };
        error(kind, self.at, expected)
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &'static str) -> Result<(), Error> {
        match self.skip(token) {
            true => Ok(()),
            false => Err(self.wrong(token)),
        }
    }

    /// Skips white space. Returns whether there was any.
    fn space(&mut self) -> bool {
        let len = self.rest().len() - self.rest().trim_start_matches(is_space).len();
        self.at += len;
        len > 0
    }

    fn name(&mut self) -> Result<&'a str, Error> {
        let rest = self.rest();
        if !rest.starts_with(is_name_start) {
            return Err(self.wrong("a name"));
        }
        let len = rest.find(|next| !is_name(next)).unwrap_or(rest.len());
        self.at += len;
        Ok(&rest[..len])
    }

    /// Returns the text up to a token, and skips the token.
    fn up_to(&mut self, token: &str) -> Result<&'a str, Error> {
        let Some((part, _)) = self.rest().split_once(token) else {
            self.at = self.text.len();
            return Err(self.wrong("the end of markup"));
        };
        if !self.leniency.control_characters() && !part.chars().all(is_xml) {
            return Err(self.wrong("characters that XML allows"));
        }
        self.at += part.len() + token.len();
        Ok(part)
    }

    /// Skips white space, comments, processing instructions.
    fn between(&mut self) -> Result<(), Error> {
        while self.space() || self.markup()? {}
        Ok(())
    }

    /// Sections 2.5 and 2.6: skips a comment or processing instruction. Returns whether there was one.
    fn markup(&mut self) -> Result<bool, Error> {
        if self.skip("<!--") {
            self.up_to("--")?;
            self.expect(">")?;
            return Ok(true);
        }
        if !self.skip("<?") {
            return Ok(false);
        }
        if self.name()?.eq_ignore_ascii_case("xml") {
            return Err(self.wrong("the XML declaration at the beginning, once"));
        }
        let content = self.up_to("?>")?;
        match content.is_empty() || content.starts_with(is_space) {
            true => Ok(true),
            false => Err(self.wrong("white space after a target")),
        }
    }

    fn characters(&self, part: &str, place: XmlPlace) -> Result<String, Error> {
        let reading = match self.leniency.control_characters() {
            true => XmlReading::Lenient,
            false => XmlReading::Strict,
        };
        xml::unescaped(part.as_bytes(), place, reading).map_err(|_| self.wrong("character data"))
    }

    /// The element whose start tag is next, with its content.
    pub(in crate::reference) fn element(&mut self) -> Result<Node, Error> {
        if !self.rest().starts_with('<') {
            return Err(self.wrong("a tag"));
        }
        let start = self.at;
        let element = self.start_tag()?;
        match element.closed {
            true => Ok(self.node(start, Data::Element(element))),
            false => self.content(start, element),
        }
    }

    fn node(&self, start: usize, data: Data) -> Node {
        let end = self.at;
        Node { start, end, data }
    }

    /// The content of an element, and its end tag.
    pub(in crate::reference) fn content(
        &mut self,
        start: usize,
        element: Element,
    ) -> Result<Node, Error> {
        // The number of open elements. A level of a value has at most four.
        let mut open = vec![(start, element)];
        while let Some((_, parent)) = open.last_mut() {
            let start = self.at;
            if self.skip("</") {
                if self.name()? != parent.name {
                    return Err(self.wrong("the end tag of the element"));
                }
                self.space();
                self.expect(">")?;
                let (start, element) = open.pop().unwrap_or_default();
                let node = self.node(start, Data::Element(element));
                match open.last_mut() {
                    Some((_, parent)) => parent.content.push(node),
                    None => return Ok(node),
                }
            } else if self.skip("<![CDATA[") {
                let text = self.up_to("]]>")?.replace("\r\n", "\n").replace('\r', "\n");
                parent.content.push(self.node(start, Data::Text(text)));
            } else if !self.rest().starts_with('<') {
                let text = self.text()?;
                parent.content.push(text);
            } else if !self.markup()? {
                let element = self.start_tag()?;
                match element.closed {
                    true => parent
                        .content
                        .push(self.node(start, Data::Element(element))),
                    false => open.push((start, element)),
                }
                if open.len() > 4 * self.limits.depth() as usize + 8 {
                    let limit = LimitKind::Depth(self.limits.depth());
                    return Err(error(ErrorKind::Limit(limit), self.at, ""));
                }
            }
        }
        Err(self.wrong("a start tag"))
    }

    /// Section 2.4: character data, up to the next tag.
    fn text(&mut self) -> Result<Node, Error> {
        let start = self.at;
        let Some(len) = self.rest().find('<') else {
            self.at = self.text.len();
            return Err(self.wrong("an end tag"));
        };
        let part = &self.rest()[..len];
        let text = match self.leniency.surrogate_pairs() {
            true => self.characters(&with_pairs_joined(part), XmlPlace::Text)?,
            false => self.characters(part, XmlPlace::Text)?,
        };
        self.at += len;
        let data = match part.chars().all(is_space) {
            true => Data::Space(text),
            false => Data::Text(text),
        };
        Ok(self.node(start, data))
    }

    /// Section 3.1.
    fn start_tag(&mut self) -> Result<Element, Error> {
        self.skip("<");
        let mut element = Element::new(self.name()?, Vec::new());
        loop {
            let space = self.space();
            element.closed = self.skip("/>");
            if element.closed || self.skip(">") {
                return Ok(element);
            }
            if !space {
                return Err(self.wrong("white space before an attribute"));
            }
            let name = self.name()?.to_owned();
            if element.attributes.iter().any(|(own, _)| *own == name) {
                return Err(self.wrong("each attribute once"));
            }
            self.space();
            self.expect("=")?;
            self.space();
            let quote = self
                .rest()
                .chars()
                .next()
                .filter(|next| "\"'".contains(*next));
            let rest = quote.and_then(|quote| self.rest()[1..].split_once(quote));
            let Some((value, _)) = rest else {
                return Err(self.wrong("a value in quotes"));
            };
            if value.contains('<') {
                return Err(self.wrong("no < in an attribute"));
            }
            let read = self.characters(value, XmlPlace::Attribute)?;
            element.attributes.push((name, read));
            self.at += value.len() + 2;
        }
    }
}
