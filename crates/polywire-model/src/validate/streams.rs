//! Streams: blobs and unions with `@streaming`. A message has at most one, at the top level.

use std::collections::HashSet;

use super::index::{Index, Use};
use super::listed;
use super::services::protocols;
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Relation;
use crate::node::Node;
use crate::rules;
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};

pub(super) fn check(index: &Index<'_>, problems: &mut Problems) {
    if index.streams.is_empty() {
        return;
    }
    let bound = services_with_bodies(index);
    for shape in index.model.shapes() {
        if problems.is_full() {
            return;
        }
        if shape.shape_type() == ShapeType::Union && shape.traits().is_streaming() {
            check_events(index, shape, problems);
        }
        // The service whose protocol has streams of this structure in bodies.
        let mut service: Option<Option<&Bodies<'_>>> = None;
        for member in shape.members() {
            if problems.is_full() {
                return;
            }
            let Some(target) = index.streams.get(member.target().as_str()) else {
                continue;
            };
            check_member(member, target, problems);
            let uses = index.uses(shape);
            for used in uses {
                check_use(shape, member, target, used, problems);
            }
            if !member.traits().is_http_payload() {
                let service = service.get_or_insert_with(|| {
                    let mut all = bound.iter();
                    all.find(|service| service.uses_one(uses))
                });
                if let Some(service) = service {
                    service.report(member, problems);
                }
            }
        }
    }
}

/// Checks the events of a stream.
fn check_events(index: &Index<'_>, union: &Shape, problems: &mut Problems) {
    for member in union.members() {
        let target = index.model.target(member);
        let Some(target) = target.filter(|t| t.shape_type() != ShapeType::Structure) else {
            continue;
        };
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "the event `{}` is {}",
                member.id(),
                target.shape_type().with_article()
            );
            Problem::error(rules::STREAMING_TRAIT, member.target().location(), message)
                .about(member.id())
                .expected("a structure")
        });
    }
}

/// Streaming blobs can be empty, but not absent.
fn check_member(member: &Member, target: &Shape, problems: &mut Problems) {
    let traits = member.traits();
    let is_there = traits.is_required() || traits.default_value().is_some();
    if is_there || target.shape_type() != ShapeType::Blob {
        return;
    }
    problems.push_with(Severity::Error, |_| {
        let message = format!("the stream `{}` can be absent", member.id());
        Problem::error(rules::STREAMING_TRAIT, member.location(), message)
            .about(member.id())
            .expected("a member with @required or `@default(\"\")`")
    });
}

fn check_use(
    structure: &Shape,
    member: &Member,
    target: &Shape,
    used: &Use<'_>,
    problems: &mut Problems,
) {
    let (owner, expected) = match used.relation {
        Relation::Input | Relation::Mixin => return,
        Relation::Output if !target.traits().requires_length() => return,
        Relation::Output => (
            "the output of",
            "a stream without @requiresLength, which is for inputs only",
        ),
        Relation::Error => ("an error of", "streams in inputs and outputs only"),
        Relation::MemberTarget => (
            "the target of",
            "streams at the top level of a message only",
        ),
        _ => ("a part of", "streams in inputs and outputs only"),
    };
    problems.push_with(Severity::Error, |_| {
        let by = used.member.map_or(used.by.id(), |member| member.id());
        let message = format!("`{}`, {owner} `{by}`, has a stream", structure.id());
        Problem::error(rules::STREAMING_TRAIT, used.location, message)
            .about(by)
            .expected(expected)
            .related("the stream", member.location())
    });
}

/// A service with a protocol that has streams in the bodies of HTTP messages.
struct Bodies<'m> {
    service: &'m Shape,
    protocol: &'m str,
    operations: HashSet<&'m str>,
}

fn services_with_bodies<'m>(index: &Index<'m>) -> Vec<Bodies<'m>> {
    let all = index.services.iter().filter_map(|contents| {
        let (protocol, _) = protocols(index.model, contents.service).find(|(_, definition)| {
            let traits = definition.get("traits").and_then(Node::as_array);
            let mut traits = traits.unwrap_or_default().iter();
            traits.any(|id| id.as_str() == Some(ids::HTTP_PAYLOAD))
        })?;
        let operations = contents.operations.iter();
        Some(Bodies {
            service: contents.service,
            protocol: protocol.id(),
            operations: operations.map(|o| o.id().as_str()).collect(),
        })
    });
    all.collect()
}

impl Bodies<'_> {
    fn uses_one(&self, uses: &[Use<'_>]) -> bool {
        uses.iter()
            .any(|used| self.operations.contains(used.by.id().as_str()))
    }

    fn report(&self, member: &Member, problems: &mut Problems) {
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "the stream `{}` is not the body of its message, which `{}` requires",
                member.id(),
                self.protocol
            );
            Problem::error(rules::STREAMING_TRAIT, member.location(), message)
                .about(member.id())
                .expected("@httpPayload on the member")
                .related("the service", self.service.location())
        });
    }
}

/// Checks an event with `@eventPayload`.
pub(super) fn check_event_payload(structure: &Shape, problems: &mut Problems) {
    let members = structure.members().iter();
    let Some(payload) = members.clone().find(|m| m.traits().is_event_payload()) else {
        return;
    };
    let is_bound =
        |member: &&Member| member.traits().is_event_header() || member.traits().is_event_payload();
    let loose: Vec<&Member> = members.filter(|member| !is_bound(member)).collect();
    let Some(first) = loose.first() else {
        return;
    };
    problems.push_with(Severity::Error, |_| {
        let message = format!(
            "`{}` is the payload, but other members of `{}` have no binding: {}",
            payload.name(),
            structure.id(),
            listed(loose.iter().map(|member| member.name()))
        );
        Problem::error(rules::EVENT_PAYLOAD_TRAIT, first.location(), message)
            .expected("@eventHeader on all members except the one with @eventPayload")
            .related("the event", payload.location())
    });
}
