//! Writes values as text, without white space and with only the escapes that RFC 8259 requires.

use polywire_schema::{Error, Member, ShapeKind, TimestampFormat};
use polywire_text::reference::json;

use super::JsonFormat;
use crate::json::JsonProfile;
use crate::reference::encode::{EncodeFormat, TreeEncoder, instant, plain_text, unwritable};
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
    fn of_scalar(&self, at: Member<'_>, value: Data) -> Result<Data, Error> {
        let in_document = at.kind() == ShapeKind::Document;
        let format = self.0.timestamp_format_of(at);
        Ok(match value {
            Data::Single(_) | Data::Double(_) => match plain_text(&value) {
                text if text.ends_with(|last: char| last.is_ascii_alphabetic()) => {
                    match in_document {
                        true => return Err(unwritable("a finite number").found(text)),
                        false => Data::Text(text),
                    }
                }
                // In a document, the fraction distinguishes a double from an integer.
                text if in_document && !text.contains(['.', 'e']) => Data::Digits(text + ".0"),
                text => Data::Digits(text),
            },
            Data::Digits(text) | Data::Decimal(text) => match self.0.quoted_big_numbers {
                true => Data::Text(text),
                false => Data::Digits(text),
            },
            Data::Timestamp(value) => match (format, instant(value, format)?) {
                (TimestampFormat::EpochSeconds, text) => Data::Digits(text),
                (_, text) => Data::Text(text),
            },
            value => value,
        })
    }

    fn write(&self, node: &Node) -> Result<Vec<u8>, Error> {
        Ok(written(node).into_bytes())
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
