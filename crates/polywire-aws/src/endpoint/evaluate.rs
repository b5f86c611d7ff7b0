//! Evaluates compiled rule sets.
//!
//! Rule sets have no loops, so an evaluation ends. Texts are bounded by [`MAX_TEXT`], because templates of templates
//! can double a text with each condition. Values that are absent follow these rules:
//!
//! - a condition that is absent or `false` does not match;
//! - `stringEquals` and `booleanEquals` of an absent value are `false`;
//! - other functions of an absent value are absent;
//! - templates with an absent value are absent, and in a result they are an error.

use std::borrow::Cow;

use super::function::{
    Arn, Url, is_host_label, is_virtual_hostable_bucket, split, substring, uri_encode,
};
use super::program::{
    Body, Condition, EndpointTemplate, Expression, Function, Outcome, Part, PropertyTemplate, Rule,
};
use super::value::Value;
use super::{Endpoint, MAX_TEXT, Partitions, Property, ResolveError};

/// Evaluates `body`. `slots` has the parameters, and absent values for the variables.
pub(super) fn resolve<'a>(
    body: &'a Body,
    slots: Vec<Value<'a>>,
    partitions: &'a Partitions,
) -> Result<Endpoint, ResolveError> {
    let mut evaluation = Evaluation { slots, partitions };
    let outcome = match body {
        Body::Diagram(diagram) => diagram.walk(|condition| evaluation.test(condition))?,
        Body::Tree(rules) => evaluation.select(rules)?,
    };
    match outcome {
        None | Some(Outcome::Tree(_)) => Err(ResolveError::NoMatch),
        Some(Outcome::Endpoint(template)) => evaluation.endpoint(template),
        Some(Outcome::Error(message)) => Err(ResolveError::Rejected {
            message: evaluation.result_text(message)?,
        }),
    }
}

struct Evaluation<'a> {
    slots: Vec<Value<'a>>,
    partitions: &'a Partitions,
}

impl<'a> Evaluation<'a> {
    /// The endpoint or error whose conditions match. A tree rule that matches is final, even if none of its rules
    /// match.
    fn select(&mut self, mut rules: &'a [Rule]) -> Result<Option<&'a Outcome>, ResolveError> {
        'level: loop {
            for rule in rules {
                if self.matches(&rule.conditions)? {
                    match &rule.outcome {
                        Outcome::Tree(inner) => {
                            rules = inner;
                            continue 'level;
                        }
                        outcome => return Ok(Some(outcome)),
                    }
                }
            }
            return Ok(None);
        }
    }

