//! A canonical form of XML, for comparison: it differs only where the meaning differs.
//!
//! Ignored are the order of attributes, of elements with different names and of map entries, white
//! space between elements, the form of empty elements, character references, CDATA, comments, and
//! the declaration. The order of elements with the same name is kept, because they are list items.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An element.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    pub(crate) elements: Vec<Element>,
}

/// How to treat text next to elements, which has no meaning in a structure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stray {
    Refuse,
    Skip,
}

impl Element {
    /// Parses the root of a document.
    pub(crate) fn parse(text: &str, stray: Stray) -> Result<Self, String> {
        let mut reader = Reader { rest: text, stray };
        let mut around = Self::default();
        reader.content(&mut around)?;
        let count = around.elements.len();
        match around.elements.pop() {
            Some(root) if count == 1 && reader.rest.is_empty() => Ok(root),
            _ => Err(format!("{count} roots, and {:?} behind", reader.rest)),
        }
    }

    /// Sorts map entries: elements with two children whose names are those of the key and the value
    /// of a map.
    pub(crate) fn sort_entries(&mut self, maps: &BTreeSet<[String; 2]>) {
        for element in &mut self.elements {
            element.sort_entries(maps);
        }
        let order = |element: &Self| {
            let entry = match &element.elements[..] {
                [one, other] => {
                    let is = |names: &[String; 2]| {
                        names.contains(&one.name) && names.contains(&other.name)
                    };
                    one.name != other.name && maps.iter().any(is)
                }
                _ => false,
            };
            let text = if entry {
                element.to_string()
            } else {
                String::new()
            };
            (element.name.clone(), text)
        };
        self.elements.sort_by_cached_key(order);
    }

    /// Returns the element or its first descendant with a name.
    pub(crate) fn find(&mut self, name: &str) -> Option<&mut Self> {
        if self.name == name {
            return Some(self);
        }
        self.elements
            .iter_mut()
            .find_map(|element| element.find(name))
    }

    /// Removes elements and the white space between them.
    pub(crate) fn remove(&mut self, which: impl Fn(&Self) -> bool) {
        let before = self.elements.len();
        self.elements.retain(|element| !which(element));
        if self.elements.is_empty() && before > 0 {
            self.text.clear();
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(f, " {name}={value:?}")?;
        }
        f.write_str(">")?;
        for element in &self.elements {
            element.fmt(f)?;
        }
        if self.elements.is_empty() {
            f.write_str(&self.text.escape_debug().to_string())?;
        }
        write!(f, "</{}>", self.name)
    }
}

struct Reader<'a> {
    rest: &'a str,
    stray: Stray,
}

impl<'a> Reader<'a> {
    /// Returns the text before `end`, and continues after it.
    fn until(&mut self, end: &str) -> Result<&'a str, String> {
        let found = self.rest.split_once(end);
        let (before, behind) = found.ok_or_else(|| format!("no {end} in {:?}", self.rest))?;
        self.rest = behind;
        Ok(before)
    }

    /// Parses text and elements up to an end tag or the end.
    fn content(&mut self, of: &mut Element) -> Result<(), String> {
        loop {
            let markup = self.rest.find('<').unwrap_or(self.rest.len());
            let (text, markup) = self.rest.split_at(markup);
            of.text.push_str(&unescape(text)?);
            self.rest = markup;
            if markup.is_empty() || markup.starts_with("</") {
                return Ok(());
            } else if markup.starts_with("<!--") {
                self.until("-->")?;
            } else if let Some(data) = markup.strip_prefix("<![CDATA[") {
                self.rest = data;
                of.text.push_str(self.until("]]>")?);
            } else if markup.starts_with("<?") {
                self.until("?>")?;
            } else {
                of.elements.push(self.element()?);
            }
        }
    }

    fn element(&mut self) -> Result<Element, String> {
        let tag = self.until(">")?.trim_start_matches('<');
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let (name, mut attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
        let mut element = Element {
            name: name.to_owned(),
            ..Element::default()
        };
        while let Some((name, behind)) = attributes.split_once('=') {
            let behind = behind.trim_start();
            let quote = behind.chars().next().unwrap_or(' ');
            let (value, behind) = behind[1..]
                .split_once(quote)
                .ok_or_else(|| format!("an attribute in {tag:?}"))?;
            let before = element
                .attributes
                .insert(name.trim().to_owned(), unescape(value)?);
            if before.is_some() {
                return Err(format!("two attributes {name} in {tag:?}"));
            }
            attributes = behind;
        }
        if !is_empty {
            self.content(&mut element)?;
            let end = self.until(">")?;
            if end.strip_prefix("</").map(str::trim) != Some(name) {
                return Err(format!("{end}> closes {name}"));
            }
            element
                .elements
                .sort_by(|one, other| one.name.cmp(&other.name));
            let is_stray = !element.elements.is_empty() && !element.text.trim().is_empty();
            if is_stray && self.stray == Stray::Refuse {
                return Err(format!("text beside elements in {name}"));
            }
        }
        Ok(element)
    }
}

