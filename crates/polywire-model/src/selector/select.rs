//! The results of selectors: shapes, and matches with variables.

use std::collections::HashSet;

use polywire_schema::ShapeId;

use super::error::SelectorError;
use super::graph::{Graph, Node};
use super::value::{Budget, Scope, Variables};
use super::walk::Slots;
use super::{Selector, Template};
use crate::model::Model;
use crate::shape::{Member, Shape, ShapeType};
use crate::source::SourceLocation;
use crate::traits::Traits;

/// The maximum work of a selection: about a second. Selectors that visit every pair of shapes
/// exceed it in models of ten thousand shapes.
const MAX_WORK: u64 = 20_000_000;

/// The maximum number of matches.
const MAX_MATCHES: usize = 1_000_000;

/// A shape or member that a selector matched.
#[derive(Clone, Copy, Debug)]
pub struct ShapeOrMember<'m> {
    shape: &'m Shape,
    member: Option<&'m Member>,
}

impl<'m> ShapeOrMember<'m> {
    /// The absolute id of the shape or member.
    #[must_use]
    pub fn id(self) -> &'m ShapeId {
        self.member.map_or(self.shape.id(), Member::id)
    }

    /// The location of its definition.
    #[must_use]
    pub fn location(self) -> SourceLocation {
        self.member.map_or(self.shape.location(), Member::location)
    }

    /// The shape, or the shape of the member.
    #[must_use]
    pub fn shape(self) -> &'m Shape {
        self.shape
    }

    /// The member, if it is one.
    #[must_use]
    pub fn member(self) -> Option<&'m Member> {
        self.member
    }

    /// The type of the shape; `None` for a member.
    #[must_use]
    pub fn shape_type(self) -> Option<ShapeType> {
        match self.member {
            Some(_) => None,
            None => Some(self.shape.shape_type()),
        }
    }

    /// The name of the type, such as `structure`, or `member`.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        self.shape_type().map_or("member", ShapeType::name)
    }

    /// Its traits.
    #[must_use]
    pub fn traits(self) -> &'m Traits {
        self.member.map_or(self.shape.traits(), Member::traits)
    }
}

/// A match of a selector, with the values of the variables.
#[derive(Clone, Debug)]
pub struct Match<'m> {
    selected: ShapeOrMember<'m>,
    variables: Vec<(String, Vec<ShapeOrMember<'m>>)>,
}

impl<'m> Match<'m> {
    /// The shape or member that matched.
    #[must_use]
    pub fn selected(&self) -> ShapeOrMember<'m> {
        self.selected
    }

    /// The variables that were set, in the order of the selector, each with its shapes sorted by
    /// id.
    #[must_use]
    pub fn variables(&self) -> &[(String, Vec<ShapeOrMember<'m>>)] {
        &self.variables
    }

    /// The shapes in a variable, if it was set.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&[ShapeOrMember<'m>]> {
        let mut variables = self.variables.iter();
        let found = variables.find(|(known, _)| known == name);
        found.map(|(_, shapes)| shapes.as_slice())
    }
}

