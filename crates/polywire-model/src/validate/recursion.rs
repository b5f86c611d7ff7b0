//! Recursive shapes without finite values.
//!
//! Lists and maps that contain themselves cannot be represented in most languages. Structures that
//! require themselves, also through others, have no finite value, and neither have unions whose
//! members all lead back to them. Each search visits every member once:
//!
//! ```text
//! lists, maps   each leads to one other, so a walk along them ends or turns
//! structures    the strong components over required members (Tarjan), in each
//!               the shortest way around (breadth first)
//! unions        which shapes reach an end, found backwards from the ends
//! ```

use std::collections::{HashMap, HashSet, VecDeque};

use polywire_schema::ShapeId;

use crate::diagnostic::{Problem, Problems};
use crate::model::Model;
use crate::rules::{self, Rule};
use crate::severity::Severity;
use crate::shape::{Member, Shape, ShapeType};

const RULE: &Rule = rules::SHAPE_RECURSION;

/// The maximum number of steps of a cycle in a message.
const SHOWN: usize = 12;

/// The maximum number of reported cycles in a strongly connected component. Fixing one often fixes
/// others, and each needs a search.
const MOST: u32 = 10;

pub(super) fn check(model: &Model, problems: &mut Problems) {
    check_lists(model, problems);
    check_structures(model, problems);
    check_unions(model, problems);
}

/// A graph of shapes, whose edges are members: from `from` by `by` to `to`.
struct Graph<'m> {
    shapes: Vec<&'m Shape>,
    edges: Vec<Vec<(&'m Member, usize)>>,
}

impl<'m> Graph<'m> {
    /// The graph of the shapes that `is_node` selects, with the members that `is_edge` selects and
    /// that target another of these shapes.
    fn of(
        model: &'m Model,
        is_node: impl Fn(&Shape) -> bool,
        is_edge: impl Fn(&Shape, &Member) -> bool,
    ) -> Self {
        let shapes: Vec<&Shape> = model.shapes().filter(|shape| is_node(shape)).collect();
        let index: HashMap<&ShapeId, usize> = shapes
            .iter()
            .enumerate()
            .map(|(at, shape)| (shape.id(), at))
            .collect();
        let edges = shapes.iter().map(|shape| {
            let members = shape.members().iter();
            let members = members.filter(|member| is_edge(shape, member));
            members
                .filter_map(|member| Some((member, *index.get(member.target().id())?)))
                .collect()
        });
        Self {
            edges: edges.collect(),
            shapes,
        }
    }

    /// The shortest cycle through a shape, within one component.
    fn cycle(&self, start: usize, component: &[usize]) -> Vec<&'m Member> {
        let mut came_by: HashMap<usize, (usize, &Member)> = HashMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for &(member, next) in &self.edges[at] {
                if component[next] != component[start] || came_by.contains_key(&next) {
                    continue;
                }
                came_by.insert(next, (at, member));
                if next == start {
                    break;
                }
                queue.push_back(next);
            }
            if came_by.contains_key(&start) {
                break;
            }
        }
        let mut path = Vec::new();
        let mut at = start;
        while let Some(&(before, member)) = came_by.get(&at) {
            path.push(member);
            at = before;
            if at == start {
                break;
            }
        }
        path.reverse();
        path
    }

    /// The path along the first members, until it reaches a shape twice.
    fn first_way(&self, start: usize) -> Vec<&'m Member> {
        let (mut path, mut seen, mut at) = (Vec::new(), HashSet::new(), start);
        while path.len() <= SHOWN && seen.insert(at) {
            let Some(&(member, next)) = self.edges[at].first() else {
                break;
            };
            path.push(member);
            at = next;
        }
        path
    }

    /// The number of the strongly connected component of each shape, by Tarjan's algorithm with an
    /// explicit stack.
    fn components(&self) -> Vec<usize> {
        const UNSEEN: usize = usize::MAX;
        let count = self.shapes.len();
        let (mut order, mut lowest) = (vec![UNSEEN; count], vec![0; count]);
        let mut component = vec![UNSEEN; count];
        let (mut open, mut calls) = (Vec::new(), Vec::new());
        let (mut next_order, mut next_component) = (0, 0);
        for root in 0..count {
            if order[root] != UNSEEN {
                continue;
            }
            calls.push((root, 0));
            while let Some((at, edge)) = calls.pop() {
                if edge == 0 {
                    order[at] = next_order;
                    lowest[at] = next_order;
                    next_order += 1;
                    open.push(at);
                }
                if let Some(&(_, next)) = self.edges[at].get(edge) {
                    calls.push((at, edge + 1));
                    if order[next] == UNSEEN {
                        calls.push((next, 0));
                    } else if component[next] == UNSEEN {
                        lowest[at] = lowest[at].min(order[next]);
                    }
                    continue;
                }
                if lowest[at] == order[at] {
                    while let Some(member) = open.pop() {
                        component[member] = next_component;
                        if member == at {
                            break;
                        }
                    }
                    next_component += 1;
                }
                if let Some(&(caller, _)) = calls.last() {
                    lowest[caller] = lowest[caller].min(lowest[at]);
                }
            }
        }
        component
    }

    /// Calls `report` with a cycle for each shape in one, but only once for the shapes of a
    /// reported cycle.
    fn cycles(&self, mut report: impl FnMut(&'m Shape, &[&'m Member]) -> bool) {
        let component = self.components();
        let mut size = vec![0_u32; self.shapes.len()];
        component.iter().for_each(|&number| size[number] += 1);
        let index: HashMap<&ShapeId, usize> = self
            .shapes
            .iter()
            .enumerate()
            .map(|(at, shape)| (shape.id(), at))
            .collect();
        let mut is_told = vec![false; self.shapes.len()];
        let mut told = vec![0_u32; self.shapes.len()];
        for start in 0..self.shapes.len() {
            let is_alone = size[component[start]] == 1
                && self.edges[start].iter().all(|(_, next)| *next != start);
            let count = &mut told[component[start]];
            if is_alone || is_told[start] || *count == MOST {
                continue;
            }
            *count += 1;
            let path = self.cycle(start, &component);
            for member in &path {
                if let Some(&at) = index.get(member.target().id()) {
                    is_told[at] = true;
                }
            }
            if !report(self.shapes[start], &path) {
                return;
            }
        }
    }
}

