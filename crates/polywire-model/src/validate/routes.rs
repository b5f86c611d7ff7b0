//! Operations of one service must not answer the same requests.
//!
//! Two operations do when method, path, literal query and host prefix agree,
//! whatever their labels are called: no server could tell them apart. Patterns
//! that only overlap, such as `/{a}` and `/b`, are fine: the more literal wins.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Problem, Problems, Severity};
use crate::model::{Model, Relation, neighbors};
use crate::shape::{Shape, ShapeType};
use crate::source::SourceLocation;
use crate::uri::{Segment, UriPattern};

/// How many operations and resources are looked at for all services together.
/// Real models have a few services and some hundred operations; a hostile one
/// can have many thousand of both, each in each.
const MAX_STEPS: usize = 1_000_000;

/// What tells one operation from another.
#[derive(Eq, Hash, PartialEq)]
struct Route<'m> {
    method: &'m str,
    host: String,
    path: Vec<Segment>,
    query: Vec<(String, String)>,
}

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let mut by_route: HashMap<Route<'_>, Vec<&Shape>> = HashMap::new();
    for operation in model.shapes_of(ShapeType::Operation) {
        if let Some(route) = route(operation) {
            by_route.entry(route).or_default().push(operation);
        }
    }
    // Operations that share their route with others, by the number of the route.
    // In most models there are none, and nothing more to do.
    let shared = by_route.into_values().filter(|all| all.len() > 1);
    let shared: HashMap<&str, usize> = shared
        .enumerate()
        .flat_map(|(number, all)| all.into_iter().map(move |o| (o.id().as_str(), number)))
        .collect();
    if shared.is_empty() {
        return;
    }
    let mut steps = 0;
    let mut reported = HashSet::new();
    for service in model.services() {
        let mut firsts: HashMap<usize, &Shape> = HashMap::new();
        for operation in operations(model, service, &mut steps) {
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
                    "the operations `{}` and `{}` of `{}` answer the same requests",
                    first.id(),
                    operation.id(),
                    service.id()
                );
                Problem::error("HttpConflict", uri_location(operation), message)
                    .expected("another method, path or query")
                    .related("the other", uri_location(first))
            });
        }
        if steps > MAX_STEPS {
            let message = "not all operations were searched for equal requests: there are too many";
            problems.push(Problem::warning(
                "HttpConflict",
                service.location(),
                message,
            ));
            return;
        }
    }
}

fn route(operation: &Shape) -> Option<Route<'_>> {
    let http = operation.traits().get("smithy.api#http")?;
    // Malformed patterns are reported for each operation.
    let uri = UriPattern::parse(http.get("uri")?.as_str()?).ok()?;
    let path = uri.segments().iter().map(|segment| match segment {
        Segment::GreedyLabel(_) => Segment::GreedyLabel(String::new()),
        Segment::Label(_) => Segment::Label(String::new()),
        Segment::Literal(text) => Segment::Literal(text.clone()),
    });
    let mut query = uri.query().to_vec();
    // The order of parameters means nothing.
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

/// The operations of a service and of its resources, in the order of the source.
fn operations<'m>(model: &'m Model, service: &'m Shape, steps: &mut usize) -> Vec<&'m Shape> {
    let mut found = Vec::new();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut todo = vec![service];
    while let Some(shape) = todo.pop() {
        if shape.as_operation().is_some() {
            found.push(shape);
            continue;
        }
        let next = neighbors(shape);
        *steps += next.len();
        if *steps > MAX_STEPS {
            return found;
        }
        let start = todo.len();
        todo.extend(
            next.into_iter()
                .filter(|(relation, _)| leads_to_operations(*relation))
                .filter_map(|(_, reference)| model.get(reference))
                .filter(|shape| seen.insert(shape.id().as_str())),
        );
        // What was named first is popped first.
        todo[start..].reverse();
    }
    found
}

fn leads_to_operations(relation: Relation) -> bool {
    matches!(
        relation,
        Relation::CollectionOperation
            | Relation::LifecycleOperation
            | Relation::Operation
            | Relation::Resource
    )
}

fn uri_location(operation: &Shape) -> SourceLocation {
    let http = operation.traits().get("smithy.api#http");
    let uri = http.and_then(|http| http.get("uri"));
    uri.map_or(operation.location(), |uri| uri.location())
}
