//! The model as a graph, whose nodes are the indices of shapes and members.
//!
//! Shapes come first: those of the model's files, then the bundled ones. Then come all members. A
//! single step, as for the selector of a trait on one member, reads edges from the shapes. For
//! steps over many edges or backwards, all edges are stored once, in both directions.

use std::cell::OnceCell;
use std::ops::Range;

use polywire_schema::ShapeId;

use super::relations as relation;
use super::relations::Mask;
use super::syntax::Direction;
use crate::model::Model;
use crate::shape::{Lifecycle, Member, Shape, ShapeType, UNIT};
use crate::source::SourceLocation;
use crate::traits::Traits;

/// A shape or member of a graph.
pub(crate) type Node = u32;

pub(crate) struct Graph<'m> {
    model: &'m Model,
    own: &'m [Shape],
    bundled: &'m [Shape],
    /// The index of the first member of each shape, and of the end of the last.
    first_members: Vec<u32>,
    edges: OnceCell<Edges>,
    /// The shapes and members with a trait, by the trait.
    uses: OnceCell<Adjacent>,
}

/// All edges except those to traits.
struct Edges {
    forward: Adjacent,
    reverse: Adjacent,
}

/// An adjacency list: for each node a range of others.
struct Adjacent {
    ends: Vec<u32>,
    others: Vec<(Node, Mask)>,
}

