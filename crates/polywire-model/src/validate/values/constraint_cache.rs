//! Constraints in the traits of a shape or member, read once.
//!
//! A shape can have a thousand traits, a trait a value of megabytes, and a list a hundred thousand
//! items. So constraints must not be searched again for each item.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use crate::ids;
use crate::node::Node;
use crate::shape::{Member, Shape};
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, LengthTrait, RangeTrait, TimestampFormat, Traits};

/// Up to this number of traits, the search is repeated and not cached.
const FEW: usize = 16;

/// The constraints of one shape or member.
#[derive(Clone, Copy, Default)]
pub(super) struct Constraints<'m> {
    /// The id of the shape or member, if there are constraints.
    pub(super) owner: &'m str,
    /// Whether there is `@enum`, whose values are indexed elsewhere.
    pub(super) has_enum: bool,
    pub(super) id_ref: Option<IdRef<'m>>,
    pub(super) length: Option<(LengthTrait, SourceLocation)>,
    pub(super) pattern: Option<(&'m str, SourceLocation)>,
    pub(super) range: Option<(RangeTrait<'m>, SourceLocation)>,
    pub(super) timestamp_format: Option<TimestampFormat>,
    pub(super) has_unique_items: bool,
}

/// `@idRef`
#[derive(Clone, Copy)]
pub(super) struct IdRef<'m> {
    pub(super) selector: &'m str,
    pub(super) must_exist: bool,
    pub(super) error_message: Option<&'m str>,
}

/// A cache of the constraints of shapes and members.
#[derive(Default)]
pub(super) struct ConstraintCache<'m> {
    /// By address: the traits of a model do not move, and names can be long.
    known: HashMap<usize, Constraints<'m>>,
}

impl<'m> ConstraintCache<'m> {
    pub(super) fn of_member(&mut self, member: &'m Member) -> Constraints<'m> {
        self.of(member.id(), member.traits())
    }

    pub(super) fn of_shape(&mut self, shape: &'m Shape) -> Constraints<'m> {
        self.of(shape.id(), shape.traits())
    }

    fn of(&mut self, owner: &'m ShapeId, traits: &'m Traits) -> Constraints<'m> {
        // Most shapes have no constraints, and checking that is faster than a lookup.
        if traits.len() <= FEW && !traits.iter().any(is_demand) {
            return Constraints::default();
        }
        *self
            .known
            .entry(std::ptr::from_ref(traits).addr())
            .or_insert_with(|| Constraints::new(owner, traits))
    }
}

fn is_demand(applied: &AppliedTrait) -> bool {
    let name = ids::in_prelude(applied.id());
    name.is_some_and(|name| {
        matches!(
            name,
            "enum" | "idRef" | "length" | "pattern" | "range" | "timestampFormat" | "uniqueItems"
        )
    })
}

impl<'m> Constraints<'m> {
    fn new(owner: &'m str, traits: &'m Traits) -> Self {
        let mut facts = Self {
            owner,
            ..Self::default()
        };
        for applied in traits.iter() {
            let Some(name) = ids::in_prelude(applied.id()) else {
                continue;
            };
            let (value, at) = (applied.value(), applied.location());
            match name {
                "enum" => facts.has_enum = true,
                "idRef" => facts.id_ref = Some(IdRef::of(value)),
                "length" => facts.length = LengthTrait::of(value).map(|length| (length, at)),
                "pattern" => facts.pattern = value.as_str().map(|pattern| (pattern, at)),
                "range" => facts.range = RangeTrait::of(value).map(|range| (range, at)),
                "timestampFormat" => facts.timestamp_format = traits.timestamp_format(),
                "uniqueItems" => facts.has_unique_items = true,
                _ => {}
            }
        }
        facts
    }
}

impl<'m> IdRef<'m> {
    fn of(value: &'m Node) -> Self {
        let text = |key| value.get(key).and_then(Node::as_str);
        let must_exist = value.get("failWhenMissing").and_then(Node::as_bool);
        Self {
            selector: text("selector").unwrap_or("*"),
            must_exist: must_exist.unwrap_or(false),
            error_message: text("errorMessage"),
        }
    }
}
