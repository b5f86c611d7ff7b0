//! Converts shapes of Smithy 1.0 into shapes of 2.0 with the same meaning.
//!
//! In 1.0 an absent number or boolean is zero, unless it has `@box`. In 2.0 it is absent, unless it
//! has `@default`. So
//!
//! - a number or boolean of a 1.0 file gets `@default(0)` or `@default(false)`,
//!   unless it is boxed;
//! - so does a member of a structure of a 1.0 file, if it targets such a shape of any file or of
//!   the prelude, and neither of the two is boxed;
//! - a boxed member gets `@default(null)`: it has no default, even if its target has one;
//! - a member that targets a streaming blob gets `@default("")`, unless it is required: 2.0
//!   requires one of the two.
//!
//! `@box` is kept. Writers of 2.0 omit it. The readers convert sets to lists with `@uniqueItems`.
//! Strings with `@enum` remain strings.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use crate::ids;
use crate::node::Node;
use crate::shape::{Member, Shape, ShapeType};
use crate::shape_table::ShapeTable;
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, Traits};

pub(crate) const BOX: &str = ids::BOX;

pub(crate) fn upgrade(
    shapes: &mut [Shape],
    index: &HashMap<ShapeId, u32>,
    bundled: Option<&ShapeTable>,
) {
    if !shapes.iter().any(|shape| shape.is_version_1) {
        return;
    }
    for shape in shapes.iter_mut().filter(|shape| shape.is_version_1) {
        // An intEnum in a file of 1.0 is reported elsewhere.
        let has_zero = shape.shape_type != ShapeType::IntEnum && !shape.traits.has(BOX);
        if let Some(zero) = zero(shape.shape_type).filter(|_| has_zero) {
            add_default(&mut shape.traits, zero, shape.location);
        }
    }
    // The defaults from the targets, computed before any member is changed.
    let mut defaults: Vec<(usize, usize, Node)> = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        if !shape.is_version_1 || shape.shape_type != ShapeType::Structure {
            continue;
        }
        for (member_at, member) in shape.members.iter().enumerate() {
            let target = match index.get(member.target().id()) {
                Some(&at) => Some(&shapes[at as usize]),
                None => bundled.and_then(|bundled| bundled.shape(member.target())),
            };
            if let Some(default) = target.and_then(|target| implied(member, target)) {
                defaults.push((at, member_at, default));
            }
        }
    }
    for (at, member_at, default) in defaults {
        let member = &mut shapes[at].members[member_at];
        add_default(&mut member.traits, default, member.location);
    }
}

/// The implied default of a member in 1.0.
fn implied(member: &Member, target: &Shape) -> Option<Node> {
    if member.traits.has(BOX) {
        return Some(Node::null());
    }
    if let Some(zero) = zero(target.shape_type) {
        return (!target.traits.has(BOX) && has_zero_default(target)).then_some(zero);
    }
    let is_stream = target.shape_type == ShapeType::Blob && target.traits.is_streaming();
    (is_stream && !member.traits.is_required()).then(|| Node::from(""))
}

/// Whether the default is the one that 1.0 implies.
pub(crate) fn is_zero(value: &Node, shape_type: ShapeType) -> bool {
    zero(shape_type).as_ref() == Some(value)
}

fn has_zero_default(shape: &Shape) -> bool {
    let default = shape.traits.default_value();
    default.is_some_and(|value| is_zero(value, shape.shape_type))
}

/// The value of the type in 1.0 if it is absent.
pub(crate) fn zero(shape_type: ShapeType) -> Option<Node> {
    match shape_type {
        ShapeType::Boolean => Some(Node::from(false)),
        ShapeType::Byte
        | ShapeType::Double
        | ShapeType::Float
        | ShapeType::IntEnum
        | ShapeType::Integer
        | ShapeType::Long
        | ShapeType::Short => Some(Node::from(0)),
        _ => None,
    }
}

fn add_default(traits: &mut Traits, value: Node, location: SourceLocation) {
    if traits.default_value().is_none() {
        let id = ShapeId::from_static(ids::DEFAULT);
        traits.push(AppliedTrait::new(id, value, location));
    }
}
