//! The type of node for each type of shape, and the ranges of integers.

use polywire_text::Timestamp;

use crate::node::{Node, NodeValue, Number};
use crate::shape::ShapeType;
use crate::traits::TimestampFormat;

/// What was expected, if a value has the wrong type for a shape. Members, items and constraints are
/// checked elsewhere.
pub(super) fn mismatch(
    shape_type: ShapeType,
    format: Option<TimestampFormat>,
    node: &Node,
) -> Option<&'static str> {
    use ShapeType as T;
    let value = node.value();
    let (fits, expected) = match shape_type {
        T::Document => (true, ""),
        T::Structure | T::Union | T::Map => (matches!(value, NodeValue::Object(_)), "an object"),
        T::List => (matches!(value, NodeValue::Array(_)), "an array"),
        T::Boolean => (matches!(value, NodeValue::Bool(_)), "`true` or `false`"),
        T::String | T::Enum | T::Blob => (matches!(value, NodeValue::String(_)), "a string"),
        T::Byte => return integer(value, 8, "an integer from -128 to 127"),
        T::Short => return integer(value, 16, "an integer from -32768 to 32767"),
        T::Integer | T::IntEnum => return integer(value, 32, "an integer of 32 bits"),
        T::Long => return integer(value, 64, "an integer of 64 bits"),
        T::BigInteger => return integer(value, 0, "an integer"),
        // JSON has no numbers for these values.
        T::Float | T::Double => match value {
            NodeValue::Number(_) => (true, ""),
            NodeValue::String(text) => (
                matches!(text.as_str(), "NaN" | "Infinity" | "-Infinity"),
                "a number, \"NaN\", \"Infinity\" or \"-Infinity\"",
            ),
            _ => (false, "a number"),
        },
        T::BigDecimal => (matches!(value, NodeValue::Number(_)), "a number"),
        T::Timestamp => return timestamp(value, format),
        T::Operation | T::Resource | T::Service => (false, "no value: the shape has no data"),
    };
    (!fits).then_some(expected)
}

/// An integer must be written without a fraction and an exponent, although `1.0` has the same
/// value.
fn integer(value: &NodeValue, bits: u32, expected: &'static str) -> Option<&'static str> {
    let NodeValue::Number(number) = value else {
        return Some("a number");
    };
    let fits = match bits {
        0 => true,
        64 => number.as_i64().is_some(),
        _ => number.as_i64().is_some_and(|value| {
            let limit = 1_i64 << (bits - 1);
            (-limit..limit).contains(&value)
        }),
    };
    (!fits || !is_plain(number)).then_some(expected)
}

/// Whether a number is written as an integer is.
pub(in crate::validate) fn is_plain(number: &Number) -> bool {
    number
        .written()
        .is_none_or(|text| !text.contains(['.', 'e', 'E']))
}

/// Without a format, both seconds and date-time are accepted.
fn timestamp(value: &NodeValue, format: Option<TimestampFormat>) -> Option<&'static str> {
    use TimestampFormat as F;
    let is_date_time = |text: &str| Timestamp::parse_date_time(text).is_ok() && text.ends_with('Z');
    let (fits, expected) = match (format, value) {
        (None | Some(F::EpochSeconds), NodeValue::Number(_)) => (true, ""),
        (None | Some(F::DateTime), NodeValue::String(text)) if is_date_time(text) => (true, ""),
        (None, _) => (
            false,
            "seconds since 1970, or a time such as \"2026-11-22T00:00:00Z\"",
        ),
        (Some(F::DateTime), _) => (false, "a time such as \"2026-11-22T00:00:00Z\""),
        (Some(F::EpochSeconds), _) => (false, "a number: seconds since 1970"),
        (Some(F::HttpDate), NodeValue::String(text)) if text.ends_with("GMT") => (
            Timestamp::parse_http_date(text).is_ok(),
            "a time such as \"Sun, 22 Nov 2026 00:00:00 GMT\"",
        ),
        (Some(F::HttpDate), _) => (false, "a time such as \"Sun, 22 Nov 2026 00:00:00 GMT\""),
    };
    (!fits).then_some(expected)
}
