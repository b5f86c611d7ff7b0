//! Shapes by id.

use std::collections::HashMap;
use std::fmt;

use polywire_schema::ShapeId;

use crate::shape::Shape;

/// Shapes, sorted by id.
pub(crate) struct ShapeTable {
    shapes: Vec<Shape>,
    index: HashMap<ShapeId, u32>,
}

impl ShapeTable {
    /// `shapes` is sorted by id and has each id once. `index` has the position of each.
    pub(crate) fn new(shapes: Vec<Shape>, index: HashMap<ShapeId, u32>) -> Self {
        Self { shapes, index }
    }

    pub(crate) fn shape(&self, id: &str) -> Option<&Shape> {
        self.index.get(id).map(|&at| &self.shapes[at as usize])
    }

    /// The position of a shape in [`shapes`](Self::shapes).
    pub(crate) fn position(&self, id: &str) -> Option<u32> {
        self.index.get(id).copied()
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// Whether a shape has the namespace.
    pub(crate) fn has_namespace(&self, namespace: &str) -> bool {
        // The shapes of a namespace are adjacent, because shapes are sorted by id.
        let at = self
            .shapes
            .partition_point(|shape| shape.id().namespace() < namespace);
        self.shapes
            .get(at)
            .is_some_and(|shape| shape.id().namespace() == namespace)
    }
}

/// The number of shapes: each model refers to the table of bundled definitions.
impl fmt::Debug for ShapeTable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ShapeTable({} shapes)", self.shapes.len())
    }
}
