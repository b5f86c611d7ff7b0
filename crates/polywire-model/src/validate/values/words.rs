//! Descriptions of paths and values, for messages.

use std::fmt;

use super::{Step, Subject};
use crate::node::{Node, NodeValue};

/// The maximum number of characters of a value in a message.
const SHOWN: usize = 60;

/// The description of a path in a value: `/min` in the value of the trait `length`.
pub(super) struct ValuePath<'a, 'm> {
    subject: Subject<'a>,
    path: &'a [Step<'m>],
    at_key: bool,
}

impl<'a, 'm> ValuePath<'a, 'm> {
    pub(super) fn of(subject: Subject<'a>, path: &'a [Step<'m>], at_key: bool) -> Self {
        Self {
            subject,
            path,
            at_key,
        }
    }
}

impl fmt::Display for ValuePath<'_, '_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.at_key {
            formatter.write_str("a key of ")?;
        }
        if !self.path.is_empty() {
            formatter.write_str("`")?;
            for step in self.path {
                match step {
                    Step::Index(index) => write!(formatter, "/{index}")?,
                    Step::Key(key) => {
                        formatter.write_str("/")?;
                        formatter.write_str(beginning(key))?;
                    }
                }
            }
            formatter.write_str("` in ")?;
        }
        write!(formatter, "{} `{}`", self.subject.what, self.subject.id)
    }
}

/// A value for a message, if it is short, else its type.
pub(in crate::validate) fn shown(node: &Node) -> String {
    match node.value() {
        NodeValue::Null | NodeValue::Array(_) | NodeValue::Object(_) => node.kind().to_owned(),
        NodeValue::String(text) if text.len() > SHOWN => "a long string".to_owned(),
        NodeValue::Number(number) if number.written().is_some_and(|text| text.len() > SHOWN) => {
            "a long number".to_owned()
        }
        _ => format!("`{}`", node.to_json()),
    }
}

/// The first characters of a text, because names can be long.
pub(in crate::validate) fn beginning(text: &str) -> &str {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}
