//! Shapes of Smithy 1.0 as the shapes of 2.0 that mean the same.
//!
//! In 1.0 a number or boolean was zero when absent, unless `@box` said that it
//! could be absent. In 2.0 nothing is implied: `@default` says it. So a number
//! or boolean of a 1.0 file gets `@default(0)` or `@default(false)`, and so does
//! a structure's member that targets one, when neither is boxed.

use std::collections::HashMap;

use polywire_schema::ShapeId;

use crate::bundled::Bundled;
use crate::node::Node;
use crate::shape::{Shape, ShapeType};
use crate::source::SourceLocation;
use crate::traits::{AppliedTrait, Traits};

pub(crate) fn upgrade(
    shapes: &mut [Shape],
    index: &HashMap<ShapeId, u32>,
    bundled: Option<&Bundled>,
) {
    if !shapes.iter().any(|shape| shape.is_version_1) {
        return;
    }
    for shape in shapes.iter_mut().filter(|shape| shape.is_version_1) {
        if let Some(zero) = zero(shape.shape_type) {
            add_default(&mut shape.traits, zero, shape.location);
        }
    }
    // What a member takes from its target, before any member is changed.
    let implied = |target: &ShapeId| -> Option<Node> {
        let target = match index.get(target) {
            Some(&at) => &shapes[at as usize],
            None => bundled?.shape(target)?,
        };
        zero(target.shape_type).filter(|_| {
            target.traits.default_value().is_some() && !target.traits.has("smithy.api#box")
        })
    };
    let mut defaults: Vec<(usize, usize, Node)> = Vec::new();
    for (at, shape) in shapes.iter().enumerate() {
        if !shape.is_version_1 || shape.shape_type != ShapeType::Structure {
            continue;
        }
        for (member_at, member) in shape.members.iter().enumerate() {
            if let Some(zero) = implied(member.target()) {
                defaults.push((at, member_at, zero));
            }
        }
    }
    for (at, member_at, zero) in defaults {
        let member = &mut shapes[at].members[member_at];
        add_default(&mut member.traits, zero, member.location);
    }
}

fn zero(shape_type: ShapeType) -> Option<Node> {
    match shape_type {
        ShapeType::Boolean => Some(Node::from(false)),
        ShapeType::Byte
        | ShapeType::Double
        | ShapeType::Float
        | ShapeType::Integer
        | ShapeType::Long
        | ShapeType::Short => Some(Node::from(0)),
        _ => None,
    }
}

fn add_default(traits: &mut Traits, value: Node, location: SourceLocation) {
    if traits.has("smithy.api#box") || traits.default_value().is_some() {
        return;
    }
    let id = ShapeId::from_static("smithy.api#default");
    traits.push(AppliedTrait::new(id, value, location));
}

#[cfg(test)]
mod tests {
    use crate::Loader;

    #[test]
    fn numbers_of_version_1_are_zero_when_absent() {
        let text = r#"
            $version: "1.0"
            namespace a
            integer Count
            @box
            integer Rank
            set Names { member: String }
            structure S {
                boxed: Integer
                primitive: PrimitiveBoolean
                @box
                own: PrimitiveInteger
                count: Count
                rank: Rank
            }
        "#;
        let model = Loader::new()
            .add_text("a.smithy", text)
            .assemble()
            .unwrap()
            .model;
        let shape = model.get("a#S").unwrap();
        let with_default: Vec<&str> = shape
            .members()
            .iter()
            .filter(|member| member.traits().default_value().is_some())
            .map(|member| member.name())
            .collect();
        assert_eq!(with_default, ["primitive", "count"]);
        assert!(model.get("a#Names").unwrap().traits().has_unique_items());
    }
}
