//! `Value`, `Map` and the big numbers through serde.
//!
//! serde has no timestamps and no numbers beyond 128 bits. What formats of ours hand
//! to a `Value` instead is in [`handed`], and what serde_json hands over in
//! [`foreign`]. Neither can be made up by a sender: nothing that stands in a message
//! is taken for it.

mod error;
mod extended;
mod foreign;
mod number;
mod value;

#[doc(hidden)]
pub use extended::ExtendedValue;
pub use foreign::{NUMBER, number as number_of_digits};

/// The newtype as which a value is asked of a format: ours then give timestamps and
/// big numbers as such, which to others are strings. A list is given to a format as
/// this newtype too, so that as the parameters of a call it is one of them.
#[doc(hidden)]
pub const TOKEN: &str = "$polywire::Value";

/// The newtypes as which big numbers are given to a format and asked of it, around
/// their digits: text to others, numbers to those of ours that have such numbers.
#[doc(hidden)]
pub const BIG_INTEGER: &str = "$polywire::BigInteger";
#[doc(hidden)]
pub const BIG_DECIMAL: &str = "$polywire::BigDecimal";