fn unescape(text: &str) -> Result<String, String> {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, behind) = part
            .split_once(';')
            .ok_or_else(|| format!("a bare & in {text:?}"))?;
        let character = match name {
            "lt" => Some('<'),
            "gt" => Some('>'),
            "amp" => Some('&'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => {
                let number = match (name.strip_prefix("#x"), name.strip_prefix('#')) {
                    (Some(hex), _) => u32::from_str_radix(hex, 16).ok(),
                    (None, Some(decimal)) => decimal.parse().ok(),
                    (None, None) => None,
                };
                number.and_then(char::from_u32)
            }
        };
        out.push(character.ok_or_else(|| format!("the reference &{name};"))?);
        out.push_str(behind);
    }
    Ok(out)
}

pub(crate) fn what_a_writer_may_choose() {
    let show = |text| Element::parse(text, Stray::Skip).unwrap().to_string();
    let text = "<?xml version='1.0'?>\n<a y='1' x=\"&lt;\">\n  <b/>\n <c>&#32;<!-- -->&#x41;<![CDATA[<]]></c></a>\n";
    let same = "<a x='<' y='1'><b></b><c> A&lt;</c></a>";
    assert_eq!(show(text), show(same));
    let same = "<a x='<' y='1'><c> A&lt;</c>text<b></b></a>";
    assert_eq!(show(text), show(same));
    for other in [
        "<a x='<' y='1'><b></b><c>A&lt;</c></a>",
        "<a x='<' y='2'><b></b><c> A&lt;</c></a>",
        "<a x='<' y='1'><b></b><b></b><c> A&lt;</c></a>",
    ] {
        assert_ne!(show(text), show(other));
    }
    assert_ne!(
        show("<a><b>1</b><b>2</b></a>"),
        show("<a><b>2</b><b>1</b></a>")
    );
    let maps = BTreeSet::from([["k".to_owned(), "v".to_owned()]]);
    let sorted = |text| {
        let mut root = Element::parse(text, Stray::Refuse).unwrap();
        root.sort_entries(&maps);
        root.to_string()
    };
    let text = "<m><e><k>b</k><v>1</v></e><e><k>a</k><v>2</v></e></m>";
    let same = "<m><e><v>2</v><k>a</k></e><e><k>b</k><v>1</v></e></m>";
    assert_eq!(sorted(text), sorted(same));
    assert_ne!(show(text), show(same));
    for bad in ["", "<a>", "<a></b>", "<a/><b/>", "<a/>text<", "<a>&x;</a>"] {
        assert!(Element::parse(bad, Stray::Skip).is_err(), "{bad}");
    }
    assert!(Element::parse("<a>text<b/></a>", Stray::Refuse).is_err());
}
