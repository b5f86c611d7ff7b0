//! `SchemaSet`: shapes prepared for codecs, in flat arrays.
//!
//! Everything is an index into an array, and every text a span of a pool. So
//! a set can be a `static` that a code generator wrote
//! ([`SchemaParts`](crate::SchemaParts)), or live in an `Arc`
//! built from a model at run time and be dropped again; recursion between
//! shapes is nothing special; and a handle is two words, `Copy`, and found
//! without hashing.
//!
//! Members stand in the order in which they are written: XML attributes
//! first, then the order of the model. A member's ordinal is its place in that
//! order. Each shape also has a *root* member, which belongs to no structure:
//! it is what a codec is given for the shape at the top of a message.

use std::borrow::Cow;
use std::fmt;

use polywire_text::scan::Name;

use crate::{
    ConstraintDef, Encoding, EnumValueDef, ErrorDef, MemberDef, NameSource, Operation,
    OperationDef, Schema, Service, ServiceDef, ShapeDef, Span,
};

/// Shapes prepared for codecs, in flat arrays that refer to each other by
/// index. [`SchemaBuilder`](crate::SchemaBuilder) makes one; generated code holds
/// one by [`SchemaSet::from_parts`].
#[derive(Clone, Default)]
pub struct SchemaSet<'a> {
    pub(crate) shapes: Cow<'a, [ShapeDef]>,
    pub(crate) members: Cow<'a, [MemberDef]>,
    pub(crate) operations: Cow<'a, [OperationDef]>,
    pub(crate) services: Cow<'a, [ServiceDef]>,
    pub(crate) errors: Cow<'a, [ErrorDef]>,
    /// What the values of members have to satisfy.
    pub(crate) constraints: Cow<'a, [ConstraintDef]>,
    /// The values of enums.
    pub(crate) enum_values: Cow<'a, [EnumValueDef]>,
    /// Lists of indices: operations of services, errors of operations.
    pub(crate) lists: Cow<'a, [u32]>,
    /// Plain names per source and member.
    pub(crate) plain: [Cow<'a, [Span]>; NameSource::COUNT],
    /// Encoded names per encoding and member.
    pub(crate) names: [Cow<'a, [Name]>; Encoding::COUNT],
    /// Buckets of the look-up tables: an ordinal plus one, or 0.
    pub(crate) buckets: Cow<'a, [u16]>,
    /// Slots of the tables of unions.
    pub(crate) variants: Cow<'a, [u64]>,
    /// Ids and plain names.
    pub(crate) text: Cow<'a, str>,
    /// Encoded names that are too long for their table, and padding behind
    /// the last.
    pub(crate) code: Cow<'a, [u8]>,
}

impl<'a> SchemaSet<'a> {
    /// The shape at an index.
    ///
    /// # Panics
    ///
    /// There is no such shape. Indices come from this set or from the code
    /// that was generated with it.
    #[must_use]
    pub fn shape<'s>(&'s self, index: u32) -> Schema<'s>
    where
        'a: 's,
    {
        assert!(
            (index as usize) < self.shapes.len(),
            "no shape {index} in this set"
        );
        Schema::at(self, index)
    }

    /// All shapes.
    pub fn shapes<'s>(&'s self) -> impl ExactSizeIterator<Item = Schema<'s>>
    where
        'a: 's,
    {
        (0..self.shapes.len() as u32).map(|index| Schema::at(self, index))
    }

    /// The shape with an absolute id. Looks at every shape: keep the answer.
    #[must_use]
    pub fn find_shape<'s>(&'s self, id: &str) -> Option<Schema<'s>>
    where
        'a: 's,
    {
        self.shapes().find(|shape| shape.id() == id)
    }

    /// The operation at an index.
    ///
    /// # Panics
    ///
    /// There is no such operation.
    #[must_use]
    pub fn operation<'s>(&'s self, index: u32) -> Operation<'s>
    where
        'a: 's,
    {
        assert!(
            (index as usize) < self.operations.len(),
            "no operation {index} in this set"
        );
        Operation::at(self, index)
    }

    /// The service at an index.
    ///
    /// # Panics
    ///
    /// There is no such service.
    #[must_use]
    pub fn service<'s>(&'s self, index: u32) -> Service<'s>
    where
        'a: 's,
    {
        assert!(
            (index as usize) < self.services.len(),
            "no service {index} in this set"
        );
        Service::at(self, index)
    }

    /// All services.
    pub fn services<'s>(&'s self) -> impl ExactSizeIterator<Item = Service<'s>>
    where
        'a: 's,
    {
        (0..self.services.len() as u32).map(|index| Service::at(self, index))
    }

    pub(crate) fn str(&self, span: Span) -> &str {
        let start = span.start as usize;
        self.text
            .get(start..start + span.len as usize)
            .unwrap_or_default()
    }

    /// The words of a text that spaces separate.
    pub(crate) fn words(&self, span: Span) -> impl Iterator<Item = &str> {
        self.str(span).split(' ').filter(|word| !word.is_empty())
    }

    pub(crate) fn list(&self, span: Span) -> &[u32] {
        let start = span.start as usize;
        self.lists
            .get(start..start + span.len as usize)
            .unwrap_or_default()
    }
}

impl fmt::Debug for SchemaSet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchemaSet")
            .field("shapes", &self.shapes.len())
            .field("members", &self.members.len())
            .field("operations", &self.operations.len())
            .finish_non_exhaustive()
    }
}
