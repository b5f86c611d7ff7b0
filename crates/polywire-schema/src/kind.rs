//! The kinds of shapes, the formats of timestamps, and the parts of a message.

/// The kind of a shape. The deprecated `set` shape is a [`ShapeKind::List`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the Smithy specification defines the names")]
pub enum ShapeKind {
    BigDecimal,
    BigInteger,
    Blob,
    Boolean,
    Byte,
    Document,
    Double,
    Enum,
    Float,
    IntEnum,
    Integer,
    List,
    Long,
    Map,
    Short,
    String,
    Structure,
    Timestamp,
    Union,
}

impl ShapeKind {
    /// Returns the minimum and maximum of an integer shape. For all other kinds, returns the range
    /// of a long.
    #[must_use]
    pub const fn integer_range(self) -> (i64, i64) {
        match self {
            Self::Byte => (i8::MIN as i64, i8::MAX as i64),
            Self::Short => (i16::MIN as i64, i16::MAX as i64),
            Self::Integer | Self::IntEnum => (i32::MIN as i64, i32::MAX as i64),
            _ => (i64::MIN, i64::MAX),
        }
    }

    /// Returns whether the shape is a structure or union.
    #[must_use]
    pub const fn is_structure(self) -> bool {
        matches!(self, Self::Structure | Self::Union)
    }

    /// Returns the type as a noun phrase for error messages, such as `a string`.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::BigDecimal => "a decimal number",
            Self::BigInteger => "an integer",
            Self::Blob => "a blob",
            Self::Boolean => "a boolean",
            Self::Byte => "an integer of 8 bits",
            Self::Document => "a document",
            Self::Double | Self::Float => "a number",
            Self::Enum | Self::String => "a string",
            Self::IntEnum | Self::Integer => "an integer of 32 bits",
            Self::List => "a list",
            Self::Long => "an integer of 64 bits",
            Self::Map => "a map",
            Self::Short => "an integer of 16 bits",
            Self::Structure => "a structure",
            Self::Timestamp => "a timestamp",
            Self::Union => "a union",
        }
    }
}

/// The values of `@timestampFormat`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TimestampFormat {
    /// RFC 3339 in UTC.
    DateTime,
    /// Seconds since the Unix epoch, with an optional fraction.
    EpochSeconds,
    /// `IMF-fixdate` of RFC 9110.
    HttpDate,
}

/// The part of a message that contains a member. All members are in the body, except top-level
/// members of the input, output or error of an operation.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Location {
    /// The document.
    Body,
    /// A header: `@httpHeader`.
    Header,
    /// A label in the URI: `@httpLabel`.
    Label,
    /// The entire body: `@httpPayload`.
    Payload,
    /// All headers with a prefix: `@httpPrefixHeaders`.
    PrefixHeaders,
    /// A query parameter: `@httpQuery`.
    Query,
    /// All other query parameters: `@httpQueryParams`.
    QueryParams,
    /// The status code: `@httpResponseCode`.
    StatusCode,
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Direction {
    /// From client to server: an input.
    Request,
    /// From server to client: an output or an error.
    Response,
}

impl Location {
    /// Returns the location in a message of this direction.
    ///
    /// Only requests have a URI, and only responses have a status code. In the other direction the
    /// binding is ignored and the member is in the body
    /// (<https://smithy.io/2.0/spec/http-bindings.html>).
    ///
    /// ```
    /// use polywire_schema::{Direction, Location};
    ///
    /// assert_eq!(Location::Query.going(Direction::Request), Location::Query);
    /// assert_eq!(Location::Query.going(Direction::Response), Location::Body);
    /// ```
    #[inline]
    #[must_use]
    pub const fn going(self, direction: Direction) -> Self {
        match (self, direction) {
            (Self::Label | Self::Query | Self::QueryParams, Direction::Response)
            | (Self::StatusCode, Direction::Request) => Self::Body,
            _ => self,
        }
    }
}
