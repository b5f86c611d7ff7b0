//! Converts a model to schemas for codecs and protocols.

use std::collections::{HashMap, HashSet};

use polywire_schema::{
    BuildError, ConstraintSpec, EnumValueSpec, Location, MemberFlags, MemberSpec, OperationFlags,
    OperationSpec, SchemaBuilder, SchemaSet, ServiceFlags, ServiceSpec, ShapeId, ShapeKind,
    ShapeRef,
};

use crate::closure::Closure;
use crate::ids;
use crate::model::Model;
use crate::node::{Node, Number};
use crate::shape::{self, Member, Shape, ShapeType, UNIT};
use crate::traits::{ErrorKind, TimestampFormat, Traits};

impl Model {
    /// The schemas of a service: itself, its operations and the shapes that it reaches.
    ///
    /// The set does not borrow from the model. `None` if there is no such service.
    ///
    /// # Errors
    ///
    /// A shape cannot be converted. This does not happen for validated models.
    ///
    /// # Examples
    ///
    /// ```
    /// use polywire_model::Loader;
    ///
    /// let text = r#"
    ///     $version: "2"
    ///     namespace example
    ///     service Weather { version: "1", operations: [GetCity] }
    ///     operation GetCity { input := { @required name: String } }
    /// "#;
    /// let model = Loader::new().add_text("weather.smithy", text).assemble()?.model;
    /// let set = model.schemas("example#Weather").unwrap()?;
    /// let operation = set.service(0).find_operation("GetCity").unwrap();
    /// assert!(operation.input().member(0).is_required());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn schemas(&self, service: &str) -> Option<Result<SchemaSet<'static>, BuildError>> {
        let closure = self.closure(service)?;
        Some(Conversion::new(self, &closure).run().finish())
    }
}

impl Closure<'_> {
    /// The builder of the schemas of the closure, for code generators.
    #[must_use]
    pub fn schema_builder(&self) -> SchemaBuilder {
        Conversion::new(self.model(), self).run()
    }
}

struct Conversion<'m> {
    model: &'m Model,
    closure: &'m Closure<'m>,
    builder: SchemaBuilder,
    shapes: HashMap<&'m ShapeId, ShapeRef>,
    unit: ShapeRef,
}

impl<'m> Conversion<'m> {
    fn new(model: &'m Model, closure: &'m Closure<'m>) -> Self {
        let mut builder = SchemaBuilder::new();
        let unit = builder.shape(ShapeKind::Structure, UNIT.as_str());
        Self {
            model,
            closure,
            builder,
            shapes: HashMap::new(),
            unit,
        }
    }

    fn run(mut self) -> SchemaBuilder {
        let closure = self.closure;
        // All shapes come first, so that members can refer to any of them.
        for shape in closure.shapes() {
            if let Some(kind) = kind_of(shape.shape_type()) {
                let reference = if *shape.id() == UNIT {
                    self.unit
                } else {
                    self.builder.shape(kind, shape.id().as_str())
                };
                self.shapes.insert(shape.id(), reference);
            }
        }
        for shape in closure.shapes() {
            self.shape(shape);
        }
        let mut operations = Vec::new();
        for operation in closure.operations() {
            operations.extend(self.operation(operation));
        }
        // Sorted, so that a set does not depend on the order in a file.
        operations.sort_by(|first, second| first.id.cmp(&second.id));
        let indices = operations
            .into_iter()
            .map(|spec| self.builder.operation(spec))
            .collect();
        self.service(indices);
        self.builder
    }

    fn reference(&self, id: &ShapeId) -> ShapeRef {
        self.shapes.get(id).copied().unwrap_or(self.unit)
    }

