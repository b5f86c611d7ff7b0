//! The kinds of shapes, the forms of timestamps, and the parts of a message.

/// The kind of a shape. `set` of older models is a list.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are Smithy's")]
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
    /// The numbers that an integer shape holds; those of a long otherwise.
    #[must_use]
    pub const fn integer_range(self) -> (i64, i64) {
        match self {
            Self::Byte => (i8::MIN as i64, i8::MAX as i64),
            Self::Short => (i16::MIN as i64, i16::MAX as i64),
            Self::Integer | Self::IntEnum => (i32::MIN as i64, i32::MAX as i64),
            _ => (i64::MIN, i64::MAX),
        }
    }

    /// Whether the shape has members with names.
    #[must_use]
    pub const fn is_structure(self) -> bool {
        matches!(self, Self::Structure | Self::Union)
    }

    /// What a value of this shape is, as a noun phrase for messages.
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

/// The forms of a timestamp that `@timestampFormat` names.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum TimestampFormat {
    /// RFC 3339 in UTC.
    DateTime,
    /// Seconds since the epoch, with a fraction.
    EpochSeconds,
    /// HTTP's date.
    HttpDate,
}

/// Which part of a message carries a member. Only members at the top of an
/// operation's input, output or error have any but `Body`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Location {
    /// The document.
    Body,
    /// A header: `@httpHeader`.
    Header,
    /// A segment of the path: `@httpLabel`.
    Label,
    /// The whole body: `@httpPayload`.
    Payload,
    /// All headers with a prefix: `@httpPrefixHeaders`.
    PrefixHeaders,
    /// A parameter of the query: `@httpQuery`.
    Query,
    /// All other parameters of the query: `@httpQueryParams`.
    QueryParams,
    /// The status code: `@httpResponseCode`.
    StatusCode,
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Direction {
    /// From a client: an input.
    Request,
    /// From a server: an output or an error.
    Response,
}

impl Location {
    /// Where it is in a message that goes this way. Only requests have a path
    /// and a query, and only responses a status code: in the others such a
    /// member stands in the body, as the bindings that do not apply are ignored
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
