//! The reference implementation of [`form`](crate::form): the query protocols of AWS.

mod parse;
mod write;

pub use write::FormEncoder;

use polywire_schema::{Error, ErrorKind, Limits, Member, MemberFlags};

use super::decode::{DecodeFormat, Rules, TreeDecoder, Values};
use super::node::{Budget, Data, Element, Node, check_bytes, error};
use crate::form::FormProfile;

/// How forms read a tree.
#[derive(Debug)]
pub struct FormReader(FormProfile);

/// The reference implementation of [`crate::form::FormDecoder`].
pub type FormDecoder = TreeDecoder<FormReader>;

impl FormDecoder {
    /// A decoder of a form.
    ///
    /// # Errors
    ///
    /// It is too long, or not percent-encoded as it should be.
    pub fn new(form: &str, profile: FormProfile, limits: &Limits) -> Result<Self, Error> {
        Self::begin(FormReader(profile), limits, || {
            check_bytes(form.len(), limits)?;
            parse::parse(form, profile.own)
        })
    }
}

/// How many fields there are.
fn fields(node: &Node) -> usize {
    match &node.data {
        Data::Element(element) => element.content.iter().map(fields).sum(),
        Data::Text(_) => 1,
        _ => 0,
    }
}

/// An element without a value of its own.
fn parent(node: &Node) -> Result<&Element, Error> {
    let element = node.element()?;
    match element.has_text() {
        true => node.wrong_type("a key that goes on"),
        false => Ok(element),
    }
}

fn child<'n>(element: &'n Element, name: &str) -> Option<&'n Node> {
    element.children().find(|child| child.name() == name)
}

impl FormReader {
    /// The children of a list or map that have numbers, sorted.
    fn numbered(
        &self,
        node: &Node,
        wrapper: Option<&str>,
        budget: &Budget,
    ) -> Result<Vec<Node>, Error> {
        if budget.depth == 0 {
            return node.wrong_type("a structure at the top");
        }
        let element = node.element()?;
        match &element.content[..] {
            // An entry without a value.
            [] => return Ok(Vec::new()),
            // `Name=`, and nothing that goes on.
            [only] if matches!(&only.data, Data::Text(text) if text.is_empty()) => {
                return Ok(Vec::new());
            }
            _ => {}
        }
        let mut parent_of_items = parent(node)?;
        if let Some(wrapper) = wrapper {
            parent_of_items = match (
                child(parent_of_items, wrapper),
                parent_of_items.content.len(),
            ) {
                (Some(inner), 1) => parent(inner)?,
                _ => return node.wrong_type("what comes before the number of an item"),
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

impl DecodeFormat for FormReader {
    const NAME: &'static str = "form";

    fn rules(&self) -> Rules {
        Rules {
            required: self.0.required,
            names: self.0.names.source(),
            defaults: self.0.defaults,
            timestamps: self.0.timestamp_format,
            limits_names: false,
            ..Rules::DEFAULT
        }
    }

    /// Members in the order of the shape, and what it does not have behind them.
    fn members(&self, node: Node, at: Member<'_>, _: &mut Budget) -> Result<Values, Error> {
        if !at.kind().is_structure() {
            return node.wrong_type("a structure");
        }
        let children = parent(&node)?.children();
        let mut members: Values = children
            .map(|child| (child.name().to_owned(), child.clone()))
            .collect();
        members.sort_by_key(|(name, value)| {
            let member = self.find(at.target(), name, value);
            member.map_or(u32::MAX, Member::ordinal)
        });
        Ok(members)
    }

    fn items(&self, node: Node, at: Member<'_>, budget: &mut Budget) -> Result<Vec<Node>, Error> {
        let flat = self.0.flat || at.has(MemberFlags::XML_FLATTENED);
        let name = at.element().plain(self.0.names.source());
        self.numbered(&node, (!flat).then_some(name), budget)
    }

    fn entries(&self, node: Node, at: Member<'_>, budget: &mut Budget) -> Result<Values, Error> {
        let flat = at.has(MemberFlags::XML_FLATTENED);
        let found = self.numbered(&node, (!flat).then_some("entry"), budget)?;
        if self.0.flat && !found.is_empty() {
            return node.wrong_type("no map");
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
                budget.count(fields(other), other.start)?;
            }
            let [key, value] = halves.map(|half| child(element, half).cloned());
            let key = self.text(&key.unwrap_or_default(), at, budget)?;
            let value = match value {
                Some(value) => value,
                // Nothing at all is an empty list, map or structure.
                None if !at.is_sparse() && !is_scalar(at.element()) => {
                    Data::Element(Element::default()).into()
                }
                None => Node::default(),
            };
            entries.push((key, value));
        }
        Ok(entries)
    }

    /// What is not read counts field by field.
    fn skip(&self, node: &Node, budget: &mut Budget) -> Result<(), Error> {
        budget.count(fields(node).saturating_sub(1), node.start)
    }

    fn text(&self, node: &Node, _: Member<'_>, budget: &mut Budget) -> Result<String, Error> {
        if matches!(node.data, Data::Null) {
            return Err(error(ErrorKind::Missing, node.start, "a value"));
        }
        let element = node.element()?;
        match &element.content[..] {
            [
                Node {
                    data: Data::Text(text),
                    ..
                },
            ] => {
                budget.check_length(text.len(), node.start)?;
                Ok(text.clone())
            }
            _ => node.wrong_type("each key once, and none that goes on"),
        }
    }
}

fn is_scalar(at: Member<'_>) -> bool {
    use polywire_schema::ShapeKind::{List, Map};
    !at.kind().is_structure() && !matches!(at.kind(), List | Map)
}
