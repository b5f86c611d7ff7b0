//! Rules about services: bindings, protocols, authentication.

use std::collections::{HashMap, HashSet};

use super::index::{Bound, Contents, Index};
use super::values::beginning;
use super::{listed, report_incomplete};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Shape, ShapeType};
use crate::traits::AppliedTrait;

/// The maximum number of names in `@auth`, and of pairs of a member and a resource, that are
/// visited for all services together.
const MAX_STEPS: usize = 1_000_000;

pub(super) fn check(index: &Index<'_>, problems: &mut Problems) {
    if let Some(service) = index.incomplete_at {
        report_incomplete("not all operations were searched for", service, problems);
    }
    let mut steps = 0;
    let mut without_http = HashSet::new();
    for contents in &index.services {
        if problems.is_full() {
            return;
        }
        check_bound_once(contents, problems);
        check_bindings_missing(index.model, contents, &mut without_http, problems);
        check_auth(index.model, contents, &mut steps, problems);
        check_better_bound(index.model, contents, &mut steps, problems);
        check_event_stream_http(contents.service, problems);
    }
}

/// The protocols of a service: the traits, and the values of `@protocolDefinition`.
pub(super) fn protocols<'m>(
    model: &'m Model,
    service: &'m Shape,
) -> impl Iterator<Item = (&'m AppliedTrait, &'m Node)> {
    defined_with(model, service, ids::PROTOCOL_DEFINITION)
}

fn defined_with<'m>(
    model: &'m Model,
    service: &'m Shape,
    id: &'static str,
) -> impl Iterator<Item = (&'m AppliedTrait, &'m Node)> {
    service.traits().iter().filter_map(move |applied| {
        let definition = model.get(applied.id())?;
        Some((applied, definition.traits().get(id)?))
    })
}

/// Operations and resources are bound once in a service.
fn check_bound_once(contents: &Contents<'_>, problems: &mut Problems) {
    let mut firsts: HashMap<&str, Bound<'_>> = HashMap::with_capacity(contents.bindings.len());
    let mut reported: HashSet<(&str, &str)> = HashSet::new();
    for bound in &contents.bindings {
        let first = *firsts.entry(bound.shape.id().as_str()).or_insert(*bound);
        // Duplicates in one list, and several lifecycle operations of one resource, are allowed.
        if std::ptr::eq(first.by, bound.by) || !reported.insert((bound.shape.id(), bound.by.id())) {
            continue;
        }
        let (rule, what) = match bound.shape.shape_type() {
            ShapeType::Operation => (rules::SINGLE_OPERATION_BINDING, "operation"),
            _ => (rules::SINGLE_RESOURCE_BINDING, "resource"),
        };
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "the {what} `{}` is bound to both `{}` and `{}` in `{}`",
                bound.shape.id(),
                first.by.id(),
                bound.by.id(),
                contents.service.id()
            );
            Problem::error(rule, bound.location, message)
                .about(bound.shape.id())
                .expected(format!("each {what} once in a service"))
                .related("the other binding", first.location)
        });
    }
}

/// If one operation has `@http`, or a protocol requires it, all must have it.
fn check_bindings_missing<'m>(
    model: &'m Model,
    contents: &Contents<'m>,
    reported: &mut HashSet<(&'m str, Severity)>,
    problems: &mut Problems,
) {
    let lacks_http = |operation: &&&Shape| !operation.traits().has(ids::HTTP);
    let missing: Vec<_> = contents.operations.iter().filter(lacks_http).collect();
    if missing.is_empty() {
        return;
    }
    let service = contents.service;
    let protocol = protocols(model, service).find(|(_, definition)| {
        let traits = definition.get("traits").and_then(Node::as_array);
        let mut traits = traits.unwrap_or_default().iter();
        traits.any(|id| id.as_str() == Some(ids::HTTP))
    });
    let severity = match protocol {
        Some(_) => Severity::Error,
        None if missing.len() == contents.operations.len() => return,
        None => Severity::Warning,
    };
    for operation in missing {
        // Many services may have the same operation.
        if !reported.insert((operation.id().as_str(), severity)) {
            continue;
        }
        problems.push_with(severity, |_| {
            let message = format!("`{}` has no @http", operation.id());
            let problem =
                Problem::error(rules::HTTP_BINDINGS_MISSING, operation.location(), message)
                    .about(operation.id());
            let mut problem = match protocol {
                Some((applied, _)) => problem
                    .expected(format!("@http, which `{}` requires", applied.id()))
                    .related("the protocol", applied.location()),
                None => problem
                    .expected(format!(
                        "@http, which other operations of `{}` have",
                        service.id()
                    ))
                    .related("the service", service.location()),
            };
            problem.severity = severity;
            problem
        });
    }
}

