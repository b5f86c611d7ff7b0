//! CBOR, RFC 8949, as rpcv2Cbor uses it.
//!
//! How Smithy's types look in it: integers in the shortest form; floats and
//! doubles as floating-point numbers of their size (reading takes any size,
//! and integers); blobs as byte strings; timestamps as tag 1; big integers as
//! integers where they fit, else as tags 2 and 3, of at most 512 bytes (1,234
//! digits), of which 64 count as an item of [`Limits`]; big decimals as tag 4;
//! structures, unions and maps as maps of text strings. Written with definite
//! lengths; both kinds are read. Other tags mean nothing and may stand before
//! every value.
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
mod number;
#[cfg(feature = "serde")]
mod serde;
mod string;

use polywire_schema::{Decode, Defaults, Encode, Error, Limits, Member, Value};

pub use decode::CborDecoder;
pub use encode::CborEncoder;

/// What a protocol tells the format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CborProfile {
    /// Whether nulls in lists and maps that are not sparse are left out on
    /// reading, as clients do, or are errors.
    pub skip_nulls: bool,
    /// Whether a missing required member, and an unknown variant of a union,
    /// is an error on reading.
    pub required: bool,
    /// Which members that did not come get their default.
    pub defaults: Defaults,
}

impl CborProfile {
    /// Strict on nulls and required members.
    pub const DEFAULT: Self = Self {
        skip_nulls: false,
        required: true,
        defaults: Defaults::Server,
    };

    /// Reads as a client does: nulls in dense collections are left out, missing
    /// required members are not errors, and members that are optional to
    /// clients get no default.
    #[must_use]
    pub const fn for_client(mut self) -> Self {
        self.skip_nulls = true;
        self.required = false;
        self.defaults = Defaults::Client;
        self
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
/// The bytes are not CBOR, or beyond the default limits.
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
/// The value holds something that CBOR has no form for.
pub fn write_value(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = CborEncoder::new(Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("CBOR");
