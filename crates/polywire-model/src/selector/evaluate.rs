//! Evaluation of a selector over a graph.
//!
//! There are two algorithms, which find the same shapes:
//!
//! - **All at once** (`all`): a step maps the set of all shapes so far to the next set. Each step
//!   visits a shape and an edge once, on however many paths they are reached. This is for steps
//!   without variables.
//! - **One by one** (`walk.rs`): a shape passes through all steps before the next one. This is for
//!   variables, whose values depend on the shape, and for tests such as `:not(...)`, whose result
//!   is one for each shape. Results of tests are cached for each shape and step.
//!
//! Each visited shape counts as work, and work is bounded.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::compare::compare;
use super::graph::{Graph, Node};
use super::nodes::NodeSet;
use super::relations;
use super::syntax::{Assertion, Comparison, Direction, Function, Operand, Path, Sequence, Step};
use super::value::{Budget, Scope, Value, Variables};
use super::walk::{Next, Slots};

pub(crate) struct Evaluation<'s, 'm> {
    pub(super) graph: &'s Graph<'m>,
    pub(super) names: &'s [String],
    pub(super) budget: &'s Budget,
    /// The results of `:root`, by the number of its argument.
    roots: RefCell<HashMap<u32, Rc<NodeSet>>>,
    pub(super) cache: RefCell<ResultCache>,
}

/// A cache: whether the steps from one on yield anything for a shape. By step and shape; 0 is
/// unknown, 1 no, 2 yes.
pub(super) struct ResultCache {
    by_step: Vec<Option<Box<[u8]>>>,
    /// The number of bytes that the cache may still grow.
    room: usize,
}

/// The maximum size of the cache, in bytes: 32 steps in a model of a million shapes.
const MOST_NOTES: usize = 32 << 20;

impl<'s, 'm> Evaluation<'s, 'm> {
    pub(crate) fn new(
        graph: &'s Graph<'m>,
        names: &'s [String],
        step_count: u32,
        budget: &'s Budget,
    ) -> Self {
        Self {
            graph,
            names,
            budget,
            roots: RefCell::default(),
            cache: RefCell::new(ResultCache {
                by_step: (0..step_count).map(|_| None).collect(),
                room: MOST_NOTES,
            }),
        }
    }

    /// The results of a sequence for all shapes of the graph.
    pub(crate) fn everything(&self, sequence: &Sequence) -> Vec<Node> {
        let nodes: Vec<Node> = self.graph.nodes().collect();
        if !sequence.uses_variables {
            return self.all(sequence, nodes);
        }
        let mut found = self.new_set();
        for node in nodes {
            let mut variables = vec![None; self.names.len()];
            self.walk(&mut variables, sequence, 0, node, &mut |_, node| {
                found.insert(node);
                false
            });
        }
        found.into_nodes()
    }

    pub(super) fn new_set(&self) -> NodeSet {
        self.budget.spend(self.graph.len() as u64 / 64);
        NodeSet::new(self.graph.len())
    }

    /// The results of a sequence without variables for a set of shapes.
    fn all(&self, sequence: &Sequence, mut nodes: Vec<Node>) -> Vec<Node> {
        for step in &sequence.steps {
            if nodes.is_empty() || self.budget.is_spent() {
                return Vec::new();
            }
            if step.is_filter() {
                nodes.retain(|node| self.holds(step, *node, &mut Vec::new()));
                continue;
            }
            let mut found = self.new_set();
            match step {
                Step::Neighbor {
                    direction,
                    relations,
                } => {
                    for node in nodes {
                        let mask = relations.mask();
                        self.graph.each(node, *direction, mask, &mut |other| {
                            found.insert(other);
                            !self.budget.spend(1)
                        });
                    }
                }
                Step::Recursive => self.reachable(&nodes, &mut found),
                Step::Function {
                    function,
                    arguments,
                } => self.all_of_function(function, arguments, nodes, &mut found),
                // Others are filters, or use variables.
                _ => return Vec::new(),
            }
            nodes = found.into_nodes();
        }
        nodes
    }

