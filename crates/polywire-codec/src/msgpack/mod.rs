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
//! | bigInteger | int if it fits in 64 bits, else str with its digits | str of any length |
//! | bigDecimal | str with its digits | int, float |
//! | timestamp | extension type -1 in the shortest form | all forms |
//! | document | by its value | |
//!
//! serde types have the representation of `rmp_serde::to_vec_named`: structures are maps. The arrays
//! that `rmp_serde::to_vec` writes for structures are accepted too. An `i128` or `u128` is int if it
//! fits in 64 bits, else bin with 16 bytes in big-endian order.
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

use polywire_schema::{Decode, Encode, Error, Limits, Member, Rules, Value};

pub use decode::MsgPackDecoder;
pub use encode::MsgPackEncoder;

/// Options of the format, as set by a protocol.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MsgPackProfile {
    /// The rules for nulls, missing members, other violations of the model, and defaults.
    pub rules: Rules,
}

impl MsgPackProfile {
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
/// A list, map, string or blob has a length of 2^32 or more.
pub fn write_value(value: &Value) -> Result<Vec<u8>, Error> {
    let mut encoder = MsgPackEncoder::new(Vec::new());
    value.encode(Member::DOCUMENT, &mut encoder);
    encoder.finish()
}

#[cfg(feature = "serde")]
crate::serde::functions!("MessagePack");

/// MessagePack has no reference implementation. The tests compare with `rmpv`.
#[cfg(feature = "reference")]
mod reference {
    use super::{MsgPackDecoder, MsgPackEncoder};
    use crate::reference::{Reference, ReferenceSink};
    use crate::{DecodeWith, EncodeWith};

    impl<M> EncodeWith<MsgPackEncoder> for Reference<M> {}

    impl<'de, S> DecodeWith<'de, MsgPackDecoder<'de>> for ReferenceSink<S> {}
}
