//! Helpers for JSON objects without absent entries.

use polywire_model::{Node, Object, Traits};

use super::documentation;

/// An object of these entries, without those that are absent.
pub(super) fn object<const N: usize>(entries: [(&str, Option<Node>); N]) -> Object {
    let mut object = Object::new();
    push_all(&mut object, entries);
    object
}

/// Adds the entries that are present. The object must not have these keys.
pub(super) fn push_all<const N: usize>(object: &mut Object, entries: [(&str, Option<Node>); N]) {
    for (key, value) in entries {
        if let Some(value) = value {
            object.push(key, value);
        }
    }
}

/// `true` if something holds, else absent.
pub(super) fn flag(holds: bool) -> Option<Node> {
    holds.then(|| Node::from(true))
}

/// A list of texts.
pub(super) fn texts(texts: impl IntoIterator<Item = impl Into<String>>) -> Node {
    let nodes = texts.into_iter().map(|text| Node::from(text.into()));
    nodes.collect::<Vec<Node>>().into()
}

/// `@documentation` as HTML.
pub(super) fn documented(traits: &Traits) -> Option<Node> {
    let text = traits.documentation()?;
    Some(documentation::html(text).into())
}

/// Sets `deprecated` and related entries.
pub(super) fn push_deprecation(object: &mut Object, traits: &Traits) {
    let Some(deprecated) = traits.deprecated() else {
        return;
    };
    object.push("deprecated", true);
    if let Some(message) = deprecated.message {
        object.push("deprecatedMessage", message);
    }
    if let Some(since) = deprecated.since {
        object.push("deprecatedSince", since);
    }
}
