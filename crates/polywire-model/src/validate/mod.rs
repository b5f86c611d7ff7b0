//! Validation of the assembled model.
//!
//! Each module has the rules of one subject. Some check one shape after the other, others services
//! as a whole, with an index of uses. All add to the same list of findings.

mod access;
mod bindings;
mod constraints;
mod defaults;
mod definitions;
mod encoding;
mod enums;
mod examples;
mod exclusive;
mod hosts;
mod http;
mod http_members;
mod http_semantics;
mod index;
mod lifecycle;
mod lookup;
mod members;
mod metadata;
mod mixins;
mod operation_traits;
mod pagination;
mod policy;
mod protocols;
mod recursion;
mod references;
mod resource_cycles;
mod resource_properties;
mod resource_references;
mod resources;
mod routes;
mod selectors;
mod service_names;
mod services;
mod streams;
mod targets;
mod tokens;
mod trait_rules;
mod traits;
mod unions;
mod updates;
mod usage;
mod values;
mod waiters;

use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::rules;
use crate::shape::{Shape, ShapeType};

use self::bindings::Messages;
use self::http::Http;
use self::index::Index;
use self::values::Values;

pub(crate) fn validate(model: &Model, problems: &mut Problems) {
    let policy = policy::policy_of(model, problems);
    problems.set_policy(policy);
    let mut values = Values::new(model);
    check_shapes(model, &mut values, problems);
    check_services(model, &mut values, problems);
    trait_rules::check(model, problems);
    protocols::check(model, problems);
    recursion::check(model, problems);
    tokens::check(model, problems);
    updates::check(model, problems);
    metadata::check(model, &mut values, problems);
    policy::check(model, problems);
    problems.name_members(|shape, location| policy::member_at(model, shape, location));
}

/// Rules that check one shape at a time.
fn check_shapes<'m>(model: &'m Model, values: &mut Values<'m>, problems: &mut Problems) {
    members::check_names_by_case(model, problems);
    for shape in model.shapes() {
        if problems.is_full() {
            return;
        }
        problems.subject(Some(shape.id().clone()));
        targets::check(model, shape, problems);
        members::check(shape, problems);
        enums::check(shape, problems);
        mixins::check(shape, problems);
        unions::check(model, shape, problems);
        encoding::check_json_names(shape, problems);
        traits::check(model, shape, values, problems);
        defaults::check(model, shape, values, problems);
    }
    problems.subject(None);
}

/// Rules that need the uses of shapes, and rules about services.
fn check_services<'m>(model: &'m Model, values: &mut Values<'m>, problems: &mut Problems) {
    let index = Index::of(model);
    let mut messages = Messages::default();
    for shape in model.shapes() {
        if problems.is_full() {
            return;
        }
        let shape_type = shape.shape_type();
        if shape_type.is_simple() {
            continue;
        }
        problems.subject(Some(shape.id().clone()));
        match shape_type {
            ShapeType::Operation => {
                check_operation(&index, shape, values, &mut messages, problems);
            }
            ShapeType::Service => check_service(shape, problems),
            ShapeType::Structure => check_structure(&index, shape, problems),
            _ => {}
        }
    }
    problems.subject(None);
    services::check(&index, problems);
    routes::check(&index, problems);
    service_names::check(model, problems);
    pagination::check(&index, values.lookups(), problems);
    waiters::check_names(&index, problems);
    streams::check(&index, problems);
    resources::check(model, problems);
    resource_cycles::check(model, problems);
    resource_properties::check(model, problems);
    resource_references::check(model, problems);
}

/// Calls the rules for each trait of an operation.
fn check_operation<'m>(
    index: &Index<'m>,
    operation: &'m Shape,
    values: &mut Values<'m>,
    messages: &mut Messages<'m>,
    problems: &mut Problems,
) {
    let model = index.model;
    usage::check_ambiguous_names(index, operation, problems);
    for applied in operation.traits().iter() {
        match applied.id().as_str() {
            ids::ENDPOINT => {
                hosts::check(model, operation, applied, values.lookups(), problems);
            }
            ids::EXAMPLES => {
                examples::check(index, operation, applied, values, problems);
            }
            ids::HTTP => {
                http::check(model, operation, applied, values.lookups(), problems);
                if let Some(http) = Http::of(applied) {
                    http_semantics::check(model, operation, applied, &http, messages, problems);
                }
            }
            ids::IDEMPOTENT => {
                operation_traits::check_idempotent(model, operation, applied, problems);
            }
            ids::REQUEST_COMPRESSION => {
                operation_traits::check_compression(model, operation, applied, messages, problems);
            }
            ids::WAITABLE => {
                waiters::check(model, operation, applied, values.lookups(), problems);
            }
            _ => {}
        }
    }
}

fn check_service(service: &Shape, problems: &mut Problems) {
    for applied in service.traits().iter() {
        match applied.id().as_str() {
            ids::CORS => services::check_cors(service, applied, problems),
            ids::HTTP_API_KEY_AUTH => services::check_api_key(service, applied, problems),
            _ => {}
        }
    }
}

fn check_structure(index: &Index<'_>, structure: &Shape, problems: &mut Problems) {
    http_members::check(structure, problems);
    http_members::check_uses(index, structure, problems);
    usage::check(index, structure, problems);
    usage::check_input_and_output(index, structure, problems);
    streams::check_event_payload(structure, problems);
    resources::check_bindings(structure, problems);
    if structure.traits().has(ids::ERROR) {
        http_semantics::check_error(structure, problems);
    }
}

/// Reports that a check ended early at a shape: a hostile model can have millions of pairs of
/// services, resources and operations.
#[cold]
fn report_incomplete(what: &str, shape: &Shape, problems: &mut Problems) {
    let message = format!("{what}: there are too many");
    let problem = Problem::warning(rules::TOO_MANY_OPERATIONS, shape.location(), message);
    problems.push(problem.about(shape.id()));
}

/// Names for a message. Only the first of many.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (index, name) in names.enumerate() {
        if index == SHOWN {
            text.push_str(", ...");
            break;
        }
        text.push_str(if index == 0 { "`" } else { ", `" });
        text.extend(name.chars().take(120));
        text.push('`');
    }
    text
}

/// Every shape, for suggestions.
fn everything(model: &Model) -> impl Iterator<Item = &Shape> + Clone {
    model.shape_slice().iter().chain(model.bundled().shapes())
}
