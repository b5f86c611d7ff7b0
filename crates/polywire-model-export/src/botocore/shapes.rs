//! The shapes of `service-2.json`: those that operations reach.

use std::collections::{BTreeMap, HashSet};

use polywire_model::{ErrorKind, Node, Number, Object, Shape, ShapeId, ShapeType, TimestampFormat};

use super::entries::{documented, flag, object, push_all, push_deprecation, texts};
use super::names::{Names, Use};
use super::{Context, Protocol, members};

/// The shapes with names, and those that are still to be written.
pub(super) struct Shapes<'m> {
    names: Names<'m>,
    todo: Vec<(String, &'m Shape, Use)>,
    /// The structures that are events of streams.
    events: HashSet<&'m ShapeId>,
    /// The inputs of operations.
    inputs: HashSet<&'m ShapeId>,
    /// The inputs, outputs and errors of operations.
    tops: HashSet<&'m ShapeId>,
    /// The losses that were noted.
    noted: HashSet<&'static str>,
}

impl<'m> Shapes<'m> {
    pub(super) fn of(context: &Context<'m>) -> Self {
        let closure = &context.closure;
        let is_stream = |shape: &&Shape| {
            shape.shape_type() == ShapeType::Union && shape.traits().is_streaming()
        };
        let streams = closure.shapes().filter(is_stream);
        let events = streams.flat_map(|stream| stream.members());
        let operations = closure.operations().iter();
        let operations = operations.filter_map(|operation| operation.as_operation());
        let inputs = operations.clone().map(|operation| operation.input().id());
        let outputs = operations.map(|operation| operation.output().id());
        let errors = closure
            .shapes()
            .filter(|shape| shape.traits().error().is_some());
        let inputs: HashSet<&ShapeId> = inputs.collect();
        let mut tops = inputs.clone();
        tops.extend(outputs);
        tops.extend(errors.map(Shape::id));
        Self {
            names: Names::of(closure),
            todo: Vec::new(),
            events: events.map(|member| member.target().id()).collect(),
            inputs,
            tops,
            noted: HashSet::new(),
        }
    }

    /// The name of a shape. Queues the shape to be written.
    pub(super) fn name(&mut self, context: &Context<'m>, shape: &'m Shape, usage: Use) -> String {
        let name = self.names.name(shape.id(), usage, &context.closure);
        self.todo.push((name.clone(), shape, usage));
        name
    }

    /// Whether a structure is an input.
    pub(super) fn is_input(&self, shape: &Shape) -> bool {
        self.inputs.contains(shape.id())
    }

    /// Whether a structure is an input, an output or an error.
    pub(super) fn is_top(&self, shape: &Shape) -> bool {
        self.tops.contains(shape.id())
    }

    /// Writes every shape with a name, and those that they reach, sorted by name.
    pub(super) fn write(mut self, context: &mut Context<'m>) -> Object {
        let mut written: BTreeMap<String, Node> = BTreeMap::new();
        while let Some((name, shape, usage)) = self.todo.pop() {
            if written.contains_key(&name) {
                continue;
            }
            self.note(context, shape);
            let node = self.shape(context, shape, usage);
            written.insert(name, node.into());
        }
        let mut all = Object::new();
        for (name, node) in written {
            all.push(name, node);
        }
        all
    }

    fn shape(&mut self, context: &mut Context<'m>, shape: &'m Shape, usage: Use) -> Object {
        let traits = shape.traits();
        let mut entry = object([("type", Some(type_name(shape.shape_type()).into()))]);
        match shape.shape_type() {
            ShapeType::Structure | ShapeType::Union => {
                self.push_structure(context, &mut entry, shape);
            }
            ShapeType::List => {
                if let Some(member) = shape.member("member") {
                    let item = members::item(context, self, member, usage);
                    entry.push("member", item);
                }
            }
            ShapeType::Map => {
                for (key, member) in [("key", "key"), ("value", "value")] {
                    if let Some(member) = shape.member(member) {
                        entry.push(key, members::item(context, self, member, Use::Plain));
                    }
                }
            }
            ShapeType::Document => {
                entry.push("members", Node::empty_object());
                entry.push("document", true);
            }
            ShapeType::Enum => {
                let values = shape.members().iter();
                let values = values.filter_map(|member| member.traits().enum_value()?.as_str());
                entry.push("enum", texts(values));
            }
            _ => {}
        }
        push_bounds(&mut entry, shape);
        let is_stream = traits.is_streaming();
        let own = [
            ("box", flag(is_boxed(shape))),
            ("documentation", documented(traits)),
            (
                "eventstream",
                flag(is_stream && shape.shape_type() == ShapeType::Union),
            ),
            (
                "event",
                flag(self.events.contains(shape.id()) && traits.error().is_none()),
            ),
            ("pattern", traits.pattern().map(Node::from)),
            ("requiresLength", flag(traits.requires_length())),
            ("sensitive", flag(traits.is_sensitive())),
            ("sparse", flag(traits.is_sparse())),
            (
                "streaming",
                flag(is_stream && shape.shape_type() == ShapeType::Blob),
            ),
            (
                "timestampFormat",
                traits.timestamp_format().map(timestamp_format),
            ),
            (
                "union",
                flag(shape.shape_type() == ShapeType::Union && !is_stream),
            ),
        ];
        push_all(&mut entry, own);
        push_deprecation(&mut entry, traits);
        entry
    }

