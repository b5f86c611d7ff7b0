//! `@default`: which side fills it in, and how its JSON becomes a [`Value`].
//!
//! <https://smithy.io/2.0/spec/type-refinement-traits.html#default-trait>

use polywire_text::escape::{LoneSurrogate, json_str};
use polywire_text::number::json_number;
use polywire_text::{Blob, Text, Timestamp, base64};

use crate::{BigDecimal, BigInteger, Map, Member, MemberFlags, ShapeKind, TimestampFormat, Value};

/// The rules for filling in defaults of absent members. Implements
/// [`Decoder::fills_default`](crate::Decoder::fills_default) and
/// [`Encoder::fills_default`](crate::Encoder::fills_default) for readers and writers.
///
/// ```
/// use polywire_schema::{Defaults, MemberFlags, MemberSpec, SchemaBuilder, ShapeKind};
///
/// let mut builder = SchemaBuilder::new();
/// let integer = builder.shape(ShapeKind::Integer, "smithy.api#Integer");
/// let page = builder.shape(ShapeKind::Structure, "example#Page");
/// let mut size = MemberSpec::new("size", integer).flag(MemberFlags::CLIENT_OPTIONAL);
/// size.default_json = Some("10".to_owned());
/// builder.member(page, size);
/// let set = builder.finish()?;
///
/// let size = set.shape(page.index()).member(0);
/// assert!(Defaults::Server.fills_default(size));
/// assert!(!Defaults::Client.fills_default(size));
/// assert_eq!(size.default_value().and_then(|value| value.as_i64()), Some(10));
/// # Ok::<(), polywire_schema::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Defaults {
    /// Absent members stay absent.
    Ignored,
    /// Members with a default and required members, except members that are optional for clients:
    /// those with `@clientOptional` and those of structures with `@input`.
    Client,
    /// All members with a default.
    Server,
}

impl Defaults {
    /// Returns whether the member gets a value if it is absent. On clients this includes required
    /// members without a default, which get a zero value (client error correction).
    ///
    /// Streaming members never get a default. Their default is an empty stream, which has the same
    /// form on the wire as an absent stream.
    #[inline]
    #[must_use]
    pub fn fills_default(self, at: Member<'_>) -> bool {
        let default = at.has(MemberFlags::DEFAULT);
        !at.has(MemberFlags::STREAMING)
            && match self {
                Self::Ignored => false,
                Self::Client => {
                    (default || at.has(MemberFlags::REQUIRED))
                        && !at.has(MemberFlags::CLIENT_OPTIONAL)
                }
                Self::Server => default,
            }
    }
}

/// The maximum nesting of a default. Only defaults of documents can be nested.
const MAX_DEPTH: u32 = 16;

/// Converts a default from JSON to a value of its shape. Returns `None` if it is not valid.
pub(crate) fn value(json: &str, kind: ShapeKind, format: Option<TimestampFormat>) -> Option<Value> {
    let mut reader = Reader { json, at: 0 };
    let node = reader.value(MAX_DEPTH)?;
    reader.white_space();
    if reader.at < json.len() {
        return None;
    }
    typed(node, kind, format)
}

fn typed(node: Value, kind: ShapeKind, format: Option<TimestampFormat>) -> Option<Value> {
    use ShapeKind as Kind;

    Some(match (kind, node) {
        (Kind::Document, node) => node,
        (Kind::Boolean, node @ Value::Boolean(_)) => node,
        (Kind::Byte | Kind::Short | Kind::Integer | Kind::IntEnum | Kind::Long, node) => {
            let integer = integer(&node)?;
            let (min, max) = kind.integer_range();
            if !(min..=max).contains(&integer) {
                return None;
            }
            Value::Integer(integer)
        }
        (Kind::Float, node) => Value::Float(float(&node)? as f32),
        (Kind::Double, node) => Value::Double(float(&node)?),
        (Kind::BigInteger, Value::Integer(value)) => Value::BigInteger(value.into()),
        (Kind::BigInteger, Value::String(text)) => Value::BigInteger(BigInteger::parse(text).ok()?),
        (Kind::BigInteger, node @ Value::BigInteger(_)) => node,
        (Kind::BigDecimal, Value::Integer(value)) => Value::BigDecimal(value.into()),
        (Kind::BigDecimal, Value::BigInteger(value)) => Value::BigDecimal(value.into()),
        (Kind::BigDecimal, Value::String(text)) => Value::BigDecimal(BigDecimal::parse(text).ok()?),
        (Kind::BigDecimal, node @ Value::BigDecimal(_)) => node,
        (Kind::String | Kind::Enum, node @ Value::String(_)) => node,
        (Kind::Blob, Value::String(text)) if text.is_empty() => Value::Blob(Blob::default()),
        (Kind::Blob, Value::String(text)) => Value::Blob(base64::decode(text.as_bytes()).ok()?),
        (Kind::Timestamp, node) => Value::Timestamp(timestamp(&node, format)?),
        (Kind::List, Value::List(list)) if list.is_empty() => Value::List(list),
        (Kind::Map, Value::Map(map)) if map.is_empty() => Value::Map(map),
        _ => return None,
    })
}

/// Converts a number to an integer. Accepts a fraction of zero, such as `1.0`.
fn integer(node: &Value) -> Option<i64> {
    match node {
        Value::Integer(value) => Some(*value),
        Value::BigDecimal(value) => {
            let double = value.to_f64();
            // A double above 2^53 does not represent each integer exactly.
            (double.fract() == 0.0 && double.abs() < 9e15).then_some(double as i64)
        }
        _ => None,
    }
}

