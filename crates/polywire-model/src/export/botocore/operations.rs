//! The operations of `service-2.json`.

use super::names::Use;
use super::service::{annotated, documented, texts};
use super::shapes::Shapes;
use super::{Context, Protocol, auth, flag, members, object, push_deprecation};
use crate::node::{Node, Object};
use crate::shape::{Operation, Shape, ShapeRef, UNIT};

pub(super) fn operations<'m>(context: &mut Context<'m>, shapes: &mut Shapes<'m>) -> Object {
    // Its note on unknown schemes has been given with the metadata.
    let notes = context.notes.len();
    let schemes = auth::of_service(context);
    context.notes.truncate(notes);
    let mut all = Object::new();
    for (name, shape) in context.operations() {
        let Some(operation) = shape.as_operation() else {
            continue;
        };
        let mut entry = object([
            ("name", Some(name.into())),
            ("http", Some(http(context.protocol, shape))),
            ("input", input(context, shapes, operation)),
            ("output", output(context, shapes, name, operation)),
            ("errors", errors(context, shapes, shape)),
            ("documentation", documented(shape.traits())),
        ]);
        push_deprecation(&mut entry, shape.traits());
        auth::push_operation(&mut entry, &schemes, shape);
        push_traits(context, &mut entry, shape);
        all.push(name, entry);
    }
    all
}

/// Method, path and status. Of a protocol without bindings they are always the
/// same, and botocore makes the path of `rpcv2Cbor` itself.
fn http(protocol: Protocol, shape: &Shape) -> Node {
    let bindings = shape.traits().get("smithy.api#http");
    let http = match bindings.filter(|_| protocol.is_rest()) {
        Some(http) => object([
            ("method", http.get("method").cloned()),
            ("requestUri", http.get("uri").cloned()),
            (
                "responseCode",
                Some(http.get("code").cloned().unwrap_or_else(|| 200.into())),
            ),
        ]),
        None => object([
            ("method", Some("POST".into())),
            ("requestUri", Some("/".into())),
        ]),
    };
    http.into()
}

/// A shape that is not `smithy.api#Unit`.
fn present<'m>(context: &Context<'m>, reference: &ShapeRef) -> Option<&'m Shape> {
    if *reference.id() == UNIT {
        return None;
    }
    context.model.get(reference)
}

fn input<'m>(
    context: &Context<'m>,
    shapes: &mut Shapes<'m>,
    operation: &'m Operation,
) -> Option<Node> {
    let shape = present(context, operation.input())?;
    let name = shapes.name(context, shape, Use::Plain);
    let mut input = object([("shape", Some(name.into()))]);
    if context.protocol == Protocol::RestXml && members::has_document(shape) {
        // The document's root has the name of the input.
        let root = shape.traits().xml_name();
        let root = root.unwrap_or_else(|| context.closure.name(shape.id()));
        input.push("locationName", root);
        let traits = shape.traits();
        if let Some(namespace) = members::namespace(traits, context) {
            input.push("xmlNamespace", namespace);
        }
    }
    Some(input.into())
}

fn output<'m>(
    context: &Context<'m>,
    shapes: &mut Shapes<'m>,
    name: &str,
    operation: &'m Operation,
) -> Option<Node> {
    let shape = present(context, operation.output())?;
    let mut output = object([(
        "shape",
        Some(shapes.name(context, shape, Use::Plain).into()),
    )]);
    if context.protocol == Protocol::Query {
        output.push("resultWrapper", format!("{name}Result"));
    }
    Some(output.into())
}

fn errors<'m>(context: &Context<'m>, shapes: &mut Shapes<'m>, shape: &'m Shape) -> Option<Node> {
    let errors = context.closure.errors(shape).into_iter();
    let errors = errors.map(|error| {
        let name = shapes.name(context, error, Use::Plain);
        Node::from(object([("shape", Some(name.into()))]))
    });
    let errors: Vec<Node> = errors.collect();
    (!errors.is_empty()).then(|| errors.into())
}

/// What traits say of a whole operation.
fn push_traits(context: &Context<'_>, entry: &mut Object, shape: &Shape) {
    let traits = shape.traits();
    let discovery = context
        .service
        .traits()
        .get("aws.api#clientEndpointDiscovery");
    let discovers = discovery
        .and_then(|discovery| discovery.get("operation"))
        .and_then(Node::as_str)
        .is_some_and(|id| *shape.id() == *id);
    let discovered = traits
        .get("aws.api#clientDiscoveredEndpoint")
        .map(|trait_| {
            let required = trait_.get("required").and_then(Node::as_bool);
            Node::from(object([("required", flag(required == Some(true)))]))
        });
    let host_prefix = traits.endpoint_host_prefix();
    let compression = traits.request_compression();
    for (key, value) in [
        (
            "endpoint",
            host_prefix.map(|prefix| object([("hostPrefix", Some(prefix.into()))]).into()),
        ),
        ("endpointdiscovery", discovered),
        ("endpointoperation", flag(discovers)),
        (
            "httpChecksum",
            traits.get("aws.protocols#httpChecksum").cloned(),
        ),
        (
            "httpChecksumRequired",
            annotated(traits, "smithy.api#httpChecksumRequired"),
        ),
        ("idempotent", annotated(traits, "smithy.api#idempotent")),
        (
            "operationContextParams",
            auth::copied(traits.get("smithy.rules#operationContextParams")),
        ),
        ("readonly", annotated(traits, "smithy.api#readonly")),
        (
            "requestcompression",
            compression.map(|encodings| object([("encodings", Some(texts(encodings)))]).into()),
        ),
        (
            "staticContextParams",
            auth::copied(traits.get("smithy.rules#staticContextParams")),
        ),
    ] {
        if let Some(value) = value {
            entry.push(key, value);
        }
    }
}
