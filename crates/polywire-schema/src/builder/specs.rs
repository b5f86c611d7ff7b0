//! The input of a builder: members, operations and services.

use crate::{ConstraintSpec, Location, MemberFlags, OperationFlags, ServiceFlags, TimestampFormat};

/// A reference to a shape of a builder: its index in the set.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ShapeRef(pub(super) u32);

impl ShapeRef {
    pub(crate) const fn at(index: u32) -> Self {
        Self(index)
    }

    /// Returns the index of the shape in the set.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0
    }
}

/// A member of a shape, as input of a [`SchemaBuilder`](crate::SchemaBuilder). The fields are the
/// traits that codecs and protocols use.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    /// The name in the model.
    pub name: String,
    /// The target shape.
    pub target: ShapeRef,
    /// Boolean traits.
    pub flags: MemberFlags,
    /// `@jsonName`.
    pub json_name: Option<String>,
    /// `@xmlName`.
    pub xml_name: Option<String>,
    /// `@xmlNamespace`: prefix and URI.
    pub xml_namespace: Option<(Option<String>, String)>,
    /// `@ec2QueryName`.
    pub ec2_name: Option<String>,
    /// `@timestampFormat`.
    pub timestamp_format: Option<TimestampFormat>,
    /// The part of a message that contains the member.
    pub location: Location,
    /// The name of the header or query parameter, or the header prefix.
    pub location_name: String,
    /// `@mediaType`.
    pub media_type: String,
    /// `@default` as JSON.
    pub default_json: Option<String>,
    /// Constraint traits.
    pub constraints: ConstraintSpec,
}

impl MemberSpec {
    /// Creates a member without traits.
    #[must_use]
    pub fn new(name: impl Into<String>, target: ShapeRef) -> Self {
        Self {
            name: name.into(),
            target,
            flags: MemberFlags::default(),
            json_name: None,
            xml_name: None,
            xml_namespace: None,
            ec2_name: None,
            timestamp_format: None,
            location: Location::Body,
            location_name: String::new(),
            media_type: String::new(),
            default_json: None,
            constraints: ConstraintSpec::default(),
        }
    }

    /// Adds boolean traits.
    #[must_use]
    pub fn flag(mut self, flags: MemberFlags) -> Self {
        self.flags = self.flags.with(flags);
        self
    }

    /// Sets `@jsonName`.
    #[must_use]
    pub fn json_name(mut self, name: &str) -> Self {
        self.json_name = Some(name.to_owned());
        self
    }

    /// Sets `@xmlName`.
    #[must_use]
    pub fn xml_name(mut self, name: &str) -> Self {
        self.xml_name = Some(name.to_owned());
        self
    }

    /// Sets `@xmlNamespace`.
    #[must_use]
    pub fn xml_namespace(mut self, prefix: Option<&str>, uri: &str) -> Self {
        self.xml_namespace = Some((prefix.map(str::to_owned), uri.to_owned()));
        self
    }

    /// Sets `@timestampFormat`.
    #[must_use]
    pub fn timestamp_format(mut self, format: TimestampFormat) -> Self {
        self.timestamp_format = Some(format);
        self
    }

    /// Sets the location. `name` is the name of the header or query parameter, or the header
    /// prefix.
    #[must_use]
    pub fn location(mut self, location: Location, name: &str) -> Self {
        self.location = location;
        self.location_name = name.to_owned();
        self
    }
}

/// An operation, as input of a [`SchemaBuilder`](crate::SchemaBuilder).
#[derive(Clone, Debug)]
pub struct OperationSpec {
    /// The absolute id.
    pub id: String,
    /// The input structure.
    pub input: ShapeRef,
    /// The output structure.
    pub output: ShapeRef,
    /// The errors of the operation. The errors of the service are added automatically.
    pub errors: Vec<ShapeRef>,
    /// Method, URI pattern and status code of `@http`.
    pub http: Option<(String, String, u16)>,
    /// The host prefix of `@endpoint`.
    pub host_prefix: String,
    /// The XML-RPC method name, if it differs from the name of the operation.
    pub xmlrpc_method: Option<String>,
    /// The encodings of `@requestCompression` in order of preference.
    pub request_compression: Vec<String>,
    /// `@aws.protocols#httpChecksum`: the names of `requestAlgorithmMember` and `requestValidationModeMember`, `-` for
    /// none, and the `responseAlgorithms`. Empty without the trait.
    pub http_checksum: Vec<String>,
    /// Boolean traits.
    pub flags: OperationFlags,
}

impl OperationSpec {
    /// Creates an operation without traits.
    #[must_use]
    pub fn new(id: impl Into<String>, input: ShapeRef, output: ShapeRef) -> Self {
        Self {
            id: id.into(),
            input,
            output,
            errors: Vec::new(),
            http: None,
            host_prefix: String::new(),
            xmlrpc_method: None,
            request_compression: Vec::new(),
            http_checksum: Vec::new(),
            flags: OperationFlags::default(),
        }
    }
}

/// A service, as input of a [`SchemaBuilder`](crate::SchemaBuilder).
#[derive(Clone, Debug, Default)]
pub struct ServiceSpec {
    /// The absolute id.
    pub id: String,
    /// The version.
    pub version: String,
    /// The ids of the protocol traits.
    pub protocols: Vec<String>,
    /// The indices of the operations, from
    /// [`SchemaBuilder::operation`](crate::SchemaBuilder::operation).
    pub operations: Vec<u32>,
    /// The errors that all operations can return.
    pub errors: Vec<ShapeRef>,
    /// `@xmlNamespace`: prefix and URI.
    pub xml_namespace: Option<(Option<String>, String)>,
    /// `sdkId` of `@aws.api#service`.
    pub sdk_id: String,
    /// `endpointPrefix` of `@aws.api#service`.
    pub endpoint_prefix: String,
    /// The signing name of `@aws.auth#sigv4`.
    pub signing_name: String,
    /// Boolean traits.
    pub flags: ServiceFlags,
}
