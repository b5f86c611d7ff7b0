//! `to_value`: any typed value as a dynamic one.

use polywire_text::{Blob, Text, Timestamp};

use crate::{BigDecimal, BigInteger, Encode, Encoder, Error, Map, Member, Value};

/// Writes a value of a type of its own as the [`Value`] that stands for it:
/// structures become maps of member names.
///
/// # Errors
///
/// The value does not fit the shape that `at` targets.
///
/// # Examples
///
/// ```
/// use polywire_schema::{MemberSpec, SchemaBuilder, ShapeKind, Value, to_value};
///
/// let mut builder = SchemaBuilder::new();
/// let string = builder.shape(ShapeKind::String, "smithy.api#String");
/// let list = builder.shape(ShapeKind::List, "example#Names");
/// builder.member(list, MemberSpec::new("member", string));
/// let set = builder.finish()?;
///
/// let names = ["Oslo", "Rome"].map(str::to_owned).to_vec();
/// let value = to_value(&names, set.shape(list.index()).root())?;
/// assert_eq!(value, Value::from(vec![Value::from("Oslo"), Value::from("Rome")]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_value<T: Encode + ?Sized>(value: &T, at: Member<'_>) -> Result<Value, Error> {
    let mut encoder = ValueEncoder::default();
    value.encode(at, &mut encoder);
    match encoder.error {
        None => Ok(encoder.whole.unwrap_or_default()),
        Some(error) => Err(error),
    }
}

/// An encoder whose output is a tree. Its stack is on the heap, and as deep as
/// the value is. Long strings and blobs that are shared already are not copied.
#[derive(Default)]
struct ValueEncoder {
    open: Vec<Open>,
    whole: Option<Value>,
    error: Option<Error>,
}

/// A list or map that is being written.
enum Open {
    List(Vec<Value>),
    Map {
        entries: Vec<(Text, Value)>,
        key: Text,
    },
}

impl ValueEncoder {
    fn put(&mut self, value: Value) {
        match self.open.last_mut() {
            None => self.whole = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map { entries, key }) => entries.push((std::mem::take(key), value)),
        }
    }

    fn begin_entries(&mut self, len: usize) {
        self.open.push(Open::Map {
            entries: Vec::with_capacity(len),
            key: Text::default(),
        });
    }

    fn name(&mut self, name: Text) {
        if let Some(Open::Map { key, .. }) = self.open.last_mut() {
            *key = name;
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            None => {}
            Some(Open::List(items)) => self.put(Value::List(items)),
            Some(Open::Map { entries, .. }) => self.put(Value::Map(Map::from_iter(entries))),
        }
    }
}

impl Encoder for ValueEncoder {
    fn begin_structure(&mut self, _: Member<'_>, present: usize) {
        self.begin_entries(present);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        self.name(Text::from(at.name()));
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.end();
    }

    fn begin_list(&mut self, _: Member<'_>, len: usize) {
        self.open.push(Open::List(Vec::with_capacity(len)));
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.end();
    }

    fn begin_map(&mut self, _: Member<'_>, len: usize) {
        self.begin_entries(len);
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.name(Text::from(key));
    }

    fn text_key(&mut self, _: Member<'_>, key: &Text) {
        self.name(key.clone());
    }

    fn end_map(&mut self, _: Member<'_>) {
        self.end();
    }

    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.put(Value::Boolean(value));
    }

    fn integer(&mut self, _: Member<'_>, value: i64) {
        self.put(Value::Integer(value));
    }

    fn float(&mut self, _: Member<'_>, value: f32) {
        self.put(Value::Float(value));
    }

    fn double(&mut self, _: Member<'_>, value: f64) {
        self.put(Value::Double(value));
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.put(Value::from(value.clone()));
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        self.put(Value::BigDecimal(value.clone()));
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.put(Value::from(value));
    }

    fn text(&mut self, _: Member<'_>, value: &Text) {
        self.put(Value::String(value.clone()));
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.put(Value::Blob(Blob::from(value)));
    }

    fn shared_blob(&mut self, _: Member<'_>, value: &Blob) {
        self.put(Value::Blob(value.clone()));
    }

    fn timestamp(&mut self, _: Member<'_>, value: Timestamp) {
        self.put(Value::Timestamp(value));
    }

    fn null(&mut self, _: Member<'_>) {
        self.put(Value::Null);
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{MemberSpec, SchemaBuilder, ShapeKind};

    #[test]
    fn what_is_shared_is_not_copied() {
        let mut builder = SchemaBuilder::new();
        let string = builder.shape(ShapeKind::String, "smithy.api#String");
        let blob = builder.shape(ShapeKind::Blob, "smithy.api#Blob");
        let texts = builder.shape(ShapeKind::Map, "example#Texts");
        builder.member(texts, MemberSpec::new("key", string));
        builder.member(texts, MemberSpec::new("value", string));
        let set = builder.finish().unwrap();

        let long = |name: &str| Text::from(name.repeat(64));
        let map = BTreeMap::from([(long("key"), long("value"))]);
        let value = to_value(&map, set.shape(texts.index()).root()).unwrap();
        let (key, item) = value.as_map().unwrap().iter().next().unwrap();
        let (own_key, own_item) = map.iter().next().unwrap();
        assert_eq!(key.as_ptr(), own_key.as_str().as_ptr());
        assert_eq!(item.as_str().unwrap().as_ptr(), own_item.as_str().as_ptr());

        let bytes = Blob::from(vec![7; 64]);
        let value = to_value(&bytes, set.shape(blob.index()).root()).unwrap();
        assert_eq!(value.as_blob().unwrap().as_ptr(), bytes.as_bytes().as_ptr());
    }
}
