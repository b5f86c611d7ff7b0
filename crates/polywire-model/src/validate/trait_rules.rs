//! Restrictions in the definitions of traits: `selector`, `conflicts`, `structurallyExclusive`.
//!
//! The uses of each trait are collected first, so that a definition is read once. Most selectors
//! can be checked for one shape. Others are evaluated once for the whole model.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use super::exclusive;
use super::selectors::{in_words, selector_problem};
use crate::diagnostic::{Problem, Problems};
use crate::ids;
use crate::model::Model;
use crate::node::Node as ModelNode;
use crate::rules;
use crate::selector::syntax::{Step, TypeTest};
use crate::selector::{Budget, Evaluation, Graph, Node, Selector};
use crate::severity::Severity;
use crate::shape::{Shape, ShapeType};
use crate::traits::{AppliedTrait, Traits};

/// A use of a trait.
pub(super) type Use<'m> = (Node, &'m AppliedTrait);

/// The restrictions in a definition.
pub(super) struct Definition<'m> {
    pub(super) shape: &'m Shape,
    selector: Option<Selector>,
    conflicts: Vec<&'m str>,
    pub(super) exclusive: Option<&'m str>,
}

pub(super) fn check(model: &Model, problems: &mut Problems) {
    for shape in model.shapes() {
        check_definition(model, shape, problems);
    }
    let graph = Graph::new(model);
    let (definitions, uses) = gather(model, &graph);
    let budget = Budget::of_model(graph.len());
    for (definition, uses) in definitions.iter().zip(&uses) {
        if problems.is_full() {
            return;
        }
        if let Some(selector) = &definition.selector {
            check_targets(
                model,
                &graph,
                &budget,
                (definition, selector),
                uses,
                problems,
            );
        }
        if !definition.conflicts.is_empty() {
            check_conflicts(model, &graph, definition, uses, problems);
        }
        if definition.exclusive.is_some() {
            exclusive::check(model, &graph, definition, uses, problems);
        }
    }
}

/// Invalid selectors are reported in the definition, even if the trait is not used.
fn check_definition(model: &Model, shape: &Shape, problems: &mut Problems) {
    let definition = shape.traits().find(ids::TRAIT);
    let node = definition.and_then(|definition| definition.value().get("selector"));
    let Some((node, text)) = node.and_then(|node| Some((node, node.as_str()?))) else {
        return;
    };
    if let Err(error) = Selector::parse(text) {
        let what = format!("the selector of the trait `{}`", shape.id());
        let problem = selector_problem(model, rules::TRAIT_SELECTOR, node, &what, &error);
        problems.push(problem.about(shape.id()));
    }
}

/// The definitions with restrictions of the traits that the model uses, each with the uses of its
/// trait.
fn gather<'m>(model: &'m Model, graph: &Graph<'m>) -> (Vec<Definition<'m>>, Vec<Vec<Use<'m>>>) {
    let (mut definitions, mut uses) = (Vec::new(), Vec::new());
    let mut known: HashMap<&'m ShapeId, Option<usize>> = HashMap::new();
    let mut add = |node: Node, traits: &'m Traits| {
        for applied in traits.iter() {
            let at = *known.entry(applied.id()).or_insert_with(|| {
                let definition = Definition::of(model.get(applied.id())?)?;
                definitions.push(definition);
                uses.push(Vec::new());
                Some(definitions.len() - 1)
            });
            if let Some(at) = at {
                uses[at].push((node, applied));
            }
        }
    };
    for (at, shape) in model.shapes().enumerate() {
        let node = at as Node;
        add(node, shape.traits());
        for (index, member) in shape.members().iter().enumerate() {
            // Members with an unknown target cannot be checked.
            if model.target(member).is_some() {
                add(graph.member_node(node, index), member.traits());
            }
        }
    }
    (definitions, uses)
}

impl<'m> Definition<'m> {
    fn of(shape: &'m Shape) -> Option<Self> {
        let definition = shape.traits().get(ids::TRAIT)?;
        let selector = definition.get("selector").and_then(ModelNode::as_str);
        let selector = selector.and_then(|text| Selector::parse(text).ok());
        let is_any = |step: &Step| *step == Step::Type(TypeTest::Any);
        let conflicts = definition.get("conflicts").and_then(ModelNode::as_array);
        let conflicts = conflicts.unwrap_or_default().iter();
        let definition = Self {
            shape,
            selector: selector.filter(|s| !s.sequence().steps.iter().all(is_any)),
            conflicts: conflicts.filter_map(ModelNode::as_str).collect(),
            exclusive: definition
                .get("structurallyExclusive")
                .and_then(ModelNode::as_str),
        };
        let says_something = definition.selector.is_some()
            || !definition.conflicts.is_empty()
            || definition.exclusive.is_some();
        says_something.then_some(definition)
    }
}

