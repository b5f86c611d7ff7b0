//! Decision diagrams, the form of rule sets in the trait `smithy.rules#endpointBdd`
//! ([specification](https://smithy.io/2.0/additional-specs/rules-engine/specification.html#smithy-rules-endpointbdd-trait)).
//!
//! A node tests a condition and refers to the next node or to a result. References are integers:
//!
//! | reference | meaning |
//! |---|---|
//! | 1, -1, 100,000,000 | no rule matches |
//! | from 2 | the node with the index `reference - 1` |
//! | to -2 | the node with the index `-reference - 1`, with its branches exchanged |
//! | from 100,000,001 | the result with the index `reference - 100000001` |
//!
//! The specification counts "no rule matches" as the result 0, which documents leave out. Hence the first result of a
//! document has the reference 100,000,001, as in all published diagrams.
//!
//! The nodes are checked when they are read: all references exist, and no path visits a node twice. So an evaluation
//! ends after at most as many steps as there are nodes.

use super::RuleSetError;
use super::document::Node;
use super::program::{Condition, Outcome};

/// The reference of the result that no document has: no rule matches.
const NO_MATCH: i32 = 100_000_000;
/// The reference of the first result.
const FIRST_RESULT: i32 = NO_MATCH + 1;
/// The bytes of a node: condition, reference if it matches, reference if not.
const NODE_SIZE: usize = 12;

#[derive(Clone, Debug)]
pub(super) struct Diagram {
    pub(super) conditions: Box<[Condition]>,
    pub(super) results: Box<[Outcome]>,
    nodes: Box<[DiagramNode]>,
    root: i32,
}

#[derive(Clone, Copy, Debug)]
struct DiagramNode {
    condition: i32,
    high: i32,
    low: i32,
}

/// What a reference means.
#[derive(Clone, Copy, Debug)]
enum Target {
    Node { index: usize, is_complement: bool },
    None,
    Result(usize),
}

impl Target {
    fn of(reference: i32) -> Option<Self> {
        match reference {
            0 => None,
            1 | -1 | NO_MATCH => Some(Self::None),
            FIRST_RESULT.. => Some(Self::Result((reference - FIRST_RESULT) as usize)),
            _ => Some(Self::Node {
                index: reference.unsigned_abs() as usize - 1,
                is_complement: reference < 0,
            }),
        }
    }
}

impl Diagram {
    pub(super) fn read(
        root: &Node<'_, '_>,
        conditions: Box<[Condition]>,
        results: Box<[Outcome]>,
    ) -> Result<Self, RuleSetError> {
        let text = root.member("nodes")?;
        let bytes = polywire_text::base64::decode(text.text()?.as_bytes())
            .map_err(|error| text.error(format!("not base64: {error}")))?;
        let count = root.member("nodeCount")?;
        let expected = usize::try_from(count.integer()?).ok();
        if expected.and_then(|count| count.checked_mul(NODE_SIZE)) != Some(bytes.len()) {
            return Err(count.error(format!(
                "the nodes have {} bytes, which are not {NODE_SIZE} per node",
                bytes.len()
            )));
        }
        let integer = |bytes: &[u8], at: usize| {
            i32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let nodes = bytes.chunks_exact(NODE_SIZE).map(|bytes| DiagramNode {
            condition: integer(bytes, 0),
            high: integer(bytes, 4),
            low: integer(bytes, 8),
        });
        let start = root.member("root")?;
        let diagram = Self {
            conditions,
            results,
            nodes: nodes.collect(),
            root: i32::try_from(start.integer()?)
                .map_err(|_| start.error("expected a reference of 32 bits"))?,
        };
        if diagram.root < 0 && diagram.root != -1 {
            return Err(start.error("the root is a complement"));
        }
        diagram.check(diagram.root).map_err(|m| start.error(m))?;
        diagram.check_nodes(&text)?;
        Ok(diagram)
    }

    /// Checks one reference.
    fn check(&self, reference: i32) -> Result<(), String> {
        let exists = match Target::of(reference) {
            None => false,
            Some(Target::None) => true,
            // The first node is the terminal, which nothing refers to.
            Some(Target::Node { index, .. }) => (1..self.nodes.len()).contains(&index),
            Some(Target::Result(index)) => index < self.results.len(),
        };
        match exists {
            true => Ok(()),
            false => Err(format!("the reference {reference} leads nowhere")),
        }
    }

    /// Checks the references of all nodes, and that there is no cycle: a walk in depth that marks nodes on the way and
    /// nodes that are finished.
    fn check_nodes(&self, text: &Node<'_, '_>) -> Result<(), RuleSetError> {
        for (index, node) in self.nodes.iter().enumerate().skip(1) {
            let exists = usize::try_from(node.condition)
                .is_ok_and(|condition| condition < self.conditions.len());
            if !exists {
                return Err(text.error(format!(
                    "node {index}: there is no condition {}",
                    node.condition
                )));
            }
            for reference in [node.high, node.low] {
                self.check(reference)
                    .map_err(|message| text.error(format!("node {index}: {message}")))?;
            }
        }
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            OnPath,
            Finished,
        }
        let mut marks = vec![Mark::New; self.nodes.len()];
        for first in 1..self.nodes.len() {
            let mut stack = vec![(first, false)];
            while let Some((index, is_done)) = stack.pop() {
                if is_done {
                    marks[index] = Mark::Finished;
                    continue;
                }
                match marks[index] {
                    Mark::Finished => continue,
                    Mark::OnPath => {
                        return Err(text.error(format!("node {index} is part of a cycle")));
                    }
                    Mark::New => marks[index] = Mark::OnPath,
                }
                stack.push((index, true));
                let node = self.nodes[index];
                for reference in [node.high, node.low] {
                    if let Some(Target::Node { index: next, .. }) = Target::of(reference) {
                        if marks[next] == Mark::OnPath {
                            return Err(text.error(format!("node {next} is part of a cycle")));
                        }
                        if marks[next] == Mark::New {
                            stack.push((next, false));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Follows the nodes from the root. `test` evaluates a condition.
    pub(super) fn walk<'d, E>(
        &'d self,
        mut test: impl FnMut(&'d Condition) -> Result<bool, E>,
    ) -> Result<Option<&'d Outcome>, E> {
        let mut reference = self.root;
        // No path is longer: see `check_nodes`.
        for _ in 0..=self.nodes.len() {
            match Target::of(reference) {
                Some(Target::Node {
                    index,
                    is_complement,
                }) => {
                    let node = self.nodes[index];
                    let is_match = test(&self.conditions[node.condition as usize])?;
                    reference = match is_match != is_complement {
                        true => node.high,
                        false => node.low,
                    };
                }
                Some(Target::Result(index)) => return Ok(self.results.get(index)),
                Some(Target::None) | None => return Ok(None),
            }
        }
        Ok(None)
    }
}