    fn matches(&mut self, conditions: &'a [Condition]) -> Result<bool, ResolveError> {
        for condition in conditions {
            if !self.test(condition)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn test(&mut self, condition: &'a Condition) -> Result<bool, ResolveError> {
        if let (Expression::Call(function, arguments), None) = (&condition.test, condition.assign)
            && function.is_predicate()
        {
            return Ok(self.predicate(*function, arguments)? == Some(true));
        }
        let value = self.value(&condition.test)?;
        let is_match = value.is_match();
        if let Some(slot) = condition.assign {
            self.slots[usize::from(slot)] = value;
        }
        Ok(is_match)
    }

    fn value(&self, expression: &'a Expression) -> Result<Value<'a>, ResolveError> {
        Ok(match expression {
            Expression::Boolean(value) => Value::Boolean(*value),
            Expression::Call(function, arguments) => self.call(*function, arguments)?,
            Expression::GetAttribute(of, key, index) => {
                let value = match (&**of, key) {
                    // Without cloning the whole value.
                    (Expression::Slot(slot), Some(key)) => {
                        self.slots[usize::from(*slot)].attribute(*key)
                    }
                    (_, Some(key)) => self.value(of)?.attribute(*key),
                    (_, None) => self.value(of)?,
                };
                match index {
                    Some(index) => value.item(*index),
                    None => value,
                }
            }
            Expression::Integer(value) => Value::Integer(*value),
            Expression::Slot(slot) => self.slots[usize::from(*slot)].clone(),
            Expression::Template(parts) => match self.template(parts)? {
                Some(text) => Value::Text(Cow::Owned(text)),
                None => Value::Absent,
            },
            Expression::Text(text) => Value::Text(Cow::Borrowed(text)),
            Expression::Texts(items) => {
                let mut texts = Vec::with_capacity(items.len());
                for item in items {
                    match self.value(item)?.into_text() {
                        Some(text) => texts.push(text),
                        None => return Ok(Value::Absent),
                    }
                }
                Value::Texts(texts.into())
            }
        })
    }

    /// The text of an expression, borrowed from the slots if it is there.
    fn text<'s>(
        &'s self,
        expression: &'a Expression,
    ) -> Result<Option<Cow<'s, str>>, ResolveError> {
        Ok(match expression {
            Expression::Slot(slot) => match &self.slots[usize::from(*slot)] {
                Value::Text(text) => Some(Cow::Borrowed(text)),
                _ => None,
            },
            Expression::Text(text) => Some(Cow::Borrowed(text)),
            Expression::GetAttribute(of, Some(key), None) => match &**of {
                Expression::Slot(slot) => self.slots[usize::from(*slot)]
                    .attribute_text(*key)
                    .map(Cow::Borrowed),
                _ => self.value(expression)?.into_text(),
            },
            _ => self.value(expression)?.into_text(),
        })
    }

    fn template(&self, parts: &'a [Part]) -> Result<Option<String>, ResolveError> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Value(value) => match self.text(value)? {
                    Some(part) => text.push_str(&part),
                    None => return Ok(None),
                },
            }
            if text.len() > MAX_TEXT {
                return Err(ResolveError::TooLong);
            }
        }
        Ok(Some(text))
    }

    fn boolean(&self, expression: &'a Expression) -> Result<Option<bool>, ResolveError> {
        match expression {
            Expression::Boolean(value) => Ok(Some(*value)),
            Expression::Slot(slot) => Ok(self.slots[usize::from(*slot)].boolean()),
            Expression::Call(function, arguments) if function.is_predicate() => {
                self.predicate(*function, arguments)
            }
            _ => Ok(self.value(expression)?.boolean()),
        }
    }

    /// The functions whose result is a boolean, which are most of a rule set. `None` is an absent result.
    fn predicate(
        &self,
        function: Function,
        arguments: &'a [Expression],
    ) -> Result<Option<bool>, ResolveError> {
        Ok(match (function, arguments) {
            (Function::BooleanEquals, [left, right]) => {
                let (left, right) = (self.boolean(left)?, self.boolean(right)?);
                Some(left.is_some() && left == right)
            }
            (Function::IsSet, [Expression::Slot(slot)]) => {
                Some(!matches!(self.slots[usize::from(*slot)], Value::Absent))
            }
            (Function::IsSet, [value]) => Some(!matches!(self.value(value)?, Value::Absent)),
            (Function::IsValidHostLabel, [text, allow_dots]) => {
                self.check_host(text, allow_dots, is_host_label)?
            }
            (Function::IsVirtualHostableS3Bucket, [text, allow_dots]) => {
                self.check_host(text, allow_dots, is_virtual_hostable_bucket)?
            }
            (Function::Not, [value]) => self.boolean(value)?.map(|value| !value),
            (Function::StringEquals, [left, right]) => {
                let (left, right) = (self.text(left)?, self.text(right)?);
                Some(left.is_some() && left == right)
            }
            _ => None,
        })
    }

    /// The number and the types of the arguments were checked by the compiler.
    fn call(
        &self,
        function: Function,
        arguments: &'a [Expression],
    ) -> Result<Value<'a>, ResolveError> {
        let result = match (function, arguments) {
            (Function::Coalesce, _) => {
                let mut found = None;
                for argument in arguments {
                    let value = self.value(argument)?;
                    if !matches!(value, Value::Absent) {
                        found = Some(value);
                        break;
                    }
                }
                found
            }
            (Function::Ite, [condition, yes, no]) => match self.boolean(condition)? {
                Some(true) => Some(self.value(yes)?),
                Some(false) => Some(self.value(no)?),
                None => None,
            },
            (Function::ParseArn, [text]) => self
                .value(text)?
                .into_text()
                .and_then(|text| Arn::parse(&text))
                .map(|arn| Value::Arn(arn.into())),
            (Function::ParseUrl, [text]) => self
                .value(text)?
                .into_text()
                .and_then(|text| Url::parse(&text))
                .map(|url| Value::Url(url.into())),
            (Function::Partition, [region]) => self
                .text(region)?
                .and_then(|region| self.partitions.find(&region))
                .map(Value::Partition),
            (Function::Split, [text, delimiter, limit]) => {
                let text = self.value(text)?.into_text();
                let limit = self.value(limit)?.integer();
                match (text, self.text(delimiter)?, limit) {
                    (Some(text), Some(delimiter), Some(limit)) => {
                        split(&text, &delimiter, limit).map(Value::Texts)
                    }
                    _ => None,
                }
            }
            (Function::Substring, [text, start, end, reverse]) => {
                let text = self.value(text)?.into_text();
                let start = self.value(start)?.integer();
                let end = self.value(end)?.integer();
                match (text, start, end, self.boolean(reverse)?) {
                    (Some(text), Some(start), Some(end), Some(reverse)) => {
                        substring(&text, start, end, reverse).map(Value::Text)
                    }
                    _ => None,
                }
            }
            (Function::UriEncode, [text]) => match self.value(text)?.into_text() {
                // The encoded text can be three times as long.
                Some(text) if text.len() > MAX_TEXT => return Err(ResolveError::TooLong),
                Some(text) => Some(Value::Text(uri_encode(text))),
                None => None,
            },
            _ => self.predicate(function, arguments)?.map(Value::Boolean),
        };
        Ok(result.unwrap_or(Value::Absent))
    }

    fn check_host(
        &self,
        text: &'a Expression,
        allow_dots: &'a Expression,
        check: fn(&str, bool) -> bool,
    ) -> Result<Option<bool>, ResolveError> {
        Ok(match (self.text(text)?, self.boolean(allow_dots)?) {
            (Some(text), Some(allow_dots)) => Some(check(&text, allow_dots)),
            _ => None,
        })
    }

    fn endpoint(&self, template: &'a EndpointTemplate) -> Result<Endpoint, ResolveError> {
        let mut headers = Vec::with_capacity(template.headers.len());
        for (name, values) in &template.headers {
            let values: Result<Vec<String>, _> =
                values.iter().map(|value| self.result_text(value)).collect();
            headers.push((name.to_string(), values?));
        }
        Ok(Endpoint {
            url: self.result_text(&template.url)?,
            headers,
            properties: self.record(&template.properties)?,
        })
    }

    fn record(
        &self,
        members: &'a [(Box<str>, PropertyTemplate)],
    ) -> Result<Vec<(String, Property)>, ResolveError> {
        let member = |(name, value): &'a (Box<str>, PropertyTemplate)| {
            Ok((name.to_string(), self.property(value)?))
        };
        members.iter().map(member).collect()
    }

    fn property(&self, template: &'a PropertyTemplate) -> Result<Property, ResolveError> {
        Ok(match template {
            PropertyTemplate::Array(items) => {
                let items: Result<Vec<_>, _> =
                    items.iter().map(|item| self.property(item)).collect();
                Property::Array(items?)
            }
            PropertyTemplate::Boolean(value) => Property::Boolean(*value),
            PropertyTemplate::Integer(value) => Property::Integer(*value),
            PropertyTemplate::Record(members) => Property::Record(self.record(members)?),
            PropertyTemplate::Text(text) => Property::String(self.result_text(text)?),
        })
    }

    /// A text of a result, where an absent value is an error.
    fn result_text(&self, expression: &'a Expression) -> Result<String, ResolveError> {
        let text = match expression {
            Expression::Template(parts) => self.template(parts)?,
            _ => self.text(expression)?.map(Cow::into_owned),
        };
        text.ok_or(ResolveError::Absent)
    }
}