fn check_targets(
    model: &Model,
    graph: &Graph<'_>,
    budget: &Budget,
    (definition, selector): (&Definition<'_>, &Selector),
    uses: &[Use<'_>],
    problems: &mut Problems,
) {
    let evaluation = selector.evaluation(graph, budget);
    let mut targets = Targets {
        evaluation,
        selector,
        everything: None,
    };
    for &(node, applied) in uses {
        if targets.contain(node)
            || has_own_check(model, graph, (node, applied))
            || problems.is_full()
        {
            continue;
        }
        if budget.is_spent() {
            let id = definition.shape.id();
            let message = format!("the selector of the trait `{id}` takes too much work");
            problems.push(
                Problem::error(rules::SELECTOR_WORK, applied.location(), message)
                    .expected("a selector that visits fewer shapes")
                    .related("the trait", definition.shape.location()),
            );
            return;
        }
        // Errors on the mixin itself are reported there.
        let giver = |node| !targets.contain(node);
        if applied.is_inherited() && givers(model, graph, node, applied).into_iter().any(giver) {
            continue;
        }
        problems.push_with(Severity::Error, |_| {
            let id = graph.shape_id(node);
            let message = format!(
                "the trait `{}` cannot be applied to `{id}`, {}",
                applied.id(),
                kind(graph, node)
            );
            Problem::error(rules::TRAIT_TARGET, applied.location(), message)
                .about(id)
                .expected(in_words(selector.sequence()))
                .related("the trait", definition.shape.location())
        });
    }
}

/// Whether the error is reported by another rule: structures and unions have no default except
/// null.
fn has_own_check(model: &Model, graph: &Graph<'_>, (node, applied): Use<'_>) -> bool {
    let target = graph.get(node).1.and_then(|member| model.target(member));
    let has_parts =
        |target: &Shape| matches!(target.shape_type(), ShapeType::Structure | ShapeType::Union);
    applied.id() == ids::DEFAULT && !applied.value().is_null() && target.is_some_and(has_parts)
}

/// The matches of one selector, checked for one shape at a time while that is cheap.
struct Targets<'s, 'm> {
    evaluation: Evaluation<'s, 'm>,
    selector: &'s Selector,
    everything: Option<Vec<Node>>,
}

impl Targets<'_, '_> {
    fn contain(&mut self, node: Node) -> bool {
        let sequence = self.selector.sequence();
        if self.everything.is_none() {
            if let Some(known) = self.evaluation.contains(sequence, node) {
                return known;
            }
            let mut everything = self.evaluation.everything(sequence);
            everything.sort_unstable();
            self.everything = Some(everything);
        }
        let everything = self.everything.as_deref().unwrap_or_default();
        everything.binary_search(&node).is_ok()
    }
}

/// The mixins, or members of mixins, from which a trait was inherited.
pub(super) fn givers(
    model: &Model,
    graph: &Graph<'_>,
    node: Node,
    applied: &AppliedTrait,
) -> Vec<Node> {
    let has = |traits: &Traits| traits.has(applied.id());
    match graph.get(node) {
        (shape, None) => {
            let mixins = shape.mixins().iter();
            let mixins = mixins.filter(|id| model.get(id).is_some_and(|m| has(m.traits())));
            mixins.filter_map(|id| graph.shape_node(id)).collect()
        }
        (_, Some(member)) => {
            let giver = member.origin().and_then(|id| {
                let (mixin, node) = (model.get(id)?, graph.shape_node(id)?);
                let mut members = mixin.members().iter();
                let at = members.position(|m| m.name() == member.name() && has(m.traits()))?;
                Some(graph.member_node(node, at))
            });
            giver.into_iter().collect()
        }
    }
}

/// The description of a shape: "a string", "a member of a structure".
fn kind(graph: &Graph<'_>, node: Node) -> String {
    match graph.get(node) {
        (shape, None) => shape.shape_type().with_article(),
        (shape, Some(_)) => format!("a member of {}", shape.shape_type().with_article()),
    }
}

fn check_conflicts(
    model: &Model,
    graph: &Graph<'_>,
    definition: &Definition<'_>,
    uses: &[Use<'_>],
    problems: &mut Problems,
) {
    let own_id = definition.shape.id();
    for &(node, applied) in uses {
        let traits = graph.traits(node);
        for conflict in &definition.conflicts {
            if problems.is_full() {
                return;
            }
            let Some(other) = traits.find(conflict) else {
                continue;
            };
            // If both conflict with each other, one finding is enough.
            let names_back = model.get(other.id()).is_some_and(|other| {
                let names = other.traits().get(ids::TRAIT);
                let names = names.and_then(|t| t.get("conflicts")?.as_array());
                names.is_some_and(|names| names.iter().any(|n| n.as_str() == Some(own_id)))
            });
            if **conflict == **own_id || names_back && other.location() > applied.location() {
                continue;
            }
            let is_given = applied.is_inherited()
                && other.is_inherited()
                && givers(model, graph, node, applied)
                    .into_iter()
                    .any(|giver| graph.traits(giver).has(conflict));
            if is_given {
                continue;
            }
            problems.push_with(Severity::Error, |_| {
                let id = graph.shape_id(node);
                let message = format!("the traits `{own_id}` and `{conflict}` on `{id}` conflict");
                Problem::error(rules::TRAIT_CONFLICT, applied.location(), message)
                    .about(id)
                    .expected("one of them")
                    .related("the other", other.location())
            });
        }
    }
}
