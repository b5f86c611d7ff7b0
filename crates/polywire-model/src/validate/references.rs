//! `@references`: shapes with the identifiers of a resource.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use super::traits::Owner;
use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::node::Node;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Resource, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::spelling::did_you_mean;
use crate::traits::AppliedTrait;

const RULE: &Rule = rules::REFERENCES_TRAIT;

pub(super) fn check(
    model: &Model,
    owner: Owner<'_>,
    applied: &AppliedTrait,
    problems: &mut Problems,
) {
    let references = applied.value().as_array().unwrap_or_default();
    if references.is_empty() {
        return;
    }
    // Indexed, because there can be many references and many members.
    let members: HashMap<&str, &Member> = owner
        .shape
        .members()
        .iter()
        .map(|member| (member.name(), member))
        .collect();
    for reference in references {
        if problems.is_full() {
            return;
        }
        let Some(node) = reference.get("resource") else {
            continue;
        };
        let Some(id) = node.as_str() else { continue };
        if ShapeId::parse(id).is_err() {
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "`{id}` in the references of `{}` is not a shape id",
                    owner.id
                );
                Problem::error(RULE, node.location(), message)
                    .expected("the absolute id of a resource")
            });
            continue;
        }
        // Resources of other models can be referenced.
        let Some(target) = model.get(id) else {
            continue;
        };
        let Some(resource) = target.as_resource() else {
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "`{id}` in the references of `{}` is {}",
                    owner.id,
                    target.shape_type().with_article()
                );
                Problem::error(RULE, node.location(), message)
                    .expected("a resource")
                    .related("defined", target.location())
            });
            continue;
        };
        // On a member, the trait is reported as on the wrong shape.
        if owner.member.is_some() {
            continue;
        }
        let check = Reference {
            model,
            owner: owner.shape,
            reference,
            target,
            resource,
        };
        match owner.shape.shape_type() {
            ShapeType::Structure => check.of_structure(&members, problems),
            ShapeType::Enum | ShapeType::String => check.of_string(problems),
            _ => {}
        }
    }
}

struct Reference<'m> {
    model: &'m Model,
    owner: &'m Shape,
    reference: &'m Node,
    target: &'m Shape,
    resource: &'m Resource,
}

impl Reference<'_> {
    /// A string has one identifier, so the resource must have one.
    fn of_string(&self, problems: &mut Problems) {
        if let Some(ids) = self.reference.get("ids") {
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "the reference of the string `{}` has `ids`",
                    self.owner.id()
                );
                Problem::error(RULE, ids.location(), message).expected("`resource` alone")
            });
        }
        let count = self.resource.identifiers().len();
        if count != 1 {
            self.report(
                self.reference.location(),
                &format!("which has {count} identifiers"),
                "a resource with one identifier",
                None,
                problems,
            );
        }
    }

    /// Each identifier must have a member that is a string.
    fn of_structure(&self, members: &HashMap<&str, &Member>, problems: &mut Problems) {
        let ids = self.reference.get("ids").and_then(Node::as_object);
        let Some(ids) = ids.filter(|ids| !ids.is_empty()) else {
            for (name, _) in self.resource.identifiers() {
                self.member(name, self.reference.location(), members, problems);
            }
            return;
        };
        let identifiers = self.resource.identifiers();
        let names: HashMap<&str, ()> = identifiers.iter().map(|(n, _)| (n.as_str(), ())).collect();
        if ids.len() != identifiers.len() {
            self.report(
                self.reference.location(),
                &format!(
                    "with {} of its {} identifiers",
                    ids.len(),
                    identifiers.len()
                ),
                "each identifier of the resource in `ids`",
                None,
                problems,
            );
        }
        for entry in ids.entries() {
            if problems.is_full() {
                return;
            }
            if !names.contains_key(entry.key.as_str()) {
                let near = || did_you_mean(&entry.key, names.keys().copied());
                let hint = problems.wants_hints().then(near).flatten();
                self.report(
                    entry.key_location,
                    &format!("which has no identifier `{}`", entry.key),
                    "the name of an identifier",
                    hint,
                    problems,
                );
            }
            if let Some(name) = entry.value.as_str() {
                self.member(name, entry.value.location(), members, problems);
            }
        }
    }

    fn member(
        &self,
        name: &str,
        location: SourceLocation,
        members: &HashMap<&str, &Member>,
        problems: &mut Problems,
    ) {
        let Some(member) = members.get(name) else {
            let near = || did_you_mean(name, members.keys().copied());
            let hint = problems.wants_hints().then(near).flatten();
            let (why, expected) = (
                format!("for which it has no member `{name}`"),
                format!("a member of `{}` for each identifier", self.owner.id()),
            );
            return self.report(location, &why, &expected, hint, problems);
        };
        let target = self.model.target(member).map(Shape::shape_type);
        if target.is_some_and(|target| !matches!(target, ShapeType::Enum | ShapeType::String)) {
            let why = format!("for which its member `{name}` is not a string");
            let expected = "members that target strings";
            self.report(location, &why, expected, None, problems);
        }
    }

    #[cold]
    fn report(
        &self,
        location: SourceLocation,
        why: &str,
        expected: &str,
        hint: Option<String>,
        problems: &mut Problems,
    ) {
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` references `{}`, {why}",
                self.owner.id(),
                self.target.id()
            );
            Problem::error(RULE, location, message)
                .expected(expected)
                .maybe_hint(hint)
                .related("the resource", self.target.location())
        });
    }
}
