//! The operations of `service-2.json`.

use polywire_model::{Node, Object, Operation, Shape, ShapeRef, UNIT, ids};

use super::auth::{self, Schemes};
use super::entries::{documented, flag, object, push_all, push_deprecation, texts};
use super::names::Use;
use super::shapes::Shapes;
use super::{Context, Protocol, members};

/// The maximum number of errors of the service that all operations list together. A model of a
/// megabyte could otherwise give gigabytes.
const MOST_ERRORS: usize = 200_000;

pub(super) fn operations<'m>(
    context: &mut Context<'m>,
    shapes: &mut Shapes<'m>,
    schemes: &Schemes<'m>,
) -> Object {
    let mut all = Object::new();
    let operations = context.operations();
    let common = context.service.as_service();
    let common = common.map_or(0, |service| service.errors().len());
    let has_common = common.saturating_mul(operations.len()) <= MOST_ERRORS;
    if !has_common {
        let note = format!("operations do not list the {common} errors of the service");
        context.notes.push(note);
    }
    for (name, shape) in operations {
        let Some(operation) = shape.as_operation() else {
            continue;
        };
        let mut entry = object([
            ("name", Some(name.into())),
            ("http", Some(http(context.protocol, shape))),
            ("input", input(context, shapes, operation)),
            ("output", output(context, shapes, name, operation)),
            ("errors", errors(context, shapes, shape, has_common)),
            ("documentation", documented(shape.traits())),
        ]);
        push_deprecation(&mut entry, shape.traits());
        auth::push_operation(&mut entry, schemes, shape);
        push_traits(context, &mut entry, shape);
        all.push(name, entry);
    }
    if let Some(service) = context.service.as_service() {
        let errors = service.errors().iter();
        for error in errors.filter_map(|error| context.model.get(error)) {
            shapes.name(context, error, Use::Plain);
        }
    }
    all
}

/// Method, path and status. For protocols without bindings they are constant, and botocore computes
/// the path of `rpcv2Cbor` itself.
fn http(protocol: Protocol, shape: &Shape) -> Node {
    let bindings = shape.traits().get(ids::HTTP);
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
        // The root element has the name of the input.
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

/// The errors of an operation, including those of the service. All are written as shapes, even if
/// they are not listed.
fn errors<'m>(
    context: &Context<'m>,
    shapes: &mut Shapes<'m>,
    shape: &'m Shape,
    has_common: bool,
) -> Option<Node> {
    let errors = if has_common {
        context.closure.errors(shape)
    } else {
        let own = shape.as_operation()?.errors().iter();
        own.filter_map(|error| context.model.get(error)).collect()
    };
    let errors = errors.into_iter().map(|error| {
        let name = shapes.name(context, error, Use::Plain);
        Node::from(object([("shape", Some(name.into()))]))
    });
    let errors: Vec<Node> = errors.collect();
    (!errors.is_empty()).then(|| errors.into())
}

/// The entries for the traits of an operation.
fn push_traits(context: &Context<'_>, entry: &mut Object, shape: &Shape) {
    let traits = shape.traits();
    let discovery = context.service.traits().get(ids::CLIENT_ENDPOINT_DISCOVERY);
    let discovers = discovery
        .and_then(|discovery| discovery.get("operation"))
        .and_then(Node::as_str)
        .is_some_and(|id| *shape.id() == *id);
    let discovered = traits.get(ids::CLIENT_DISCOVERED_ENDPOINT).map(|trait_| {
        let required = trait_.get("required").and_then(Node::as_bool);
        Node::from(object([("required", flag(required == Some(true)))]))
    });
    let host_prefix = traits.endpoint_host_prefix();
    let compression = traits.request_compression();
    let own = [
        (
            "endpoint",
            host_prefix.map(|prefix| object([("hostPrefix", Some(prefix.into()))]).into()),
        ),
        ("endpointdiscovery", discovered),
        ("endpointoperation", flag(discovers)),
        ("httpChecksum", traits.get(ids::HTTP_CHECKSUM).cloned()),
        (
            "httpChecksumRequired",
            flag(traits.is_http_checksum_required()),
        ),
        ("idempotent", flag(traits.is_idempotent())),
        (
            "operationContextParams",
            traits.get(ids::OPERATION_CONTEXT_PARAMS).cloned(),
        ),
        ("readonly", flag(traits.is_readonly())),
        (
            "requestcompression",
            compression.map(|encodings| object([("encodings", Some(texts(encodings)))]).into()),
        ),
        (
            "staticContextParams",
            traits.get(ids::STATIC_CONTEXT_PARAMS).cloned(),
        ),
    ];
    push_all(entry, own);
}