    fn all_of_function(
        &self,
        function: &Function,
        arguments: &[Sequence],
        nodes: Vec<Node>,
        found: &mut NodeSet,
    ) {
        match (function, arguments) {
            (Function::Is, arguments) => {
                for argument in arguments {
                    let yielded = self.all(argument, nodes.clone());
                    yielded.into_iter().for_each(|node| found.insert(node));
                }
            }
            (Function::Recursive, [selector]) => {
                let mut next = nodes;
                while !next.is_empty() {
                    let yielded = self.all(selector, next);
                    next = yielded.into_iter().filter(|n| found.add(*n)).collect();
                }
            }
            (Function::Root, [selector]) => {
                let root = self.root(selector);
                root.nodes().iter().for_each(|node| found.insert(*node));
            }
            (Function::TopDown, [qualifier, others @ ..]) => {
                let mut seen = [self.new_set(), self.new_set()];
                for node in nodes {
                    self.top_down(
                        (qualifier, others.first()),
                        node,
                        &mut Vec::new(),
                        &mut |node, qualified| seen[usize::from(qualified)].add(node),
                        &mut |_, node| {
                            found.insert(node);
                            false
                        },
                    );
                }
            }
            _ => {}
        }
    }

    /// The results of `~>` for a set of shapes: each shape that is reachable from another one of
    /// them. One search for all starts. It stores for each shape the first two starts from which it
    /// was reached, because a start does not yield itself.
    fn reachable(&self, starts: &[Node], found: &mut NodeSet) {
        self.graph.edges_ready();
        let mut reached: HashMap<Node, (Node, Option<Node>)> = HashMap::new();
        let mut todo: Vec<(Node, Node)> = starts.iter().map(|start| (*start, *start)).collect();
        while let Some((node, start)) = todo.pop() {
            if !self.budget.spend(1) {
                return;
            }
            match reached.get_mut(&node) {
                None => _ = reached.insert(node, (start, None)),
                Some((first, second)) => {
                    if *first == start || second.is_some() {
                        continue;
                    }
                    *second = Some(start);
                }
            }
            if node != start {
                found.insert(node);
            }
            let (forward, usual) = (Direction::Forward, relations::USUAL);
            self.graph.each(node, forward, usual, &mut |other| {
                todo.push((other, start));
                !self.budget.spend(1)
            });
        }
    }

    /// The results of `:root`, which are computed once, independently of the context.
    pub(super) fn root(&self, selector: &Sequence) -> Rc<NodeSet> {
        if let Some(known) = self.roots.borrow().get(&selector.base) {
            return Rc::clone(known);
        }
        let mut set = self.new_set();
        let found = self.everything(selector);
        found.into_iter().for_each(|node| set.insert(node));
        let set = Rc::new(set);
        let mut roots = self.roots.borrow_mut();
        roots.insert(selector.base, Rc::clone(&set));
        set
    }

    /// Visits the results of `:topdown` for a shape: services, resources and operations that
    /// qualify, and those below them, down to the first that is disqualified. `enter` decides
    /// whether to visit a shape. Its argument is whether the parent qualifies.
    pub(super) fn top_down(
        &self,
        (qualifier, disqualifier): (&Sequence, Option<&Sequence>),
        start: Node,
        variables: &mut Slots,
        enter: &mut dyn FnMut(Node, bool) -> bool,
        next: Next<'_>,
    ) -> bool {
        let mut todo = vec![(start, false)];
        while let Some((node, mut qualifies)) = todo.pop() {
            let is_service_type = |t: crate::shape::ShapeType| t.is_service_type();
            let has_type = self.graph.shape_type(node).is_some_and(is_service_type);
            if !has_type || !self.budget.spend(1) || !enter(node, qualifies) {
                continue;
            }
            qualifies = qualifies || self.finds(qualifier, node, variables);
            if qualifies && disqualifier.is_some_and(|d| self.finds(d, node, variables)) {
                qualifies = false;
            }
            if qualifies && next(variables, node) {
                return true;
            }
            let below = relations::OPERATION | relations::RESOURCE;
            self.graph
                .each(node, Direction::Forward, below, &mut |other| {
                    todo.push((other, qualifies));
                    false
                });
        }
        false
    }

