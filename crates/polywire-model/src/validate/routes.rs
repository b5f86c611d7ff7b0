//! Operations of one service must not match the same requests.
//!
//! Two operations match the same requests if method, path, literal query and host prefix are equal,
//! without the names of labels. Patterns that only overlap, such as `/{a}` and `/b`, are allowed:
//! the more literal one wins.

use std::collections::{HashMap, HashSet};

use super::index::Index;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Shape, ShapeType};
use crate::source::SourceLocation;
use crate::uri::{Segment, UriPattern};

/// The key by which requests are routed.
#[derive(Eq, Hash, PartialEq)]
struct Route<'m> {
    method: &'m str,
    host: String,
    path: Vec<Segment>,
    query: Vec<(String, String)>,
}

pub(super) fn check(index: &Index<'_>, problems: &mut Problems) {
    let mut by_route: HashMap<Route<'_>, Vec<&Shape>> = HashMap::new();
    for operation in index.model.shapes_of(ShapeType::Operation) {
        if let Some(route) = route(operation) {
            by_route.entry(route).or_default().push(operation);
        }
    }
    // Operations that share their route with others, by the number of the route. Most models have
    // none.
    let shared = by_route.into_values().filter(|all| all.len() > 1);
    let shared: HashMap<&str, usize> = shared
        .enumerate()
        .flat_map(|(number, all)| all.into_iter().map(move |o| (o.id().as_str(), number)))
        .collect();
    if shared.is_empty() {
        return;
    }
    let mut reported = HashSet::new();
    for contents in &index.services {
        let mut firsts: HashMap<usize, &Shape> = HashMap::new();
        for &operation in &contents.operations {
            let Some(number) = shared.get(operation.id().as_str()) else {
                continue;
            };
            let first = *firsts.entry(*number).or_insert(operation);
            // Two services may have the same two operations.
            if std::ptr::eq(first, operation) || !reported.insert((first.id(), operation.id())) {
                continue;
            }
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "the operations `{}` and `{}` of `{}` match the same requests",
                    first.id(),
                    operation.id(),
                    contents.service.id()
                );
                Problem::error(rules::HTTP_URI_CONFLICT, uri_location(operation), message)
                    .about(operation.id())
                    .expected("another method, path or query")
                    .related("the other", uri_location(first))
            });
        }
    }
}

fn route(operation: &Shape) -> Option<Route<'_>> {
    let http = operation.traits().get(ids::HTTP)?;
    // Invalid patterns are reported for each operation.
    let uri = UriPattern::parse(http.get("uri")?.as_str()?).ok()?;
    // A slash at the end is ignored.
    let path = match uri.segments() {
        [path @ .., Segment::Literal(last)] if last.is_empty() => path,
        path => path,
    };
    let path = path.iter().map(|segment| match segment {
        Segment::GreedyLabel(_) => Segment::GreedyLabel(String::new()),
        Segment::Label(_) => Segment::Label(String::new()),
        Segment::Literal(text) => Segment::Literal(text.clone()),
    });
    let mut query = uri.query().to_vec();
    // The order of parameters is ignored.
    query.sort_unstable();
    Some(Route {
        method: http.get("method")?.as_str()?,
        host: without_names(
            operation
                .traits()
                .endpoint_host_prefix()
                .unwrap_or_default(),
        ),
        path: path.collect(),
        query,
    })
}

/// `{a}-b.` as `{}-b.`
fn without_names(host: &str) -> String {
    let mut within = false;
    let mut kept = String::with_capacity(host.len());
    for c in host.chars() {
        within &= c != '}';
        if !within {
            kept.push(c);
        }
        within |= c == '{';
    }
    kept
}

fn uri_location(operation: &Shape) -> SourceLocation {
    let http = operation.traits().get(ids::HTTP);
    let uri = http.and_then(|http| http.get("uri"));
    uri.map_or(operation.location(), |uri| uri.location())
}
