//! `@default`: the value must be one that the shape can have.
//!
//! Smithy 2.0, "default trait", "Default value constraints": null takes a default
//! away, lists and maps can only be empty, structures and unions have none. Other
//! values are checked like those of traits, and more closely, since codecs read
//! them: what an enum allows, the range of integers, base64, dates. `@length` and
//! its like come with validation of values in general.

use polywire_text::{Timestamp, base64};

use super::lookup::Lookups;
use super::traits::misfit;
use crate::diagnostic::{Problem, Problems, Severity, did_you_mean, one_of};
use crate::node::{Node, NodeValue, Number};
use crate::shape::{Shape, ShapeType};

pub(super) fn check<'m>(
    shape: &'m Shape,
    owner: &str,
    value: &Node,
    lookups: &mut Lookups<'m>,
    problems: &mut Problems,
) {
    if value.is_null() {
        return;
    }
    let allowed = match shape.shape_type() {
        ShapeType::Enum => value
            .as_str()
            .is_none_or(|text| lookups.of(shape).texts.contains(text)),
        ShapeType::IntEnum => value
            .as_i64()
            .is_none_or(|number| lookups.of(shape).numbers.contains(&number)),
        _ => true,
    };
    let expected = flaw(shape.shape_type(), value);
    if allowed && expected.is_none() {
        return;
    }
    problems.push_with(Severity::Error, |hints| {
        let message = format!("the default of `{owner}` is {}", shown(value));
        let problem = Problem::error("DefaultValue", value.location(), message)
            .related("its shape", shape.location());
        if let Some(expected) = expected {
            return problem.expected(expected);
        }
        let values = shape.members().iter();
        let values: Vec<String> = values
            .filter_map(|member| member.traits().enum_value())
            .map(|value| {
                value
                    .as_str()
                    .map_or_else(|| value.to_json(), str::to_owned)
            })
            .collect();
        let hint = value.as_str().filter(|_| hints);
        problem
            .expected(one_of(values.iter().map(String::as_str)))
            .maybe_hint(hint.and_then(|text| did_you_mean(text, values.iter().map(String::as_str))))
    });
}

/// What was expected, when the shape's type doesn't allow the value.
fn flaw(shape_type: ShapeType, value: &Node) -> Option<&'static str> {
    match (shape_type, value.value()) {
        (ShapeType::Structure, _) => Some("no default, or null: a structure can't have one"),
        (ShapeType::Union, _) => Some("no default, or null: a union can't have one"),
        (ShapeType::List | ShapeType::Document, NodeValue::Array(items)) => {
            (!items.is_empty()).then_some("`[]`")
        }
        (ShapeType::List, _) => Some("`[]`"),
        (ShapeType::Map | ShapeType::Document, NodeValue::Object(object)) => {
            (!object.is_empty()).then_some("`{}`")
        }
        (ShapeType::Map, _) => Some("`{}`"),
        (ShapeType::Blob, NodeValue::String(text)) => {
            base64::decode(text.as_bytes()).is_err().then_some("base64")
        }
        (ShapeType::Timestamp, NodeValue::String(text)) => {
            let is_time = Timestamp::parse_date_time(text).is_ok()
                || Timestamp::parse_http_date(text).is_ok();
            (!is_time).then_some("seconds since 1970, or a time such as \"2026-11-22T00:00:00Z\"")
        }
        // JSON has no numbers for these.
        (ShapeType::Float | ShapeType::Double, NodeValue::String(text))
            if matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity") =>
        {
            None
        }
        (ShapeType::BigDecimal | ShapeType::BigInteger, NodeValue::String(text)) => {
            flaw_of_number(shape_type, &Number::parse(text))
        }
        (_, NodeValue::Number(number)) => {
            misfit(shape_type, value).or_else(|| flaw_of_number(shape_type, &Some(number.clone())))
        }
        _ => misfit(shape_type, value),
    }
}

/// What was expected of a number, or of a text that should be one.
fn flaw_of_number(shape_type: ShapeType, number: &Option<Number>) -> Option<&'static str> {
    let Some(number) = number else {
        return Some("a number");
    };
    let within = |bits: u32| {
        let limit = 1_i128 << (bits - 1);
        number
            .as_i128()
            .is_some_and(|value| (-limit..limit).contains(&value))
    };
    let (fits, expected) = match shape_type {
        ShapeType::Byte => (within(8), "a whole number of 8 bits"),
        ShapeType::Short => (within(16), "a whole number of 16 bits"),
        ShapeType::Integer | ShapeType::IntEnum => (within(32), "a whole number of 32 bits"),
        ShapeType::Long => (within(64), "a whole number of 64 bits"),
        ShapeType::BigInteger => (number.is_whole(), "a whole number"),
        _ => (true, ""),
    };
    (!fits).then_some(expected)
}

/// The value for a message, when it is short.
fn shown(value: &Node) -> String {
    match value.value() {
        NodeValue::Array(_) | NodeValue::Object(_) => value.kind().to_owned(),
        NodeValue::String(text) if text.len() > 60 => "a long string".to_owned(),
        NodeValue::Number(number) if number.to_string().len() > 60 => "a long number".to_owned(),
        _ => format!("`{}`", value.to_json()),
    }
}