    fn push_structure(&mut self, context: &mut Context<'m>, entry: &mut Object, shape: &'m Shape) {
        let required = shape.members().iter();
        let required = required.filter(|member| member.traits().is_required());
        let required: Vec<&str> = required.map(|member| member.name()).collect();
        if !required.is_empty() {
            entry.push("required", texts(required));
        }
        let mut all = Object::new();
        for member in shape.members() {
            all.push(member.name(), members::of(context, self, shape, member));
        }
        entry.push("members", all);
        if context.protocol.is_rest() && self.is_top(shape) {
            let payload = shape.members().iter();
            let mut payload = payload.filter(|member| member.traits().is_http_payload());
            if let Some(member) = payload.next() {
                entry.push("payload", member.name());
            }
        }
        if let Some(namespace) = members::own_namespace(context.protocol, shape.traits()) {
            entry.push("xmlNamespace", namespace);
        }
        push_error(context, entry, shape);
    }

    /// Notes what botocore cannot express, once for each kind.
    fn note(&mut self, context: &mut Context<'m>, shape: &Shape) {
        let cbor = context.protocol == Protocol::RpcV2Cbor;
        let loss = match shape.shape_type() {
            ShapeType::BigDecimal if cbor => "botocore's CBOR does not support big decimals",
            ShapeType::BigDecimal => "botocore's big decimals are doubles, so they are rounded",
            ShapeType::BigInteger if cbor => {
                "botocore's CBOR does not support integers of more than 64 bits"
            }
            ShapeType::Document if cbor => "botocore's CBOR does not support documents",
            _ if shape.traits().is_sparse() => "botocore does not send nulls in lists and maps",
            _ => return,
        };
        if self.noted.insert(loss) {
            let name = context.closure.name(shape.id());
            context.notes.push(format!("{loss}, as in `{name}`"));
        }
    }
}

/// The type in botocore, which has only these types of numbers. Python's integers have any size.
fn type_name(shape_type: ShapeType) -> &'static str {
    match shape_type {
        ShapeType::BigDecimal | ShapeType::Double => "double",
        ShapeType::BigInteger | ShapeType::Long => "long",
        ShapeType::Byte | ShapeType::IntEnum | ShapeType::Integer | ShapeType::Short => "integer",
        ShapeType::Document | ShapeType::Structure | ShapeType::Union => "structure",
        ShapeType::Enum | ShapeType::String => "string",
        other => other.name(),
    }
}

/// The name of a format of timestamps.
pub(super) fn timestamp_format(format: TimestampFormat) -> Node {
    Node::from(match format {
        TimestampFormat::DateTime => "iso8601",
        TimestampFormat::EpochSeconds => "unixTimestamp",
        TimestampFormat::HttpDate => "rfc822",
    })
}

/// Whether a number or boolean can be absent, because it has no default.
fn is_boxed(shape: &Shape) -> bool {
    let can_be = matches!(
        type_name(shape.shape_type()),
        "boolean" | "double" | "float" | "integer" | "long"
    );
    can_be && shape.traits().default_value().is_none_or(Node::is_null)
}

fn push_bounds(entry: &mut Object, shape: &Shape) {
    let number = |number: Option<&Number>| {
        number.map(|number| {
            Node::new(
                polywire_model::NodeValue::Number(number.clone()),
                polywire_model::SourceLocation::NONE,
            )
        })
    };
    let count = |count: Option<u64>| Some(i64::try_from(count?).unwrap_or(i64::MAX).into());
    let traits = shape.traits();
    let (min, max) = if let Some(length) = traits.length() {
        (count(length.min), count(length.max))
    } else if let Some(range) = traits.range() {
        (number(range.min), number(range.max))
    } else {
        return;
    };
    if let Some(max) = max {
        entry.push("max", max);
    }
    if let Some(min) = min {
        entry.push("min", min);
    }
}

/// Sets the entries of an error.
fn push_error(context: &Context<'_>, entry: &mut Object, shape: &Shape) {
    let traits = shape.traits();
    let Some(kind) = traits.error() else {
        return;
    };
    // Otherwise the code of an error is the name of its shape. For SQS, botocore resolves the name
    // itself.
    let has_codes = context.has_query_codes() && !context.is("SQS");
    let query = traits.aws_query_error().filter(|_| has_codes);
    let status = query.map(|query| query.http_response_code);
    let status = traits.http_error().or(status);
    if query.is_some() || status.is_some() {
        let error = object([
            ("code", query.map(|query| query.code.into())),
            ("httpStatusCode", status.map(|s| i64::from(s).into())),
            ("senderFault", flag(kind == ErrorKind::Client)),
        ]);
        entry.push("error", error);
    }
    entry.push("exception", true);
    if kind == ErrorKind::Server {
        entry.push("fault", true);
    }
    if let Some(retryable) = traits.retryable() {
        let throttling = Node::from(retryable.throttling);
        entry.push("retryable", object([("throttling", Some(throttling))]));
    }
}
