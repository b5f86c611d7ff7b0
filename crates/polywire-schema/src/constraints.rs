//! Constraint traits: what a value has to be like beyond its type.
//!
//! <https://smithy.io/2.0/spec/constraint-traits.html>
//!
//! Nothing here checks a value; floor 3 does, on servers. A set knows of each
//! member what its values have to satisfy, the traits of the member before
//! those of its target, and of each shape whether anything below it is
//! constrained at all: what is not needs no walk.

use std::fmt;

use crate::{MemberFlags, SchemaSet, Span};

/// The constraints of a member, as a set stores them. Members that add none of
/// their own share those of their target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstraintDef {
    /// The least length of `@length`; 0 if it gives none.
    pub min_length: u64,
    /// The greatest length of `@length`; `u64::MAX` if it gives none.
    pub max_length: u64,
    /// The least number of `@range`, as a decimal; empty if it gives none.
    pub least: Span,
    /// The greatest number of `@range`, as a decimal; empty if it gives none.
    pub most: Span,
    /// `@pattern`; empty without the trait.
    pub pattern: Span,
    /// `@uniqueItems`.
    pub unique_items: bool,
    /// The values of an enum: a range of the set's enum values.
    pub values: Span,
}

/// A value of an enum, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct EnumValueDef {
    /// The text of a string enum; empty for an integer.
    pub text: Span,
    /// The number of an integer enum; 0 for a string.
    pub number: i32,
    /// `@internal`: not to be told to customers.
    pub is_internal: bool,
}

/// What a [`SchemaBuilder`](crate::SchemaBuilder) is told of constraints.
#[derive(Clone, Debug, Default)]
pub struct ConstraintSpec {
    /// `@length`: the least and the greatest.
    pub length: Option<(Option<u64>, Option<u64>)>,
    /// `@range`: the least and the greatest, as decimals.
    pub range: Option<(Option<String>, Option<String>)>,
    /// `@pattern`.
    pub pattern: Option<String>,
    /// `@uniqueItems`.
    pub unique_items: bool,
    /// The values of an enum or integer enum.
    pub values: Vec<EnumValueSpec>,
}

/// A value of an enum, for a builder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EnumValueSpec {
    /// The text or the number.
    pub value: Result<String, i32>,
    /// `@internal`: not to be told to customers.
    pub is_internal: bool,
}

/// What the values of a member have to satisfy.
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

    /// The index within the set: what a checker keeps its prepared patterns by.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// `@length`: the least and the greatest.
    #[must_use]
    pub fn length(self) -> Option<(Option<u64>, Option<u64>)> {
        let ConstraintDef {
            min_length,
            max_length,
            ..
        } = *self.def();
        let least = (min_length > 0).then_some(min_length);
        let most = (max_length < u64::MAX).then_some(max_length);
        (least.is_some() || most.is_some()).then_some((least, most))
    }

    /// `@range`: the least and the greatest, as decimals.
    #[must_use]
    pub fn range(self) -> Option<(Option<&'s str>, Option<&'s str>)> {
        let def = self.def();
        let bound = |span: Span| (span.len > 0).then(|| self.set.str(span));
        let (least, most) = (bound(def.least), bound(def.most));
        (least.is_some() || most.is_some()).then_some((least, most))
    }

    /// `@pattern`.
    #[must_use]
    pub fn pattern(self) -> Option<&'s str> {
        let pattern = self.def().pattern;
        (pattern.len > 0).then(|| self.set.str(pattern))
    }

    /// `@uniqueItems`.
    #[must_use]
    pub fn has_unique_items(self) -> bool {
        self.def().unique_items
    }

    /// Whether only some values are allowed: those of an enum.
    #[must_use]
    pub fn is_enum(self) -> bool {
        self.def().values.len > 0
    }

    /// The values of an enum.
    pub fn values(self) -> impl ExactSizeIterator<Item = EnumValue<'s>> + use<'s> {
        let (set, span) = (self.set, self.def().values);
        let start = span.start as usize;
        let values: &'s [EnumValueDef] = &set.enum_values;
        let values = values.get(start..start + span.len as usize);
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
    /// `@internal`: not to be told to customers.
    pub is_internal: bool,
}

impl ConstraintSpec {
    /// Whether it says nothing.
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
    /// What its values have to satisfy, whatever is below them: constraint
    /// traits of the member, else of its target. `None` if nothing.
    #[must_use]
    pub fn constraints(self) -> Option<Constraints<'s>> {
        let index = self.constraint_index().checked_sub(1)?;
        Some(Constraints::at(self.set, index))
    }

    /// Whether its values, or anything below them, have constraints.
    #[inline]
    #[must_use]
    pub fn is_constrained(self) -> bool {
        self.has(MemberFlags::CONSTRAINED)
    }
}