    /// Whether a filter accepts a shape.
    pub(super) fn holds(&self, step: &Step, node: Node, variables: &mut Slots) -> bool {
        if !self.budget.spend(1) {
            return false;
        }
        match step {
            Step::Type(test) => test.matches(self.graph.shape_type(node)),
            Step::Attribute { path, comparison } => {
                self.attribute(path, comparison.as_ref(), node, variables)
            }
            Step::Scoped { path, assertions } => self.scoped(path, assertions, node, variables),
            Step::Function {
                function,
                arguments,
            } => match (function, arguments.as_slice()) {
                (Function::Is | Function::Test, arguments) => {
                    arguments.iter().any(|a| self.finds(a, node, variables))
                }
                (Function::Not, [argument]) => !self.finds(argument, node, variables),
                (Function::In, [argument]) => self.yields(argument, node, variables),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a selector yields its input.
    fn yields(&self, selector: &Sequence, node: Node, variables: &mut Slots) -> bool {
        // A set lookup, because the results can be many.
        match selector.steps.as_slice() {
            [
                Step::Function {
                    function: Function::Root,
                    arguments,
                },
            ] => return arguments.iter().any(|a| self.root(a).contains(node)),
            [Step::VariableGet(variable)] => {
                let nodes = variables.get(variable.slot).and_then(Option::as_ref);
                return nodes.is_some_and(|nodes| nodes.binary_search(&node).is_ok());
            }
            _ => {}
        }
        self.walk(variables, selector, 0, node, &mut |_, found| found == node)
    }

    fn scope<'a>(&'a self, variables: &'a Variables) -> Scope<'a, 'm> {
        Scope {
            graph: self.graph,
            names: self.names,
            variables,
            budget: self.budget,
        }
    }

    fn attribute(
        &self,
        path: &Path,
        comparison: Option<&Comparison>,
        node: Node,
        variables: &Variables,
    ) -> bool {
        let scope = self.scope(variables);
        let value = scope.follow(Value::Shape(node), path);
        let Some(comparison) = comparison else {
            return value.exists();
        };
        comparison.values.iter().any(|text| {
            let right = Value::Text(text.into());
            let (comparator, ignores_case) = (comparison.comparator, comparison.ignores_case);
            compare(scope, comparator, &value, &right, ignores_case)
        })
    }

    fn scoped(
        &self,
        path: &Path,
        assertions: &[Assertion],
        node: Node,
        variables: &Variables,
    ) -> bool {
        let scope = self.scope(variables);
        let context = scope.follow(Value::Shape(node), path);
        context.exists()
            && context.any(&mut |context| {
                assertions.iter().all(|assertion| {
                    let left = operand(scope, context, &assertion.left);
                    assertion.right.iter().any(|right| {
                        let right = operand(scope, context, right);
                        let (comparator, ignores_case) =
                            (assertion.comparator, assertion.ignores_case);
                        compare(scope, comparator, &left, &right, ignores_case)
                    })
                })
            })
    }
}

fn operand<'v>(scope: Scope<'_, 'v>, context: &Value<'v>, operand: &'v Operand) -> Value<'v> {
    match operand {
        Operand::Context(path) => scope.follow(context.clone(), path),
        Operand::Literal(text) => Value::Text(text.as_str().into()),
    }
}

impl ResultCache {
    pub(super) fn get(&self, step: u32, node: Node) -> Option<bool> {
        match self.by_step.get(step as usize)?.as_ref()?[node as usize] {
            0 => None,
            note => Some(note == 2),
        }
    }

    pub(super) fn set(&mut self, step: u32, node: Node, finds: bool, nodes: usize) {
        let Some(cache) = self.by_step.get_mut(step as usize) else {
            return;
        };
        if cache.is_none() && self.room >= nodes {
            self.room -= nodes;
            *cache = Some(vec![0; nodes].into_boxed_slice());
        }
        if let Some(cache) = cache {
            cache[node as usize] = 1 + u8::from(finds);
        }
    }
}