fn check_auth(model: &Model, contents: &Contents<'_>, steps: &mut usize, problems: &mut Problems) {
    let service = contents.service;
    let schemes = defined_with(model, service, ids::AUTH_DEFINITION);
    let schemes: HashSet<&str> = schemes.map(|(applied, _)| applied.id().as_str()).collect();
    let own = service.traits().find(ids::AUTH);
    if own.is_none() && schemes.len() > 1 {
        problems.push_with(Severity::Warning, |_| {
            let mut names: Vec<&str> = schemes.iter().copied().collect();
            names.sort_unstable();
            let message = format!(
                "`{}` has several authentication schemes without an order",
                service.id()
            );
            Problem::warning(rules::SERVICE_AUTH_DEFINITIONS, service.location(), message)
                .about(service.id())
                .expected(format!("@auth with {}", listed(names.into_iter())))
                .hint("without it, the order is alphabetical")
        });
    }
    for shape in [service].iter().chain(&contents.operations) {
        let Some(applied) = shape.traits().find(ids::AUTH) else {
            continue;
        };
        let named = applied.value().as_array().unwrap_or_default();
        *steps += named.len();
        if *steps > MAX_STEPS {
            return;
        }
        for node in named {
            let Some(id) = node.as_str().filter(|id| !schemes.contains(id)) else {
                continue;
            };
            // Other shapes are reported as wrong values of the trait.
            let named = model.get(id).map(Shape::traits);
            if named.is_some_and(|traits| !traits.has(ids::AUTH_DEFINITION)) {
                continue;
            }
            problems.push_with(Severity::Danger, |_| {
                let message = format!(
                    "`{}` authenticates with `{}`, which `{}` does not have",
                    shape.id(),
                    beginning(id),
                    service.id()
                );
                Problem::danger(rules::AUTH_TRAIT, node.location(), message)
                    .about(shape.id())
                    .expected("a trait of the service")
                    .related("the service", service.location())
            });
        }
    }
}

/// Operations that are bound to the service, but have an identifier of one of its resources.
fn check_better_bound(
    model: &Model,
    contents: &Contents<'_>,
    steps: &mut usize,
    problems: &mut Problems,
) {
    if contents.resources.is_empty() {
        return;
    }
    let mut by_identifier: HashMap<(&str, &str), Vec<&Shape>> = HashMap::new();
    for &resource in &contents.resources {
        let identifiers = resource.as_resource().map(|r| r.identifiers());
        for (name, target) in identifiers.unwrap_or_default() {
            let key = (name.as_str(), target.as_str());
            by_identifier.entry(key).or_default().push(resource);
        }
    }
    let direct = contents.bindings.iter();
    let direct = direct.filter(|bound| std::ptr::eq(bound.by, contents.service));
    let mut seen: HashSet<&str> = HashSet::new();
    for bound in direct {
        let Some(operation) = bound.shape.as_operation() else {
            continue;
        };
        if !seen.insert(bound.shape.id().as_str()) {
            continue;
        }
        let mut found: Vec<&str> = Vec::new();
        for structure in [operation.input(), operation.output()] {
            for member in model.get(structure).map(Shape::members).unwrap_or_default() {
                let key = (member.name(), member.target().as_str());
                let Some(resources) = by_identifier.get(&key) else {
                    continue;
                };
                if member.traits().is_required() {
                    found.extend(resources.iter().map(|resource| resource.id().as_str()));
                }
                *steps += resources.len();
                if *steps > MAX_STEPS {
                    return;
                }
            }
        }
        if found.is_empty() {
            continue;
        }
        found.sort_unstable();
        found.dedup();
        problems.push_with(Severity::Warning, |_| {
            let (service, operation) = (contents.service.id(), bound.shape.id().name());
            let rule =
                rules::SERVICE_BOUND_RESOURCE_OPERATION.of(format_args!("{service}.{operation}"));
            let message = format!(
                "`{}` has the identifier of a resource, but is bound to `{}` itself",
                bound.shape.id(),
                contents.service.id()
            );
            Problem::warning(rule, bound.location, message)
                .about(bound.shape.id())
                .expected(format!("an operation of {}", listed(found.into_iter())))
                .related("the operation", bound.shape.location())
        });
    }
}

/// RPC v2: the versions of HTTP for event streams must be in `http`.
fn check_event_stream_http(service: &Shape, problems: &mut Problems) {
    for applied in service.traits().iter() {
        let rule = match applied.id().as_str() {
            ids::RPC_V2_CBOR => rules::RPCV2_CBOR_TRAIT,
            ids::RPC_V2_JSON => rules::RPCV2_JSON_TRAIT,
            _ => continue,
        };
        let list = |key| applied.value().get(key).and_then(Node::as_array);
        let offered = list("http").unwrap_or_default();
        for version in list("eventStreamHttp").unwrap_or_default() {
            if offered.contains(version) {
                continue;
            }
            problems.push_with(Severity::Error, |_| {
                let name = version.as_str().unwrap_or_default();
                let message = format!("`http` of `{}` has no `{name}`", applied.id());
                Problem::error(rule, version.location(), message)
                    .about(service.id())
                    .expected("a version of HTTP that is also in `http`")
            });
        }
    }
}

/// `@cors`: either `origin` or `origins`.
pub(super) fn check_cors(service: &Shape, applied: &AppliedTrait, problems: &mut Problems) {
    let origin = applied.value().get("origin");
    let origin = origin.filter(|origin| origin.as_str() != Some("*"));
    let origins = applied.value().get("origins");
    let origins = origins.filter(|origins| origins.as_object().is_some_and(|o| !o.is_empty()));
    let (Some(origin), Some(origins)) = (origin, origins) else {
        return;
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!(
            "@cors on `{}` has both `origin` and `origins`",
            service.id()
        );
        Problem::error(rules::CORS_TRAIT, origins.location(), message)
            .expected("one of `origin` and `origins`")
            .related("the other", origin.location())
    });
}

/// `@httpApiKeyAuth`: a scheme requires a header.
pub(super) fn check_api_key(service: &Shape, applied: &AppliedTrait, problems: &mut Problems) {
    let place = applied.value().get("in");
    let place = place.filter(|place| place.as_str() != Some("header"));
    let (Some(place), Some(scheme)) = (place, applied.value().get("scheme")) else {
        return;
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!(
            "the key of `{}` has a scheme, but is not in a header",
            service.id()
        );
        Problem::error(rules::HTTP_API_KEY_AUTH_TRAIT, place.location(), message)
            .expected("`\"header\"`")
            .related("the scheme", scheme.location())
    });
}
