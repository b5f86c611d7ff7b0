//! Writing of filters as JSON.

use polywire_text::number;

use super::Filter;
use crate::json::{Object, push_hex, push_string};

/// Appends compact JSON.
pub(super) fn push_json(filter: &Filter, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    if let Some(ids) = filter.ids() {
        object.list("ids", ids, |out, id| push_hex(out, id.as_bytes()));
    }
    if let Some(authors) = filter.authors() {
        object.list("authors", authors, |out, author| {
            push_hex(out, author.as_bytes());
        });
    }
    if let Some(kinds) = filter.kinds() {
        object.list("kinds", kinds, |out, kind| {
            number::push_u64(out, u64::from(*kind));
        });
    }
    for tag in filter.tags() {
        object.list(tag.letter.member(&mut [0; 2]), &tag.values, |out, value| {
            push_string(out, value);
        });
    }
    if let Some(since) = filter.since() {
        object.number("since", since);
    }
    if let Some(until) = filter.until() {
        object.number("until", until);
    }
    if let Some(limit) = filter.limit() {
        object.number("limit", limit);
    }
    if let Some(search) = filter.search() {
        object.string("search", search);
    }
    object.end();
}
