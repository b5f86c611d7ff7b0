//! Big integers for types that deserialize any value.

use polywire_schema::{BigInteger, Error};
use serde::de::Visitor;

/// Passes an integer to a visitor as the first of `i64`, `u64`, `i128` and `u128` that can hold it,
/// or else as its digits. `i64` and `u64` come first, because all such types accept them.
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
