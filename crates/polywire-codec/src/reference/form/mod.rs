//! The reference implementation of [`form`](crate::form): the query protocols of AWS.

mod parse;
mod write;

pub use write::FormEncoder;

use polywire_schema::{Error, ErrorKind, Limits, Member, MemberFlags};

use super::decode::TreeDecoder;
use super::format::{DecodeFormat, Format, Input, Options, Values};
use super::node::{Data, Element, Node, check_bytes, error};
use crate::form::FormProfile;

/// Forms with a profile.
#[derive(Debug)]
pub struct FormFormat(FormProfile);

/// The reference implementation of [`crate::form::FormDecoder`].
pub type FormDecoder = TreeDecoder<FormFormat>;

impl FormDecoder {
    /// A decoder of a form.
    ///
    /// # Errors
    ///
    /// The form is too long, or its percent-encoding is malformed.
    pub fn new(form: &str, profile: FormProfile, limits: &Limits) -> Result<Self, Error> {
        Self::begin(FormFormat(profile), limits, || {
            check_bytes(form.len(), limits)?;
            parse::parse(form, profile.protocol_fields)
        })
    }
}

/// The number of fields.
fn fields(node: &Node) -> usize {
    match &node.data {
        Data::Element(element) => element.content.iter().map(fields).sum(),
        Data::Text(_) => 1,
        _ => 0,
    }
}

/// Checks that an element has no value of its own.
fn parent(node: &Node) -> Result<&Element, Error> {
    let element = node.element()?;
    match element.has_text() {
        true => node.wrong_type("no key with more segments"),
        false => Ok(element),
    }
}

fn child<'n>(element: &'n Element, name: &str) -> Option<&'n Node> {
    element.children().find(|child| child.name() == name)
}

impl FormFormat {
    /// The numbered children of a list or map, sorted.
    fn numbered(&self, input: Input<'_>, wrapper: Option<&str>) -> Result<Vec<Node>, Error> {
        if input.budget.depth.get() == 0 {
            return input.wrong_type("a structure at the top");
        }
        let element = input.node.element()?;
        match &element.content[..] {
            // An entry without a value.
            [] => return Ok(Vec::new()),
            // `Name=` alone is an empty list.
            [only] if matches!(&only.data, Data::Text(text) if text.is_empty()) => {
                return Ok(Vec::new());
            }
            _ => {}
        }
        let mut parent_of_items = parent(input.node)?;
        if let Some(wrapper) = wrapper {
            parent_of_items = match (
                child(parent_of_items, wrapper),
                parent_of_items.content.len(),
            ) {
                (Some(inner), 1) => parent(inner)?,
                _ => return input.wrong_type("the segment before the number of an item"),
            };
        }
        let mut items = Vec::new();
        for child in parent_of_items.children() {
            let name = child.name();
            let plain = name.bytes().all(|byte| byte.is_ascii_digit()) && !name.starts_with('0');
            match name.parse::<u32>() {
                Ok(number) if plain && number != u32::MAX => items.push((number, child.clone())),
                _ => return child.wrong_type("the number of an item"),
            }
        }
        items.sort_by_key(|(number, _)| *number);
        Ok(items.into_iter().map(|(_, item)| item).collect())
    }
}

impl Format for FormFormat {
    const NAME: &'static str = "form";

    fn options(&self) -> Options {
        let mut rules = self.0.rules;
        // Forms have no null.
        rules.skip_nulls = false;
        Options {
            rules,
            names: self.0.names.source(),
            timestamps: self.0.timestamp_format,
            limits_names: false,
            ..Options::DEFAULT
        }
    }
}

impl DecodeFormat for FormFormat {
    /// The members in the order of the shape, then unknown members.
    fn members(&self, input: Input<'_>) -> Result<Values, Error> {
        let shape = input.at.target();
        if !shape.kind().is_structure() {
            return input.wrong_kind();
        }
        let children = parent(input.node)?.children();
        let named = children.map(|child| (child.name().to_owned(), child.clone()));
        let mut members: Values = named.collect();
        members.sort_by_key(|(name, value)| {
            let member = self.find(shape, name, value);
            member.map_or(u32::MAX, Member::ordinal)
        });
        Ok(members)
    }

    fn items(&self, input: Input<'_>) -> Result<Vec<Node>, Error> {
        let flat = self.0.flat || input.at.has(MemberFlags::XML_FLATTENED);
        let name = input.at.element().plain(self.0.names.source());
        self.numbered(input, (!flat).then_some(name))
    }

    fn entries(&self, input: Input<'_>) -> Result<Values, Error> {
        let at = input.at;
        let flat = at.has(MemberFlags::XML_FLATTENED);
        let found = self.numbered(input, (!flat).then_some("entry"))?;
        if self.0.flat && !found.is_empty() {
            return input.wrong_type("no map");
        }
        let names = self.0.names.source();
        let halves = [0, 1].map(|half| at.target().member(half).plain(names));
        let mut entries = Values::new();
        for entry in &found {
            let element = parent(entry)?;
            for other in element
                .children()
                .filter(|child| !halves.contains(&child.name()))
            {
                input.with(other).count(fields(other))?;
            }
            let [key, value] = halves.map(|half| child(element, half).cloned());
            let key = self.text(input.with(&key.unwrap_or_default()))?;
            let value = match value {
                Some(value) => value,
                // Without a value, it is an empty list, map or structure.
                None if !at.is_sparse() && !is_scalar(at.element()) => {
                    Data::Element(Element::default()).into()
                }
                None => Node::default(),
            };
            entries.push((key, value));
        }
        Ok(entries)
    }

    /// Counts each skipped field.
    fn skip(&self, input: Input<'_>) -> Result<(), Error> {
        input.count(fields(input.node).saturating_sub(1))
    }

    fn text(&self, input: Input<'_>) -> Result<String, Error> {
        if matches!(input.data, Data::Null) {
            return Err(error(ErrorKind::Missing, input.start, "a value"));
        }
        match &input.node.element()?.content[..] {
            [
                Node {
                    data: Data::Text(text),
                    ..
                },
            ] => input.limited(text),
            _ => input.wrong_type("each key once, and no key with more segments"),
        }
    }
}

fn is_scalar(at: Member<'_>) -> bool {
    use polywire_schema::ShapeKind::{List, Map};
    !at.kind().is_structure() && !matches!(at.kind(), List | Map)
}
