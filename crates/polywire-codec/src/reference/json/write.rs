//! Values as text: no white space, and no more escapes than RFC 8259 requires.

use polywire_schema::{
    BigDecimal, BigInteger, Error, Member, ShapeKind, Timestamp, TimestampFormat,
};
use polywire_text::number;
use polywire_text::reference::json;

use super::JsonFormat;
use crate::json::JsonProfile;
use crate::reference::encode::{
    EncodeFormat, TreeEncoder, digits, instant, plain_text, unwritable,
};
use crate::reference::node::{Data, Node};

/// The reference implementation of [`crate::json::JsonEncoder`].
pub type JsonEncoder = TreeEncoder<JsonFormat>;

impl JsonEncoder {
    /// An encoder of one value.
    #[must_use]
    pub fn new(profile: JsonProfile) -> Self {
        Self::of(JsonFormat(profile))
    }
}

impl EncodeFormat for JsonFormat {
    fn of_float(&self, at: Member<'_>, value: f32) -> Result<Data, Error> {
        match value.is_finite() {
            true => Ok(Data::Digits(marked(at, digits(value, number::push_f32)))),
            false => self.of_double(at, value.into()),
        }
    }

    fn of_double(&self, at: Member<'_>, value: f64) -> Result<Data, Error> {
        match value.is_finite() {
            true => Ok(Data::Digits(marked(at, digits(value, number::push_f64)))),
            false if at.kind() == ShapeKind::Document => {
                Err(unwritable("a finite number").found(value.to_string()))
            }
            false => Ok(Data::Text(digits(value, number::push_f64))),
        }
    }

    fn of_timestamp(&self, at: Member<'_>, value: Timestamp) -> Result<Data, Error> {
        let format = self.0.timestamp_format_of(at);
        let text = instant(value, format)?;
        Ok(match format {
            TimestampFormat::EpochSeconds => Data::Digits(text),
            _ => Data::Text(text),
        })
    }

    fn of_big_integer(&self, value: &BigInteger) -> Result<Data, Error> {
        Ok(self.big_number(value.as_str()))
    }

    fn of_big_decimal(&self, value: &BigDecimal) -> Result<Data, Error> {
        Ok(self.big_number(value.as_str()))
    }

    fn write(&self, node: &Node) -> Result<Vec<u8>, Error> {
        Ok(written(node).into_bytes())
    }
}

impl JsonFormat {
    fn big_number(&self, digits: &str) -> Data {
        match self.0.quoted_big_numbers {
            true => Data::Text(digits.to_owned()),
            false => Data::Digits(digits.to_owned()),
        }
    }
}

/// In a document, a point tells a whole double from an integer.
fn marked(at: Member<'_>, digits: String) -> String {
    match at.kind() == ShapeKind::Document && !digits.contains(['.', 'e', 'E']) {
        true => digits + ".0",
        false => digits,
    }
}

fn written(node: &Node) -> String {
    let quoted = |text: &str| {
        let escaped = json::escape(text.as_bytes());
        format!("\"{}\"", String::from_utf8_lossy(&escaped))
    };
    let joined = |parts: Vec<String>| parts.join(",");
    match &node.data {
        Data::Text(text) => quoted(text),
        Data::Bytes(_) => quoted(&plain_text(&node.data)),
        Data::List(items) => format!("[{}]", joined(items.iter().map(written).collect())),
        Data::Map(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| written(key) + ":" + &written(value));
            format!("{{{}}}", joined(entries.collect()))
        }
        Data::Null => "null".to_owned(),
        data => plain_text(data),
    }
}
