//! The reference implementation of [`xml`](crate::xml).

mod declaration;
pub(super) mod parse;
mod write;

pub use write::XmlEncoder;

use polywire_schema::{
    Error, ErrorKind, Limits, Member, MemberFlags, NameSource, Part, Schema, ShapeKind,
};

use super::decode::TreeDecoder;
use super::format::{DecodeFormat, Format, Input, Options, Values};
use super::node::{Data, Element, Node, check_bytes, error};
use crate::xml::XmlProfile;
use crate::xmlrpc::Leniency;

/// XML with a profile.
#[derive(Debug)]
pub struct XmlFormat<'n> {
    profile: XmlProfile<'n>,
    /// Whether the root element must have the name of its shape.
    named: bool,
    /// Whether the caller writes the element of the top-level structure.
    contents: bool,
}

/// The reference implementation of [`crate::xml::XmlDecoder`].
pub type XmlDecoder = TreeDecoder<XmlFormat<'static>>;

impl XmlDecoder {
    /// A decoder of a document.
    ///
    /// # Errors
    ///
    /// The document is not well formed, or too long.
    pub fn from_str(text: &str, profile: XmlProfile<'_>, limits: &Limits) -> Result<Self, Error> {
        let format = XmlFormat {
            profile: profile.with_namespace(None),
            named: true,
            contents: false,
        };
        Self::begin(format, limits, || {
            check_bytes(text.len(), limits)?;
            let mut root = parse::document(text, Leniency::STRICT, limits)?;
            root.end = text.len();
            Ok(root)
        })
    }

    /// Creates a decoder of the element whose start tag is at an offset, or of an empty one. `named`
    /// means that it is the root and must have the name of its shape.
    pub(super) fn at(
        text: &str,
        start: Option<usize>,
        named: bool,
        profile: XmlProfile<'_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let format = XmlFormat {
            profile: profile.with_namespace(None),
            named: named && start.is_some(),
            contents: false,
        };
        Self::begin(format, limits, || match start {
            Some(start) => parse::Parser::new(text, start, Leniency::STRICT, limits).element(),
            None => Ok(Data::Element(Element::default()).into()),
        })
    }
}

impl XmlFormat<'_> {
    /// An element that contains elements. Clients ignore text between them.
    fn parent<'n>(&self, node: &'n Node) -> Result<&'n Element, Error> {
        let element = node.element()?;
        match element.has_text() && self.profile.rules.strict {
            true => Err(node.syntax("elements, not text")),
            false => Ok(element),
        }
    }

    /// The elements of a list or map with this name, or with any name if it is flattened.
    fn elements(&self, input: Input<'_>, name: &str) -> Result<Vec<Node>, Error> {
        if let Data::List(items) = &input.node.data {
            return Ok(items.clone());
        }
        let mut elements = Vec::new();
        for child in self.parent(input.node)?.children() {
            let flattened = input.at.has(MemberFlags::XML_FLATTENED);
            match flattened || local(child.name()) == local(name) {
                true => elements.push(child.clone()),
                false => skip_within(input.with(child))?,
            }
        }
        Ok(elements)
    }
}

/// Skips an element in a list or map.
fn skip_within(input: Input<'_>) -> Result<(), Error> {
    input.count(1)?;
    input.budget.check_depth(1 + depth(input.node), input.start)
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or_default()
}

/// The nesting depth of elements that have an end tag.
fn depth(node: &Node) -> usize {
    let Ok(element) = node.element() else {
        return 0;
    };
    let children = element.children().map(depth).max().unwrap_or(0);
    children + usize::from(!element.closed)
}

/// The text of a scalar.
fn characters(node: &Node) -> Result<String, Error> {
    match &node.data {
        // An attribute.
        Data::Text(text) => Ok(text.clone()),
        Data::Element(element) if element.children().next().is_none() => Ok(element.text()),
        _ => Err(node.syntax("text, not elements")),
    }
}

/// The member with a name. If there is none, compares without the prefix of the name, and then without
/// the prefix in the schema.
fn find<'s>(shape: Schema<'s>, name: &str, attribute: bool) -> Option<Member<'s>> {
    if attribute && (name == "xmlns" || name.starts_with("xmlns:")) {
        return None;
    }
    let fits = |member: &Member<'_>| member.has(MemberFlags::XML_ATTRIBUTE) == attribute;
    let of = |is: &dyn Fn(&str) -> bool| {
        let mut members = shape.members().filter(fits);
        members.find(|member| is(member.plain(NameSource::Xml)))
    };
    of(&|own| own == name)
        .or_else(|| of(&|own| own == local(name)))
        .or_else(|| of(&|own| local(own) == local(name)))
}

impl Format for XmlFormat<'_> {
    const NAME: &'static str = "XML";

    fn options(&self) -> Options {
        let profile = &self.profile;
        Options {
            rules: profile.rules,
            names: NameSource::Xml,
            part: match profile.part {
                // An unwrapped document contains the only member, even if that is bound elsewhere.
                Part::Body(_) if profile.unwrapped => Part::Whole,
                part => part,
            },
            timestamps: profile.timestamp_format,
            limits_names: false,
            ..Options::DEFAULT
        }
    }
}

