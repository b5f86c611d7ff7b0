//! Services with documents whose protocol does not support them.

use std::collections::{HashMap, VecDeque};

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::{Model, Relation, neighbors};
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, ShapeType};
use crate::traits::AppliedTrait;

pub(super) fn check(model: &Model, problems: &mut Problems) {
    let services = model.services().flat_map(|service| {
        let all = service.traits().iter();
        all.filter(|applied| has_no_documents(model, applied))
            .map(move |applied| (service, applied))
    });
    let services: Vec<_> = services.collect();
    // Most models have neither.
    if services.is_empty() {
        return;
    }
    let documents = shapes_with_documents(model);
    for (service, applied) in services {
        let Some(member) = documents.get(service.id()) else {
            continue;
        };
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` is a document, which `{}` on `{}` does not support",
                member.id(),
                applied.id(),
                service.id()
            );
            Problem::error(
                rules::NO_INLINE_DOCUMENT_SUPPORT,
                applied.location(),
                message,
            )
            .expected("a protocol with documents, or data without")
            .related("the document", member.location())
        });
    }
}

fn has_no_documents(model: &Model, applied: &AppliedTrait) -> bool {
    let definition = model.get(applied.id());
    definition
        .and_then(|shape| shape.traits().get(ids::PROTOCOL_DEFINITION))
        .and_then(|value| value.get("noInlineDocumentSupport"))
        .and_then(Node::as_bool)
        .unwrap_or(false)
}

/// The shapes that reach a document, each with the member that is one. This is a search backwards
/// from the documents, because many services can have the same data.
fn shapes_with_documents(model: &Model) -> HashMap<&ShapeId, &Member> {
    let mut found: HashMap<&ShapeId, &Member> = HashMap::new();
    let mut queue: VecDeque<(&ShapeId, &Member)> = VecDeque::new();
    for shape in model.shapes() {
        let mut members = shape.members().iter();
        let document = members.find(|member| {
            let target = model.target(member);
            target.is_some_and(|target| target.shape_type() == ShapeType::Document)
        });
        queue.extend(document.map(|member| (shape.id(), member)));
    }
    if queue.is_empty() {
        return found;
    }
    let mut users: HashMap<&ShapeId, Vec<&ShapeId>> = HashMap::new();
    for shape in model.shapes() {
        for (relation, reference) in neighbors(shape) {
            if relation != Relation::Mixin {
                users.entry(reference.id()).or_default().push(shape.id());
            }
        }
    }
    while let Some((id, document)) = queue.pop_front() {
        if found.contains_key(id) {
            continue;
        }
        found.insert(id, document);
        let users = users.get(id).map_or(&[][..], Vec::as_slice);
        queue.extend(users.iter().map(|user| (*user, document)));
    }
    found
}
