//! Whether two values are the same, as far as a format can tell.

use polywire_schema::Value;

/// Whether a value that was written reads back as itself. NaN is NaN, and
/// three things may change that a format has no two forms for:
///
/// - the kind of a number in JSON, where `1` and `1.0` are one number;
/// - the kind of a big number in XML-RPC, where it is a string;
/// - the nanoseconds of a timestamp beyond what a double holds.
pub(crate) fn alike(left: &Value, right: &Value) -> bool {
    use Value::{BigDecimal, BigInteger, Double, Float, Integer, List, Map, String, Timestamp};

    match (left, right) {
        (Integer(left), Integer(right)) => left == right,
        (BigInteger(left), BigInteger(right)) => left == right,
        (BigInteger(digits), String(text)) => digits.as_str() == text.as_str(),
        (BigDecimal(digits), String(text)) => digits.as_str() == text.as_str(),
        (
            Integer(_) | BigInteger(_) | Float(_) | Double(_) | BigDecimal(_),
            Integer(_) | BigInteger(_) | Float(_) | Double(_) | BigDecimal(_),
        ) => match (left.as_f64(), right.as_f64()) {
            (Some(left), Some(right)) => left == right || left.is_nan() && right.is_nan(),
            _ => false,
        },
        (Timestamp(left), Timestamp(right)) => left.as_f64() == right.as_f64(),
        (List(left), List(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| alike(left, right))
        }
        (Map(left), Map(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, left)| right.get(key).is_some_and(|right| alike(left, right)))
        }
        _ => left == right,
    }
}

/// What a value is made of, for comparing it with limits.
#[derive(Debug, Default)]
pub(crate) struct Size {
    /// Lists and maps in each other.
    pub(crate) depth: usize,
    /// Items and entries together.
    pub(crate) items: usize,
    /// The bytes of the longest string, key, blob or number.
    pub(crate) longest: usize,
}

impl Size {
    pub(crate) fn of(value: &Value) -> Self {
        let mut size = Self::default();
        size.add(value, 0);
        size
    }

    fn add(&mut self, value: &Value, depth: usize) {
        let length = match value {
            Value::BigDecimal(value) => value.as_str().len(),
            Value::BigInteger(value) => value.as_str().len(),
            Value::Blob(value) => value.as_bytes().len(),
            Value::String(value) => value.len(),
            Value::List(list) => {
                self.items += list.len();
                self.depth = self.depth.max(depth + 1);
                list.iter().for_each(|item| self.add(item, depth + 1));
                0
            }
            Value::Map(map) => {
                self.items += map.len();
                self.depth = self.depth.max(depth + 1);
                for (key, value) in map.iter() {
                    self.longest = self.longest.max(key.len());
                    self.add(value, depth + 1);
                }
                0
            }
            _ => 0,
        };
        self.longest = self.longest.max(length);
    }
}
