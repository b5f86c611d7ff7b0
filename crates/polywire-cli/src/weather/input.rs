//! Reading inputs.
//!
//! The server has seen to it that required members are there, that every member
//! has its type, and that all values keep the constraints of the model.

use polywire::prelude::*;

/// A text member; empty if it is absent, which a required one never is.
pub(super) fn text<'i>(input: &'i Map, member: &str) -> &'i str {
    optional_text(input, member).unwrap_or_default()
}

/// A text member, if it is there.
pub(super) fn optional_text<'i>(input: &'i Map, member: &str) -> Option<&'i str> {
    input.get(member)?.as_str()
}

/// An integer member, if it is there.
pub(super) fn optional_integer(input: &Map, member: &str) -> Option<i64> {
    input.get(member)?.as_i64()
}

/// A count, or the default if it is absent.
pub(super) fn count_or(input: &Map, member: &str, default: usize) -> usize {
    let count = optional_integer(input, member);
    count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(default)
}

/// An instant, if it is there.
pub(super) fn optional_timestamp(input: &Map, member: &str) -> Option<Timestamp> {
    // Over XML-RPC instants come without a zone; here they all are in UTC.
    let timestamp = input.get(member)?.as_timestamp()?;
    Some(timestamp.with_unzoned(false))
}

/// The items of a list member; none if it is absent.
pub(super) fn items<'i>(input: &'i Map, member: &str) -> &'i [Value] {
    input
        .get(member)
        .and_then(Value::as_list)
        .unwrap_or_default()
}

/// The strings of a list member; none if it is absent.
pub(super) fn texts<'i>(input: &'i Map, member: &str) -> impl Iterator<Item = &'i str> {
    items(input, member).iter().filter_map(Value::as_str)
}
