//! JSON, RFC 8259.
//!
//! | type of Smithy | JSON |
//! |---|---|
//! | structure, union, map | object |
//! | list | array |
//! | string, enum | string |
//! | blob | string in base64 |
//! | float, double | number, or one of the strings `"NaN"`, `"Infinity"` and `"-Infinity"` |
//! | bigInteger, bigDecimal | number with all digits |
//! | timestamp | its `@timestampFormat`, epoch seconds by default |
//! | document | by its value |
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
    Decode, Defaults, Encode, Error, Limits, Member, NameEncoding, Part, Rules, TimestampFormat,
    Value,
};

pub use decode::JsonDecoder;
pub use encode::JsonEncoder;
pub use pretty::pretty;

/// Options of the format, as set by a protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JsonProfile {
    /// The names of members: `JsonName` for restJson1, `JsonMember` for awsJson.
    pub names: NameEncoding,
    /// The format of timestamps whose member has no `@timestampFormat`.
    pub timestamp_format: TimestampFormat,
    /// Whether to use `timestamp_format` for all timestamps and ignore `@timestampFormat`.
    pub fixed_timestamps: bool,
    /// Whether to write big integers and decimals as strings, so that peers do not read them as
    /// doubles. Strings and numbers are then both accepted on reading.
    pub quoted_big_numbers: bool,
    /// The rules for nulls, missing members, other violations of the model, and defaults.
    pub rules: Rules,
    /// Which members of the top-level structure the document contains.
    pub part: Part,
    /// Whether to read timestamps in any format, regardless of the schema: a number of seconds, RFC
    /// 3339 or an HTTP-date.
    pub any_timestamp: bool,
    /// Whether blobs are read as plain text instead of base64.
    pub text_blobs: bool,
    /// Whether unknown members are errors instead of being skipped, for input from people.
    pub refuse_unknown: bool,
}

impl JsonProfile {
    /// Member names without `@jsonName`, epoch seconds, strict on nulls and required members, all
    /// defaults, all members.
    pub const DEFAULT: Self = Self {
        names: NameEncoding::JsonMember,
        timestamp_format: TimestampFormat::EpochSeconds,
        fixed_timestamps: false,
        quoted_big_numbers: false,
        rules: Rules::SERVER,
        part: Part::Whole,
        any_timestamp: false,
        text_blobs: false,
        refuse_unknown: false,
    };

    /// The options for node values in Smithy models: member names without `@jsonName`, timestamps in
    /// any format, blobs as plain text. No member is required, and defaults are not filled in.
    pub const NODE: Self = Self {
        any_timestamp: true,
        text_blobs: true,
        rules: Rules::UNCHECKED,
        ..Self::DEFAULT
    };

    /// The options for values written by people: member names without `@jsonName`, timestamps read
    /// in any format and written as RFC 3339, blobs as base64. Unknown members are errors. Missing
    /// members are not, and defaults are not filled in.
    pub const HUMAN: Self = Self {
        any_timestamp: true,
        refuse_unknown: true,
        rules: Rules::UNCHECKED,
        timestamp_format: TimestampFormat::DateTime,
        ..Self::DEFAULT
    };

    /// Sets whether to use `@jsonName`.
    #[must_use]
    pub const fn with_json_names(mut self, enabled: bool) -> Self {
        self.names = if enabled {
            NameEncoding::JsonName
        } else {
            NameEncoding::JsonMember
        };
        self
    }

    /// Sets the format of timestamps whose member has no `@timestampFormat`.
    #[must_use]
    pub const fn with_timestamp_format(mut self, format: TimestampFormat) -> Self {
        self.timestamp_format = format;
        self
    }

    /// Sets whether to ignore `@timestampFormat`.
    #[must_use]
    pub const fn with_fixed_timestamps(mut self, fixed: bool) -> Self {
        self.fixed_timestamps = fixed;
        self
    }

    /// Sets whether to write big integers and decimals as strings.
    #[must_use]
    pub const fn with_quoted_big_numbers(mut self, quoted: bool) -> Self {
        self.quoted_big_numbers = quoted;
        self
    }

    /// Sets how input that the model does not allow is treated.
    #[must_use]
    pub const fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The options of a client: nulls in dense collections are skipped, missing required members
    /// are not errors, and members that are optional to clients get no default.
    #[must_use]
    pub const fn for_client(self) -> Self {
        self.with_rules(Rules::CLIENT)
    }

    /// Sets whether to read blobs as plain text.
    #[must_use]
    pub const fn with_text_blobs(mut self, text_blobs: bool) -> Self {
        self.text_blobs = text_blobs;
        self
    }

    /// Sets which missing members get their default.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.rules.defaults = defaults;
        self
    }

    /// Sets which members of the top-level structure the document contains.
    #[must_use]
    pub const fn with_part(mut self, part: Part) -> Self {
        self.part = part;
        self
    }

    /// The format of a timestamp.
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
/// The text is not JSON, or exceeds [`Limits::DEFAULT`].
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
/// The value has no representation in JSON, such as NaN.
pub fn write_value(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = JsonEncoder::new(JsonProfile::DEFAULT, Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("JSON");
#[cfg(feature = "serde")]
crate::serde::functions!(@text "JSON");
