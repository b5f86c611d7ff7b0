//! `structurallyExclusive`: only one member of a structure can have the trait (`member`), or only
//! one can target a shape with it (`target`).

use std::collections::HashMap;

use super::trait_rules::{Definition, Use, givers};
use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::rules;
use crate::selector::{Graph, Node};
use crate::severity::Severity;
use crate::shape::{Member, ShapeType};

pub(super) fn check(
    model: &Model,
    graph: &Graph<'_>,
    definition: &Definition<'_>,
    uses: &[Use<'_>],
    problems: &mut Problems,
) {
    match definition.exclusive {
        Some("member") => check_members(model, graph, definition, uses, problems),
        Some("target") => check_targets(model, graph, definition, uses, problems),
        _ => {}
    }
}

fn check_members(
    model: &Model,
    graph: &Graph<'_>,
    definition: &Definition<'_>,
    uses: &[Use<'_>],
    problems: &mut Problems,
) {
    let id = definition.shape.id();
    // Uses are sorted by shape.
    let mut first: Option<Use<'_>> = None;
    for &(node, applied) in uses {
        let (shape, member) = graph.get(node);
        let (Some(member), ShapeType::Structure) = (member, shape.shape_type()) else {
            continue;
        };
        let before = first.filter(|(before, _)| std::ptr::eq(graph.get(*before).0, shape));
        let Some((other, other_applied)) = before else {
            first = Some((node, applied));
            continue;
        };
        // Both members are from one mixin, where they are reported.
        let (Some(other), _) = (graph.get(other).1, ()) else {
            continue;
        };
        let is_given = applied.is_inherited()
            && other_applied.is_inherited()
            && member.origin() == other.origin()
            && !givers(model, graph, node, applied).is_empty();
        if is_given {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let message = format!(
                "`{}` and `{}` of `{}` both have the trait `{id}`",
                other.name(),
                member.name(),
                shape.id()
            );
            Problem::error(
                rules::EXCLUSIVE_STRUCTURE_MEMBER_TRAIT,
                applied.location(),
                message,
            )
            .about(shape.id())
            .expected("one member of the structure with the trait")
            .related("the other", other_applied.location())
        });
    }
}

fn check_targets(
    model: &Model,
    graph: &Graph<'_>,
    definition: &Definition<'_>,
    uses: &[Use<'_>],
    problems: &mut Problems,
) {
    let trait_id = definition.shape.id();
    let bearers: HashMap<&str, Node> = uses
        .iter()
        .filter(|(node, _)| graph.shape_type(*node).is_some())
        .map(|(node, _)| (graph.id(*node), *node))
        .collect();
    if bearers.is_empty() {
        return;
    }
    for shape in model.shapes_of(ShapeType::Structure) {
        if problems.is_full() {
            return;
        }
        let members = shape.members().iter();
        let mut members = members.filter(|m| bearers.contains_key(m.target().as_str()));
        let Some(first) = members.next() else {
            continue;
        };
        let is_from_one_mixin =
            |other: &Member| other.is_inherited() && other.origin() == first.origin();
        for other in members.filter(|other| !is_from_one_mixin(other)) {
            problems.push_with(Severity::Error, |_| {
                let message = format!(
                    "`{}` and `{}` of `{}` both target a shape with the trait `{trait_id}`",
                    first.name(),
                    other.name(),
                    shape.id()
                );
                let place = other.target().location();
                Problem::error(rules::EXCLUSIVE_STRUCTURE_MEMBER_TRAIT, place, message)
                    .about(shape.id())
                    .expected("one member of the structure that targets such a shape")
                    .related("the other", first.target().location())
            });
        }
    }
}
