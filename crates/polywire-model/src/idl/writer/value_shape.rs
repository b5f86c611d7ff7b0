//! Follows the shape of the value of a trait into the value, to know whether a string is the id of
//! a shape.

use crate::ids;
use crate::model::Model;
use crate::shape::{Member, Shape, ShapeType};

#[derive(Clone, Copy)]
pub(super) struct ValueShape<'m> {
    shape: Option<&'m Shape>,
    /// Whether `@idRef` is on the shape or on the member that led to it.
    pub(super) is_reference: bool,
}

impl<'m> ValueShape<'m> {
    /// A value without a known shape, such as metadata.
    pub(super) const UNKNOWN: Self = Self {
        shape: None,
        is_reference: false,
    };

    /// The value of a trait.
    pub(super) fn of(definition: Option<&'m Shape>) -> Self {
        Self {
            shape: definition,
            is_reference: definition.is_some_and(|shape| shape.traits().has(ids::ID_REF)),
        }
    }

    /// The value under a key of an object.
    pub(super) fn entry(self, key: &str, model: &'m Model) -> Self {
        let member = self.shape.and_then(|shape| match shape.shape_type() {
            ShapeType::Map => shape.member("value"),
            ShapeType::Structure | ShapeType::Union => shape.member(key),
            _ => None,
        });
        Self::of_member(member, model)
    }

    /// An item of an array.
    pub(super) fn item(self, model: &'m Model) -> Self {
        let list = self.shape.filter(|s| s.shape_type() == ShapeType::List);
        Self::of_member(list.and_then(|list| list.member("member")), model)
    }

    fn of_member(member: Option<&'m Member>, model: &'m Model) -> Self {
        let Some(member) = member else {
            return Self::UNKNOWN;
        };
        let target = Self::of(model.target(member));
        Self {
            is_reference: target.is_reference || member.traits().has(ids::ID_REF),
            ..target
        }
    }
}
