//! Big integers for types of serde that take whatever comes.

use polywire_schema::{BigInteger, Error};
use serde::de::Visitor;

/// Hands an integer over as the first of `i64`, `u64`, `i128` and `u128` that has room
/// for it; as its digits, where none has. The first two are what all such types take.
#[cold]
pub(crate) fn visit<'de, V: Visitor<'de>>(
    value: &BigInteger,
    visitor: V,
) -> Result<V::Value, Error> {
    let digits = value.as_str();
    if let Ok(value) = digits.parse() {
        return visitor.visit_i64(value);
    }
    if let Ok(value) = digits.parse() {
        return visitor.visit_u64(value);
    }
    match (digits.parse(), digits.parse()) {
        (Ok(value), _) => visitor.visit_i128(value),
        (_, Ok(value)) => visitor.visit_u128(value),
        _ => visitor.visit_str(digits),
    }
}
