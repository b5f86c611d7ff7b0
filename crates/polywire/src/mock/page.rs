//! The last page of a list.
//!
//! A client asks for the next page until an output has no token, or says that no more follow. A
//! canned output that always has a token keeps it asking without end.

use polywire_model::{Model, Paginated, Shape};
use polywire_schema::{Map, Value};

/// Where an output says that another page follows.
pub(super) struct LastPage {
    token: Option<String>,
    more_results: Option<String>,
}

impl LastPage {
    /// The members of an operation with `@paginated`; of other operations there are none.
    pub(super) fn of(model: &Model, service: Option<&Shape>, operation: &Shape) -> Self {
        let paginated = model.pagination(service, operation);
        let more = |paginated: &Paginated<'_>| model.more_results(operation, paginated);
        Self {
            token: paginated.and_then(|paginated| paginated.output_token.map(str::to_owned)),
            more_results: paginated.as_ref().and_then(more),
        }
    }

    /// Makes an output the last page.
    pub(super) fn end(&self, output: &mut Map) {
        if let Some((structure, token)) = find(output, self.token.as_deref()) {
            structure.remove(token);
        }
        if let Some((structure, name)) = find(output, self.more_results.as_deref())
            && let Some(more_results) = structure.get_mut(name)
        {
            *more_results = Value::Boolean(false);
        }
    }
}

/// The structure that has the member at a path, and the name of the member.
fn find<'a, 'p>(output: &'a mut Map, path: Option<&'p str>) -> Option<(&'a mut Map, &'p str)> {
    let path = path?;
    let Some((first, rest)) = path.split_once('.') else {
        return Some((output, path));
    };
    match output.get_mut(first)? {
        Value::Map(inner) => find(inner, Some(rest)),
        _ => None,
    }
}
