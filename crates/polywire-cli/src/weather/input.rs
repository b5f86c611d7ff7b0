//! Accessors for inputs.
//!
//! The server has already checked that required members are present, that members have the correct
//! type, and that values satisfy the constraints of the model.

use polywire::prelude::*;

/// Returns a text member. Empty if it is absent, which required members never are.
pub(super) fn text<'i>(input: &'i Map, member: &str) -> &'i str {
    optional_text(input, member).unwrap_or_default()
}

/// Returns an optional text member.
pub(super) fn optional_text<'i>(input: &'i Map, member: &str) -> Option<&'i str> {
    input.get(member)?.as_str()
}

/// Returns an optional integer member.
pub(super) fn optional_integer(input: &Map, member: &str) -> Option<i64> {
    input.get(member)?.as_i64()
}

/// Returns a count, or the default if it is absent.
pub(super) fn count_or(input: &Map, member: &str, default: usize) -> usize {
    let count = optional_integer(input, member);
    count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(default)
}

/// Returns an optional timestamp.
pub(super) fn optional_timestamp(input: &Map, member: &str) -> Option<Timestamp> {
    // Timestamps in XML-RPC have no time zone. This service interprets them as UTC.
    let timestamp = input.get(member)?.as_timestamp()?;
    Some(timestamp.with_unzoned(false))
}

/// Returns the items of a list member. Empty if it is absent.
pub(super) fn items<'i>(input: &'i Map, member: &str) -> &'i [Value] {
    input
        .get(member)
        .and_then(Value::as_list)
        .unwrap_or_default()
}

/// Returns the strings of a list member. Empty if it is absent.
pub(super) fn texts<'i>(input: &'i Map, member: &str) -> impl Iterator<Item = &'i str> {
    items(input, member).iter().filter_map(Value::as_str)
}
