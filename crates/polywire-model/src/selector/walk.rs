//! Evaluates all steps for one shape at a time.

use std::collections::HashSet;
use std::rc::Rc;

use super::evaluate::Evaluation;
use super::graph::Node;
use super::relations;
use super::syntax::{Direction, Function, Sequence, Step};

/// The shapes in each variable that is set, by its slot.
pub(super) type Slots = Vec<Option<Rc<[Node]>>>;

/// Is called with each result. Returns whether to stop.
pub(super) type Next<'a> = &'a mut dyn FnMut(&mut Slots, Node) -> bool;

impl Evaluation<'_, '_> {
    /// Evaluates the steps of a sequence from one on for a shape, and calls `next` with each
    /// result. Returns whether `next` returned `true`, or the budget is spent. The recursion is as
    /// deep as the number of consecutive moves, which the parser limits.
    pub(super) fn walk(
        &self,
        slots: &mut Slots,
        sequence: &Sequence,
        from: usize,
        node: Node,
        next: Next<'_>,
    ) -> bool {
        let mut at = from;
        while let Some(step) = sequence.steps.get(at).filter(|step| step.is_filter()) {
            if !self.holds(step, node, slots) {
                return self.budget.is_spent();
            }
            at += 1;
        }
        if !self.budget.spend(1) {
            return true;
        }
        let Some(step) = sequence.steps.get(at) else {
            return next(slots, node);
        };
        let mut on = |slots: &mut Slots, node| self.walk(slots, sequence, at + 1, node, next);
        match step {
            Step::Neighbor {
                direction,
                relations,
            } => {
                let mask = relations.mask();
                self.graph
                    .each(node, *direction, mask, &mut |other| on(slots, other))
            }
            Step::Recursive => {
                self.each_reachable(node, &mut |other| other != node && on(slots, other))
            }
            Step::VariableGet(variable) => {
                let nodes = slots.get(variable.slot).cloned().flatten();
                let nodes = nodes.unwrap_or_default();
                nodes.iter().any(|node| on(slots, *node))
            }
            Step::VariableSet(variable, selector) => {
                let mut found = HashSet::new();
                self.walk(slots, selector, 0, node, &mut |_, node| {
                    found.insert(node);
                    false
                });
                let mut found: Vec<Node> = found.into_iter().collect();
                found.sort_unstable();
                if let Some(slot) = slots.get_mut(variable.slot) {
                    *slot = Some(Rc::from(found));
                }
                on(slots, node)
            }
            Step::Function {
                function,
                arguments,
            } => match (function, arguments.as_slice()) {
                (Function::Is, arguments) => arguments
                    .iter()
                    .any(|argument| self.walk(slots, argument, 0, node, &mut on)),
                (Function::Recursive, [selector]) => {
                    let (mut seen, mut todo) = (HashSet::new(), vec![node]);
                    while let Some(node) = todo.pop() {
                        if self.walk(slots, selector, 0, node, &mut |slots, found| {
                            seen.insert(found) && {
                                todo.push(found);
                                on(slots, found)
                            }
                        }) {
                            return true;
                        }
                    }
                    false
                }
                (Function::Root, [selector]) => {
                    let root = self.root(selector);
                    root.nodes().iter().any(|node| on(slots, *node))
                }
                (Function::TopDown, [qualifier, others @ ..]) => {
                    let mut seen = HashSet::new();
                    let enter = &mut |node, _| seen.insert(node);
                    self.top_down((qualifier, others.first()), node, slots, enter, &mut on)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Visits a shape and everything that it reaches, until `visit` returns `true`.
    fn each_reachable(&self, start: Node, visit: &mut dyn FnMut(Node) -> bool) -> bool {
        self.graph.edges_ready();
        let (mut seen, mut todo) = (HashSet::from([start]), vec![start]);
        while let Some(node) = todo.pop() {
            if visit(node) || !self.budget.spend(1) {
                return true;
            }
            let (forward, usual) = (Direction::Forward, relations::USUAL);
            self.graph.each(node, forward, usual, &mut |other| {
                if seen.insert(other) {
                    todo.push(other);
                }
                !self.budget.spend(1)
            });
        }
        false
    }

    /// Whether a selector yields anything for a shape.
    pub(super) fn finds(&self, selector: &Sequence, node: Node, slots: &mut Slots) -> bool {
        if selector.uses_variables {
            return self.walk(slots, selector, 0, node, &mut |_, _| true)
                && !self.budget.is_spent();
        }
        self.finds_from(selector, 0, node)
    }

    /// Whether the steps of a sequence without variables, from one on, yield anything. The result
    /// is cached, because many paths can lead to a shape.
    fn finds_from(&self, sequence: &Sequence, from: usize, node: Node) -> bool {
        let mut at = from;
        while let Some(step) = sequence.steps.get(at).filter(|step| step.is_filter()) {
            if !self.holds(step, node, &mut Slots::new()) {
                return false;
            }
            at += 1;
        }
        let Some(step) = sequence.steps.get(at) else {
            return true;
        };
        let number = sequence.base + at as u32;
        if let Some(known) = self.cache.borrow().get(number, node) {
            return known;
        }
        let found = match step {
            Step::Neighbor {
                direction,
                relations,
            } => {
                let mask = relations.mask();
                self.graph.each(node, *direction, mask, &mut |other| {
                    self.budget.spend(1) && self.finds_from(sequence, at + 1, other)
                })
            }
            Step::Recursive => self.each_reachable(node, &mut |other| {
                other != node && self.finds_from(sequence, at + 1, other)
            }),
            _ => self.walk(&mut Slots::new(), sequence, at, node, &mut |_, _| true),
        };
        let found = found && !self.budget.is_spent();
        if !self.budget.is_spent() {
            let count = self.graph.len();
            self.cache.borrow_mut().set(number, node, found, count);
        }
        found
    }
}
