//! Forms: `application/x-www-form-urlencoded`, with the nesting of AWS's query protocols.
//!
//! A form is a flat list of fields. The segments of a key give the position of a nested value:
//!
//! ```text
//! form    = [ field *( "&" field ) ]
//! field   = key [ "=" value ]
//! key     = segment *( "." segment )
//! ```
//!
//! | shape | awsQuery | ec2Query |
//! |---|---|---|
//! | member of a structure | `Outer.inner=1` | `Outer.Inner=1` |
//! | list | `List.member.1=a&List.member.2=b` | `List.1=a&List.2=b` |
//! | flattened list | `List.1=a&List.2=b` | the same |
//! | empty list | `List=` | nothing |
//! | map | `Map.entry.1.key=k&Map.entry.1.value=v` | none |
//! | flattened map | `Map.1.key=k&Map.1.value=v` | none |
//!
//! Names follow `@xmlName`; in ec2Query `@ec2QueryName` takes precedence. Timestamps are RFC 3339 by
//! default, and blobs are base64. Floats may also be `NaN`, `Infinity` and `-Infinity`. All characters
//! other than the unreserved ones of RFC 3986 are percent-encoded.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>,
//! <https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html>
//!
//! # Limitations of forms
//!
//! Forms cannot represent documents, or nulls except as values of maps. A member that is an empty
//! structure or map looks the same as a missing member: like other implementations, the encoder writes
//! nothing. In a list, an empty structure or map would change the number of items, and in a union, the
//! variant would be lost, so the encoder reports an error.
//!
//! # Reading
//!
//! Fields may have any order. The items of a list are sorted by their numbers, which begin with 1.
//! Gaps in the numbers are ignored: clients sometimes leave gaps, and AWS accepts them. Duplicate keys
//! are errors, except those of unknown members, which are skipped. So are the number 0 and numbers with a leading zero, a key that continues after a
//! scalar (`Name=a&Name.first=b`), and a key that ends at a structure. `Name=` is an empty list or
//! map.
//!
//! # serde
//!
//! With the feature `serde`, the module has functions such as `from_str` and `to_string` for types
//! without a schema. Flat structures, flat maps and lists of pairs have the same representation as in
//! serde_urlencoded. Nested values have keys with several segments:
//!
//! | type | form |
//! |---|---|
//! | structure or map | its fields, `name=value` |
//! | list of pairs | the pairs in their order; duplicate keys are allowed |
//! | member that is a structure or map | `name.member=value` |
//! | member that is a list or tuple | `name.1=a&name.2=b` |
//! | empty structure, map or list, `()` | `name=` |
//! | `None` | no field |
//! | unit variant | `name=Variant`; as the form, `Variant=` |
//! | other variant | `name.Variant=value`, `name.Variant.1=a`, `name.Variant.member=value` |
//! | number, boolean, string | text; it is not trimmed |
//! | bytes | base64 |
//!
//! ```
//! # #[cfg(feature = "serde")] {
//! use polywire_codec::form;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Debug, Deserialize, PartialEq, Serialize)]
//! struct Search {
//!     text: String,
//!     page: Option<u32>,
//!     tags: Vec<String>,
//! }
//!
//! let search: Search = form::from_str("tags.2=b&text=a+b&tags.1=a")?;
//! assert_eq!(search.tags, ["a", "b"]);
//! assert_eq!(form::to_string(&search)?, "text=a+b&tags.1=a&tags.2=b");
//! assert_eq!(search, form::from_str("tags=a&tags=b&text=a+b")?);
//! # }
//! # Ok::<(), polywire_schema::Error>(())
//! ```
//!
//! Fields may have any order. A list is read from numbered keys or from one repeated key, but not from
//! both. Other duplicate keys are errors. A dot in a name is written as `%2E`. On reading, a plain dot
//! is accepted too if the type has a field of that name or is a map of scalars. A space is written as
//! `+`, and other characters are encoded as in the URL standard.
//!
//! The following cannot be written: a scalar as the form, a list as the form unless its items are
//! pairs of scalars, and `None` in a list or variant.
//!
//! serde reads some types through a buffer: flattened fields and maps, internally tagged enums and
//! untagged enums. These receive all scalars as strings, so numbers and booleans in them cannot be
//! read, and an untagged enum gets its string variant.

mod decode;
mod encode;
mod index;
#[cfg(feature = "serde")]
mod serde;
mod text;

use polywire_schema::{NameEncoding, Rules, TimestampFormat};

pub use decode::FormDecoder;
pub use encode::FormEncoder;

/// Options of the format, as set by a protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FormProfile {
    /// The names of members: [`NameEncoding::Query`] or [`NameEncoding::Ec2`].
    pub names: NameEncoding,
    /// Whether all lists are flattened, empty lists are omitted, and maps are not allowed.
    pub flat: bool,
    /// The format of timestamps whose member has no `@timestampFormat`.
    pub timestamp_format: TimestampFormat,
    /// The rules for nulls, missing members, other violations of the model, and defaults.
    pub rules: Rules,
    /// Top-level fields that belong to the protocol. They are not members of the structure, even if
    /// it has members of the same names, and may occur at most once.
    pub protocol_fields: &'static [&'static str],
}

impl FormProfile {
    /// awsQuery, strict on required members, all defaults.
    pub const AWS_QUERY: Self = Self {
        names: NameEncoding::Query,
        flat: false,
        timestamp_format: TimestampFormat::DateTime,
        rules: Rules::SERVER,
        protocol_fields: &["Action", "Version"],
    };

    /// ec2Query, strict on required members, all defaults.
    pub const EC2_QUERY: Self = Self {
        names: NameEncoding::Ec2,
        flat: true,
        ..Self::AWS_QUERY
    };

    /// Sets how input that the model does not allow is treated.
    #[must_use]
    pub const fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The options of a client: missing required members, unknown variants and dates with an offset
    /// are not errors, and members that are optional to clients get no default.
    #[must_use]
    pub const fn for_client(self) -> Self {
        self.with_rules(Rules::CLIENT)
    }

    /// Sets the format of timestamps whose member has no `@timestampFormat`.
    #[must_use]
    pub const fn with_timestamp_format(mut self, format: TimestampFormat) -> Self {
        self.timestamp_format = format;
        self
    }

    /// Sets which top-level fields belong to the protocol.
    #[must_use]
    pub const fn with_protocol_fields(mut self, names: &'static [&'static str]) -> Self {
        self.protocol_fields = names;
        self
    }
}

#[cfg(feature = "serde")]
crate::serde::functions!("a form");
#[cfg(feature = "serde")]
crate::serde::functions!(@text "a form");
