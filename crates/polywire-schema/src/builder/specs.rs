//! What a builder is told of shapes, members, operations and services.

use crate::{ConstraintSpec, Location, MemberFlags, OperationFlags, ServiceFlags, TimestampFormat};

/// The index that a shape will have in its set.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ShapeRef(pub(super) u32);

impl ShapeRef {
    pub(crate) const fn at(index: u32) -> Self {
        Self(index)
    }

    /// The index.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.0
    }
}

/// What the builder is told about a member. The fields are the traits that
/// codecs and protocols look at.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    /// The member's own name.
    pub name: String,
    /// The shape that it targets.
    pub target: ShapeRef,
    /// Yes-or-no traits.
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
    /// Which part of a message carries the member.
    pub location: Location,
    /// The header, prefix or query parameter of the location.
    pub location_name: String,
    /// `@mediaType`.
    pub media_type: String,
    /// `@default` as JSON.
    pub default_json: Option<String>,
    /// Constraint traits.
    pub constraints: ConstraintSpec,
}

impl MemberSpec {
    /// A member without traits.
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

    /// Adds yes-or-no traits.
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

    /// Binds the member to a part of the message.
    #[must_use]
    pub fn location(mut self, location: Location, name: &str) -> Self {
        self.location = location;
        self.location_name = name.to_owned();
        self
    }
}

/// What the builder is told about an operation.
#[derive(Clone, Debug)]
pub struct OperationSpec {
    /// The absolute id.
    pub id: String,
    /// The input structure.
    pub input: ShapeRef,
    /// The output structure.
    pub output: ShapeRef,
    /// The errors. Those of the service need not be repeated.
    pub errors: Vec<ShapeRef>,
    /// Method, URI pattern and status code of `@http`.
    pub http: Option<(String, String, u16)>,
    /// The host prefix of `@endpoint`.
    pub host_prefix: String,
    /// The method of XML-RPC, if it is not the operation's name.
    pub xmlrpc_method: Option<String>,
    /// The encodings of `@requestCompression`, the best first.
    pub request_compression: Vec<String>,
    /// Yes-or-no traits.
    pub flags: OperationFlags,
}

impl OperationSpec {
    /// An operation without traits.
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
            flags: OperationFlags::default(),
        }
    }
}

/// What the builder is told about a service.
#[derive(Clone, Debug, Default)]
pub struct ServiceSpec {
    /// The absolute id.
    pub id: String,
    /// The version.
    pub version: String,
    /// The ids of its protocol traits.
    pub protocols: Vec<String>,
    /// The indices of its operations, as
    /// [`SchemaBuilder::operation`](crate::SchemaBuilder::operation) gave them.
    pub operations: Vec<u32>,
    /// The errors that each of its operations can end in.
    pub errors: Vec<ShapeRef>,
    /// `@xmlNamespace`: prefix and URI.
    pub xml_namespace: Option<(Option<String>, String)>,
    /// `sdkId` of `@aws.api#service`.
    pub sdk_id: String,
    /// `endpointPrefix` of `@aws.api#service`.
    pub endpoint_prefix: String,
    /// The name of `@aws.auth#sigv4`.
    pub signing_name: String,
    /// Yes-or-no traits.
    pub flags: ServiceFlags,
}
