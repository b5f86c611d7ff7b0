//! Inputs and outputs as JSON in the data model of waiters and of endpoint rules.

use polywire_codec::Message;
use polywire_schema::{
    BigDecimal, BigInteger, ByteStream, Encoder, Error, Member, Timestamp, Value as Dynamic,
};
use polywire_text::base64;
use serde_json::{Map, Number, Value};

/// The members of a structure for which `wants` is true: members by the names of the model, timestamps as numbers of
/// seconds, blobs in base64. Streams and values that are not valid are left out.
pub(super) fn json_of(
    message: &dyn Message,
    at: Member<'_>,
    wants: &dyn Fn(&str) -> bool,
) -> Value {
    let mut encoder = JsonBuilder {
        wants,
        stack: Vec::new(),
        result: Value::Object(Map::new()),
    };
    message.encode_any(at, &mut encoder);
    encoder.result
}

struct JsonBuilder<'a> {
    /// Selects members of the outermost structure.
    wants: &'a dyn Fn(&str) -> bool,
    /// The collections that have begun, the outermost first.
    stack: Vec<Partial>,
    result: Value,
}

enum Partial {
    List(Vec<Value>),
    Map {
        entries: Map<String, Value>,
        key: String,
    },
}

impl JsonBuilder<'_> {
    fn put(&mut self, value: impl Into<Value>) {
        let value = value.into();
        match self.stack.last_mut() {
            None => self.result = value,
            Some(Partial::List(items)) => items.push(value),
            Some(Partial::Map { entries, key }) => {
                entries.insert(std::mem::take(key), value);
            }
        }
    }

    fn begin_entries(&mut self) {
        self.stack.push(Partial::Map {
            entries: Map::new(),
            key: String::new(),
        });
    }

    fn set_key(&mut self, name: &str) {
        if let Some(Partial::Map { key, .. }) = self.stack.last_mut() {
            name.clone_into(key);
        }
    }

    fn end(&mut self) {
        match self.stack.pop() {
            None => {}
            Some(Partial::List(items)) => self.put(items),
            Some(Partial::Map { entries, .. }) => self.put(entries),
        }
    }

    /// A number in decimal.
    fn number(&mut self, text: &str) {
        let number: Option<Number> = text.parse().ok();
        self.put(number.map_or(Value::Null, Value::Number));
    }
}

impl Encoder for JsonBuilder<'_> {
    fn begin_structure(&mut self, _: Member<'_>, _: usize) {
        self.begin_entries();
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        let is_wanted = self.stack.len() > 1 || (self.wants)(at.name());
        if is_wanted {
            self.set_key(at.name());
        }
        is_wanted
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.end();
    }

    fn begin_list(&mut self, _: Member<'_>, _: usize) {
        self.stack.push(Partial::List(Vec::new()));
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.end();
    }

    fn begin_map(&mut self, _: Member<'_>, _: usize) {
        self.begin_entries();
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.set_key(key);
    }

    fn end_map(&mut self, _: Member<'_>) {
        self.end();
    }

    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.put(value);
    }

    fn integer(&mut self, _: Member<'_>, value: i64) {
        self.put(value);
    }

    fn float(&mut self, _: Member<'_>, value: f32) {
        self.put(f64::from(value));
    }

    fn double(&mut self, _: Member<'_>, value: f64) {
        self.put(value);
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.number(&value.to_string());
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        self.number(&value.to_string());
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.put(value);
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        let mut text = Vec::new();
        base64::push(&mut text, value);
        self.put(String::from_utf8(text).unwrap_or_default());
    }

    fn document(&mut self, _: Member<'_>, value: &Dynamic) {
        self.put(serde_json::to_value(value).unwrap_or_default());
    }

    fn stream(&mut self, _: Member<'_>, _: &ByteStream) {
        self.put(Value::Null);
    }

    fn timestamp(&mut self, _: Member<'_>, value: Timestamp) {
        let mut text = Vec::new();
        value.push_epoch_seconds(&mut text);
        self.number(&String::from_utf8(text).unwrap_or_default());
    }

    fn null(&mut self, _: Member<'_>) {
        self.put(Value::Null);
    }

    fn fail(&mut self, _: Error) {}
}
