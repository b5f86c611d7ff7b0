//! Writes elements as text. The name of an element includes the namespace declaration.

use polywire_schema::{Error, Member, MemberFlags, NameEncoding, NameSource, ShapeKind};
use polywire_text::escape::{Forbidden, XmlPlace};
use polywire_text::reference::xml;

use super::XmlFormat;
use crate::reference::encode::{EncodeFormat, Place, TreeEncoder, plain_text, unwritable};
use crate::reference::node::{Data, Element, Node};
use crate::xml::XmlProfile;

/// The reference implementation of [`crate::xml::XmlEncoder`].
pub type XmlEncoder<'n> = TreeEncoder<XmlFormat<'n>>;

impl<'n> XmlEncoder<'n> {
    /// Creates an encoder of one document, or of the content of an element that the caller writes.
    #[must_use]
    pub fn new(profile: XmlProfile<'n>, contents: bool) -> Self {
        Self::of(XmlFormat {
            profile,
            named: true,
            contents,
        })
    }
}

/// The name of the element of a member, and its namespace declaration.
fn tag(at: Member<'_>) -> String {
    let run = at.run(NameEncoding::XmlOpen);
    let tag = String::from_utf8_lossy(run.as_bytes());
    tag.trim_matches(['<', '>']).to_owned()
}

/// The namespace declaration of the element of a member, with a leading space.
fn namespace(at: Member<'_>) -> String {
    tag(at)[at.plain(NameSource::Xml).len()..].to_owned()
}

impl XmlFormat<'_> {
    /// The root element has the namespace of the member, of the shape or of the service, in this order.
    fn root_tag(&self, at: Member<'_>, named: Member<'_>) -> String {
        let service = self.profile.namespace.map(|(prefix, uri)| {
            let prefix = prefix.map_or(String::new(), |prefix| format!(":{prefix}"));
            let uri = xml::escaped(uri.as_bytes(), XmlPlace::Attribute, Forbidden::Strip);
            format!(" xmlns{prefix}=\"{}\"", uri.unwrap_or_default())
        });
        let candidates = [namespace(named), namespace(at.target().root())];
        let declared = candidates.into_iter().find(|found| !found.is_empty());
        let namespace = declared.or(service).unwrap_or_default();
        named.plain(NameSource::Xml).to_owned() + &namespace
    }
}

impl EncodeFormat for XmlFormat<'_> {
    fn check(&self, at: Member<'_>, _: bool) -> Result<(), Error> {
        let collection = matches!(at.kind(), ShapeKind::List | ShapeKind::Map);
        let kind = if collection { at.element() } else { at }.kind();
        match kind == ShapeKind::Document {
            true => Err(unwritable("a shape that XML has")),
            false => Ok(()),
        }
    }

    fn of_structure(&self, _: Member<'_>, members: Vec<(Node, Node)>) -> Result<Data, Error> {
        let mut element = Element::default();
        for (name, value) in members {
            match (name.data, value.data) {
                (Data::Text(name), Data::Text(value)) => element.attributes.push((name, value)),
                (_, Data::List(items)) => element.content.extend(items),
                (_, data) => element.content.push(data.into()),
            }
        }
        Ok(Data::Element(element))
    }

    /// The items of a flattened list have the name and the namespace of the list. Without a namespace of
    /// the list they have their own.
    fn of_list(&self, at: Member<'_>, mut items: Vec<Node>) -> Result<Data, Error> {
        if !at.has(MemberFlags::XML_FLATTENED) {
            return Ok(Data::Element(Element::new("", items)));
        }
        let name = match namespace(at).is_empty() {
            true => tag(at) + &namespace(at.element()),
            false => tag(at),
        };
        for item in &mut items {
            if let Data::Element(element) = &mut item.data {
                element.name.clone_from(&name);
            }
        }
        Ok(Data::List(items))
    }

    fn of_map(&self, at: Member<'_>, entries: Vec<(Node, Node)>) -> Result<Data, Error> {
        let flattened = at.has(MemberFlags::XML_FLATTENED);
        let name = if flattened {
            tag(at)
        } else {
            "entry".to_owned()
        };
        let entry = |(key, value): (Node, Node)| {
            let key = Element::new(tag(at.target().member(0)), vec![key]);
            let halves = vec![Data::Element(key).into(), value];
            Data::Element(Element::new(&*name, halves)).into()
        };
        let entries = entries.into_iter().map(entry).collect();
        Ok(match flattened {
            true => Data::List(entries),
            false => Data::Element(Element::new("", entries)),
        })
    }

    fn node(&self, at: Member<'_>, data: Data, place: Place) -> Node {
        let mut element = match data {
            Data::Element(element) => element,
            Data::List(items) => return Data::List(items).into(),
            Data::Null => {
                let mut nil = Element::default();
                let instance = "http://www.w3.org/2001/XMLSchema-instance";
                for (name, value) in [("xmlns:xsi", instance), ("xsi:nil", "true")] {
                    nil.attributes.push((name.to_owned(), value.to_owned()));
                }
                nil
            }
            scalar if at.has(MemberFlags::XML_ATTRIBUTE) => return Node::text(plain_text(&scalar)),
            scalar => Element::new("", vec![Node::text(plain_text(&scalar))]),
        };
        let bare = self.contents || self.profile.unwrapped;
        element.name = match place {
            Place::Top if bare && at.kind().is_structure() => String::new(),
            Place::Top if !self.contents => {
                let named = at.is_root() || at.has(MemberFlags::XML_NAMED);
                self.root_tag(at, if named { at } else { at.target().root() })
            }
            Place::Member if self.profile.unwrapped && !self.contents => self.root_tag(at, at),
            _ => tag(at),
        };
        Data::Element(element).into()
    }

    fn write(&self, node: &Node) -> Result<Vec<u8>, Error> {
        written(node).map(String::into_bytes)
    }
}

fn escaped(text: &str, place: XmlPlace) -> Result<String, Error> {
    xml::escaped(text.as_bytes(), place, Forbidden::Reject)
        .map_err(|malformed| unwritable(malformed.expected))
}

fn written(node: &Node) -> Result<String, Error> {
    let element = match &node.data {
        Data::Element(element) => element,
        Data::List(items) => return items.iter().map(written).collect(),
        Data::Text(text) => return escaped(text, XmlPlace::Text),
        _ => return Ok(String::new()),
    };
    let content: String = element
        .content
        .iter()
        .map(written)
        .collect::<Result<_, _>>()?;
    if element.name.is_empty() {
        return Ok(content);
    }
    let mut attributes = String::new();
    for (name, value) in &element.attributes {
        attributes += &format!(" {name}=\"{}\"", escaped(value, XmlPlace::Attribute)?);
    }
    let (tag, end) = (&element.name, element.name.split(' ').next());
    let end = end.unwrap_or_default();
    Ok(format!("<{tag}{attributes}>{content}</{end}>"))
}
