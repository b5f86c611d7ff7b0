//! The metadata about validation: validators of the model, and suppressions.

mod suppressions;
mod validators;

pub(super) use self::suppressions::{member_at, policy_of};
pub(super) use self::validators::check;

use crate::diagnostic::{Problem, Problems};
use crate::node::Node;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::spelling::did_you_mean;

/// The objects in the array of a metadata key. Other values violate `rule`.
fn objects<'m>(
    rule: &'static Rule,
    key: &str,
    node: &'m Node,
    problems: &mut Problems,
) -> Vec<&'m Node> {
    let Some(items) = node.as_array() else {
        let message = format!("the metadata `{key}` is {}", node.kind());
        problems.push(Problem::error(rule, node.location(), message).expected("an array"));
        return Vec::new();
    };
    let mut objects = Vec::new();
    for item in items {
        if item.as_object().is_some() {
            objects.push(item);
        } else if !problems.is_full() {
            let message = format!("an entry of the metadata `{key}` is {}", item.kind());
            problems.push(Problem::error(rule, item.location(), message).expected("an object"));
        }
    }
    objects
}

/// The text under a key of an object.
fn text<'m>(
    rule: &'static Rule,
    object: &'m Node,
    key: &str,
    is_required: bool,
    problems: &mut Problems,
) -> Option<&'m str> {
    match object.get(key) {
        None if is_required => {
            let message = format!("`{key}` is missing");
            problems.push(
                Problem::error(rule, object.location(), message).expected(format!("`{key}`")),
            );
            None
        }
        None => None,
        Some(node) => {
            if node.as_str().is_none() {
                let message = format!("`{key}` is {}", node.kind());
                problems.push(Problem::error(rule, node.location(), message).expected("a string"));
            }
            node.as_str()
        }
    }
}

/// Reports unknown keys.
fn check_keys(rule: &'static Rule, object: &Node, known: &[&str], problems: &mut Problems) {
    let entries = object
        .as_object()
        .map_or(&[][..], |object| object.entries());
    for entry in entries.iter().filter(|e| !known.contains(&e.key.as_str())) {
        problems.push_with(Severity::Warning, |hints| {
            let hint = hints.then(|| did_you_mean(&entry.key, known.iter().copied()));
            let shown: String = entry.key.chars().take(60).collect();
            let message = format!("the key `{shown}` is unknown");
            Problem::warning(rule, entry.key_location, message).maybe_hint(hint.flatten())
        });
    }
}
