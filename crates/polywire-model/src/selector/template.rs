//! Templates of messages: text with `@{path}`, which is replaced by an attribute of a shape or a
//! variable. `@@` is an `@`.

use super::error::SelectorError;
use super::graph::Node;
use super::parse_attributes::context;
use super::scanner::Scanner;
use super::syntax::Path;
use super::value::{Scope, Value};

#[derive(Clone, Debug)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Value(Path),
}

/// The maximum length of a message, in bytes: a path can have all shapes of a model.
const MAX_MESSAGE: usize = 4_000;

impl Template {
    pub(crate) fn parse(text: &str) -> Result<Self, SelectorError> {
        let mut scanner = Scanner::new(text);
        let mut parts = Vec::new();
        while let Some(length) = scanner.rest().find('@') {
            let mut literal = scanner.rest()[..length].to_owned();
            scanner.at += length;
            if scanner.take("@@") {
                literal.push('@');
                parts.push(Part::Text(literal));
                continue;
            }
            if !scanner.rest().starts_with("@{") {
                return Err(scanner.unexpected("`@{` and a path, or `@@` for the letter"));
            }
            parts.push(Part::Text(literal));
            parts.push(Part::Value(context(&mut scanner, None)?));
        }
        parts.push(Part::Text(scanner.rest().to_owned()));
        Ok(Self { parts })
    }

    /// The message for a shape.
    pub(crate) fn fill(&self, scope: Scope<'_, '_>, node: Node) -> String {
        let mut message = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => message.push_str(text),
                Part::Value(path) => {
                    let value = scope.follow(Value::Shape(node), path);
                    message.push_str(&value.message(scope.graph));
                }
            }
            if message.len() > MAX_MESSAGE {
                let mut end = MAX_MESSAGE;
                while !message.is_char_boundary(end) {
                    end -= 1;
                }
                message.truncate(end);
                message.push_str("...");
                break;
            }
        }
        message
    }
}