impl DecodeFormat for XmlFormat<'_> {
    fn root(&self, node: Node, at: Member<'_>) -> Result<Node, Error> {
        let profile = &self.profile;
        if profile.unwrapped && at.kind().is_structure() {
            return Ok(Data::Element(Element::new("", vec![node])).into());
        }
        let named = match at.is_root() || at.has(MemberFlags::XML_NAMED) {
            true => at,
            false => at.target().root(),
        };
        let checks = self.named && profile.rules.strict && !profile.unwrapped;
        match checks && local(node.name()) != local(named.plain(NameSource::Xml)) {
            true => node.wrong_type("the element of the shape"),
            false => Ok(node),
        }
    }

    /// Attributes and elements. The elements of a flattened member are combined at the position of the
    /// first one.
    fn members(&self, input: Input<'_>) -> Result<Values, Error> {
        let (shape, element) = (input.at.target(), self.parent(input.node)?);
        let attributes = element.attributes.iter();
        let mut members: Values = attributes
            .filter(|(name, _)| find(shape, name, true).is_some())
            .map(|(name, value)| (name.clone(), Node::text(value)))
            .collect();
        // The positions of flattened members.
        let mut flattened: Vec<(u32, usize)> = Vec::new();
        for child in element.children() {
            let name = child.name().to_owned();
            let collection = find(shape, &name, false).filter(|member| {
                member.has(MemberFlags::XML_FLATTENED)
                    && matches!(member.kind(), ShapeKind::List | ShapeKind::Map)
            });
            let Some(ordinal) = collection.map(Member::ordinal) else {
                members.push((name, child.clone()));
                continue;
            };
            match flattened.iter().find(|(own, _)| *own == ordinal) {
                Some((_, place)) => {
                    if let Data::List(items) = &mut members[*place].1.data {
                        items.push(child.clone());
                    }
                }
                None => {
                    flattened.push((ordinal, members.len()));
                    let items = Data::List(vec![child.clone()]).into();
                    members.push((name, items));
                }
            }
        }
        Ok(members)
    }

    fn items(&self, input: Input<'_>) -> Result<Vec<Node>, Error> {
        self.elements(input, input.at.element().plain(NameSource::Xml))
    }

    fn entries(&self, input: Input<'_>) -> Result<Values, Error> {
        let names = [0, 1].map(|half| input.at.target().member(half).plain(NameSource::Xml));
        let mut entries = Values::new();
        for entry in self.elements(input, "entry")? {
            let mut halves = [None, None];
            for child in self.parent(&entry)?.children() {
                let name = child.name();
                let is_key =
                    name == names[0] || (name != names[1] && local(name) == local(names[0]));
                let half = match local(name) == local(names[1]) {
                    _ if is_key => &mut halves[0],
                    true => &mut halves[1],
                    false => {
                        skip_within(input.with(child))?;
                        continue;
                    }
                };
                if half.replace(child.clone()).is_some() {
                    return Err(error(ErrorKind::Duplicate, child.start, "one of each"));
                }
            }
            let [Some(key), Some(value)] = halves else {
                return Err(error(ErrorKind::Missing, entry.start, "a key and a value"));
            };
            entries.push((characters(&key)?, value));
        }
        Ok(entries)
    }

    fn find<'s>(&self, shape: Schema<'s>, name: &str, value: &Node) -> Option<Member<'s>> {
        let attribute = matches!(value.data, Data::Text(_));
        let message = |member: &Member<'_>| {
            self.profile.any_case_message
                && !attribute
                && local(name).eq_ignore_ascii_case("message")
                && member
                    .plain(NameSource::Xml)
                    .eq_ignore_ascii_case(local(name))
        };
        find(shape, name, attribute).or_else(|| shape.members().find(message))
    }

    fn is_null(&self, node: &Node) -> bool {
        let is_nil = |(name, value): &(String, String)| {
            let is_true = value == "true" || value == "1";
            name.contains(':') && local(name) == "nil" && is_true
        };
        node.element()
            .is_ok_and(|element| element.attributes.iter().any(is_nil))
    }

    /// Skipped elements count for the depth limit.
    fn skip(&self, input: Input<'_>) -> Result<(), Error> {
        input.budget.check_depth(depth(input.node), input.start)
    }

    fn text(&self, input: Input<'_>) -> Result<String, Error> {
        input.limited(&characters(input.node)?)
    }

    fn word(&self, input: Input<'_>) -> Result<String, Error> {
        let text = characters(input.node)?;
        Ok(text.trim_matches(parse::is_space).to_owned())
    }

    fn digits(&self, input: Input<'_>) -> Result<String, Error> {
        let text = self.word(input)?;
        let digits = text.strip_prefix('+').filter(|rest| !rest.starts_with('-'));
        Ok(digits.unwrap_or(&text).to_owned())
    }

    fn blob(&self, input: Input<'_>) -> Result<Vec<u8>, Error> {
        input.decode_base64(&characters(input.node)?, true)
    }
}
