//! What the arrays of a set hold: plain data, without lifetimes.

use crate::{
    Location, MemberFlags, NameSource, OperationFlags, ServiceFlags, ShapeFlags, ShapeKind,
    TimestampFormat,
};

/// A text in the pool of a set.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// The offset of its first byte.
    pub start: u32,
    /// Its length in bytes.
    pub len: u32,
}

impl Span {
    pub(crate) fn of<T: ?Sized + AsRef<[u8]>>(self, pool: &T) -> &[u8] {
        let start = self.start as usize;
        pool.as_ref()
            .get(start..start + self.len as usize)
            .unwrap_or_default()
    }
}

/// A shape, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct ShapeDef {
    /// The absolute id.
    pub id: Span,
    /// The kind.
    pub kind: ShapeKind,
    /// The index of its root member.
    pub root: u32,
    /// The index of its first member.
    pub first_member: u32,
    /// How many members it has: a list one, a map two (key, value).
    pub member_count: u32,
    /// Where its look-up table starts, per [`NameSource`].
    pub lookup: [u32; NameSource::COUNT],
    /// The size of each look-up table as a power of two; 0 if it has none.
    pub lookup_bits: u8,
    /// Whether the look-up tables are by all bytes of a name, since its ends
    /// do not tell the members apart.
    pub lookup_whole: bool,
    /// Where the tables of its variants start, if it is a union: by the members'
    /// own names, and by those of JSON.
    pub variants: [u32; 2],
    /// The size of those tables as a power of two; 0 if it has none.
    pub variant_bits: u8,
    /// The index of its error traits, plus one; 0 if it is no error.
    pub error: u32,
    /// What is known of it and everything below it.
    pub flags: ShapeFlags,
}

/// A member, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct MemberDef {
    /// The index of the shape that it belongs to.
    pub container: u32,
    /// The index of the shape that it targets.
    pub target: u32,
    /// The kind of the target.
    pub kind: ShapeKind,
    /// Which part of a message carries it.
    pub location: Location,
    /// `@timestampFormat` of the member, else of the target.
    pub timestamp_format: Option<TimestampFormat>,
    /// Yes-or-no traits.
    pub flags: MemberFlags,
    /// Its place in its shape; `u32::MAX` for a root.
    pub ordinal: u32,
    /// The header, prefix or query parameter of its location.
    pub location_name: Span,
    /// `@mediaType` of the target.
    pub media_type: Span,
    /// The default value as JSON, if the flag says so.
    pub default: Span,
    /// The index of what its values have to satisfy, plus one; 0 if nothing.
    pub constraint: u32,
}

/// The traits of an error shape.
#[derive(Clone, Copy, Debug)]
pub struct ErrorDef {
    /// The status code: `@httpError`, else 400 or 500.
    pub status: u16,
    /// Whether the sender is to blame (`@error("client")`).
    pub client: bool,
    /// `@retryable`, and whether it is throttling.
    pub retryable: Option<bool>,
    /// `@awsQueryError`'s code; empty if none.
    pub query_code: Span,
    /// `@awsQueryError`'s status code; 0 if none.
    pub query_status: u16,
}

/// An operation, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct OperationDef {
    /// The absolute id.
    pub id: Span,
    /// The index of the input structure.
    pub input: u32,
    /// The index of the output structure.
    pub output: u32,
    /// Its own errors: a range of the set's index list.
    pub errors: Span,
    /// Those that its service adds, some of which may be its own too: a range of
    /// the index list that the service's operations share.
    pub service_errors: Span,
    /// The method of `@http`.
    pub http_method: Span,
    /// The URI pattern of `@http`.
    pub http_uri: Span,
    /// The status code of `@http`.
    pub http_code: u16,
    /// The host prefix of `@endpoint`.
    pub host_prefix: Span,
    /// The method of XML-RPC: the operation's name unless the model says other.
    pub xmlrpc_method: Span,
    /// The encodings of `@requestCompression`, separated by spaces.
    pub request_compression: Span,
    /// Yes-or-no traits.
    pub flags: OperationFlags,
}

/// A service, as a set stores it.
#[derive(Clone, Copy, Debug)]
pub struct ServiceDef {
    /// The absolute id.
    pub id: Span,
    /// The version.
    pub version: Span,
    /// Its operations: a range of the set's index list.
    pub operations: Span,
    /// The ids of its protocols, separated by spaces.
    pub protocols: Span,
    /// The prefix of `@xmlNamespace`; empty if it has none.
    pub xml_prefix: Span,
    /// The URI of `@xmlNamespace`; empty without the trait.
    pub xml_uri: Span,
    /// `sdkId` of `@aws.api#service`.
    pub sdk_id: Span,
    /// `endpointPrefix` of `@aws.api#service`.
    pub endpoint_prefix: Span,
    /// The name of `@aws.auth#sigv4`.
    pub signing_name: Span,
    /// Yes-or-no traits.
    pub flags: ServiceFlags,
}
