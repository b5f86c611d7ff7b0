//! Parses messages into trees: <http://xmlrpc.com/spec.md> and `docs/xmlrpc-mapping.md`.
//!
//! A value is a list, a map, a text, null, or an element with the name of its type.

use polywire_schema::{Error, Limits};

use crate::reference::node::{Data, Element, Node, check_bytes, check_length};
use crate::reference::xml::parse::{Parser, document, is_space};
use crate::xmlrpc::XmlRpcProfile;

/// A result, or the value of a fault.
pub(super) type Response = Result<Node, Node>;

fn root(text: &str, profile: XmlRpcProfile, limits: &Limits) -> Result<Node, Error> {
    check_bytes(text.len(), limits)?;
    document(text, profile.leniency, limits)
}

/// The method and the parameters of a call.
pub(super) fn call(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<(String, Vec<Node>), Error> {
    let root = root(text, profile, limits)?;
    let (name, parameters) = match children(&root)?[..] {
        _ if root.name() != "methodCall" => return Err(root.syntax("<methodCall>")),
        [name] => (name, Vec::new()),
        [name, parameters] if parameters.name() == "params" => (name, children(parameters)?),
        _ => return Err(root.syntax("<methodName> and perhaps <params>")),
    };
    // `<methodName></methodName>` is an empty name, but `<methodName/>` is an error.
    if name.name() != "methodName" || name.element()?.closed {
        return Err(name.syntax("<methodName>"));
    }
    let method = characters(name)?;
    check_length(limits, method.len(), name.start)?;
    let values = parameters
        .into_iter()
        .map(|parameter| match parameter.name() {
            "param" => value(only_child(parameter, "value")?),
            _ => Err(parameter.syntax("<param>")),
        });
    Ok((
        method.trim_matches(is_space).to_owned(),
        values.collect::<Result<_, _>>()?,
    ))
}

pub(super) fn response(
    text: &str,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Response, Error> {
    let root = root(text, profile, limits)?;
    if root.name() != "methodResponse" {
        return Err(root.syntax("<methodResponse>"));
    }
    let nothing = profile.leniency.missing_params() && !root.element()?.closed;
    let [child] = children(&root)?[..] else {
        let none = nothing && children(&root)?.is_empty();
        return match none {
            true => Ok(Ok(Node::default())),
            false => Err(root.syntax("<params> or <fault>")),
        };
    };
    match child.name() {
        "fault" => value(only_child(child, "value")?).map(Err),
        "params" if nothing && children(child)?.is_empty() => Ok(Ok(Node::default())),
        "params" => {
            let parameter = only_child(child, "param")?;
            match nothing && children(parameter)?.is_empty() {
                true => Ok(Ok(Node::default())),
                false => value(only_child(parameter, "value")?).map(Ok),
            }
        }
        _ => Err(child.syntax("<params> or <fault>")),
    }
}

/// The value whose start tag ends at an offset.
pub(in crate::reference) fn value_at(
    text: &str,
    start: usize,
    profile: XmlRpcProfile,
    limits: &Limits,
) -> Result<Node, Error> {
    let element = Element::new("value", Vec::new());
    value(&Parser::new(text, start, profile.leniency, limits).content(start, element)?)
}

/// The elements in an element, which may contain only elements and white space.
fn children(node: &Node) -> Result<Vec<&Node>, Error> {
    let element = node.element()?;
    match element.has_text() {
        true => Err(node.syntax("tags and no text between them")),
        false => Ok(element.children().collect()),
    }
}

fn only_child<'n>(node: &'n Node, name: &str) -> Result<&'n Node, Error> {
    match children(node)?[..] {
        [child] if child.name() == name => Ok(child),
        _ => Err(node.syntax("one element of another name")),
    }
}

/// The text of an element, which must contain no elements.
fn characters(node: &Node) -> Result<String, Error> {
    let element = node.element()?;
    match element.children().next() {
        Some(child) => Err(child.syntax("text and no tags within")),
        None => Ok(element.text()),
    }
}

fn value(node: &Node) -> Result<Node, Error> {
    let (start, end) = (node.start, node.end);
    if node.element()?.children().next().is_none() {
        let data = Data::Text(characters(node)?);
        return Ok(Node { start, end, data });
    }
    let [inner] = children(node)?[..] else {
        return Err(node.syntax("one type in a value"));
    };
    let data = match inner.name().strip_prefix("ex:").unwrap_or(inner.name()) {
        "array" => Data::List(items(inner)?),
        "struct" => {
            let members = children(inner)?.into_iter();
            Data::Map(members.map(member).collect::<Result<_, _>>()?)
        }
        "nil" if children(inner)?.is_empty() => Data::Null,
        "string" => Data::Text(characters(inner)?),
        kind @ ("base64" | "boolean" | "dateTime" | "dateTime.iso8601" | "double" | "float"
        | "i1" | "i2" | "i4" | "int" | "i8" | "biginteger" | "bigdecimal") => {
            Data::Element(Element::new(kind, vec![Node::text(characters(inner)?)]))
        }
        _ => return Err(inner.syntax("a type of XML-RPC")),
    };
    Ok(Node { start, end, data })
}

/// `<array><data>`, values and the end tags. An empty array may omit all of these.
fn items(array: &Node) -> Result<Vec<Node>, Error> {
    let items = match children(array)?[..] {
        [] => Vec::new(),
        [data] if data.name() == "data" => children(data)?,
        _ => return Err(array.syntax("one <data>")),
    };
    let items = items.into_iter().map(|item| match item.name() {
        "value" => value(item),
        _ => Err(item.syntax("<value>")),
    });
    items.collect()
}

fn member(node: &Node) -> Result<(Node, Node), Error> {
    match children(node)?[..] {
        [name, inner] if [node, name, inner].map(Node::name) == ["member", "name", "value"] => {
            let (start, end) = (name.start, name.end);
            let data = Data::Text(characters(name)?);
            Ok((Node { start, end, data }, value(inner)?))
        }
        _ => Err(node.syntax("<member> of <name> and <value>")),
    }
}
