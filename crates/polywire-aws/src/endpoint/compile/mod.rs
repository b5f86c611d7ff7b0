//! Compiles the JSON form of rule sets.
//!
//! [`expression`] resolves names and checks types, [`template`] splits template strings, and [`rule`] has rules and
//! endpoints. This module has what is around them: version, parameters and scopes.
//!
//! The specification requires that a condition with `isSet` comes before uses of values that may be absent. Not all
//! published rule sets do that in conditions, so a condition may use such a value, and does not match if it is
//! absent. In the results of rule trees it is an error. Results of decision diagrams cannot be checked, because
//! conditions have no order there.

mod expression;
mod rule;
mod template;

use serde_json::Value as Json;

use super::diagram::Diagram;
use super::document::Node;
use super::program::{Body, Slot};
use super::value::Type;
use super::{Argument, Parameter, ParameterType, RuleSet, RuleSetError};

/// Rules in rules, functions in functions and arrays in arrays: the deepest published rule sets have 20 levels.
const MAX_DEPTH: usize = 64;
/// Parameters and variables: published rule sets have up to 60. Names are looked up in lists.
const MAX_SLOTS: usize = 1024;

/// Reads JSON text; an error has the path `$` and the line.
pub(super) fn parse(text: &str) -> Result<Json, RuleSetError> {
    serde_json::from_str(text).map_err(|error| RuleSetError::new("$", format!("not JSON: {error}")))
}

pub(super) fn tree(document: &Json) -> Result<RuleSet, RuleSetError> {
    let root = Node::root(document);
    let mut compiler = Compiler::new(&root, 0, true)?;
    let rules = compiler.rules(&root.member("rules")?, 0)?;
    compiler.finish(Body::Tree(rules))
}

pub(super) fn diagram(document: &Json) -> Result<RuleSet, RuleSetError> {
    let root = Node::root(document);
    let mut compiler = Compiler::new(&root, 1, false)?;
    let mut conditions = Vec::new();
    for node in root.member("conditions")?.items()? {
        conditions.push(compiler.condition(&node)?);
    }
    let mut results = Vec::new();
    for node in root.member("results")?.items()? {
        results.push(compiler.result(&node)?);
    }
    let diagram = Diagram::read(&root, conditions.into(), results.into())?;
    compiler.finish(Body::Diagram(diagram))
}

/// A parameter or a variable in scope.
struct Binding<'j> {
    name: &'j str,
    slot: Slot,
    kind: Type,
    /// Whether it may be absent here.
    optional: bool,
}

struct Compiler<'j> {
    parameters: Vec<Parameter>,
    /// The names and types of all slots. Variables of the same name and type in different rules share a slot: the
    /// scopes make sure that no rule reads the value of another.
    slots: Vec<(&'j str, Type)>,
    scope: Vec<Binding<'j>>,
    /// Whether results that may use absent values are errors.
    strict: bool,
}

impl<'j> Compiler<'j> {
    fn new(root: &Node<'j, '_>, minor_version: u32, strict: bool) -> Result<Self, RuleSetError> {
        check_version(&root.member("version")?, minor_version)?;
        let mut compiler = Self {
            parameters: Vec::new(),
            slots: Vec::new(),
            scope: Vec::new(),
            strict,
        };
        for (name, node) in root.member("parameters")?.members()? {
            let parameter = parameter(name, &node)?;
            let kind = match parameter.kind {
                ParameterType::Boolean => Type::Boolean,
                ParameterType::String => Type::Text,
                ParameterType::StringArray => Type::Texts,
            };
            let optional = !parameter.required && parameter.default.is_none();
            compiler.bind(&node, name, kind, optional)?;
            compiler.parameters.push(parameter);
        }
        Ok(compiler)
    }

    /// Adds a parameter or variable to the scope.
    fn bind(
        &mut self,
        node: &Node<'_, '_>,
        name: &'j str,
        kind: Type,
        optional: bool,
    ) -> Result<Slot, RuleSetError> {
        let known = self.slots.iter().position(|slot| *slot == (name, kind));
        let slot = known.unwrap_or_else(|| {
            self.slots.push((name, kind));
            self.slots.len() - 1
        });
        if slot >= MAX_SLOTS {
            return Err(node.error(format!("more than {MAX_SLOTS} parameters and variables")));
        }
        let slot = slot as Slot;
        self.scope.push(Binding {
            name,
            slot,
            kind,
            optional,
        });
        Ok(slot)
    }

    fn find(&self, name: &str) -> Option<&Binding<'j>> {
        self.scope.iter().rev().find(|known| known.name == name)
    }

    fn finish(self, body: Body) -> Result<RuleSet, RuleSetError> {
        Ok(RuleSet {
            parameters: self.parameters.into(),
            slots: self.slots.len(),
            body,
        })
    }
}

/// `1.x`, with x at least `minor`.
fn check_version(node: &Node<'_, '_>, minor: u32) -> Result<(), RuleSetError> {
    let version = node.text()?;
    let found = version
        .strip_prefix("1.")
        .and_then(|rest| rest.parse::<u32>().ok());
    if found.is_some_and(|found| found >= minor) {
        return Ok(());
    }
    Err(node.error(format!(
        "version `{version}` is not supported, expected 1.x from 1.{minor}"
    )))
}

fn parameter(name: &str, node: &Node<'_, '_>) -> Result<Parameter, RuleSetError> {
    let kind = node.member("type")?;
    // Version 1.0 was published with names in either case.
    let kind = match kind.text()? {
        text if text.eq_ignore_ascii_case("boolean") => ParameterType::Boolean,
        text if text.eq_ignore_ascii_case("string") => ParameterType::String,
        text if text.eq_ignore_ascii_case("stringArray") => ParameterType::StringArray,
        _ => return Err(kind.error("expected `boolean`, `string` or `stringArray`")),
    };
    let text = |key: &str| match node.optional(key)? {
        Some(found) => Ok(Some(Box::from(found.text()?))),
        None => Ok(None),
    };
    let required = match node.optional("required")? {
        Some(found) => found.boolean()?,
        None => false,
    };
    let default = match node.optional("default")? {
        Some(found) => Some(argument(kind, &found)?),
        None => None,
    };
    if default.is_some() && !required {
        return Err(node.error("a parameter with a default must be required"));
    }
    Ok(Parameter {
        name: name.into(),
        kind,
        built_in: text("builtIn")?,
        required,
        default,
        documentation: text("documentation")?,
        deprecated: node.optional("deprecated")?.is_some(),
    })
}

fn argument(kind: ParameterType, node: &Node<'_, '_>) -> Result<Argument<'static>, RuleSetError> {
    Ok(match kind {
        ParameterType::Boolean => node.boolean()?.into(),
        ParameterType::String => node.text()?.to_owned().into(),
        ParameterType::StringArray => {
            let items: Result<Vec<String>, _> = node
                .items()?
                .map(|item| item.text().map(str::to_owned))
                .collect();
            items?.into()
        }
    })
}
