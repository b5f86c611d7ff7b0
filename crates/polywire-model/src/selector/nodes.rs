//! A set of shapes in the order in which they were added.

use super::graph::Node;

pub(crate) struct NodeSet {
    bits: Vec<u64>,
    nodes: Vec<Node>,
}

impl NodeSet {
    /// An empty set of nodes below `count`.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            bits: vec![0; count.div_ceil(64)],
            nodes: Vec::new(),
        }
    }

    pub(crate) fn contains(&self, node: Node) -> bool {
        self.bits[node as usize / 64] & (1 << (node % 64)) != 0
    }

    pub(crate) fn insert(&mut self, node: Node) {
        self.add(node);
    }

    /// Like `insert`, but returns whether the node is new.
    pub(crate) fn add(&mut self, node: Node) -> bool {
        let is_new = !self.contains(node);
        if is_new {
            self.bits[node as usize / 64] |= 1 << (node % 64);
            self.nodes.push(node);
        }
        is_new
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }
}