fn check_lists(model: &Model, problems: &mut Problems) {
    let is_node = |shape: &Shape| matches!(shape.shape_type(), ShapeType::List | ShapeType::Map);
    Graph::of(model, is_node, |_, _| true).cycles(|shape, path| {
        problems.push_with(Severity::Error, |_| {
            let message = format!("`{}` contains itself: {}", shape.id(), shown(path));
            let location = path
                .first()
                .map_or(shape.location(), |m| m.target().location());
            Problem::error(RULE, location, message)
                .about(shape.id())
                .expected("a structure or union in the cycle")
                .related("the shape", shape.location())
        });
        !problems.is_full()
    });
}

fn check_structures(model: &Model, problems: &mut Problems) {
    let is_node = |shape: &Shape| shape.shape_type() == ShapeType::Structure;
    let is_edge = |_: &Shape, member: &Member| member.traits().is_required();
    Graph::of(model, is_node, is_edge).cycles(|shape, path| {
        problems.push_with(Severity::Error, |_| {
            let message = format!("`{}` requires itself: {}", shape.id(), shown(path));
            let location = path.first().map_or(shape.location(), |m| m.location());
            Problem::error(RULE, location, message)
                .about(shape.id())
                .expected(
                    "a member without @required in the cycle, because values would be infinite",
                )
                .related("the shape", shape.location())
        });
        !problems.is_full()
    });
}

fn check_unions(model: &Model, problems: &mut Problems) {
    // A structure is finite if one of its members is optional, or if one of the required ones is
    // finite, as in Smithy's own tool.
    let is_node = |shape: &Shape| match shape.shape_type() {
        ShapeType::Union => true,
        ShapeType::Structure => {
            let members = shape.members();
            !members.is_empty() && members.iter().all(|member| member.traits().is_required())
        }
        _ => false,
    };
    let graph = Graph::of(model, is_node, |_, _| true);
    let count = graph.shapes.len();
    let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut ends = vec![false; count];
    let mut queue = VecDeque::new();
    for (at, shape) in graph.shapes.iter().enumerate() {
        graph.edges[at]
            .iter()
            .for_each(|(_, next)| users[*next].push(at));
        // A member that leads out of the graph is finite. An empty union is reported elsewhere.
        if graph.edges[at].len() < shape.members().len() || shape.members().is_empty() {
            ends[at] = true;
            queue.push_back(at);
        }
    }
    while let Some(at) = queue.pop_front() {
        for &user in &users[at] {
            if !std::mem::replace(&mut ends[user], true) {
                queue.push_back(user);
            }
        }
    }
    for (at, shape) in graph.shapes.iter().enumerate() {
        if ends[at] || shape.shape_type() != ShapeType::Union {
            continue;
        }
        if problems.is_full() {
            return;
        }
        problems.push_with(Severity::Error, |_| {
            let path = graph.first_way(at);
            let message = format!(
                "all values of the union `{}` are infinite: {}",
                shape.id(),
                shown(&path)
            );
            Problem::error(RULE, shape.location(), message)
                .about(shape.id())
                .expected("a member that does not lead back to the union")
        });
    }
}

/// A cycle as text: `A > B > A`.
fn shown(path: &[&Member]) -> String {
    let mut text = String::new();
    for member in path.iter().take(SHOWN) {
        text.push_str(member.id());
        text.push_str(" > ");
    }
    if path.len() > SHOWN {
        text.push_str("... > ");
    }
    text.push_str(path.last().map_or("", |member| member.target().id()));
    text
}
