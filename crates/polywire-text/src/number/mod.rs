//! Integers and floating-point numbers.
//!
//! Reading takes bytes and says how many of them were the number, or reads a
//! whole slice. Writing appends to the caller's buffer. White space around a
//! number is the format's.
//!
//! | | read | written |
//! |---|---|---|
//! | integers, `i8` to `u128` | [`parse`], [`prefix`], [`integer_prefix`] | [`push`], [`push_i64`], [`push_u64`] |
//! | `f32`, `f64` | [`parse_float`], [`float_prefix`], [`decimal_prefix`] | [`push_float`], [`push_f64`], [`push_f32`] |
//! | as many digits as there are | [`Decimal`], [`json_number`] | [`Decimal::push_plain`], [`Decimal::push_canonical`] |
//!
//! What a number looks like is a [`Grammar`], and what stands for not-a-number
//! and the infinities is a [`NonFinite`]; a [`Spelling`] is both. Nothing is
//! ever rounded, wrapped or saturated in silence: an integer that does not fit
//! its type is an error that names the range, digits beyond the largest double
//! are an error and not infinity, and a [`Decimal`] keeps what neither holds.
//! Only what reading a decimal as binary means is done: the nearest number is
//! taken, which for digits close to zero may be zero.
//!
//! How it is fast is told where it is done: eight digits at a time in
//! `digits.rs`, decimals to the nearest double by one division in `exact.rs`.
//! Floating-point numbers are written in the shortest form that reads back as
//! the same number, by zmij; what `exact.rs` leaves is read by fast-float2.

mod decimal;
pub(crate) mod digits;
mod exact;
mod float;
mod grammar;
mod integer;
mod spelling;

pub use decimal::Decimal;
pub use float::{Float, decimal_prefix, float_prefix, parse_f32, parse_f64, parse_float};
pub use grammar::{Grammar, json_number};
pub use integer::{
    Int, Integer, integer_prefix, parse, parse_i64, prefix, push, push_i64, push_u64,
};
pub use spelling::{
    INFINITY, NAN, NEGATIVE_INFINITY, NonFinite, NotFinite, Spelling, push_f32, push_f64,
    push_float,
};