    fn shape(&mut self, shape: &Shape) {
        let Some(reference) = self.shapes.get(shape.id()).copied() else {
            return;
        };
        if reference == self.unit {
            return;
        }
        let traits = shape.traits();
        let root = self.builder.root(reference);
        root.xml_name = traits.xml_name().map(str::to_owned);
        root.xml_namespace = namespace(traits);
        root.timestamp_format = traits.timestamp_format().map(timestamp_format);
        root.media_type = traits.media_type().unwrap_or_default().to_owned();
        root.constraints = constraints(traits);
        root.constraints.values = enum_values(shape);
        for (has, flag) in [
            (traits.is_sparse(), MemberFlags::SPARSE),
            (traits.is_streaming(), MemberFlags::STREAMING),
            (traits.requires_length(), MemberFlags::REQUIRES_LENGTH),
            (traits.is_sensitive(), MemberFlags::SENSITIVE),
        ] {
            if has {
                root.flags = root.flags.with(flag);
            }
        }
        if let Some(kind) = traits.error() {
            let client = kind == ErrorKind::Client;
            let status = traits
                .http_error()
                .unwrap_or(if client { 400 } else { 500 });
            let retryable = traits.retryable().map(|retryable| retryable.throttling);
            let query = traits
                .aws_query_error()
                .map(|error| (error.code.to_owned(), error.http_response_code));
            self.builder
                .error(reference, status, client, retryable, query);
        }
        for member in shape.members() {
            // Members of enums are values, not data.
            if !matches!(shape.shape_type(), ShapeType::Enum | ShapeType::IntEnum) {
                let mut spec = self.member(member);
                if traits.is_input() {
                    // Inputs can lose requirements and defaults over time, so all their members are
                    // optional for clients.
                    spec = spec.flag(MemberFlags::CLIENT_OPTIONAL);
                }
                self.builder.member(reference, spec);
            }
        }
    }

    fn member(&self, member: &Member) -> MemberSpec {
        let traits = member.traits();
        let mut spec = MemberSpec::new(member.name(), self.reference(member.target()));
        for (has, flag) in [
            (traits.is_required(), MemberFlags::REQUIRED),
            (traits.is_xml_attribute(), MemberFlags::XML_ATTRIBUTE),
            (traits.is_xml_flattened(), MemberFlags::XML_FLATTENED),
            (
                traits.is_idempotency_token(),
                MemberFlags::IDEMPOTENCY_TOKEN,
            ),
            (traits.is_host_label(), MemberFlags::HOST_LABEL),
            (traits.is_sensitive(), MemberFlags::SENSITIVE),
            (traits.is_client_optional(), MemberFlags::CLIENT_OPTIONAL),
            (traits.is_event_header(), MemberFlags::EVENT_HEADER),
            (traits.is_event_payload(), MemberFlags::EVENT_PAYLOAD),
        ] {
            if has {
                spec = spec.flag(flag);
            }
        }
        spec.json_name = traits.json_name().map(str::to_owned);
        spec.xml_name = traits.xml_name().map(str::to_owned);
        spec.ec2_name = traits.ec2_query_name().map(str::to_owned);
        spec.xml_namespace = namespace(traits);
        spec.timestamp_format = traits.timestamp_format().map(timestamp_format);
        spec.constraints = constraints(traits);
        // A default of null removes the default of the target.
        let default = traits.default_value().filter(|value| !value.is_null());
        spec.default_json = default.map(Node::to_json);
        let (location, name) = location(traits);
        spec.location(location, name)
    }

