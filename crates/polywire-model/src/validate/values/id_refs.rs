//! `@idRef`: the shapes that a value names must match the selector.
//!
//! A model can name the same few shapes thousands of times, as tests of protocols name their
//! protocol, so results are cached. A selector that cannot be checked for one shape is evaluated
//! once for the whole model.

use std::collections::HashMap;

use crate::model::Model;
use crate::selector::{Budget, Graph, Node, Selector};
use crate::shape::{Member, Shape};
use crate::source::SourceLocation;

/// The selectors, and a cache of their results.
pub(super) struct IdRefs<'m> {
    model: &'m Model,
    /// Created for the first selector other than `*`.
    graph: Option<(Graph<'m>, Budget)>,
    /// `None` for an invalid selector, which is reported in the definition.
    by_text: HashMap<&'m str, Option<SelectorCache<'m>>>,
    is_spent: bool,
}

struct SelectorCache<'m> {
    selector: Selector,
    by_id: HashMap<&'m str, bool>,
    /// All matches, sorted, if the selector cannot be checked for one shape.
    everything: Option<Vec<Node>>,
}

/// A shape or member that a value names.
#[derive(Clone, Copy)]
pub(super) struct NamedShape<'m> {
    pub(super) shape: &'m Shape,
    pub(super) member: Option<&'m Member>,
}

pub(super) enum MatchResult<'a> {
    No(&'a Selector),
    /// The budget is exceeded. This is reported once, and then everything matches.
    TooMuchWork,
    Yes,
}

impl<'m> NamedShape<'m> {
    fn id(self) -> &'m str {
        self.member.map_or(self.shape.id(), Member::id).as_str()
    }

    pub(super) fn location(self) -> SourceLocation {
        self.member.map_or(self.shape.location(), Member::location)
    }

    /// Its description: "a string", "a member of a structure".
    pub(super) fn kind(self) -> String {
        let kind = self.shape.shape_type().with_article();
        match self.member {
            Some(_) => format!("a member of {kind}"),
            None => kind,
        }
    }

    fn node(self, graph: &Graph<'m>) -> Option<Node> {
        let shape = graph.shape_node(self.shape.id())?;
        let Some(member) = self.member else {
            return Some(shape);
        };
        // By address: a search would be quadratic if a value names thousands of members.
        let members = self.shape.members();
        let start = members.as_ptr().addr();
        let offset = std::ptr::from_ref(member).addr().checked_sub(start)?;
        let at = offset / size_of::<Member>();
        members.get(at)?;
        Some(graph.member_node(shape, at))
    }
}

impl<'m> IdRefs<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        Self {
            model,
            graph: None,
            by_text: HashMap::new(),
            is_spent: false,
        }
    }

    /// Whether a selector matches a shape.
    pub(super) fn matches(&mut self, selector: &'m str, named: NamedShape<'m>) -> MatchResult<'_> {
        if selector == "*" || self.is_spent {
            return MatchResult::Yes;
        }
        let model = self.model;
        let (graph, budget) = self.graph.get_or_insert_with(|| {
            let graph = Graph::new(model);
            let budget = Budget::of_model(graph.len());
            (graph, budget)
        });
        let answers = self
            .by_text
            .entry(selector)
            .or_insert_with(|| SelectorCache::of(selector));
        let Some(answers) = answers else {
            return MatchResult::Yes;
        };
        let known = answers.by_id.get(named.id()).copied();
        let matches = known.or_else(|| answers.find(graph, budget, named));
        if budget.is_spent() {
            self.is_spent = true;
            return MatchResult::TooMuchWork;
        }
        match matches {
            Some(false) => MatchResult::No(&answers.selector),
            _ => MatchResult::Yes,
        }
    }
}

impl<'m> SelectorCache<'m> {
    fn of(selector: &str) -> Option<Self> {
        Some(Self {
            selector: Selector::parse(selector).ok()?,
            by_id: HashMap::new(),
            everything: None,
        })
    }

    fn find(&mut self, graph: &Graph<'m>, budget: &Budget, named: NamedShape<'m>) -> Option<bool> {
        let node = named.node(graph)?;
        let sequence = self.selector.sequence();
        let evaluation = self.selector.evaluation(graph, budget);
        let found = match &self.everything {
            Some(everything) => everything.binary_search(&node).is_ok(),
            None => evaluation.contains(sequence, node).unwrap_or_else(|| {
                let mut everything = evaluation.everything(sequence);
                everything.sort_unstable();
                let found = everything.binary_search(&node).is_ok();
                self.everything = Some(everything);
                found
            }),
        };
        self.by_id.insert(named.id(), found);
        Some(found)
    }
}