fn float(node: &Value) -> Option<f64> {
    match node {
        Value::String(text) => match &**text {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        node => node.as_f64(),
    }
}

/// Converts seconds since the epoch, or a text in the member's format or RFC 3339.
fn timestamp(node: &Value, format: Option<TimestampFormat>) -> Option<Timestamp> {
    match node {
        Value::Integer(value) => Timestamp::parse_epoch_seconds(&value.to_string()).ok(),
        Value::BigDecimal(value) => Timestamp::parse_epoch_seconds(value.as_str()).ok(),
        Value::String(text) => match format {
            Some(TimestampFormat::HttpDate) => Timestamp::parse_http_date(text).ok(),
            _ => Timestamp::parse_date_time(text).ok(),
        },
        _ => None,
    }
}

/// A minimal JSON reader without error messages: the model reader has already validated the JSON.
/// Numbers become integers of 64 bits, or keep their digits.
struct Reader<'t> {
    json: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: u32) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.white_space();
        let rest = &self.json[self.at..];
        match *rest.as_bytes().first()? {
            b'"' => self.string().map(Value::String),
            b'[' => {
                self.at += 1;
                let mut list = Vec::new();
                while self.has_next(b']', list.is_empty())? {
                    list.push(self.value(depth)?);
                }
                Some(Value::List(list))
            }
            b'{' => {
                self.at += 1;
                let mut map = Map::new();
                while self.has_next(b'}', map.is_empty())? {
                    self.white_space();
                    let key = self.string()?;
                    self.white_space();
                    self.skip(":")?;
                    map.insert(key, self.value(depth)?);
                }
                Some(Value::Map(map))
            }
            b't' => self.skip("true").map(|()| Value::Boolean(true)),
            b'f' => self.skip("false").map(|()| Value::Boolean(false)),
            b'n' => self.skip("null").map(|()| Value::Null),
            _ => {
                let (len, is_integer) = json_number(rest.as_bytes()).ok()?;
                let text = Text::from(&rest[..len]);
                self.at += len;
                if !is_integer {
                    return BigDecimal::parse(text).ok().map(Value::BigDecimal);
                }
                let integer = BigInteger::parse(text).ok()?;
                let small = integer.to_i64().map(Value::Integer);
                Some(small.unwrap_or(Value::BigInteger(integer)))
            }
        }
    }

    fn string(&mut self) -> Option<Text> {
        self.skip("\"")?;
        let (text, read) = json_str(&self.json[self.at..], LoneSurrogate::Reject).ok()?;
        let text = Text::from(&*text);
        self.at += read;
        Some(text)
    }

    /// Reads a comma or the byte `end`. Returns whether another item follows.
    fn has_next(&mut self, end: u8, is_first: bool) -> Option<bool> {
        self.white_space();
        if self.json.as_bytes().get(self.at) == Some(&end) {
            self.at += 1;
            return Some(false);
        }
        if !is_first {
            self.skip(",")?;
        }
        Some(true)
    }

    fn skip(&mut self, word: &str) -> Option<()> {
        let found = self.json[self.at..].starts_with(word);
        found.then(|| self.at += word.len())
    }

    fn white_space(&mut self) {
        let rest = self.json[self.at..].bytes();
        self.at += rest.take_while(u8::is_ascii_whitespace).count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_have_the_type_of_their_shape() {
        use ShapeKind as Kind;

        for (json, kind, expected) in [
            ("true", Kind::Boolean, Value::Boolean(true)),
            ("-3", Kind::Byte, Value::Integer(-3)),
            ("1.0", Kind::Integer, Value::Integer(1)),
            ("1", Kind::Float, Value::Float(1.0)),
            ("1.5e3", Kind::Double, Value::Double(1500.0)),
            (
                "\"-Infinity\"",
                Kind::Double,
                Value::Double(f64::NEG_INFINITY),
            ),
            ("\"a\\u00e9\"", Kind::Enum, Value::from("a\u{e9}")),
            (
                "\"YWJj\"",
                Kind::Blob,
                Value::Blob(Blob::from(b"abc".as_slice())),
            ),
            ("[ ]", Kind::List, Value::List(Vec::new())),
            ("{}", Kind::Map, Value::Map(Map::new())),
            ("7", Kind::BigInteger, Value::BigInteger(7.into())),
            ("7", Kind::BigDecimal, Value::BigDecimal(7.into())),
            ("\"hi\"", Kind::Document, Value::from("hi")),
            (
                "0",
                Kind::Timestamp,
                Value::Timestamp(Timestamp::parse_epoch_seconds("0").unwrap()),
            ),
            (
                "\"1970-01-01T00:00:01Z\"",
                Kind::Timestamp,
                Value::Timestamp(Timestamp::parse_epoch_seconds("1").unwrap()),
            ),
            (
                "{\"a\": [1, null, \"x\"]}",
                Kind::Document,
                Value::from(Map::from_iter([(
                    "a",
                    Value::List(vec![Value::Integer(1), Value::Null, Value::from("x")]),
                )])),
            ),
        ] {
            assert_eq!(value(json, kind, None), Some(expected), "{json}");
        }
    }

    #[test]
    fn invalid_defaults_are_none() {
        use ShapeKind as Kind;

        let deep = "[".repeat(100_000);
        for (json, kind) in [
            ("1.5", Kind::Integer),
            ("200", Kind::Byte),
            ("\"x\"", Kind::Integer),
            ("\"?\"", Kind::Blob),
            ("[1]", Kind::List),
            ("{}", Kind::Structure),
            ("", Kind::String),
            ("\"", Kind::String),
            ("\"a\" b", Kind::String),
            ("tru", Kind::Boolean),
            ("[1,", Kind::Document),
            ("{\"a\" 1}", Kind::Document),
            ("\u{e9}", Kind::Document),
            (&deep, Kind::Document),
        ] {
            assert_eq!(value(json, kind, None), None, "{json:.20}");
        }
    }
}