    fn operation(&self, shape: &Shape) -> Option<OperationSpec> {
        let operation = shape.as_operation()?;
        let traits = shape.traits();
        let (input, output) = (operation.input().id(), operation.output().id());
        let mut spec = OperationSpec::new(
            shape.id().as_str(),
            self.reference(input),
            self.reference(output),
        );
        spec.errors = self.errors(operation.errors());
        spec.http = traits
            .http()
            .map(|http| (http.method.to_owned(), http.uri.to_string(), http.code));
        spec.host_prefix = traits.endpoint_host_prefix().unwrap_or_default().to_owned();
        let method = traits.xml_rpc_method();
        let encodings = traits.request_compression().unwrap_or_default();
        spec.request_compression = encodings.into_iter().map(str::to_owned).collect();
        let checksum = traits.http_checksum();
        if let Some(checksum) = &checksum {
            let members = [
                checksum.request_algorithm_member,
                checksum.request_validation_mode_member,
            ];
            let members = members.into_iter().map(|name| name.unwrap_or("-"));
            let words = members.chain(checksum.response_algorithms.iter().copied());
            spec.http_checksum = words.map(str::to_owned).collect();
        }
        spec.xmlrpc_method = method.and_then(|method| method.name).map(str::to_owned);
        for (has, flag) in [
            (traits.is_readonly(), OperationFlags::READONLY),
            (traits.is_idempotent(), OperationFlags::IDEMPOTENT),
            (
                traits.is_http_checksum_required(),
                OperationFlags::CHECKSUM_REQUIRED,
            ),
            (
                checksum.is_some_and(|checksum| checksum.request_checksum_required),
                OperationFlags::HTTP_CHECKSUM_REQUIRED,
            ),
            (
                method.is_some_and(|method| method.positional),
                OperationFlags::POSITIONAL,
            ),
            (
                traits.has(ids::S3_UNWRAPPED_XML_OUTPUT),
                OperationFlags::S3_UNWRAPPED_OUTPUT,
            ),
            (*input == UNIT, OperationFlags::UNIT_INPUT),
            (*output == UNIT, OperationFlags::UNIT_OUTPUT),
        ] {
            if has {
                spec.flags = spec.flags.with(flag);
            }
        }
        Some(spec)
    }

    fn errors(&self, own: &[shape::ShapeRef]) -> Vec<ShapeRef> {
        let mut seen = HashSet::new();
        own.iter()
            .map(|error| self.reference(error.id()))
            .filter(|reference| seen.insert(*reference))
            .collect()
    }

    fn service(&mut self, operations: Vec<u32>) {
        let shape = self.closure.service();
        let own = shape.as_service();
        let version = own.map(|service| service.version());
        let is_protocol = |id: &&ShapeId| {
            let definition = self.model.get(id).map(Shape::traits);
            definition.is_some_and(|traits| traits.has(ids::PROTOCOL_DEFINITION))
        };
        let applied = shape.traits().iter().map(|applied| applied.id());
        let protocols = applied
            .filter(is_protocol)
            .map(|id| id.as_str().to_owned())
            .collect();
        let traits = shape.traits();
        let aws = traits.aws_service();
        let mut flags = ServiceFlags::default();
        for (has, flag) in [
            (
                traits.is_aws_query_compatible(),
                ServiceFlags::AWS_QUERY_COMPATIBLE,
            ),
            (
                traits.has_no_error_wrapping(),
                ServiceFlags::NO_ERROR_WRAPPING,
            ),
        ] {
            if has {
                flags = flags.with(flag);
            }
        }
        self.builder.service(ServiceSpec {
            id: shape.id().as_str().to_owned(),
            version: version.unwrap_or_default().to_owned(),
            protocols,
            operations,
            errors: self.errors(own.map_or(&[], |service| service.errors())),
            xml_namespace: namespace(traits),
            sdk_id: aws.map_or("", |aws| aws.sdk_id).to_owned(),
            endpoint_prefix: aws
                .and_then(|aws| aws.endpoint_prefix)
                .unwrap_or_default()
                .to_owned(),
            signing_name: traits.sigv4_name().unwrap_or_default().to_owned(),
            flags,
        });
    }
}

fn namespace(traits: &Traits) -> Option<(Option<String>, String)> {
    let namespace = traits.xml_namespace()?;
    Some((
        namespace.prefix.map(str::to_owned),
        namespace.uri.to_owned(),
    ))
}