impl Selector {
    /// The shapes and members that match, without duplicates, sorted by id. Only those that the
    /// files of the model define, as in [`Model::shapes`].
    ///
    /// Steps visit bundled definitions, too: `member > string` yields nothing of the prelude, but
    /// `member :test(> string)` yields the members that target `smithy.api#String`.
    ///
    /// # Errors
    ///
    /// The selector takes too much work: it visits more than about twenty million shapes and
    /// connections.
    pub fn select<'m>(&self, model: &'m Model) -> Result<Vec<ShapeOrMember<'m>>, SelectorError> {
        let mut selected = self.select_all(model)?;
        selected.retain(|found| !model.is_bundled(found.shape.id()));
        Ok(selected)
    }

    /// Like [`select`](Self::select), but includes bundled definitions: the prelude of Smithy, the
    /// traits of protocols and of AWS. Other tools include their own definitions in this way.
    ///
    /// # Errors
    ///
    /// See [`select`](Self::select).
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::{Loader, Selector};
    ///
    /// let text = "$version: \"2\"\nnamespace a\nstructure City { name: String }\n";
    /// let model = Loader::new().add_text("city.smithy", text).assemble().unwrap().model;
    /// let selector = Selector::parse("[id|name = City] ~> *").unwrap();
    /// let names = |all| if all { selector.select_all(&model) } else { selector.select(&model) };
    /// let ids = |all| names(all).unwrap().iter().map(|s| s.id().to_string()).collect::<Vec<_>>();
    /// assert_eq!(ids(false), ["a#City$name"]);
    /// assert_eq!(ids(true), ["a#City$name", "smithy.api#String"]);
    /// ```
    pub fn select_all<'m>(
        &self,
        model: &'m Model,
    ) -> Result<Vec<ShapeOrMember<'m>>, SelectorError> {
        let (graph, budget) = (Graph::new(model), Budget::new(MAX_WORK));
        let nodes = self.evaluation(&graph, &budget).everything(&self.sequence);
        self.checked(&budget)?;
        Ok(sorted(&graph, nodes))
    }

    /// The matches with their variables, sorted by id. A shape occurs once for each combination of
    /// values of the variables. Only those that the files of the model define, as with
    /// [`select`](Self::select).
    ///
    /// # Errors
    ///
    /// See [`select`](Self::select). Also if there are more than a million matches.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::{Loader, Selector};
    ///
    /// let text = r#"
    ///     $version: "2"
    ///     namespace example
    ///     service Weather { version: "1", operations: [GetCity] }
    ///     operation GetCity { input := { name: String } }
    /// "#;
    /// let model = Loader::new().add_text("weather.smithy", text).assemble().unwrap().model;
    /// let selector = Selector::parse("service $service(*) ~> operation").unwrap();
    /// let matches = selector.matches(&model).unwrap();
    /// assert_eq!(matches[0].selected().id(), &"example#GetCity");
    /// assert_eq!(matches[0].variable("service").unwrap()[0].id(), &"example#Weather");
    /// ```
    pub fn matches<'m>(&self, model: &'m Model) -> Result<Vec<Match<'m>>, SelectorError> {
        let (graph, budget) = (Graph::new(model), Budget::new(MAX_WORK));
        let mut found = Vec::new();
        let is_complete = self.each_match(&graph, &budget, &mut |node, slots| {
            if graph.is_own(node) {
                let variables = self.variables.iter().zip(slots);
                let variables = variables.filter_map(|(name, nodes)| {
                    let nodes = nodes.as_ref()?.to_vec();
                    Some((name.clone(), sorted(&graph, nodes)))
                });
                found.push(Match {
                    selected: selected(&graph, node),
                    variables: variables.collect(),
                });
            }
            // The shapes in variables need memory, too.
            let held: usize = slots.iter().flatten().map(|nodes| nodes.len()).sum();
            found.len() < MAX_MATCHES && budget.spend(8 * held as u64)
        });
        self.checked(&budget)?;
        if !is_complete {
            let message = format!("there are more than {MAX_MATCHES} matches");
            return Err(self.error(message));
        }
        found.sort_by(|left, right| left.selected.id().cmp(right.selected.id()));
        Ok(found)
    }

    /// Visits each match with its variables until `visit` returns `false`. Returns whether it never
    /// did.
    pub(crate) fn each_match(
        &self,
        graph: &Graph<'_>,
        budget: &Budget,
        visit: &mut dyn FnMut(Node, &Variables) -> bool,
    ) -> bool {
        let evaluation = self.evaluation(graph, budget);
        if !self.sequence.uses_variables {
            let nodes = evaluation.everything(&self.sequence);
            return nodes.into_iter().all(|node| visit(node, &[]));
        }
        for start in graph.nodes() {
            // Two paths to a shape with the same variables are one match. Values of variables are
            // compared by address, because each assignment allocates a new one.
            let mut seen = HashSet::new();
            let mut slots: Slots = vec![None; self.variables.len()];
            let mut goes_on = true;
            evaluation.walk(&mut slots, &self.sequence, 0, start, &mut |slots, node| {
                let held: Vec<_> = slots
                    .iter()
                    .map(|nodes| nodes.as_ref().map(|nodes| nodes.as_ptr()))
                    .collect();
                goes_on = !seen.insert((node, held)) || visit(node, slots);
                !goes_on
            });
            if !goes_on || budget.is_spent() {
                return goes_on;
            }
        }
        true
    }

    /// The message of a template for a match.
    pub(crate) fn fill(
        &self,
        template: &Template,
        graph: &Graph<'_>,
        budget: &Budget,
        (node, variables): (Node, &Variables),
    ) -> String {
        let scope = Scope {
            graph,
            names: &self.variables,
            variables,
            budget,
        };
        template.fill(scope, node)
    }

    /// An error if the budget is exceeded.
    pub(crate) fn checked(&self, budget: &Budget) -> Result<(), SelectorError> {
        match budget.is_spent() {
            true => Err(self.error("the selector takes too much work in this model".to_owned())),
            false => Ok(()),
        }
    }

    #[cold]
    fn error(&self, message: String) -> SelectorError {
        SelectorError::new(&self.to_string(), 0, 1, message)
            .expected("a selector that visits fewer shapes")
    }
}

fn selected<'m>(graph: &Graph<'m>, node: Node) -> ShapeOrMember<'m> {
    let (shape, member) = graph.get(node);
    ShapeOrMember { shape, member }
}

fn sorted<'m>(graph: &Graph<'m>, nodes: Vec<Node>) -> Vec<ShapeOrMember<'m>> {
    let mut all: Vec<_> = nodes.into_iter().map(|n| selected(graph, n)).collect();
    all.sort_by(|left, right| left.id().cmp(right.id()));
    all
}
