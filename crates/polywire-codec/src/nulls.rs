//! Which nulls are no elements.

use polywire_schema::{Member, ShapeKind};

/// Whether a null in the list or map of `at` stands for nothing, so that a
/// lenient reader leaves it out: in a sparse collection it is an element, and
/// a document may be null everywhere.
#[inline]
pub(crate) fn mean_nothing(at: Member<'_>) -> bool {
    !at.is_sparse() && at.element().kind() != ShapeKind::Document
}
