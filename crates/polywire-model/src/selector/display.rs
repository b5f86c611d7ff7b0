//! Writes selectors in a canonical form, which parses to the same tree.

use std::fmt;

use polywire_schema::{is_identifier, is_namespace};

use super::syntax::{Assertion, Direction, Operand, Path, Segment, Sequence, Step};
use crate::node::Number;

impl fmt::Display for Sequence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            // `string[trait|x]` has no space. Other steps are separated by spaces.
            let joined = matches!(step, Step::Attribute { .. } | Step::Scoped { .. })
                && matches!(
                    self.steps.get(index.wrapping_sub(1)),
                    Some(Step::Type(_) | Step::Attribute { .. } | Step::Scoped { .. })
                );
            if index > 0 && !joined {
                formatter.write_str(" ")?;
            }
            step.fmt(formatter)?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute { path, comparison } => {
                write!(formatter, "[{path}")?;
                if let Some(comparison) = comparison {
                    write!(formatter, " {} ", comparison.comparator.symbol())?;
                    list(formatter, comparison.values.iter().map(|v| Text(v)))?;
                    formatter.write_str(if comparison.ignores_case { " i" } else { "" })?;
                }
                formatter.write_str("]")
            }
            Self::Function {
                function,
                arguments,
            } => {
                write!(formatter, ":{}(", function.name())?;
                list(formatter, arguments.iter())?;
                formatter.write_str(")")
            }
            Self::Neighbor {
                direction,
                relations,
            } => match (direction, relations.names().is_empty()) {
                (Direction::Forward, true) => formatter.write_str(">"),
                (Direction::Reverse, true) => formatter.write_str("<"),
                (Direction::Forward, false) => {
                    write!(formatter, "-[{}]->", relations.names().join(", "))
                }
                (Direction::Reverse, false) => {
                    write!(formatter, "<-[{}]-", relations.names().join(", "))
                }
            },
            Self::Recursive => formatter.write_str("~>"),
            Self::Scoped { path, assertions } => {
                write!(formatter, "[@{path}: ")?;
                for (index, assertion) in assertions.iter().enumerate() {
                    formatter.write_str(if index > 0 { " && " } else { "" })?;
                    assertion.fmt(formatter)?;
                }
                formatter.write_str("]")
            }
            Self::Type(test) => formatter.write_str(test.name()),
            Self::VariableGet(variable) => write!(formatter, "${{{}}}", variable.name),
            Self::VariableSet(variable, selector) => {
                write!(formatter, "${}({selector})", variable.name)
            }
        }
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} ", self.left, self.comparator.symbol())?;
        list(formatter, self.right.iter())?;
        formatter.write_str(if self.ignores_case { " i" } else { "" })
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context(path) => write!(formatter, "@{{{path}}}"),
            Self::Literal(text) => Text(text).fmt(formatter),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            formatter.write_str(if index > 0 { "|" } else { "" })?;
            match segment {
                Segment::Function(name) => write!(formatter, "({name})")?,
                Segment::Name { text, .. } => Text(text).fmt(formatter)?,
            }
        }
        Ok(())
    }
}

/// A value: without quotes if it is a name, a shape id or a number. No value contains both kinds of
/// quotes, because there are no escapes.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0;
        let is_bare = match text.split_once('#') {
            Some((namespace, name)) => is_namespace(namespace) && is_identifier(name),
            None => is_namespace(text) || Number::parse(text).is_some(),
        };
        match (is_bare, text.contains('\'')) {
            (true, _) => formatter.write_str(text),
            (false, true) => write!(formatter, "\"{text}\""),
            (false, false) => write!(formatter, "'{text}'"),
        }
    }
}

fn list(
    formatter: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = impl fmt::Display>,
) -> fmt::Result {
    for (index, item) in items.enumerate() {
        formatter.write_str(if index > 0 { ", " } else { "" })?;
        item.fmt(formatter)?;
    }
    Ok(())
}
