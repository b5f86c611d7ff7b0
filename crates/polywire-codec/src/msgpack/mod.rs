//! MessagePack, <https://github.com/msgpack/msgpack/blob/master/spec.md>.
//!
//! | type of Smithy | MessagePack | is also read from |
//! |---|---|---|
//! | structure, union, map | map with keys of type str | |
//! | list | array | |
//! | string, enum | str | |
//! | blob | bin | |
//! | boolean | bool | |
//! | byte to long, intEnum | the shortest int | any width |
//! | float, double | float 32, float 64 | any float or int that fits |
//! | bigInteger | int up to 64 bits, else str with its digits | both |
//! | bigDecimal | str with its digits | int, float |
//! | timestamp | the extension type -1, its shortest form | all its forms |
//! | document | by its value | |
//!
//! Types of serde look as `rmp_serde` writes them with `to_vec_named`: structures are maps.
//! The arrays that `rmp_serde::to_vec` makes of structures are read too. Integers
//! of Rust beyond 64 bits are bin with 16 bytes, the highest first; shorter ones of the same type are int.
//!
//! ```
//! use polywire_codec::msgpack;
//! use polywire_schema::{Map, Value};
//!
//! let value = Value::Map(Map::from_iter([("name", "Oslo")]));
//! let bytes = msgpack::write_value(&value)?;
//! assert_eq!(bytes, b"\x81\xa4name\xa4Oslo");
//! assert_eq!(msgpack::read_value(&bytes)?, value);
//! # Ok::<(), polywire_schema::Error>(())
//! ```

mod decode;
mod encode;
mod head;
mod locate;
#[cfg(feature = "serde")]
mod serde;
mod timestamp;
mod tokens;

use polywire_schema::{Decode, Defaults, Encode, Error, Limits, Member, Value};

pub use decode::MsgPackDecoder;
pub use encode::MsgPackEncoder;

/// What a protocol tells the format.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MsgPackProfile {
    /// Whether nulls in lists and maps that are not sparse are skipped on reading, as
    /// clients do, or are errors.
    pub skip_nulls: bool,
    /// Whether a missing required member, and an unknown variant of a union, is an error
    /// on reading.
    pub required: bool,
    /// Which missing members get their default.
    pub defaults: Defaults,
}

impl MsgPackProfile {
    /// Strict on nulls and required members.
    pub const DEFAULT: Self = Self {
        skip_nulls: false,
        required: true,
        defaults: Defaults::Server,
    };

    /// Reads as a client does: nulls in dense collections are skipped, missing required
    /// members are not errors, and members that are optional to clients get no default.
    #[must_use]
    pub const fn for_client(mut self) -> Self {
        self.skip_nulls = true;
        self.required = false;
        self.defaults = Defaults::Client;
        self
    }
}

impl Default for MsgPackProfile {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Reads a value without a schema.
///
/// # Errors
///
/// The bytes are not MessagePack, or exceed [`Limits::DEFAULT`].
pub fn read_value(bytes: &[u8]) -> Result<Value, Error> {
    let mut decoder = MsgPackDecoder::from_slice(bytes, MsgPackProfile::DEFAULT, &Limits::DEFAULT)?;
    let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
    decoder.finish()?;
    Ok(value)
}

/// Writes a value without a schema.
///
/// # Errors
///
/// The value has more than 2^32 - 1 items, or a string of as many bytes.
pub fn write_value(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = MsgPackEncoder::new(Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("MessagePack");

/// There is no reference implementation of MessagePack: the tests compare with `rmpv`.
#[cfg(feature = "reference")]
mod reference {
    use super::{MsgPackDecoder, MsgPackEncoder};
    use crate::reference::{Reference, ReferenceSink};
    use crate::{DecodeWith, EncodeWith};

    impl<M> EncodeWith<MsgPackEncoder> for Reference<M> {}

    impl<'de, S> DecodeWith<'de, MsgPackDecoder<'de>> for ReferenceSink<S> {}
}