fn constraints(traits: &Traits) -> ConstraintSpec {
    let text = |number: &Number| number.to_string();
    ConstraintSpec {
        length: traits.length().map(|length| (length.min, length.max)),
        range: traits
            .range()
            .map(|range| (range.min.map(text), range.max.map(text))),
        pattern: traits.pattern().map(str::to_owned),
        unique_items: traits.has_unique_items(),
        values: Vec::new(),
    }
}

/// The values of an enum, or of a string with the older `@enum`, in which a tag marks internal
/// values.
fn enum_values(shape: &Shape) -> Vec<EnumValueSpec> {
    let number = |node: &Node| i32::try_from(node.as_i64()?).ok();
    let value = |node: &Node| match node.as_str() {
        Some(text) => Some(Ok(text.to_owned())),
        None => number(node).map(Err),
    };
    if matches!(shape.shape_type(), ShapeType::Enum | ShapeType::IntEnum) {
        let values = shape.members().iter().filter_map(|member| {
            let traits = member.traits();
            let value = match traits.enum_value() {
                Some(node) => value(node)?,
                None => Ok(member.name().to_owned()),
            };
            Some(EnumValueSpec {
                value,
                is_internal: traits.is_internal(),
            })
        });
        return values.collect();
    }
    let definitions = shape.traits().get(ids::ENUM);
    let definitions = definitions.and_then(Node::as_array).unwrap_or_default();
    let values = definitions.iter().filter_map(|definition| {
        let tags = definition.get("tags").and_then(Node::as_array);
        let mut tags = tags.unwrap_or_default().iter();
        Some(EnumValueSpec {
            value: value(definition.get("value")?)?,
            is_internal: tags.any(|tag| tag.as_str() == Some("internal")),
        })
    });
    values.collect()
}

const fn timestamp_format(format: TimestampFormat) -> polywire_schema::TimestampFormat {
    match format {
        TimestampFormat::DateTime => polywire_schema::TimestampFormat::DateTime,
        TimestampFormat::EpochSeconds => polywire_schema::TimestampFormat::EpochSeconds,
        TimestampFormat::HttpDate => polywire_schema::TimestampFormat::HttpDate,
    }
}

fn location(traits: &Traits) -> (Location, &str) {
    if let Some(name) = traits.http_header() {
        return (Location::Header, name);
    }
    if let Some(prefix) = traits.http_prefix_headers() {
        return (Location::PrefixHeaders, prefix);
    }
    if let Some(name) = traits.http_query() {
        return (Location::Query, name);
    }
    let location = if traits.is_http_label() {
        Location::Label
    } else if traits.is_http_query_params() {
        Location::QueryParams
    } else if traits.is_http_payload() {
        Location::Payload
    } else if traits.is_http_response_code() {
        Location::StatusCode
    } else {
        Location::Body
    };
    (location, "")
}

const fn kind_of(shape_type: ShapeType) -> Option<ShapeKind> {
    Some(match shape_type {
        ShapeType::BigDecimal => ShapeKind::BigDecimal,
        ShapeType::BigInteger => ShapeKind::BigInteger,
        ShapeType::Blob => ShapeKind::Blob,
        ShapeType::Boolean => ShapeKind::Boolean,
        ShapeType::Byte => ShapeKind::Byte,
        ShapeType::Document => ShapeKind::Document,
        ShapeType::Double => ShapeKind::Double,
        ShapeType::Enum => ShapeKind::Enum,
        ShapeType::Float => ShapeKind::Float,
        ShapeType::IntEnum => ShapeKind::IntEnum,
        ShapeType::Integer => ShapeKind::Integer,
        ShapeType::List => ShapeKind::List,
        ShapeType::Long => ShapeKind::Long,
        ShapeType::Map => ShapeKind::Map,
        ShapeType::Short => ShapeKind::Short,
        ShapeType::String => ShapeKind::String,
        ShapeType::Structure => ShapeKind::Structure,
        ShapeType::Timestamp => ShapeKind::Timestamp,
        ShapeType::Union => ShapeKind::Union,
        ShapeType::Operation | ShapeType::Resource | ShapeType::Service => return None,
    })
}
