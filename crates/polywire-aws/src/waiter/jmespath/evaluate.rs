//! Searches. Results are borrowed from the input where possible; copies are counted, because selections can double a
//! value with each step.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::{Map, Value};

use super::{Comparison, Function, MAX_COPIES, Node, SearchError};

static NULL: Value = Value::Null;

pub(super) fn search<'v>(node: &'v Node, value: &'v Value) -> Result<Cow<'v, Value>, SearchError> {
    let search = Search {
        copies: Cell::new(MAX_COPIES),
    };
    search.evaluate(node, value)
}

struct Search {
    /// The values that may still be copied.
    copies: Cell<usize>,
}

impl Search {
    fn evaluate<'v>(
        &self,
        node: &'v Node,
        value: &'v Value,
    ) -> Result<Cow<'v, Value>, SearchError> {
        let null = Cow::Borrowed(&NULL);
        Ok(match node {
            Node::And(left, right) => {
                let left = self.evaluate(left, value)?;
                match is_true(&left) {
                    true => self.evaluate(right, value)?,
                    false => left,
                }
            }
            Node::Call(function, arguments) => self.call(*function, arguments, value)?,
            Node::Compare(comparison, left, right) => {
                let (left, right) = (self.evaluate(left, value)?, self.evaluate(right, value)?);
                compare(*comparison, &left, &right).map_or(null, |found| owned(found.into()))
            }
            Node::Current => Cow::Borrowed(value),
            Node::Field(name) => Cow::Borrowed(value.get(name).unwrap_or(&NULL)),
            Node::FilterProjection(parts) => {
                let [left, condition, right] = &**parts;
                let left = self.evaluate(left, value)?;
                self.project(&left, Some(condition), right)?
            }
            Node::Flatten(left) => match &*self.evaluate(left, value)? {
                Value::Array(items) => owned(self.flatten(items)?),
                _ => null,
            },
            Node::Index(index) => match value {
                Value::Array(items) => {
                    position(*index, items.len()).map_or(null, |index| Cow::Borrowed(&items[index]))
                }
                _ => null,
            },
            Node::ListProjection(left, right) => {
                let left = self.evaluate(left, value)?;
                self.project(&left, None, right)?
            }
            Node::Literal(value) => Cow::Borrowed(value),
            // Selections of null are null.
            Node::MultiHash(_) | Node::MultiList(_) if value.is_null() => null,
            Node::MultiHash(members) => {
                let mut object = Map::new();
                for (name, node) in members {
                    object.insert(name.clone(), self.copy(self.evaluate(node, value)?)?);
                }
                owned(Value::Object(object))
            }
            Node::MultiList(items) => {
                let mut array = Vec::with_capacity(items.len());
                for node in items {
                    array.push(self.copy(self.evaluate(node, value)?)?);
                }
                owned(Value::Array(array))
            }
            Node::Not(inner) => {
                let inner = self.evaluate(inner, value)?;
                owned((!is_true(&inner)).into())
            }
            Node::ObjectProjection(left, right) => match &*self.evaluate(left, value)? {
                Value::Object(members) => {
                    let mut array = Vec::new();
                    for item in members.values() {
                        self.push(&mut array, self.evaluate(right, item)?)?;
                    }
                    owned(Value::Array(array))
                }
                _ => null,
            },
            Node::Or(left, right) => {
                let left = self.evaluate(left, value)?;
                match is_true(&left) {
                    true => left,
                    false => self.evaluate(right, value)?,
                }
            }
            Node::Slice(start, stop, step) => match value {
                Value::Array(items) => owned(self.slice(items, *start, *stop, *step)?),
                _ => null,
            },
            Node::Sub(left, right) => match self.evaluate(left, value)? {
                Cow::Borrowed(left) => self.evaluate(right, left)?,
                Cow::Owned(left) => owned(self.copy(self.evaluate(right, &left)?)?),
            },
        })
    }

    /// Applies `right` to the items of an array that fulfil the condition, and keeps the results that are not null.
    fn project<'v>(
        &self,
        left: &Value,
        condition: Option<&Node>,
        right: &Node,
    ) -> Result<Cow<'v, Value>, SearchError> {
        let Value::Array(items) = left else {
            return Ok(Cow::Borrowed(&NULL));
        };
        let mut array = Vec::new();
        for item in items {
            if let Some(condition) = condition {
                let found = self.evaluate(condition, item)?;
                if !is_true(&found) {
                    continue;
                }
            }
            self.push(&mut array, self.evaluate(right, item)?)?;
        }
        Ok(owned(Value::Array(array)))
    }

    fn push(&self, array: &mut Vec<Value>, item: Cow<'_, Value>) -> Result<(), SearchError> {
        if !item.is_null() {
            array.push(self.copy(item)?);
        }
        Ok(())
    }

    fn flatten(&self, items: &[Value]) -> Result<Value, SearchError> {
        let mut flat = Vec::new();
        for item in items {
            match item {
                Value::Array(inner) => {
                    for item in inner {
                        flat.push(self.copy(Cow::Borrowed(item))?);
                    }
                }
                other => flat.push(self.copy(Cow::Borrowed(other))?),
            }
        }
        Ok(Value::Array(flat))
    }

    fn slice(
        &self,
        items: &[Value],
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    ) -> Result<Value, SearchError> {
        if step == 0 {
            return Err(SearchError::SliceStep);
        }
        let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
        // Positions before the first and after the last item that a slice can have.
        let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let bound = |part: Option<i64>, absent: i64| match part {
            None => absent,
            Some(part) if part < 0 => part.saturating_add(len).clamp(low, high),
            Some(part) => part.clamp(low, high),
        };
        let (first, last) = if step > 0 { (0, len) } else { (len - 1, -1) };
        let (mut at, stop) = (bound(start, first), bound(stop, last));
        let mut found = Vec::new();
        while (step > 0 && at < stop) || (step < 0 && at > stop) {
            if let Some(item) = usize::try_from(at).ok().and_then(|index| items.get(index)) {
                found.push(self.copy(Cow::Borrowed(item))?);
            }
            at = at.saturating_add(step);
        }
        Ok(Value::Array(found))
    }

    fn call<'v>(
        &self,
        function: Function,
        arguments: &'v [Node],
        value: &'v Value,
    ) -> Result<Cow<'v, Value>, SearchError> {
        let wrong = || SearchError::ArgumentType {
            function: function.name(),
        };
        let mut found = Vec::with_capacity(arguments.len());
        for argument in arguments {
            found.push(self.evaluate(argument, value)?);
        }
        if function == Function::NotNull {
            let first = found.into_iter().find(|argument| !argument.is_null());
            return Ok(first.unwrap_or(Cow::Borrowed(&NULL)));
        }
        if let (Function::ToArray, Some(Value::Array(_))) = (function, found.first().map(|a| &**a))
        {
            return Ok(found.swap_remove(0));
        }
        // The parser has checked the number of arguments.
        let first = found.first().map_or(&NULL, |argument| &**argument);
        let second = found.get(1).map_or(&NULL, |argument| &**argument);
        Ok(owned(match (function, first, second) {
            (Function::Contains, Value::Array(items), item) => {
                items.iter().any(|known| equal(known, item)).into()
            }
            (Function::Contains, Value::String(text), part) => {
                part.as_str().is_some_and(|part| text.contains(part)).into()
            }
            (Function::EndsWith, Value::String(text), Value::String(end)) => {
                text.ends_with(&**end).into()
            }
            (Function::StartsWith, Value::String(text), Value::String(start)) => {
                text.starts_with(&**start).into()
            }
            (Function::Join, Value::String(glue), Value::Array(items)) => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                let texts = texts.ok_or_else(wrong)?;
                // The glue repeats, so its length counts for each item.
                self.charge(glue.len().saturating_mul(texts.len()))?;
                texts.join(glue).into()
            }
            (Function::Keys, Value::Object(members), _) => members.keys().cloned().collect(),
            (Function::Values, Value::Object(members), _) => {
                let mut array = Vec::with_capacity(members.len());
                for item in members.values() {
                    array.push(self.copy(Cow::Borrowed(item))?);
                }
                array.into()
            }
            (Function::Length, Value::Array(items), _) => items.len().into(),
            (Function::Length, Value::Object(members), _) => members.len().into(),
            (Function::Length, Value::String(text), _) => text.chars().count().into(),
            (Function::ToArray, other, _) => vec![self.copy(Cow::Borrowed(other))?].into(),
            (Function::ToString, Value::String(text), _) => text.clone().into(),
            (Function::ToString, other, _) => other.to_string().into(),
            (Function::Type, other, _) => match other {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            }
            .into(),
            _ => return Err(wrong()),
        }))
    }

    /// The value itself; a borrowed one is copied and counted.
    fn copy(&self, value: Cow<'_, Value>) -> Result<Value, SearchError> {
        match value {
            Cow::Owned(value) => {
                self.charge(1)?;
                Ok(value)
            }
            Cow::Borrowed(value) => {
                self.charge(size(value))?;
                Ok(value.clone())
            }
        }
    }

    fn charge(&self, amount: usize) -> Result<(), SearchError> {
        let left = self.copies.get().checked_sub(amount);
        self.copies.set(left.ok_or(SearchError::TooLarge)?);
        Ok(())
    }
}

fn owned<'v>(value: Value) -> Cow<'v, Value> {
    Cow::Owned(value)
}

/// The number of values, where 64 bytes of a text count as one more.
fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<usize>() + members.len(),
        Value::String(text) => 1 + text.len() / 64,
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

/// Everything is true but null, `false`, and empty texts, arrays and objects.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// The index of an item; negative ones count from the end.
fn position(index: i64, len: usize) -> Option<usize> {
    let index = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
    };
    (index < len).then_some(index)
}

/// `None` for orders of values that are not numbers.
fn compare(comparison: Comparison, left: &Value, right: &Value) -> Option<bool> {
    match comparison {
        Comparison::Equal => return Some(equal(left, right)),
        Comparison::NotEqual => return Some(!equal(left, right)),
        _ => {}
    }
    let (left, right) = (left.as_f64()?, right.as_f64()?);
    Some(match comparison {
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
        Comparison::Less => left < right,
        _ => left <= right,
    })
}

/// Equality of JSON, in which `1` and `1.0` are the same number.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.as_f64().is_some() && left.as_f64() == right.as_f64())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        (left, right) => left == right,
    }
}
