//! [`SchemaSet`]: shapes in flat arrays, prepared for codecs.
//!
//! All references are indices into arrays, and all texts are spans of one string. This has several
//! advantages:
//!
//! - A set can be a `static` in generated code ([`SchemaParts`](crate::SchemaParts)), or be built
//!   from a model at run time.
//! - Shapes can be recursive.
//! - A handle is `Copy` and small, and needs no hash table.
//!
//! Members are stored in the order in which they are written: XML attributes first, then the order
//! of the model. The ordinal of a member is its position in this order. Each shape also has a
//! *root* member, which is not part of a structure. Codecs receive it for the shape at the top of a
//! message.

use std::borrow::Cow;
use std::fmt;

use polywire_text::scan::Name;

use crate::{
    ConstraintDef, EnumValueDef, ErrorDef, MemberDef, NameEncoding, NameSource, Operation,
    OperationDef, Schema, Service, ServiceDef, ShapeDef, Span,
};

/// A set of shapes, operations and services, prepared for codecs. Create it with a
/// [`SchemaBuilder`](crate::SchemaBuilder) or with [`SchemaSet::from_parts`].
#[derive(Clone, Default)]
pub struct SchemaSet<'a> {
    pub(crate) shapes: Cow<'a, [ShapeDef]>,
    pub(crate) members: Cow<'a, [MemberDef]>,
    pub(crate) operations: Cow<'a, [OperationDef]>,
    pub(crate) services: Cow<'a, [ServiceDef]>,
    pub(crate) errors: Cow<'a, [ErrorDef]>,
    /// The constraints of members.
    pub(crate) constraints: Cow<'a, [ConstraintDef]>,
    /// The values of enums.
    pub(crate) enum_values: Cow<'a, [EnumValueDef]>,
    /// Lists of indices: operations of services, errors of operations.
    pub(crate) lists: Cow<'a, [u32]>,
    /// For each source, the unencoded names of all members.
    pub(crate) plain: [Cow<'a, [Span]>; NameSource::COUNT],
    /// For each encoding, the encoded names of all members.
    pub(crate) names: [Cow<'a, [Name]>; NameEncoding::COUNT],
    /// The buckets of the lookup tables: an ordinal plus one, or 0 if empty.
    pub(crate) buckets: Cow<'a, [u16]>,
    /// The slots of the variant tables of unions.
    pub(crate) variants: Cow<'a, [u64]>,
    /// Ids and plain names.
    pub(crate) text: Cow<'a, str>,
    /// Encoded names that are too long for `names`, followed by padding.
    pub(crate) code: Cow<'a, [u8]>,
}

impl<'a> SchemaSet<'a> {
    /// Returns the shape at an index. Use indices of this set, or of the code that was generated
    /// with it.
    ///
    /// # Panics
    ///
    /// Panics if the index is out of bounds.
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

    /// Returns all shapes.
    pub fn shapes<'s>(&'s self) -> impl ExactSizeIterator<Item = Schema<'s>>
    where
        'a: 's,
    {
        (0..self.shapes.len() as u32).map(|index| Schema::at(self, index))
    }

    /// Returns the shape with an absolute id. This is a linear search, so keep the result.
    #[must_use]
    pub fn find_shape<'s>(&'s self, id: &str) -> Option<Schema<'s>>
    where
        'a: 's,
    {
        self.shapes().find(|shape| shape.id() == id)
    }

    /// Returns the operation at an index.
    ///
    /// # Panics
    ///
    /// Panics if the index is out of bounds.
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

    /// Returns the service at an index.
    ///
    /// # Panics
    ///
    /// Panics if the index is out of bounds.
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

    /// Returns all services.
    pub fn services<'s>(&'s self) -> impl ExactSizeIterator<Item = Service<'s>>
    where
        'a: 's,
    {
        (0..self.services.len() as u32).map(|index| Service::at(self, index))
    }

    pub(crate) fn str(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// Splits a text at spaces.
    pub(crate) fn words(&self, span: Span) -> impl Iterator<Item = &str> {
        self.str(span).split(' ').filter(|word| !word.is_empty())
    }

    pub(crate) fn list(&self, span: Span) -> &[u32] {
        self.lists.get(span.range()).unwrap_or_default()
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