impl<'m> Graph<'m> {
    pub(crate) fn new(model: &'m Model) -> Self {
        let (own, bundled) = (model.shape_slice(), model.bundled().shapes());
        let mut next = (own.len() + bundled.len()) as u32;
        let mut first_members = Vec::with_capacity(own.len() + bundled.len() + 1);
        for shape in own.iter().chain(bundled) {
            first_members.push(next);
            next += shape.members().len() as u32;
        }
        first_members.push(next);
        Self {
            model,
            own,
            bundled,
            first_members,
            edges: OnceCell::new(),
            uses: OnceCell::new(),
        }
    }

    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.first_members.last().map_or(0, |end| *end as usize)
    }

    fn shape_count(&self) -> usize {
        self.own.len() + self.bundled.len()
    }

    /// Every shape and member, without bundled shapes that a file of the model redefines.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = Node> {
        let is_live = |&at: &usize| at < self.own.len() || self.is_live(at);
        let places = (0..self.shape_count()).filter(is_live);
        places.flat_map(|at| std::iter::once(at as Node).chain(self.members(at)))
    }

    fn is_live(&self, at: usize) -> bool {
        self.model.place(self.shape_at(at).id()).is_none()
    }

    fn members(&self, at: usize) -> Range<Node> {
        self.first_members[at]..self.first_members[at + 1]
    }

    fn shape_at(&self, at: usize) -> &'m Shape {
        match at.checked_sub(self.own.len()) {
            None => &self.own[at],
            Some(at) => &self.bundled[at],
        }
    }

    /// The node of a shape, by its id.
    pub(crate) fn shape_node(&self, id: &str) -> Option<Node> {
        let bundled = || Some(self.own.len() as Node + self.model.bundled().position(id)?);
        self.model.place(id).or_else(bundled)
    }

    /// The node of a member, by its index in the shape.
    pub(crate) fn member_node(&self, shape: Node, index: usize) -> Node {
        self.first_members[shape as usize] + index as Node
    }

    /// Whether a file of the model defines the node.
    pub(crate) fn is_own(&self, node: Node) -> bool {
        (self.container(node) as usize) < self.own.len()
    }

    /// The shape of a member. For a shape, the shape itself.
    fn container(&self, node: Node) -> Node {
        let count = self.shape_count();
        if (node as usize) < count {
            return node;
        }
        // The last shape whose members begin at or before the node.
        let shapes = &self.first_members[..count];
        shapes.partition_point(|first| *first <= node) as Node - 1
    }

    /// The shape of a node, and the member if the node is one.
    pub(crate) fn get(&self, node: Node) -> (&'m Shape, Option<&'m Member>) {
        let at = self.container(node);
        let shape = self.shape_at(at as usize);
        let member = (at != node).then(|| {
            let index = node - self.first_members[at as usize];
            &shape.members()[index as usize]
        });
        (shape, member)
    }

    /// The type of a shape, `None` of a member.
    pub(crate) fn shape_type(&self, node: Node) -> Option<ShapeType> {
        let is_shape = (node as usize) < self.shape_count();
        is_shape.then(|| self.shape_at(node as usize).shape_type())
    }

    pub(crate) fn id(&self, node: Node) -> &'m str {
        self.shape_id(node).as_str()
    }

    pub(crate) fn shape_id(&self, node: Node) -> &'m ShapeId {
        match self.get(node) {
            (_, Some(member)) => member.id(),
            (shape, None) => shape.id(),
        }
    }

    pub(crate) fn location(&self, node: Node) -> SourceLocation {
        match self.get(node) {
            (_, Some(member)) => member.location(),
            (shape, None) => shape.location(),
        }
    }

    pub(crate) fn traits(&self, node: Node) -> &'m Traits {
        match self.get(node) {
            (_, Some(member)) => member.traits(),
            (shape, None) => shape.traits(),
        }
    }

    /// Visits the nodes that are connected to a node in a direction by one of the relations, until
    /// `visit` returns `true`. Returns whether it did.
    pub(crate) fn each(
        &self,
        node: Node,
        direction: Direction,
        wanted: Mask,
        visit: &mut dyn FnMut(Node) -> bool,
    ) -> bool {
        let mut some = |other, mask: Mask| mask & wanted != 0 && visit(other);
        let usual = wanted & relation::USUAL != 0;
        let stopped = match direction {
            Direction::Forward if usual => match self.edges.get() {
                Some(edges) => edges.forward.each(node, &mut some),
                None => self.each_target(node, &mut some),
            },
            Direction::Reverse if usual => match self.get(node) {
                // Only the container leads to a member.
                (_, Some(_)) => some(self.container(node), relation::MEMBER),
                _ => self.edges().reverse.each(node, &mut some),
            },
            _ => false,
        };
        if stopped {
            return true;
        }
        if wanted & relation::BOUND != 0 {
            // The edges from operations and resources to what binds them.
            let bindings = |other, mask: Mask| {
                mask & (relation::OPERATION | relation::RESOURCE) != 0 && visit(other)
            };
            let stopped = match direction {
                Direction::Forward => self.edges().reverse.each(node, &mut { bindings }),
                Direction::Reverse => self.edges().forward.each(node, &mut { bindings }),
            };
            if stopped {
                return true;
            }
        }
        if wanted & relation::TRAIT == 0 {
            return false;
        }
        match direction {
            Direction::Forward => self.each_trait(node, visit),
            Direction::Reverse => self.uses().each(node, &mut |other, _| visit(other)),
        }
    }

    /// Stores all edges, for steps over many edges.
    pub(crate) fn edges_ready(&self) {
        self.edges();
    }

    fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| {
            let mut all = Vec::new();
            for node in self.nodes() {
                self.each_target(node, &mut |other, mask| {
                    all.push((node, other, mask));
                    false
                });
            }
            Edges {
                forward: Adjacent::new(self.len(), all.iter().copied()),
                reverse: Adjacent::new(self.len(), all.iter().map(|&(a, b, mask)| (b, a, mask))),
            }
        })
    }

    fn uses(&self) -> &Adjacent {
        self.uses.get_or_init(|| {
            let mut all = Vec::new();
            for node in self.nodes() {
                self.each_trait(node, &mut |other| {
                    all.push((other, node, relation::TRAIT));
                    false
                });
            }
            Adjacent::new(self.len(), all.iter().copied())
        })
    }

    fn each_trait(&self, node: Node, visit: &mut dyn FnMut(Node) -> bool) -> bool {
        let mut definitions = self.traits(node).iter();
        definitions.any(|applied| self.shape_node(applied.id()).is_some_and(&mut *visit))
    }

    /// Visits the nodes that a node refers to.
    fn each_target(&self, node: Node, visit: &mut dyn FnMut(Node, Mask) -> bool) -> bool {
        let (shape, member) = self.get(node);
        let mut to = |id: &str, mask| self.shape_node(id).is_some_and(|other| visit(other, mask));
        if let Some(member) = member {
            // A member of an enum has a value, and no data.
            let is_constant = matches!(shape.shape_type(), ShapeType::Enum | ShapeType::IntEnum);
            return !is_constant && to(member.target(), relation::TARGET);
        }
        if let Some(operation) = shape.as_operation() {
            let of_data = [
                (operation.input(), relation::INPUT),
                (operation.output(), relation::OUTPUT),
            ];
            let mut of_data = of_data.into_iter().filter(|(id, _)| *id.id() != UNIT);
            if of_data.any(|(id, mask)| to(id, mask))
                || operation.errors().iter().any(|id| to(id, relation::ERROR))
            {
                return true;
            }
        }
        if let Some(service) = shape.as_service() {
            let operations = service.operations().iter();
            let resources = service.resources().iter();
            if operations
                .map(|id| (id, relation::OPERATION))
                .chain(resources.map(|id| (id, relation::RESOURCE)))
                .chain(service.errors().iter().map(|id| (id, relation::ERROR)))
                .any(|(id, mask)| to(id, mask))
            {
                return true;
            }
        }
        if let Some(resource) = shape.as_resource() {
            let identifiers = resource.identifiers().iter();
            let properties = resource.properties().iter();
            let lifecycle = Lifecycle::ALL
                .into_iter()
                .filter_map(|(_, l)| Some((resource.lifecycle(l)?, lifecycle_mask(l))));
            let instance = relation::INSTANCE_OPERATION | relation::OPERATION;
            let collection = relation::COLLECTION_OPERATION | relation::OPERATION;
            let collections = resource.collection_operations().iter();
            let resources = resource.resources().iter();
            if identifiers
                .map(|(_, id)| (id, relation::IDENTIFIER))
                .chain(properties.map(|(_, id)| (id, relation::PROPERTY)))
                .chain(lifecycle)
                .chain(resource.operations().iter().map(|id| (id, instance)))
                .chain(collections.map(|id| (id, collection)))
                .chain(resources.map(|id| (id, relation::RESOURCE)))
                .any(|(id, mask)| to(id, mask))
            {
                return true;
            }
        }
        let mut mixins = shape.mixins().iter();
        if mixins.any(|id| to(id, relation::MIXIN)) {
            return true;
        }
        let mut members = self.members(node as usize);
        members.any(|member| visit(member, relation::MEMBER))
    }
}

