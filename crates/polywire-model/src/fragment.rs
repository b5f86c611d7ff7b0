//! The contents of one file: shapes with absolute names, traits that are not applied yet, and
//! metadata. The assembler joins fragments into a model.

use crate::node::Entry;
use crate::shape::{Shape, ShapeRef};
use crate::traits::AppliedTrait;

#[derive(Debug, Default)]
pub(crate) struct Fragment {
    /// Whether the file is written in Smithy 1.0.
    pub(crate) is_version_1: bool,
    pub(crate) metadata: Vec<Entry>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) applies: Vec<Apply>,
}

/// Traits for a shape or member, which may be in another file.
#[derive(Debug)]
pub(crate) struct Apply {
    pub(crate) target: ShapeRef,
    pub(crate) traits: Vec<AppliedTrait>,
}
