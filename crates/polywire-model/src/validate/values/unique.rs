//! `@uniqueItems`: finds the first duplicate item.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::node::{Node, NodeValue};

/// Up to this many items are compared in pairs.
const FEW: usize = 8;

/// Two equal items, in the order of the list.
pub(super) fn repeated(items: &[Node]) -> Option<(&Node, &Node)> {
    if items.len() <= FEW {
        let mut pairs = items.iter().enumerate();
        return pairs.find_map(|(at, item)| {
            let first = items[..at].iter().find(|earlier| *earlier == item)?;
            Some((first, item))
        });
    }
    let mut seen: HashMap<String, &Node> = HashMap::with_capacity(items.len());
    for item in items {
        let mut key = String::new();
        write_key(item, &mut key);
        if let Some(first) = seen.insert(key, item) {
            return Some((first, item));
        }
    }
    None
}

/// Writes a text that is the same for equal nodes: keys are sorted, and numbers are written by
/// value.
fn write_key(node: &Node, key: &mut String) {
    match node.value() {
        NodeValue::Array(items) => {
            key.push('[');
            for item in items {
                write_key(item, key);
                key.push(',');
            }
            key.push(']');
        }
        NodeValue::Object(object) => {
            let mut entries: Vec<(&str, &Node)> = object.iter().collect();
            entries.sort_unstable_by_key(|(name, _)| *name);
            key.push('{');
            for (name, value) in entries {
                // Writing to a string cannot fail.
                let _ = write!(key, "{name:?}:");
                write_key(value, key);
                key.push(',');
            }
            key.push('}');
        }
        NodeValue::Number(number) => match number.as_i64() {
            Some(value) => {
                let _ = write!(key, "{value}");
            }
            None => {
                let _ = write!(key, "{}", number.canonical());
            }
        },
        _ => key.push_str(&node.to_json()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_items_however_they_are_written() {
        let items = |text: &str| Node::parse_json(text).unwrap();
        let found = |text: &str| {
            let node = items(text);
            repeated(node.as_array().unwrap()).map(|(first, _)| first.to_json())
        };
        assert_eq!(found("[1, 2, 1.0]").as_deref(), Some("1"));
        assert_eq!(found("[1, 2, \"1\", null, true, {}, [], 3, 4, 5]"), None);
        let long = "[1, 2, 3, 4, 5, 6, 7, 8, 0.10, {\"a\": 1, \"b\": [2]}, 9, X]";
        let with = |item: &str| found(&long.replace('X', item));
        assert_eq!(
            with("{\"b\": [2.0], \"a\": 1}").as_deref(),
            Some("{\"a\":1,\"b\":[2]}")
        );
        assert_eq!(with("1e-1").as_deref(), Some("0.10"));
        assert_eq!(with("10"), None);
    }
}
