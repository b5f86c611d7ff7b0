//! References and functions, with their types.

use super::{Compiler, MAX_DEPTH, Node};
use crate::endpoint::RuleSetError;
use crate::endpoint::program::{Expression, Function, Key};
use crate::endpoint::value::Type;

/// An expression with its type.
pub(super) struct Typed {
    pub(super) expression: Expression,
    pub(super) kind: Type,
    /// Whether the value may be absent.
    pub(super) optional: bool,
}

impl Typed {
    fn present(expression: Expression, kind: Type) -> Self {
        Self {
            expression,
            kind,
            optional: false,
        }
    }
}

impl<'j> Compiler<'j> {
    /// An argument of a function: a literal, a template, a reference or a function.
    pub(super) fn expression(
        &self,
        node: &Node<'j, '_>,
        depth: usize,
    ) -> Result<Typed, RuleSetError> {
        check_depth(node, depth)?;
        match node.value {
            serde_json::Value::Bool(value) => {
                Ok(Typed::present(Expression::Boolean(*value), Type::Boolean))
            }
            serde_json::Value::Number(_) => {
                let value = node.integer()?;
                Ok(Typed::present(Expression::Integer(value), Type::Integer))
            }
            serde_json::Value::String(_) => self.template(node),
            serde_json::Value::Array(_) => {
                let mut items = Vec::new();
                let mut optional = false;
                for item in node.items()? {
                    let item = self.typed(&item, Type::Text, depth + 1)?;
                    optional |= item.optional;
                    items.push(item.expression);
                }
                Ok(Typed {
                    expression: Expression::Texts(items.into()),
                    kind: Type::Texts,
                    optional,
                })
            }
            serde_json::Value::Object(_) => match node.optional("ref")? {
                Some(name) => self.reference(&name, name.text()?),
                None => self.call(node, depth),
            },
            serde_json::Value::Null => {
                Err(node.error("expected a literal, a reference or a function"))
            }
        }
    }

    /// An expression of the type `kind`.
    pub(super) fn typed(
        &self,
        node: &Node<'j, '_>,
        kind: Type,
        depth: usize,
    ) -> Result<Typed, RuleSetError> {
        let found = self.expression(node, depth)?;
        if found.kind != kind {
            return Err(node.error(format!(
                "the type is {}, expected {}",
                found.kind.name(),
                kind.name()
            )));
        }
        Ok(found)
    }

    /// A text of a result. In a tree it must not be absent.
    pub(super) fn result_text(&self, node: &Node<'j, '_>) -> Result<Expression, RuleSetError> {
        let found = self.typed(node, Type::Text, 0)?;
        if self.strict && found.optional {
            return Err(
                node.error("the value may be absent here; a condition must check it with `isSet`")
            );
        }
        Ok(found.expression)
    }

    pub(super) fn reference(&self, node: &Node<'_, '_>, name: &str) -> Result<Typed, RuleSetError> {
        let found = self.find(name).ok_or_else(|| {
            node.error(format!(
                "there is no parameter or variable `{name}` in scope"
            ))
        })?;
        Ok(Typed {
            expression: Expression::Slot(found.slot),
            kind: found.kind,
            optional: found.optional,
        })
    }

    /// A function object, which conditions are too.
    pub(super) fn call(&self, node: &Node<'j, '_>, depth: usize) -> Result<Typed, RuleSetError> {
        check_depth(node, depth)?;
        let name = node.member("fn")?;
        let arguments = node.member("argv")?;
        if name.text()? == "getAttr" {
            return self.get_attribute(&arguments, depth);
        }
        let function = Function::from_name(name.text()?)
            .ok_or_else(|| name.error(format!("there is no function `{}`", name.value)))?;
        match (function, function.signature()) {
            (_, Some((kinds, result, optional))) => {
                check_count(&arguments, kinds.len(), kinds.len())?;
                let mut list = Vec::with_capacity(kinds.len());
                let mut optional = optional;
                for (argument, kind) in arguments.items()?.zip(kinds) {
                    let argument = self.typed(&argument, *kind, depth + 1)?;
                    optional |= argument.optional && !function.is_equality();
                    list.push(argument.expression);
                }
                Ok(Typed {
                    expression: Expression::Call(function, list.into()),
                    kind: result,
                    optional,
                })
            }
            (Function::IsSet, None) => {
                check_count(&arguments, 1, 1)?;
                let list: Result<Vec<_>, _> = arguments
                    .items()?
                    .map(|argument| Ok(self.expression(&argument, depth + 1)?.expression))
                    .collect();
                let call = Expression::Call(function, list?.into());
                Ok(Typed::present(call, Type::Boolean))
            }
            (_, None) => self.choice(function, &arguments, depth),
        }
    }

