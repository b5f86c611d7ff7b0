//! Writes shapes of JSON AST 2.0, as they were before mixins were flattened.

use crate::node::{Node, Object};
use crate::shape::ShapeType;
use crate::shape::{Body, Lifecycle, Member, Operation, Resource, Service, Shape, ShapeRef};
use crate::traits::Traits;
use crate::upgrade::BOX;

/// Adds a shape, and an `apply` entry for traits on inherited members.
pub(super) fn push_shape(shapes: &mut Object, shape: &Shape) {
    shapes.push(shape.id().as_str(), write_shape(shape));
    let inherited = shape.members().iter().filter(|m| m.is_inherited());
    for member in inherited {
        let traits = write_traits(member.traits());
        if !traits.is_empty() {
            let mut apply = Object::new();
            apply.push("type", "apply");
            apply.push("traits", traits);
            shapes.push(member.id().as_str(), apply);
        }
    }
}

fn write_shape(shape: &Shape) -> Object {
    let mut object = Object::new();
    object.push("type", shape.shape_type().name());
    if !shape.mixins().is_empty() {
        // Their order decides which of them wins.
        let mixins: Vec<Node> = shape.mixins().iter().map(|m| reference(m).into()).collect();
        object.push("mixins", mixins);
    }
    let introduced = shape
        .members()
        .iter()
        .filter(|member| !member.is_inherited());
    match shape.shape_type() {
        ShapeType::List | ShapeType::Map => {
            for member in introduced {
                object.push(member.name(), write_member(member));
            }
        }
        shape_type if shape_type.has_named_members() => {
            let mut members = Object::new();
            for member in introduced {
                members.push(member.name(), write_member(member));
            }
            object.push("members", members);
        }
        _ => {}
    }
    match shape.own_body() {
        Body::None => {}
        Body::Operation(operation) => {
            write_operation(&mut object, operation);
        }
        Body::Resource(resource) => write_resource(&mut object, resource),
        Body::Service(service) => write_service(&mut object, service),
    }
    let traits = write_traits(shape.traits());
    if !traits.is_empty() {
        object.push("traits", traits);
    }
    object
}

fn write_member(member: &Member) -> Object {
    let mut object = reference(member.target());
    let traits = write_traits(member.traits());
    if !traits.is_empty() {
        object.push("traits", traits);
    }
    object
}

/// The traits of the shape or member itself, without inherited ones, sorted by id.
fn write_traits(traits: &Traits) -> Object {
    let mut object = Object::new();
    for applied in traits.iter() {
        // Smithy 2.0 has no @box. @default has its meaning.
        if applied.is_inherited() || *applied.id() == BOX {
            continue;
        }
        object.push(applied.id().as_str(), applied.value().clone());
    }
    object.sort_by_key();
    object
}

pub(super) fn write_operation(object: &mut Object, operation: &Operation) {
    for (key, target) in [("input", operation.input()), ("output", operation.output())] {
        object.push(key, reference(target));
    }
    push_set(object, "errors", operation.errors());
}

pub(super) fn write_service(object: &mut Object, service: &Service) {
    if !service.version().is_empty() {
        object.push("version", service.version());
    }
    push_set(object, "operations", service.operations());
    push_set(object, "resources", service.resources());
    push_set(object, "errors", service.errors());
    if !service.rename().is_empty() {
        let mut rename = Object::new();
        for (id, name) in service.rename() {
            rename.push(id.as_str(), name.as_str());
        }
        object.push("rename", rename);
    }
}

pub(super) fn write_resource(object: &mut Object, resource: &Resource) {
    push_named_references(object, "identifiers", resource.identifiers());
    push_named_references(object, "properties", resource.properties());
    for (name, lifecycle) in Lifecycle::ALL {
        if let Some(target) = resource.lifecycle(lifecycle) {
            object.push(name, reference(target));
        }
    }
    push_set(object, "operations", resource.operations());
    push_set(
        object,
        "collectionOperations",
        resource.collection_operations(),
    );
    push_set(object, "resources", resource.resources());
}

pub(super) fn reference(target: &ShapeRef) -> Object {
    let mut object = Object::new();
    object.push("target", target.as_str());
    object
}

fn push_set(object: &mut Object, key: &str, targets: &[ShapeRef]) {
    if targets.is_empty() {
        return;
    }
    let mut targets: Vec<&ShapeRef> = targets.iter().collect();
    // Smithy's own tool sorts ids case-insensitively.
    targets.sort_by_cached_key(|target| (target.to_ascii_lowercase(), target.id().clone()));
    targets.dedup();
    let nodes: Vec<Node> = targets
        .into_iter()
        .map(|target| reference(target).into())
        .collect();
    object.push(key, nodes);
}

fn push_named_references(object: &mut Object, key: &str, targets: &[(String, ShapeRef)]) {
    if !targets.is_empty() {
        let mut entries = Object::new();
        for (name, target) in targets {
            entries.push(name.as_str(), reference(target));
        }
        object.push(key, entries);
    }
}
