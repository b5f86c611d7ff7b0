//! Checks whether a selector matches one shape, without evaluating it for the whole model: for
//! `@trait(selector: ...)` and the shapes that have the trait.
//!
//! Steps are checked from the end: `structure > member[trait|required]` matches a member that has
//! the trait and whose container is a structure.

use super::evaluate::Evaluation;
use super::graph::Node;
use super::syntax::{Direction, Function, Sequence, Step};

impl Evaluation<'_, '_> {
    /// `None` if the selector must be evaluated for the whole model.
    pub(crate) fn contains(&self, sequence: &Sequence, node: Node) -> Option<bool> {
        match sequence.uses_variables {
            true => None,
            false => self.contains_before(sequence, sequence.steps.len(), node),
        }
    }

    /// Whether the first `count` steps yield a shape.
    fn contains_before(&self, sequence: &Sequence, count: usize, node: Node) -> Option<bool> {
        // A loop, because there can be thousands of tests. Steps to other shapes are few.
        let mut steps = sequence.steps[..count].iter().enumerate().rev();
        let (at, step) = loop {
            match steps.next() {
                None => return Some(true),
                Some((_, test)) if test.is_filter() => {
                    if !self.holds(test, node, &mut Vec::new()) {
                        return Some(false);
                    }
                }
                Some(moving) => break moving,
            }
        };
        match step {
            // Only its container leads to a member. Any shape can lead to a shape.
            Step::Neighbor {
                direction: Direction::Forward,
                relations,
            } if self.graph.shape_type(node).is_none() => {
                let (mut found, reverse) = (Some(false), Direction::Reverse);
                self.graph
                    .each(node, reverse, relations.mask(), &mut |before| {
                        found = self.contains_before(sequence, at, before);
                        found != Some(false)
                    });
                found
            }
            Step::Function {
                function: Function::Is,
                arguments,
            } if at == 0 => {
                let mut found = Some(false);
                for argument in arguments {
                    found = self.contains(argument, node);
                    if found != Some(false) {
                        break;
                    }
                }
                found
            }
            _ => None,
        }
    }
}
