//! CBOR, RFC 8949, as used by rpcv2Cbor.
//!
//! | type of Smithy | CBOR | is also read from |
//! |---|---|---|
//! | structure, union, map | map with text keys | |
//! | list | array | |
//! | string, enum | text string | |
//! | blob | byte string | |
//! | byte to long, intEnum | the shortest integer | any width |
//! | float, double | floating-point number of 32 or 64 bits | any width, integer |
//! | bigInteger | integer if it fits in 64 bits, else tag 2 or 3 | tag 2 or 3 of any length |
//! | bigDecimal | tag 4 | integer, float |
//! | timestamp | tag 1 | tag 0 |
//!
//! Big integers have at most 512 bytes (1,234 digits); each 64 bytes count as one item of
//! [`Limits`]. Lengths are written as definite; indefinite lengths are read too. Other tags are
//! ignored.
//!
//! ```
//! use polywire_codec::cbor;
//! use polywire_schema::Value;
//!
//! let bytes = [0xa1, 0x61, b'n', 0x18, 0x2a];
//! let value: Value = cbor::read_value(&bytes)?;
//! assert_eq!(value["n"].as_i64(), Some(42));
//! assert_eq!(cbor::write_value(&value)?, bytes);
//! # Ok::<(), polywire_schema::Error>(())
//! ```

mod big;
mod decode;
mod document;
mod encode;
mod head;
mod locate;
mod members;
mod number;
#[cfg(feature = "serde")]
mod serde;
mod string;
mod tokens;

use polywire_schema::{Decode, Encode, Error, Limits, Member, Rules, Value};

pub use decode::CborDecoder;
pub use encode::CborEncoder;

/// Options of the format, as set by a protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CborProfile {
    /// The rules for nulls, missing members, other violations of the model, and defaults.
    pub rules: Rules,
}

impl CborProfile {
    /// Strict on nulls and required members.
    pub const DEFAULT: Self = Self {
        rules: Rules::SERVER,
    };

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
}

impl Default for CborProfile {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Reads a value without a schema.
///
/// # Errors
///
/// The bytes are not CBOR, or exceed [`Limits::DEFAULT`].
pub fn read_value(bytes: &[u8]) -> Result<Value, Error> {
    let mut decoder = CborDecoder::from_slice(bytes, CborProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// Writes a value without a schema.
///
/// # Errors
///
/// The value has no representation in CBOR, such as an integer of more than 512 bytes.
pub fn write_value(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = CborEncoder::new(Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("CBOR");
