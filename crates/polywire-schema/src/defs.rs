//! The elements of the arrays of a set: plain data without lifetimes.

use crate::{
    Location, MemberFlags, NameSource, OperationFlags, ServiceFlags, ShapeFlags, ShapeKind,
    TimestampFormat,
};

/// A range: of the text of a set in bytes, or of another array in elements.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// The index of the first byte or element.
    pub start: u32,
    /// The number of bytes or elements.
    pub len: u32,
}

impl Span {
    #[inline]
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        let start = self.start as usize;
        start..start + self.len as usize
    }
}

/// The stored form of a shape: see [`Schema`](crate::Schema).
#[derive(Clone, Copy, Debug)]
pub struct ShapeDef {
    /// The absolute id.
    pub id: Span,
    /// The kind.
    pub kind: ShapeKind,
    /// The index of the root member.
    pub root: u32,
    /// The index of the first member.
    pub first_member: u32,
    /// The number of members: one for a list, two for a map (key, value).
    pub member_count: u32,
    /// The members that a message must contain: one bit for each ordinal below 64.
    pub required: u64,
    /// For each [`NameSource`], the start of the lookup table in the buckets of the set.
    pub lookup: [u32; NameSource::COUNT],
    /// The binary logarithm of the size of each lookup table; 0 without tables.
    pub lookup_bits: u8,
    /// Whether the lookup tables hash all bytes of a name. If `false`, they hash only the first and
    /// last eight bytes and the length.
    pub lookup_whole: bool,
    /// For a union, the start of the variant tables for [`NameSource::Member`] and
    /// [`NameSource::Json`].
    pub variants: [u32; 2],
    /// The binary logarithm of the size of each variant table; 0 without tables.
    pub variant_bits: u8,
    /// The index of the error traits plus one; 0 if the shape is not an error.
    pub error: u32,
    /// Properties of the shape and its nested values.
    pub flags: ShapeFlags,
}

/// The stored form of a member: see [`Member`](crate::Member).
#[derive(Clone, Copy, Debug)]
pub struct MemberDef {
    /// The index of the shape that contains the member.
    pub container: u32,
    /// The index of the target shape.
    pub target: u32,
    /// The kind of the target.
    pub kind: ShapeKind,
    /// The part of a message that contains the member.
    pub location: Location,
    /// `@timestampFormat` of the member, or else of the target.
    pub timestamp_format: Option<TimestampFormat>,
    /// Boolean traits.
    pub flags: MemberFlags,
    /// The position in the shape; `u32::MAX` for a root member.
    pub ordinal: u32,
    /// The name of the header or query parameter, or the header prefix.
    pub location_name: Span,
    /// `@mediaType` of the member, or else of the target.
    pub media_type: Span,
    /// The default as JSON, if the member has [`MemberFlags::DEFAULT`].
    pub default: Span,
    /// The index of the constraints plus one; 0 if there are none.
    pub constraint: u32,
}

/// The traits of an error shape.
#[derive(Clone, Copy, Debug)]
pub struct ErrorDef {
    /// The HTTP status code: `@httpError`, or else 400 or 500.
    pub status: u16,
    /// Whether the client is at fault (`@error("client")`).
    pub client: bool,
    /// `Some` if the error has `@retryable`, with the value of `throttling`.
    pub retryable: Option<bool>,
    /// The code of `@awsQueryError`; empty without the trait.
    pub query_code: Span,
    /// The HTTP status code of `@awsQueryError`; 0 without the trait.
    pub query_status: u16,
}

/// The stored form of an operation: see [`Operation`](crate::Operation).
#[derive(Clone, Copy, Debug)]
pub struct OperationDef {
    /// The absolute id.
    pub id: Span,
    /// The index of the input structure.
    pub input: u32,
    /// The index of the output structure.
    pub output: u32,
    /// The errors of the operation: a range of the index lists of the set.
    pub errors: Span,
    /// The errors of the service: a range of the index lists of the set, shared by all operations.
    /// It can contain errors that are also in `errors`.
    pub service_errors: Span,
    /// The method of `@http`.
    pub http_method: Span,
    /// The URI pattern of `@http`.
    pub http_uri: Span,
    /// The status code of `@http`.
    pub http_code: u16,
    /// The host prefix of `@endpoint`.
    pub host_prefix: Span,
    /// The XML-RPC method name. By default it is the name of the operation.
    pub xmlrpc_method: Span,
    /// The encodings of `@requestCompression`, separated by spaces.
    pub request_compression: Span,
    /// `@aws.protocols#httpChecksum`: the two member names, `-` for none, and the algorithms of responses, separated by
    /// spaces. Empty without the trait.
    pub http_checksum: Span,
    /// Boolean traits.
    pub flags: OperationFlags,
}

/// The stored form of a service: see [`Service`](crate::Service).
#[derive(Clone, Copy, Debug)]
pub struct ServiceDef {
    /// The absolute id.
    pub id: Span,
    /// The version.
    pub version: Span,
    /// The operations: a range of the index lists of the set.
    pub operations: Span,
    /// The ids of the protocols, separated by spaces.
    pub protocols: Span,
    /// The prefix of `@xmlNamespace`; empty without a prefix.
    pub xml_prefix: Span,
    /// The URI of `@xmlNamespace`; empty without the trait.
    pub xml_uri: Span,
    /// `sdkId` of `@aws.api#service`.
    pub sdk_id: Span,
    /// `endpointPrefix` of `@aws.api#service`.
    pub endpoint_prefix: Span,
    /// The signing name of `@aws.auth#sigv4`.
    pub signing_name: Span,
    /// Boolean traits.
    pub flags: ServiceFlags,
}
