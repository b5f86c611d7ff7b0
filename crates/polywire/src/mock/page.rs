//! The last page of a list.
//!
//! A client asks for the next page until an output has no token, or says that no more follow. A
//! canned output that always has a token keeps it asking without end.

use polywire_model::{Model, Paginated, Shape};
use polywire_schema::{Map, NameSource, Schema, Text, Value};

/// Where an output says that another page follows.
pub(super) struct LastPage {
    token: Option<String>,
    /// Whether an output must have the token.
    needs_token: bool,
    more_results: Option<String>,
}

impl LastPage {
    /// The members of an operation with `@paginated`; of other operations there are none.
    pub(super) fn of(
        model: &Model,
        service: Option<&Shape>,
        operation: &Shape,
        output: Schema<'_>,
    ) -> Self {
        let paginated = model.pagination(service, operation);
        let more = |paginated: &Paginated<'_>| model.more_results(operation, paginated);
        let token = paginated.and_then(|paginated| paginated.output_token);
        Self {
            needs_token: token.is_some_and(|token| is_required(output, token)),
            token: token.map(str::to_owned),
            more_results: paginated.as_ref().and_then(more),
        }
    }

    /// Makes an output the last page.
    pub(super) fn end(&self, output: &mut Map) {
        if let Some((structure, token)) = find(output, self.token.as_deref()) {
            match structure.get_mut(token) {
                // Clients take an empty token for none.
                Some(Value::String(text)) if self.needs_token => *text = Text::default(),
                Some(Value::Map(map)) if self.needs_token => *map = Map::new(),
                _ => _ = structure.remove(token),
            }
        }
        if let Some((structure, name)) = find(output, self.more_results.as_deref())
            && let Some(more_results) = structure.get_mut(name)
        {
            *more_results = Value::Boolean(false);
        }
    }
}

/// Whether the member at a path is `@required`.
fn is_required(structure: Schema<'_>, path: &str) -> bool {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let Some(member) = structure.find(NameSource::Member, first.as_bytes()) else {
        return false;
    };
    let member = structure.member(member);
    match rest {
        Some(rest) => is_required(member.target(), rest),
        None => member.is_required(),
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
