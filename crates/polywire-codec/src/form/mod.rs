//! Forms: `application/x-www-form-urlencoded`, as AWS's query protocols nest
//! data in it.
//!
//! A form is a flat list of fields. What is nested is spelled out in the key,
//! segment by segment:
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
//! Names follow `@xmlName`, in ec2Query `@ec2QueryName` first. Timestamps are
//! RFC 3339 unless a trait says other, blobs base64, floats beyond the numbers
//! `NaN`, `Infinity` and `-Infinity`. Everything but the unreserved characters
//! of RFC 3986 is percent-encoded.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>,
//! <https://smithy.io/2.0/aws/protocols/aws-ec2-query-protocol.html>
//!
//! # What a form cannot carry
//!
//! There are no documents, and no nulls but as values of maps. An empty
//! structure or map that is a member cannot be told from one that is absent:
//! like every peer, the writer writes nothing. As an item of a list it would
//! leave a gap or shorten the list, and as a variant of a union it would be no
//! variant: the writer refuses it there.
//!
//! # What is read
//!
//! Fields may come in any order. The items of a list are put in the order of
//! their numbers, which begin with 1; a number that is left out counts for
//! nothing, since callers do leave numbers out (filters that are put together
//! by hand) and AWS's services take it. The same key twice is an error, as is
//! 0 or a number with a leading zero, which would be a second spelling of
//! another one. A key that goes on behind a scalar (`Name=a&Name.first=b`) is
//! an error, and so is one that ends at a structure. `Name=` is an empty list
//! or map. Members that the shape does not have are skipped.
//!
//! # Types of serde
//!
//! With the feature `serde`, `from_str`, `to_string` and the functions beside them read
//! and write types of serde without a schema. Flat structures, flat maps and lists of pairs
//! are as serde_urlencoded has them. What is nested is spelled out in the key:
//!
//! | type | form |
//! |---|---|
//! | structure or map | its fields, `name=value` |
//! | list of pairs | the pairs, in their order; a key may come twice |
//! | member that is a structure or map | `name.member=value` |
//! | member that is a list or tuple | `name.1=a&name.2=b` |
//! | empty structure, map or list, `()` | `name=` |
//! | `None` | no field |
//! | unit variant | `name=Variant`; of the whole form, `Variant=` |
//! | other variant | `name.Variant=value`, `name.Variant.1=a`, `name.Variant.member=value` |
//! | number, boolean, string | text, which is not trimmed |
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
//! Fields may come in any order. A list is read from numbered keys or from one key that is
//! repeated, but not from both; anything else that comes twice is an error. Names with dots
//! are written with `%2E`. They are read with a plain dot too where the type has a field of
//! that name or is a map of scalars. Space is `+`, and the other characters are encoded as the
//! URL standard says.
//!
//! An error on writing is: a scalar as the whole form; a list as the whole form that is not
//! one of pairs of scalars; `None` in a list or variant. Types that serde reads through a
//! buffer get all scalars as strings: fields and maps that are flattened, variants of
//! internally tagged enums, and untagged enums. Numbers and booleans are not read there, and
//! an untagged enum takes the variant for strings.

mod decode;
mod encode;
mod index;
#[cfg(feature = "serde")]
mod serde;
mod text;

use polywire_schema::{Defaults, Encoding, TimestampFormat};

pub use decode::FormDecoder;
pub use encode::FormEncoder;

/// What a protocol tells the format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FormProfile {
    /// Which spelling of names: [`Encoding::Query`] or [`Encoding::Ec2`].
    pub names: Encoding,
    /// Whether all lists are flattened, and empty ones left out. Then there are
    /// no maps.
    pub flat: bool,
    /// The form of timestamps whose member has no `@timestampFormat`.
    pub timestamp_format: TimestampFormat,
    /// Whether a missing required member, an unknown variant of a union, or a
    /// date with an offset from UTC, is an error on reading.
    pub required: bool,
    /// Which members that are not there get their default.
    pub defaults: Defaults,
    /// Fields at the top that are the protocol's own: each at most once, and
    /// no members, whatever members there are.
    pub own: &'static [&'static str],
}

impl FormProfile {
    /// awsQuery, strict on required members, all defaults.
    pub const AWS_QUERY: Self = Self {
        names: Encoding::Query,
        flat: false,
        timestamp_format: TimestampFormat::DateTime,
        required: true,
        defaults: Defaults::Server,
        own: &["Action", "Version"],
    };

    /// ec2Query, strict on required members, all defaults.
    pub const EC2_QUERY: Self = Self {
        names: Encoding::Ec2,
        flat: true,
        ..Self::AWS_QUERY
    };

    /// Reads and writes as a client does: missing required members, unknown
    /// variants and dates with an offset are not errors, and members that are optional to clients get no
    /// default.
    #[must_use]
    pub const fn for_client(mut self) -> Self {
        self.required = false;
        self.defaults = Defaults::Client;
        self
    }

    /// Sets the form of timestamps without a trait.
    #[must_use]
    pub const fn with_timestamp_format(mut self, format: TimestampFormat) -> Self {
        self.timestamp_format = format;
        self
    }

    /// Sets which fields at the top are the protocol's own.
    #[must_use]
    pub const fn with_own(mut self, own: &'static [&'static str]) -> Self {
        self.own = own;
        self
    }
}

#[cfg(feature = "serde")]
crate::serde::functions!("a form");
#[cfg(feature = "serde")]
crate::serde::functions!(@text "a form");