    /// `coalesce` and `ite`, whose arguments have any type, but all the same.
    fn choice(
        &self,
        function: Function,
        arguments: &Node<'j, '_>,
        depth: usize,
    ) -> Result<Typed, RuleSetError> {
        let is_ite = function == Function::Ite;
        match is_ite {
            true => check_count(arguments, 3, 3)?,
            false => check_count(arguments, 2, usize::MAX)?,
        }
        let mut list = Vec::new();
        let mut kind = None;
        let (mut any_optional, mut all_optional) = (false, true);
        for (index, argument) in arguments.items()?.enumerate() {
            if is_ite && index == 0 {
                let condition = self.typed(&argument, Type::Boolean, depth + 1)?;
                any_optional |= condition.optional;
                list.push(condition.expression);
                continue;
            }
            let found = self.expression(&argument, depth + 1)?;
            if *kind.get_or_insert(found.kind) != found.kind {
                return Err(argument.error(format!(
                    "the type is {}, but the arguments before have another",
                    found.kind.name()
                )));
            }
            any_optional |= found.optional;
            all_optional &= found.optional;
            list.push(found.expression);
        }
        Ok(Typed {
            expression: Expression::Call(function, list.into()),
            // The number of arguments was checked, so there is one.
            kind: kind.unwrap_or(Type::Text),
            optional: if is_ite { any_optional } else { all_optional },
        })
    }

    fn get_attribute(&self, arguments: &Node<'j, '_>, depth: usize) -> Result<Typed, RuleSetError> {
        check_count(arguments, 2, 2)?;
        let mut items = arguments.items()?;
        let (Some(value), Some(path)) = (items.next(), items.next()) else {
            return Err(arguments.error("expected 2 arguments"));
        };
        let of = self.expression(&value, depth + 1)?;
        self.attribute(&path, of, path.text()?)
    }

    /// The attribute of `of` at `path`: a key, an index, or both, as no attribute has attributes.
    pub(super) fn attribute(
        &self,
        node: &Node<'_, '_>,
        of: Typed,
        path: &str,
    ) -> Result<Typed, RuleSetError> {
        let (name, index) = match path.split_once('[') {
            None => (path, None),
            Some((name, rest)) => {
                let digits = rest
                    .strip_suffix(']')
                    .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
                let index = digits.and_then(|digits| digits.parse().ok());
                let index = index.ok_or_else(|| {
                    node.error(format!("`{path}` must end with an index such as `[0]`"))
                })?;
                (name, Some(index))
            }
        };
        let (mut kind, mut key, mut optional) = (of.kind, None, of.optional);
        if !name.is_empty() || index.is_none() {
            let found = Key::from_name(kind, name).ok_or_else(|| {
                node.error(format!(
                    "values of the type {} have no attribute `{name}`",
                    kind.name()
                ))
            })?;
            (key, kind) = (Some(found.0), found.1);
        }
        if index.is_some() {
            if kind != Type::Texts {
                return Err(node.error(format!("values of the type {} have no items", kind.name())));
            }
            (kind, optional) = (Type::Text, true);
        }
        Ok(Typed {
            expression: Expression::GetAttribute(Box::new(of.expression), key, index),
            kind,
            optional,
        })
    }
}

pub(super) fn check_depth(node: &Node<'_, '_>, depth: usize) -> Result<(), RuleSetError> {
    if depth > MAX_DEPTH {
        return Err(node.error(format!("nested deeper than {MAX_DEPTH} levels")));
    }
    Ok(())
}

fn check_count(node: &Node<'_, '_>, least: usize, most: usize) -> Result<(), RuleSetError> {
    let found = node.items()?.len();
    if (least..=most).contains(&found) {
        return Ok(());
    }
    let or_more = if most == usize::MAX { " or more" } else { "" };
    Err(node.error(format!("{found} arguments, expected {least}{or_more}")))
}
