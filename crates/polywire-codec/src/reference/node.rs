//! The tree between the parsers and writers of the formats and the shared decoder and encoder.

use std::cell::Cell;

use polywire_schema::{Error, ErrorKind, LimitKind, Limits, Timestamp};

/// A value, and its range in the message.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) data: Data,
}

/// The content of a node. Each format uses some of the variants.
#[derive(Clone, Debug, Default)]
pub(super) enum Data {
    #[default]
    Null,
    Boolean(bool),
    /// A number as its decimal text.
    Digits(String),
    /// A big decimal. Used only for writing, because formats write it differently.
    Decimal(String),
    /// A timestamp. Used only for writing, because formats write it differently.
    Timestamp(Timestamp),
    Integer(i128),
    Single(f32),
    Double(f64),
    Text(String),
    /// White space between the tags of XML.
    Space(String),
    Bytes(Vec<u8>),
    List(Vec<Node>),
    /// Entries in the order of the message, duplicates included.
    Map(Vec<(Node, Node)>),
    /// A CBOR tag that changes the meaning of a value.
    Tagged(u64, Box<Node>),
    Element(Element),
    /// A value of CBOR without a counterpart in Smithy.
    Other,
}

/// An XML element. In forms, a segment of a key.
#[derive(Clone, Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    /// Elements, text and white space.
    pub(super) content: Vec<Node>,
    /// Whether the tag is `<name/>`.
    pub(super) closed: bool,
}

pub(super) fn error(kind: ErrorKind, offset: usize, expected: &'static str) -> Error {
    Error::new(kind).expected(expected).at_offset(offset)
}

impl From<Data> for Node {
    fn from(data: Data) -> Self {
        let (start, end) = (0, 0);
        Self { start, end, data }
    }
}

impl Node {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Data::Text(text.into()).into()
    }

    pub(super) fn wrong_type<T>(&self, expected: &'static str) -> Result<T, Error> {
        Err(error(ErrorKind::WrongType, self.start, expected))
    }

    pub(super) fn invalid(&self, expected: &'static str) -> Error {
        error(ErrorKind::InvalidValue, self.start, expected)
    }

    pub(super) fn syntax(&self, expected: &'static str) -> Error {
        error(ErrorKind::Syntax, self.start, expected)
    }

    pub(super) fn element(&self) -> Result<&Element, Error> {
        match &self.data {
            Data::Element(element) => Ok(element),
            _ => self.wrong_type("an element"),
        }
    }

    /// The name, if this is an element.
    pub(super) fn name(&self) -> &str {
        self.element().map_or("", |element| &element.name)
    }
}

impl Element {
    pub(super) fn new(name: impl Into<String>, content: Vec<Node>) -> Self {
        let name = name.into();
        Self {
            name,
            content,
            ..Self::default()
        }
    }

    pub(super) fn children(&self) -> impl Iterator<Item = &Node> {
        let is_element = |node: &&Node| matches!(node.data, Data::Element(_));
        self.content.iter().filter(is_element)
    }

    /// Whether it holds text other than white space.
    pub(super) fn has_text(&self) -> bool {
        let is_text = |node: &Node| matches!(node.data, Data::Text(_));
        self.content.iter().any(is_text)
    }

    /// All text and white space in it.
    pub(super) fn text(&self) -> String {
        let text = |node: &Node| match &node.data {
            Data::Text(text) | Data::Space(text) => text.clone(),
            _ => String::new(),
        };
        self.content.iter().map(text).collect()
    }
}

/// The remaining limits.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) limits: Limits,
    items: Cell<u32>,
    /// The number of open structures, lists and maps.
    pub(super) depth: Cell<usize>,
}

impl Budget {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            items: Cell::new(limits.items()),
            depth: Cell::new(0),
        }
    }

    /// Counts items of the value at an offset.
    pub(super) fn count(&self, items: usize, offset: usize) -> Result<(), Error> {
        match self.items.get().checked_sub(items as u32) {
            Some(left) => {
                self.items.set(left);
                Ok(())
            }
            None => Err(limit(LimitKind::Items(self.limits.items()), offset)),
        }
    }

    pub(super) fn check_length(&self, len: usize, offset: usize) -> Result<(), Error> {
        check_length(&self.limits, len, offset)
    }

    /// Checks that `more` levels can be entered.
    pub(super) fn check_depth(&self, more: usize, offset: usize) -> Result<(), Error> {
        check_depth(&self.limits, self.depth.get() + more, offset)
    }
}

pub(super) fn check_depth(limits: &Limits, depth: usize, offset: usize) -> Result<(), Error> {
    match depth <= limits.depth() as usize {
        true => Ok(()),
        false => Err(limit(LimitKind::Depth(limits.depth()), offset)),
    }
}

pub(super) fn check_length(limits: &Limits, len: usize, offset: usize) -> Result<(), Error> {
    match len <= limits.string() {
        true => Ok(()),
        false => Err(limit(LimitKind::StringLength(limits.string()), offset)),
    }
}

/// Checks the length of a message.
pub(super) fn check_bytes(len: usize, limits: &Limits) -> Result<(), Error> {
    match len <= limits.bytes() {
        true => Ok(()),
        false => Err(limit(LimitKind::Bytes(limits.bytes()), 0)),
    }
}

fn limit(limit: LimitKind, offset: usize) -> Error {
    error(ErrorKind::Limit(limit), offset, "")
}
