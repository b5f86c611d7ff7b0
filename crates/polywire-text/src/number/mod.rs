//! Integers and floating-point numbers.
//!
//! Readers take a whole slice, or the beginning of one and return the length. Writers append to a
//! buffer. White space is left to the formats.
//!
//! | | read | written |
//! |---|---|---|
//! | integers, `i8` to `u128` | [`parse`], [`parse_i64`], [`integer_prefix`] | [`push`], [`push_i64`], [`push_u64`] |
//! | `f32`, `f64` | [`parse_float`], [`parse_f64`], [`parse_f32`], [`decimal_prefix`] | [`push_float`], [`push_f64`], [`push_f32`] |
//! | only checked | [`json_number`] | |
//!
//! A [`Grammar`] defines the digits, and [`NonFinite`] the words for not-a-number and infinity; a
//! [`Spelling`] is both. Numbers never wrap or saturate: an integer that does not fit its type is
//! an error that names the range, and digits beyond the largest float are an error. Decimals are
//! rounded to the nearest float, which may be zero.
//!
//! Integers are read eight digits at a time (`digits.rs`). Floats are computed by one division or
//! multiplication (`exact.rs`), and by fast-float2 where that does not suffice; zmij writes the
//! shortest digits that are read as the same number.

mod decimal;
pub(crate) mod digits;
mod exact;
mod float;
mod grammar;
mod integer;
mod spelling;

pub(crate) use decimal::Decimal;
pub use float::{Float, decimal_prefix, parse_f32, parse_f64, parse_float};
pub use grammar::{Grammar, json_number};
pub use integer::{Int, Integer, integer_prefix, parse, parse_i64, push, push_i64, push_u64};
pub use spelling::{NonFinite, NotFinite, Spelling, push_f32, push_f64, push_float};
