//! Whether two values are the same, as far as a format can tell.

use polywire_schema::{BigDecimal, BigInteger, Error, ErrorKind, Timestamp, Value};

/// The formats that the targets read and write.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wire {
    Json,
    Cbor,
    Xml,
    XmlRpc,
}

impl Wire {
    /// Whether `right` is what comes of writing `left` and reading that: the
    /// same, digit by digit, but for what the format has no two forms for.
    pub(crate) fn alike(self, left: &Value, right: &Value) -> bool {
        compare(left, right, &|left, right| self.has_one_form(left, right))
    }

    /// The exceptions.
    fn has_one_form(self, left: &Value, right: &Value) -> bool {
        match (self, left, right) {
            // A whole double is written as an integer.
            (Self::Json, Value::Double(left), Value::Integer(right)) => {
                right.to_string().parse() == Ok(*left)
            }
            (Self::Json, Value::Double(left), Value::BigInteger(right)) => {
                right.as_str().parse() == Ok(*left)
            }
            // Nanoseconds beyond what a double holds are lost.
            (Self::Cbor, Value::Timestamp(left), Value::Timestamp(right)) => {
                left.as_f64() == right.as_f64()
            }
            // Mantissa and exponent are kept, not how they were spelled.
            (Self::Cbor, Value::BigDecimal(left), Value::BigDecimal(right)) => {
                parts(left) == parts(right)
            }
            // Big numbers are strings.
            (Self::XmlRpc, Value::BigInteger(left), Value::String(right)) => {
                left.as_str() == right.as_str()
            }
            (Self::XmlRpc, Value::BigDecimal(left), Value::String(right)) => {
                left.as_str() == right.as_str()
            }
            // Zones are not written.
            (Self::XmlRpc, Value::Timestamp(left), Value::Timestamp(right)) => {
                left.with_unzoned(false) == right.with_unzoned(false)
            }
            _ => false,
        }
    }
}

/// Whether two values are the same; maps in any order.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    compare(left, right, &|_, _| false)
}

/// Whether two values are the same but for what `has_one_form` says.
fn compare(left: &Value, right: &Value, has_one_form: &dyn Fn(&Value, &Value) -> bool) -> bool {
    match (left, right) {
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| compare(left, right, has_one_form))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| {
                    let right = right.get(key);
                    right.is_some_and(|right| compare(left, right, has_one_form))
                })
        }
        // NaN is NaN; zeros have a sign.
        (Value::Float(left), Value::Float(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        (Value::Double(left), Value::Double(right)) => {
            left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
        }
        _ => left == right || has_one_form(left, right),
    }
}

/// Mantissa and exponent; zero has no sign, as in CBOR.
fn parts(decimal: &BigDecimal) -> (BigInteger, i64) {
    let text = decimal.as_str();
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = format!("{whole}{fraction}").parse().unwrap();
    (
        mantissa,
        exponent.parse::<i64>().unwrap() - fraction.len() as i64,
    )
}

/// Whether a value that was read may be refused by the writer: only for a
/// timestamp with a zone, whose year in UTC is beyond those that dates have.
pub(crate) fn unwritable(error: &Error) -> bool {
    let mut date = Vec::new();
    let beyond = Timestamp::new(i64::MAX, 0).push_date_time(&mut date);
    error.kind() == ErrorKind::Unwritable
        && beyond.is_err_and(|beyond| error.what_was_expected() == beyond.expected)
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
