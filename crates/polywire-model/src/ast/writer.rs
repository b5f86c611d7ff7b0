//! A model to JSON AST 2.0, always the same text for the same model: shapes,
//! traits and metadata sorted, members in their order. Operations, resources and
//! errors are sets to Smithy: they are sorted, and stand once.

use crate::model::Model;
use crate::node::{Node, Object};
use crate::shape::ShapeType;
use crate::shape::{Body, Lifecycle, Member, Operation, Resource, Service, Shape, ShapeRef};
use crate::traits::Traits;
use crate::upgrade::BOX;

/// The AST of a model, without the prelude and the other bundled definitions.
///
/// Mixins stand as their authors wrote them: a shape holds what it adds, and a
/// trait on an inherited member is an `apply` entry beside the shape.
///
/// # Examples
///
/// ```
/// use polywire_model::{Loader, ast};
///
/// let text = "$version: \"2\"\nnamespace a\nlist Names { member: String }\n";
/// let model = Loader::new().add_text("a.smithy", text).assemble().unwrap().model;
/// assert_eq!(
///     ast::write(&model).to_json(),
///     r#"{"smithy":"2.0","shapes":{"a#Names":{"type":"list","member":{"target":"smithy.api#String"}}}}"#,
/// );
/// ```
#[must_use]
pub fn write(model: &Model) -> Node {
    let mut root = Object::new();
    root.push("smithy", "2.0");
    if !model.metadata().is_empty() {
        let mut metadata = model.metadata().clone();
        metadata.sort_by_key();
        root.push("metadata", metadata);
    }
    let mut shapes = Object::new();
    for shape in model.shapes() {
        shapes.push(shape.id().as_str(), write_shape(shape));
        for member in shape
            .members()
            .iter()
            .filter(|member| member.is_inherited())
        {
            let traits = write_traits(member.traits());
            if !traits.is_empty() {
                let mut apply = Object::new();
                apply.push("type", "apply");
                apply.push("traits", traits);
                shapes.push(member.id().as_str(), apply);
            }
        }
    }
    root.push("shapes", shapes);
    root.into()
}

fn write_shape(shape: &Shape) -> Object {
    let mut object = Object::new();
    object.push("type", shape.shape_type().name());
    if !shape.mixins().is_empty() {
        // Their order says which of them wins.
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

/// The traits that were written on the shape or member itself, sorted by id.
fn write_traits(traits: &Traits) -> Object {
    let mut object = Object::new();
    for applied in traits.iter() {
        // Smithy 2.0 has no @box; what it meant stands in @default.
        if applied.is_inherited() || applied.id() == &BOX {
            continue;
        }
        object.push(applied.id().as_str(), applied.value().clone());
    }
    object.sort_by_key();
    object
}

fn write_operation(object: &mut Object, operation: &Operation) {
    for (key, target) in [("input", operation.input()), ("output", operation.output())] {
        object.push(key, reference(target));
    }
    push_set(object, "errors", operation.errors());
}

fn write_service(object: &mut Object, service: &Service) {
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

fn write_resource(object: &mut Object, resource: &Resource) {
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

fn reference(target: &ShapeRef) -> Object {
    let mut object = Object::new();
    object.push("target", target.as_str());
    object
}

fn push_set(object: &mut Object, key: &str, targets: &[ShapeRef]) {
    if targets.is_empty() {
        return;
    }
    let mut targets: Vec<&ShapeRef> = targets.iter().collect();
    // Smithy's own tool orders ids without regard to case.
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
