//! Parses a form into a tree. Each segment of a key is an element, which contains the values of the
//! fields whose key ends with the segment.

use polywire_schema::{Error, ErrorKind};
use polywire_text::percent::Plus;
use polywire_text::reference::percent;

use crate::reference::node::{Data, Element, Node, error};

/// The tree of a form, without the fields that belong to the protocol.
pub(super) fn parse(form: &str, own: &[&str]) -> Result<Node, Error> {
    let mut root = Element::default();
    let mut seen = Vec::new();
    let mut end = 0;
    for field in form.split('&') {
        let start = end;
        end += field.len() + 1;
        if field.is_empty() {
            continue;
        }
        let (key, value) = field.split_once('=').unwrap_or((field, ""));
        let decoded = |text| percent::decoded_text(text, Plus::Space);
        let (Ok(key), Ok(value)) = (decoded(key), decoded(value)) else {
            return Err(error(ErrorKind::Syntax, start, "percent-encoded UTF-8"));
        };
        if own.contains(&&*key) {
            if seen.contains(&key) {
                return Err(error(ErrorKind::Duplicate, start, "each key once"));
            }
            seen.push(key);
            continue;
        }
        let mut element = &mut root;
        for segment in key.split('.') {
            element = child(element, segment, start);
        }
        element.content.push(Node::text(value));
    }
    Ok(Data::Element(root).into())
}

/// The child with this name, which is added if it is missing.
fn child<'e>(element: &'e mut Element, name: &str, start: usize) -> &'e mut Element {
    let is = |node: &Node| matches!(&node.data, Data::Element(child) if child.name == name);
    let place = element.content.iter().position(is);
    let place = place.unwrap_or_else(|| {
        let data = Data::Element(Element::new(name, Vec::new()));
        let end = start;
        element.content.push(Node { start, end, data });
        element.content.len() - 1
    });
    match &mut element.content[place].data {
        Data::Element(child) => child,
        _ => unreachable!("it was found as an element"),
    }
}