fn lifecycle_mask(lifecycle: Lifecycle) -> Mask {
    let (own, kind) = match lifecycle {
        Lifecycle::Create => (relation::CREATE, relation::COLLECTION_OPERATION),
        Lifecycle::Delete => (relation::DELETE, relation::INSTANCE_OPERATION),
        Lifecycle::List => (relation::LIST, relation::COLLECTION_OPERATION),
        Lifecycle::Put => (relation::PUT, relation::INSTANCE_OPERATION),
        Lifecycle::Read => (relation::READ, relation::INSTANCE_OPERATION),
        Lifecycle::Update => (relation::UPDATE, relation::INSTANCE_OPERATION),
    };
    own | kind | relation::OPERATION
}

impl Adjacent {
    /// From triples in any order, in two passes: count and fill.
    fn new(nodes: usize, all: impl Iterator<Item = (Node, Node, Mask)> + Clone) -> Self {
        let mut ends = vec![0_u32; nodes + 1];
        for (from, ..) in all.clone() {
            ends[from as usize + 1] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        // `ends[n]` is the start of the range of `n` until its items are filled in.
        let mut others = vec![(0, 0); sum as usize];
        for (from, to, mask) in all {
            let next = &mut ends[from as usize];
            others[*next as usize] = (to, mask);
            *next += 1;
        }
        Self { ends, others }
    }

    fn each(&self, node: Node, visit: &mut dyn FnMut(Node, Mask) -> bool) -> bool {
        let node = node as usize;
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start as usize..self.ends[node] as usize;
        self.others[range]
            .iter()
            .any(|&(other, mask)| visit(other, mask))
    }
}
