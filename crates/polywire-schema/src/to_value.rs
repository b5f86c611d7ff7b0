//! Converts typed values to [`Value`].

use polywire_text::{Blob, Text, Timestamp};

use crate::{BigDecimal, BigInteger, ByteStream, Encode, Encoder, Error, Map, Member, Value};

/// Converts a typed value to a [`Value`]. Structures become maps from member names to values.
///
/// # Errors
///
/// Returns an error if the value does not match the shape that `at` targets.
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
        None => Ok(encoder.result.unwrap_or_default()),
        Some(error) => Err(error),
    }
}

/// An encoder that builds a [`Value`]. Shares long [`Text`]s and [`Blob`]s instead of copying them.
#[derive(Default)]
struct ValueEncoder {
    /// The collections that have begun and not ended, the outermost first.
    stack: Vec<PartialCollection>,
    result: Option<Value>,
    error: Option<Error>,
}

/// A list, map or structure before its end.
enum PartialCollection {
    List(Vec<Value>),
    Map {
        entries: Vec<(Text, Value)>,
        key: Text,
    },
}

impl ValueEncoder {
    fn put(&mut self, value: Value) {
        match self.stack.last_mut() {
            None => self.result = Some(value),
            Some(PartialCollection::List(items)) => items.push(value),
            Some(PartialCollection::Map { entries, key }) => {
                entries.push((std::mem::take(key), value));
            }
        }
    }

    fn begin_entries(&mut self, len: usize) {
        self.stack.push(PartialCollection::Map {
            entries: Vec::with_capacity(len),
            key: Text::default(),
        });
    }

    fn set_key(&mut self, name: Text) {
        if let Some(PartialCollection::Map { key, .. }) = self.stack.last_mut() {
            *key = name;
        }
    }

    fn end(&mut self) {
        match self.stack.pop() {
            None => {}
            Some(PartialCollection::List(items)) => self.put(Value::List(items)),
            Some(PartialCollection::Map { entries, .. }) => {
                self.put(Value::Map(Map::from_iter(entries)));
            }
        }
    }
}

impl Encoder for ValueEncoder {
    fn begin_structure(&mut self, _: Member<'_>, present: usize) {
        self.begin_entries(present);
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        self.set_key(Text::from(at.name()));
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.end();
    }

    fn begin_list(&mut self, _: Member<'_>, len: usize) {
        self.stack
            .push(PartialCollection::List(Vec::with_capacity(len)));
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.end();
    }

    fn begin_map(&mut self, _: Member<'_>, len: usize) {
        self.begin_entries(len);
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.set_key(Text::from(key));
    }

    fn text_key(&mut self, _: Member<'_>, key: &Text) {
        self.set_key(key.clone());
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

    fn stream(&mut self, _: Member<'_>, value: &ByteStream) {
        self.put(Value::from(value.clone()));
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
    fn long_texts_and_blobs_are_shared() {
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
