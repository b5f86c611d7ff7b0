//! Default values as Rust expressions.

use polywire_model::{Node, NodeValue, Shape, ShapeType};
use polywire_text::Timestamp;

use crate::plan::Types;

/// Returns the expression of a default value. `None` if the shape cannot have this default.
pub(crate) fn expression(types: &Types<'_>, shape: &Shape, value: &Node) -> Option<String> {
    let literal = |text: &str| format!("{text:?}");
    Some(match (shape.shape_type(), value.value()) {
        (ShapeType::Boolean, NodeValue::Bool(value)) => value.to_string(),
        (
            ShapeType::Byte | ShapeType::Short | ShapeType::Integer | ShapeType::Long,
            NodeValue::Number(_),
        ) => value.as_i64()?.to_string(),
        (ShapeType::IntEnum, NodeValue::Number(_)) => {
            format!("{}::from({})", types.name(shape.id()), value.as_i64()?)
        }
        (ShapeType::Float | ShapeType::Double, NodeValue::Number(_)) => {
            format!("{:?}", value.as_f64()?)
        }
        (ShapeType::BigInteger, NodeValue::Number(_)) => {
            format!("schema::generated::big_integer({:?})", value.to_json())
        }
        (ShapeType::BigDecimal, NodeValue::Number(_)) => {
            format!("schema::generated::big_decimal({:?})", value.to_json())
        }
        (ShapeType::String, NodeValue::String(text)) => {
            format!("{}.into()", literal(text))
        }
        (ShapeType::Enum, NodeValue::String(text)) => {
            format!("{}::from({})", types.name(shape.id()), literal(text))
        }
        (ShapeType::Blob, NodeValue::String(text)) => {
            let bytes = polywire_text::base64::decode(text.as_bytes()).ok()?;
            match bytes.is_empty() {
                true if shape.traits().is_streaming() => "schema::ByteStream::default()".to_owned(),
                true => "schema::Blob::default()".to_owned(),
                false => format!("schema::Blob::from(vec!{:?})", &*bytes),
            }
        }
        (ShapeType::Timestamp, NodeValue::String(text)) => {
            timestamp(Timestamp::parse_date_time(text).ok()?)
        }
        (ShapeType::Timestamp, NodeValue::Number(_)) => {
            timestamp(Timestamp::parse_epoch_seconds(&value.to_json()).ok()?)
        }
        (ShapeType::List, NodeValue::Array(items)) if items.is_empty() => "Vec::new()".to_owned(),
        (ShapeType::Map, NodeValue::Object(entries)) if entries.is_empty() => {
            "Default::default()".to_owned()
        }
        (ShapeType::Document, _) => match value.value() {
            NodeValue::Bool(value) => format!("schema::Value::Boolean({value})"),
            NodeValue::String(text) => format!("schema::Value::from({})", literal(text)),
            NodeValue::Number(_) => match value.as_i64() {
                Some(integer) => format!("schema::Value::Integer({integer})"),
                None => format!("schema::Value::Double({:?})", value.as_f64()?),
            },
            NodeValue::Array(_) => "schema::Value::List(Vec::new())".to_owned(),
            NodeValue::Object(_) => "schema::Value::Map(schema::Map::new())".to_owned(),
            _ => return None,
        },
        _ => return None,
    })
}

fn timestamp(timestamp: Timestamp) -> String {
    format!(
        "schema::Timestamp::new({}, {})",
        timestamp.seconds(),
        timestamp.nanoseconds()
    )
}
