//! serde implementations for [`Value`](crate::Value), [`Map`](crate::Map) and the big numbers.
//!
//! serde has no timestamps and no numbers of more than 128 bits. [`extended`] passes them from the
//! formats of Polywire to a `Value`. [`json_number`] recognizes the numbers of serde_json. A sender
//! cannot forge either with the content of a message.

mod error;
mod extended;
mod json_number;
mod number;
mod value;

#[doc(hidden)]
pub use extended::ExtendedValue;
pub use json_number::{NUMBER, number as number_of_digits};

/// The name of the newtype with which a `Value` is deserialized. The formats of Polywire recognize
/// it and pass timestamps and big numbers, which other formats pass as strings.
///
/// Lists are serialized as this newtype. So a list as the parameter of a call is one parameter, and
/// not the list of all parameters.
#[doc(hidden)]
pub const TOKEN: &str = "$polywire::Value";

/// The name of the newtype around the digits of a `BigInteger`. The formats of Polywire read and
/// write it as a number, if they have such numbers. Other formats use the text.
#[doc(hidden)]
pub const BIG_INTEGER: &str = "$polywire::BigInteger";
/// The name of the newtype around the text of a `BigDecimal`: see [`BIG_INTEGER`].
#[doc(hidden)]
pub const BIG_DECIMAL: &str = "$polywire::BigDecimal";
