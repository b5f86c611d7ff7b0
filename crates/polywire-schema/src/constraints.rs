//! Constraint traits: restrictions on values beyond their type.
//!
//! <https://smithy.io/2.0/spec/constraint-traits.html>
//!
//! This module only stores the constraints. `polywire-protocol` validates values, on servers. A
//! trait of a member takes precedence over the same trait of its target. Each shape also has a flag
//! for constraints in nested values, so that validation can skip unconstrained values.

use std::fmt;

use crate::{MemberFlags, SchemaSet, Span};

/// The stored form of [`Constraints`]. Members without constraint traits share the constraints of
/// their target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstraintDef {
    /// The minimum of `@length`; 0 if there is none.
    pub min_length: u64,
    /// The maximum of `@length`; `u64::MAX` if there is none.
    pub max_length: u64,
    /// The minimum of `@range`, as a decimal; empty if there is none.
    pub least: Span,
    /// The maximum of `@range`, as a decimal; empty if there is none.
    pub most: Span,
    /// `@pattern`; empty without the trait.
    pub pattern: Span,
    /// Whether the member has `@uniqueItems`.
    pub unique_items: bool,
    /// The values of an enum: a range of the enum values of the set.
    pub values: Span,
}

/// The stored form of an [`EnumValue`].
#[derive(Clone, Copy, Debug)]
pub struct EnumValueDef {
    /// The text of a string enum; empty for an integer.
    pub text: Span,
    /// The number of an integer enum; 0 for a string.
    pub number: i32,
    /// Whether the value has `@internal`: it must not be shown to customers.
    pub is_internal: bool,
}

/// The constraint traits of a shape or member, as input of a
/// [`SchemaBuilder`](crate::SchemaBuilder).
#[derive(Clone, Debug, Default)]
pub struct ConstraintSpec {
    /// `@length`: minimum and maximum.
    pub length: Option<(Option<u64>, Option<u64>)>,
    /// `@range`: minimum and maximum, as decimals.
    pub range: Option<(Option<String>, Option<String>)>,
    /// `@pattern`.
    pub pattern: Option<String>,
    /// Whether it has `@uniqueItems`.
    pub unique_items: bool,
    /// The values of an enum or integer enum.
    pub values: Vec<EnumValueSpec>,
}

/// A value of an enum, as input of a [`SchemaBuilder`](crate::SchemaBuilder).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EnumValueSpec {
    /// The text of a string enum (`Ok`) or the number of an integer enum (`Err`).
    pub value: Result<String, i32>,
    /// Whether the value has `@internal`: it must not be shown to customers.
    pub is_internal: bool,
}

/// A handle to the constraints of a member.
///
/// ```
/// use polywire_schema::{ConstraintSpec, MemberSpec, SchemaBuilder, ShapeKind};
///
/// let mut builder = SchemaBuilder::new();
/// let name = builder.shape(ShapeKind::String, "example#Name");
/// builder.root(name).constraints.length = Some((Some(1), None));
/// builder.root(name).constraints.pattern = Some("^[a-z]+$".to_owned());
/// let city = builder.shape(ShapeKind::Structure, "example#City");
/// let mut member = MemberSpec::new("name", name);
/// member.constraints.length = Some((Some(2), Some(8)));
/// builder.member(city, member);
/// let set = builder.finish()?;
///
/// let member = set.shape(city.index()).member(0);
/// let constraints = member.constraints().ok_or("none")?;
/// assert_eq!(constraints.length(), Some((Some(2), Some(8))));
/// assert_eq!(constraints.pattern(), Some("^[a-z]+$"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Constraints<'s> {
    set: &'s SchemaSet<'s>,
    index: u32,
}

impl<'s> Constraints<'s> {
    pub(crate) const fn at(set: &'s SchemaSet<'s>, index: u32) -> Self {
        Self { set, index }
    }

    fn def(self) -> &'s ConstraintDef {
        &self.set.constraints[self.index as usize]
    }

    /// Returns the index in the set, as a key for caches such as compiled patterns.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns the minimum and maximum of `@length`.
    #[must_use]
    pub fn length(self) -> Option<(Option<u64>, Option<u64>)> {
        let ConstraintDef {
            min_length,
            max_length,
            ..
        } = *self.def();
        let min = (min_length > 0).then_some(min_length);
        let max = (max_length < u64::MAX).then_some(max_length);
        (min.is_some() || max.is_some()).then_some((min, max))
    }

    /// Returns the minimum and maximum of `@range`, as decimals.
    #[must_use]
    pub fn range(self) -> Option<(Option<&'s str>, Option<&'s str>)> {
        let def = self.def();
        let bound = |span: Span| (span.len > 0).then(|| self.set.str(span));
        let (min, max) = (bound(def.least), bound(def.most));
        (min.is_some() || max.is_some()).then_some((min, max))
    }

    /// Returns the regular expression of `@pattern`.
    #[must_use]
    pub fn pattern(self) -> Option<&'s str> {
        let pattern = self.def().pattern;
        (pattern.len > 0).then(|| self.set.str(pattern))
    }

    /// Returns whether the member has `@uniqueItems`.
    #[must_use]
    pub fn has_unique_items(self) -> bool {
        self.def().unique_items
    }

    /// Returns whether only the values of an enum are allowed.
    #[must_use]
    pub fn is_enum(self) -> bool {
        self.def().values.len > 0
    }

    /// Returns the values of an enum.
    pub fn values(self) -> impl ExactSizeIterator<Item = EnumValue<'s>> + use<'s> {
        let (set, span) = (self.set, self.def().values);
        let values: &'s [EnumValueDef] = &set.enum_values;
        let values = values.get(span.range());
        values.unwrap_or_default().iter().map(move |def| EnumValue {
            text: set.str(def.text),
            number: def.number,
            is_internal: def.is_internal,
        })
    }
}

impl fmt::Debug for Constraints<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraints")
            .field("length", &self.length())
            .field("range", &self.range())
            .field("pattern", &self.pattern())
            .field("unique_items", &self.has_unique_items())
            .field("values", &self.values().collect::<Vec<_>>())
            .finish()
    }
}

/// A value of an enum.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EnumValue<'s> {
    /// The text of a string enum; empty for an integer.
    pub text: &'s str,
    /// The number of an integer enum; 0 for a string.
    pub number: i32,
    /// Whether the value has `@internal`: it must not be shown to customers.
    pub is_internal: bool,
}

impl ConstraintSpec {
    /// Returns whether there are no constraints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length.is_none()
            && self.range.is_none()
            && self.pattern.is_none()
            && !self.unique_items
            && self.values.is_empty()
    }
}

impl<'s> crate::Member<'s> {
    /// Returns the constraints of the member and its target, or `None` if there are none. Does not
    /// include constraints of nested values.
    #[must_use]
    pub fn constraints(self) -> Option<Constraints<'s>> {
        let index = self.constraint_index().checked_sub(1)?;
        Some(Constraints::at(self.set, index))
    }

    /// Returns whether the value or any nested value has constraints.
    #[inline]
    #[must_use]
    pub fn is_constrained(self) -> bool {
        self.has(MemberFlags::CONSTRAINED)
    }
}
