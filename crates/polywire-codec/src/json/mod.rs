//! JSON, RFC 8259.
//!
//! How Smithy's types look in it: numbers as numbers, with `"NaN"`,
//! `"Infinity"` and `"-Infinity"` as strings; blobs as base64; timestamps by
//! their format, epoch seconds unless a trait says other; big numbers as
//! numbers with all their digits; structures, unions and maps as objects.
//!
//! ```
//! use polywire_codec::json;
//! use polywire_schema::{Decode, Encode, Member, Value};
//!
//! let text = r#"{"name": "Oslo", "heights": [23, 1.5]}"#;
//! let value: Value = json::read_value(text)?;
//! assert_eq!(value["heights"][0].as_i64(), Some(23));
//! assert_eq!(json::write_value(&value)?, br#"{"name":"Oslo","heights":[23,1.5]}"#);
//! # Ok::<(), polywire_schema::Error>(())
//! ```

mod decode;
mod encode;
mod locate;
mod members;
mod pretty;
mod scalars;
#[cfg(feature = "serde")]
mod serde;
mod tokens;

use polywire_schema::{
    Decode, Defaults, Encode, Encoding, Error, Limits, Member, Part, TimestampFormat, Value,
};

pub use decode::JsonDecoder;
pub use encode::JsonEncoder;
pub use pretty::pretty;

/// What a protocol tells the format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JsonProfile {
    /// Which spelling of member names: `JsonName` for restJson1, `JsonMember`
    /// for awsJson.
    pub names: Encoding,
    /// The form of timestamps whose member has no `@timestampFormat`.
    pub timestamp_format: TimestampFormat,
    /// Whether all timestamps have that form, whatever `@timestampFormat` says.
    pub fixed_timestamps: bool,
    /// Whether big integers and decimals stand in strings, so that nobody reads
    /// them as doubles. Then they are read as numbers too.
    pub quoted_big_numbers: bool,
    /// Whether nulls in lists and maps that are not sparse are left out on
    /// reading, as clients do, or are errors.
    pub skip_nulls: bool,
    /// Whether a missing required member, an unknown variant of a union, and a
    /// date with an offset from UTC, is an error on reading.
    pub required: bool,
    /// Which members that are not there get their default.
    pub defaults: Defaults,
    /// Which members of the structure at the top the document holds.
    pub part: Part,
    /// Whether timestamps are read in any form, whatever the schema says: a
    /// number of seconds, RFC 3339 or an HTTP-date.
    pub any_timestamp: bool,
    /// Whether blobs are plain text instead of base64.
    pub text_blobs: bool,
    /// Whether members that the shape does not have are errors on reading
    /// instead of being skipped: for what a person types.
    pub refuse_unknown: bool,
}

impl JsonProfile {
    /// Member names as they are, epoch seconds, strict on nulls and required
    /// members, all defaults, whole structures.
    pub const DEFAULT: Self = Self {
        names: Encoding::JsonMember,
        timestamp_format: TimestampFormat::EpochSeconds,
        fixed_timestamps: false,
        quoted_big_numbers: false,
        skip_nulls: false,
        required: true,
        defaults: Defaults::Server,
        part: Part::Whole,
        any_timestamp: false,
        text_blobs: false,
        refuse_unknown: false,
    };

    /// As values stand in Smithy models: own names, timestamps in any form,
    /// blobs as plain text; nothing is required or filled in.
    pub const NODE: Self = Self {
        any_timestamp: true,
        text_blobs: true,
        required: false,
        defaults: Defaults::Ignored,
        ..Self::DEFAULT
    };

    /// As people write values: own names, timestamps read in any form and
    /// written as RFC 3339, blobs as base64; a member that does not exist is
    /// an error, one that is missing is left to whoever gets the value.
    pub const HUMAN: Self = Self {
        any_timestamp: true,
        refuse_unknown: true,
        required: false,
        defaults: Defaults::Ignored,
        timestamp_format: TimestampFormat::DateTime,
        ..Self::DEFAULT
    };

    /// Follows `@jsonName`, or not.
    #[must_use]
    pub const fn with_json_names(mut self, follow: bool) -> Self {
        self.names = if follow {
            Encoding::JsonName
        } else {
            Encoding::JsonMember
        };
        self
    }

    /// Sets the form of timestamps without a trait.
    #[must_use]
    pub const fn with_timestamp_format(mut self, format: TimestampFormat) -> Self {
        self.timestamp_format = format;
        self
    }

    /// Gives all timestamps the form of the profile, or follows
    /// `@timestampFormat`.
    #[must_use]
    pub const fn with_fixed_timestamps(mut self, fixed: bool) -> Self {
        self.fixed_timestamps = fixed;
        self
    }

    /// Writes big integers and decimals as strings, or as numbers.
    #[must_use]
    pub const fn with_quoted_big_numbers(mut self, quoted: bool) -> Self {
        self.quoted_big_numbers = quoted;
        self
    }

    /// Reads and writes as a client does: nulls in dense collections are left
    /// out, missing required members are not errors, and members that are
    /// optional to clients get no default.
    #[must_use]
    pub const fn for_client(mut self) -> Self {
        self.skip_nulls = true;
        self.required = false;
        self.defaults = Defaults::Client;
        self
    }

    /// Reads blobs as plain text, or as base64.
    #[must_use]
    pub const fn with_text_blobs(mut self, text_blobs: bool) -> Self {
        self.text_blobs = text_blobs;
        self
    }

    /// Sets which members that are not there get their default.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// Sets which members of the structure at the top the document holds.
    #[must_use]
    pub const fn with_part(mut self, part: Part) -> Self {
        self.part = part;
        self
    }
}

impl JsonProfile {
    /// The form of a timestamp.
    pub(crate) fn timestamp_format_of(&self, at: Member<'_>) -> TimestampFormat {
        match at.timestamp_format() {
            Some(own) if !self.fixed_timestamps => own,
            _ => self.timestamp_format,
        }
    }
}

impl Default for JsonProfile {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Reads a value without a schema.
///
/// # Errors
///
/// The text is not JSON, or beyond the default limits.
pub fn read_value(text: &str) -> Result<Value, Error> {
    let mut decoder = JsonDecoder::from_str(text, JsonProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// Writes a value without a schema.
///
/// # Errors
///
/// The value holds something that JSON has no form for.
pub fn write_value(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("JSON");
#[cfg(feature = "serde")]
crate::serde::functions!(@text "JSON");
