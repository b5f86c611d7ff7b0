//! A document as a tree. <https://www.w3.org/TR/xml/>, without document types.

use polywire_schema::{Error, ErrorKind, LimitKind, Limits};
use polywire_text::escape::{XmlPlace, XmlReading, is_xml};
use polywire_text::reference::xml;

use crate::reference::xmlrpc::tree::{declaration, is_name, is_name_start};

/// An element.
#[derive(Clone, Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// All character data in it, one after the other.
    pub(super) text: String,
    /// Whether there is character data that is not just white space.
    pub(super) has_text: bool,
    /// Whether it has an end tag of its own.
    pub(super) has_content: bool,
}

#[cold]
pub(super) fn error(kind: ErrorKind, offset: usize, expected: &'static str) -> Error {
    Error::new(kind)
        .in_format("XML")
        .expected(expected)
        .at_offset(offset)
}

/// Where the reading of a text is.
pub(super) struct Tokens<'a> {
    text: &'a str,
    pub(super) at: usize,
}

/// The root element of a document; nothing else may stand in it.
pub(super) fn document(text: &str, limits: &Limits) -> Result<Element, Error> {
    let mut tokens = Tokens::new(text, 0);
    tokens.prolog()?;
    let root = tokens.element(limits)?;
    tokens.between()?;
    match tokens.rest() {
        "" => Ok(root),
        _ => Err(tokens.wrong("the end of the document")),
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r')
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
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

    /// Whether there was white space.
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

    /// Everything up to this token, which is skipped too.
    fn up_to(&mut self, token: &str) -> Result<&'a str, Error> {
        let Some((part, _)) = self.rest().split_once(token) else {
            self.at = self.text.len();
            return Err(self.wrong("the end of markup"));
        };
        if !part.chars().all(is_xml) {
            return Err(self.wrong("characters that XML allows"));
        }
        self.at += part.len() + token.len();
        Ok(part)
    }

    fn prolog(&mut self) -> Result<(), Error> {
        let marked = self.skip("\u{feff}");
        let behind = declaration(self.rest(), marked)?;
        self.at = self.text.len() - behind.len();
        self.between()
    }

    /// Skips white space, comments, processing instructions.
    fn between(&mut self) -> Result<(), Error> {
        loop {
            self.space();
            if !self.markup()? {
                return Ok(());
            }
        }
    }

    /// Skips a comment or processing instruction, if there is one.
    fn markup(&mut self) -> Result<bool, Error> {
        if self.skip("<!--") {
            self.up_to("--")?;
            return match self.skip(">") {
                true => Ok(true),
                false => Err(self.wrong("no two dashes in a comment")),
            };
        }
        if self.skip("<?") {
            if self.name()?.eq_ignore_ascii_case("xml") {
                return Err(self.wrong("the XML declaration at the beginning"));
            }
            let behind = self.up_to("?>")?;
            return match behind.is_empty() || behind.starts_with(is_space) {
                true => Ok(true),
                false => Err(self.wrong("white space behind a target")),
            };
        }
        Ok(false)
    }

    fn characters(&self, part: &str, place: XmlPlace) -> Result<String, Error> {
        xml::unescaped(part.as_bytes(), place, XmlReading::Strict)
            .map_err(|_| self.wrong("character data"))
    }

    /// The element whose start tag stands here, with all that is in it.
    pub(super) fn element(&mut self, limits: &Limits) -> Result<Element, Error> {
        // Elements that are open; a reader has a level for each, or for two.
        let mut open: Vec<Element> = Vec::new();
        loop {
            if self.skip("</") {
                let Some(element) = open.pop() else {
                    return Err(self.wrong("a start tag"));
                };
                if self.name()? != element.name {
                    return Err(self.wrong("the end tag of the element"));
                }
                self.space();
                if !self.skip(">") {
                    return Err(self.wrong(">"));
                }
                match open.last_mut() {
                    Some(parent) => parent.children.push(element),
                    None => return Ok(element),
                }
            } else if let Some(parent) = open.last_mut()
                && self.skip("<![CDATA[")
            {
                let text = self.up_to("]]>")?;
                parent
                    .text
                    .push_str(&text.replace("\r\n", "\n").replace('\r', "\n"));
                parent.has_text = true;
            } else if self.rest().starts_with("<!--") || self.rest().starts_with("<?") {
                self.markup()?;
            } else if self.rest().starts_with('<') {
                let element = self.start_tag()?;
                if open.len() > 4 * limits.depth() as usize + 8 {
                    let limit = LimitKind::Depth(limits.depth());
                    return Err(error(ErrorKind::Limit(limit), self.at, ""));
                }
                match open.last_mut() {
                    _ if element.has_content => open.push(element),
                    Some(parent) => parent.children.push(element),
                    None => return Ok(element),
                }
            } else {
                let Some(mut parent) = open.pop() else {
                    return Err(self.wrong("an element"));
                };
                let len = self.rest().find('<').unwrap_or(self.rest().len());
                if len == 0 {
                    return Err(self.wrong("an end tag"));
                }
                let part = &self.rest()[..len];
                parent
                    .text
                    .push_str(&self.characters(part, XmlPlace::Text)?);
                parent.has_text |= !part.chars().all(is_space);
                self.at += len;
                open.push(parent);
            }
        }
    }

    fn start_tag(&mut self) -> Result<Element, Error> {
        self.skip("<");
        let mut element = Element {
            name: self.name()?.to_owned(),
            ..Element::default()
        };
        loop {
            let space = self.space();
            if self.skip("/>") {
                return Ok(element);
            }
            if self.skip(">") {
                element.has_content = true;
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
            if !self.skip("=") {
                return Err(self.wrong("="));
            }
            self.space();
            let quote = match self.rest().chars().next() {
                Some(quote @ ('"' | '\'')) => quote,
                _ => return Err(self.wrong("a quote")),
            };
            self.at += 1;
            let Some((value, _)) = self.rest().split_once(quote) else {
                return Err(self.wrong("the closing quote"));
            };
            if value.contains('<') {
                return Err(self.wrong("no < in an attribute"));
            }
            let read = self.characters(value, XmlPlace::Attribute)?;
            element.attributes.push((name, read));
            self.at += value.len() + 1;
        }
    }
}
