//! [`SchemaParts`]: the arrays of a set, for a set in a `static`.

use std::borrow::Cow;

use polywire_text::scan::Name;

use crate::{
    ConstraintDef, EnumValueDef, ErrorDef, MemberDef, NameEncoding, NameSource, OperationDef,
    SchemaSet, ServiceDef, ShapeDef, Span,
};

/// The arrays of a [`SchemaSet`], for code generators.
///
/// A generator builds a set with [`SchemaBuilder`](crate::SchemaBuilder) and prints its
/// [parts](SchemaSet::parts). The generated code passes them to [`SchemaSet::from_parts`]. The
/// fields can change with each version of this crate.
///
/// ```
/// use polywire_schema::{SchemaParts, SchemaSet};
///
/// static SET: SchemaSet<'static> = SchemaSet::from_parts(SchemaParts::EMPTY);
/// assert_eq!(SET.shapes().len(), 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SchemaParts<'a> {
    /// The shapes.
    pub shapes: &'a [ShapeDef],
    /// The members of all shapes. The members of one shape are adjacent. Each shape also has a root
    /// member.
    pub members: &'a [MemberDef],
    /// The operations.
    pub operations: &'a [OperationDef],
    /// The services.
    pub services: &'a [ServiceDef],
    /// The traits of error shapes.
    pub errors: &'a [ErrorDef],
    /// The constraints of members.
    pub constraints: &'a [ConstraintDef],
    /// The values of enums.
    pub enum_values: &'a [EnumValueDef],
    /// Lists of indices: operations of services, errors of operations.
    pub lists: &'a [u32],
    /// For each [`NameSource`], the unencoded names of all members.
    pub plain: [&'a [Span]; NameSource::COUNT],
    /// For each [`NameEncoding`], the encoded names of all members.
    pub names: [&'a [Name]; NameEncoding::COUNT],
    /// The buckets of the lookup tables: an ordinal plus one, or 0 if empty.
    pub buckets: &'a [u16],
    /// The slots of the variant tables of unions.
    pub variants: &'a [u64],
    /// The text that [`Span`]s refer to.
    pub text: &'a str,
    /// The bytes that long [`Name`]s refer to, followed by
    /// [padding](polywire_text::scan::RUN_PADDING).
    pub code: &'a [u8],
}

impl SchemaParts<'_> {
    /// The arrays of an empty set.
    pub const EMPTY: Self = Self {
        shapes: &[],
        members: &[],
        operations: &[],
        services: &[],
        errors: &[],
        constraints: &[],
        enum_values: &[],
        lists: &[],
        plain: [&[]; NameSource::COUNT],
        names: [&[]; NameEncoding::COUNT],
        buckets: &[],
        variants: &[],
        text: "",
        code: &[],
    };

    /// Returns whether all indices are within their arrays and all members have names.
    const fn is_consistent(&self) -> bool {
        let (shapes, members) = (self.shapes.len(), self.members.len());
        let mut at = 0;
        while at < shapes {
            let shape = &self.shapes[at];
            let end = shape.first_member as usize + shape.member_count as usize;
            if end > members || shape.root as usize >= members {
                return false;
            }
            at += 1;
        }
        at = 0;
        while at < members {
            let member = &self.members[at];
            if member.container as usize >= shapes
                || member.target as usize >= shapes
                || member.constraint as usize > self.constraints.len()
            {
                return false;
            }
            at += 1;
        }
        at = 0;
        while at < self.operations.len() {
            let operation = &self.operations[at];
            if operation.input as usize >= shapes || operation.output as usize >= shapes {
                return false;
            }
            at += 1;
        }
        at = 0;
        while at < NameSource::COUNT {
            if self.plain[at].len() != members {
                return false;
            }
            at += 1;
        }
        at = 0;
        while at < NameEncoding::COUNT {
            if self.names[at].len() != members {
                return false;
            }
            at += 1;
        }
        true
    }
}

impl<'a> SchemaSet<'a> {
    /// Creates a set that borrows the given arrays.
    ///
    /// # Panics
    ///
    /// Panics if an index of a shape, member or constraint is out of bounds, or if a member has no
    /// name. In a `static` this is a compile error.
    #[must_use]
    pub const fn from_parts(parts: SchemaParts<'a>) -> Self {
        assert!(parts.is_consistent(), "inconsistent parts of a schema set");
        let [a, b, c, d, e] = parts.plain;
        let [f, g, h, i, j, k, l, m] = parts.names;
        Self {
            shapes: Cow::Borrowed(parts.shapes),
            members: Cow::Borrowed(parts.members),
            operations: Cow::Borrowed(parts.operations),
            services: Cow::Borrowed(parts.services),
            errors: Cow::Borrowed(parts.errors),
            constraints: Cow::Borrowed(parts.constraints),
            enum_values: Cow::Borrowed(parts.enum_values),
            lists: Cow::Borrowed(parts.lists),
            plain: [
                Cow::Borrowed(a),
                Cow::Borrowed(b),
                Cow::Borrowed(c),
                Cow::Borrowed(d),
                Cow::Borrowed(e),
            ],
            names: [
                Cow::Borrowed(f),
                Cow::Borrowed(g),
                Cow::Borrowed(h),
                Cow::Borrowed(i),
                Cow::Borrowed(j),
                Cow::Borrowed(k),
                Cow::Borrowed(l),
                Cow::Borrowed(m),
            ],
            buckets: Cow::Borrowed(parts.buckets),
            variants: Cow::Borrowed(parts.variants),
            text: Cow::Borrowed(parts.text),
            code: Cow::Borrowed(parts.code),
        }
    }

    /// Returns the arrays of the set.
    #[must_use]
    pub fn parts(&self) -> SchemaParts<'_> {
        SchemaParts {
            shapes: &self.shapes,
            members: &self.members,
            operations: &self.operations,
            services: &self.services,
            errors: &self.errors,
            constraints: &self.constraints,
            enum_values: &self.enum_values,
            lists: &self.lists,
            plain: self.plain.each_ref().map(|spans| &**spans),
            names: self.names.each_ref().map(|names| &**names),
            buckets: &self.buckets,
            variants: &self.variants,
            text: &self.text,
            code: &self.code,
        }
    }
}
