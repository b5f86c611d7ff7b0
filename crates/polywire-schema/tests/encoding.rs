//! Tests of the [`Encode`] implementations, with an encoder that records calls.
#![expect(clippy::unwrap_used, reason = "test helpers may unwrap")]

use std::sync::Arc;

use polywire_schema::{
    BigDecimal, BigInteger, Encode, Encoder, Error, ErrorKind, Map, Member, MemberSpec,
    SchemaBuilder, SchemaSet, ShapeKind, Timestamp, Value,
};

#[derive(Default)]
struct Recorder {
    calls: Vec<String>,
    error: Option<Error>,
}

impl Recorder {
    fn call(&mut self, call: impl Into<String>) {
        self.calls.push(call.into());
    }
}

impl Encoder for Recorder {
    fn begin_structure(&mut self, _: Member<'_>, present: usize) {
        self.call(format!("structure of {present}"));
    }

    fn member(&mut self, at: Member<'_>) -> bool {
        self.call(at.name());
        true
    }

    fn end_structure(&mut self, _: Member<'_>) {
        self.call("end");
    }

    fn begin_list(&mut self, _: Member<'_>, len: usize) {
        self.call(format!("list of {len}"));
    }

    fn end_list(&mut self, _: Member<'_>) {
        self.call("end");
    }

    fn begin_map(&mut self, _: Member<'_>, len: usize) {
        self.call(format!("map of {len}"));
    }

    fn key(&mut self, _: Member<'_>, key: &str) {
        self.call(key);
    }

    fn end_map(&mut self, _: Member<'_>) {
        self.call("end");
    }

    fn boolean(&mut self, _: Member<'_>, value: bool) {
        self.call(value.to_string());
    }

    fn integer(&mut self, _: Member<'_>, value: i64) {
        self.call(value.to_string());
    }

    fn float(&mut self, _: Member<'_>, value: f32) {
        self.call(value.to_string());
    }

    fn double(&mut self, _: Member<'_>, value: f64) {
        self.call(value.to_string());
    }

    fn big_integer(&mut self, _: Member<'_>, value: &BigInteger) {
        self.call(value.as_str());
    }

    fn big_decimal(&mut self, _: Member<'_>, value: &BigDecimal) {
        self.call(value.as_str());
    }

    fn string(&mut self, _: Member<'_>, value: &str) {
        self.call(value);
    }

    fn blob(&mut self, _: Member<'_>, value: &[u8]) {
        self.call(format!("{value:?}"));
    }

    fn timestamp(&mut self, _: Member<'_>, value: Timestamp) {
        self.call(value.to_string());
    }

    fn null(&mut self, _: Member<'_>) {
        self.call("null");
    }

    fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }
}

fn calls<T: Encode + ?Sized>(value: &T, at: Member<'_>) -> Result<Vec<String>, Error> {
    let mut recorder = Recorder::default();
    value.encode(at, &mut recorder);
    match recorder.error {
        Some(error) => Err(error),
        None => Ok(recorder.calls),
    }
}

/// Returns a set with the shapes 0 to 4: a string, a map of strings, a structure with a string, a
/// big integer and a big decimal.
fn set() -> SchemaSet<'static> {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let map = builder.shape(ShapeKind::Map, "example#Map");
    builder.member(map, MemberSpec::new("key", string));
    builder.member(map, MemberSpec::new("value", string));
    let shape = builder.shape(ShapeKind::Structure, "example#Shape");
    builder.member(shape, MemberSpec::new("name", string));
    builder.shape(ShapeKind::BigInteger, "smithy.api#BigInteger");
    builder.shape(ShapeKind::BigDecimal, "smithy.api#BigDecimal");
    builder.finish().unwrap()
}

#[test]
fn a_map_is_encoded_only_as_a_structure() {
    let set = set();
    let map = Map::from_iter([("name", "Oslo")]);
    let value = Value::from(map.clone());
    for (at, begin) in [
        (set.shape(1).root(), "map of 1"),
        (set.shape(2).root(), "structure of 1"),
        (Member::DOCUMENT, "map of 1"),
    ] {
        let expected = [begin, "name", "Oslo", "end"];
        assert_eq!(calls(&value, at).unwrap(), expected);
        let written = calls(&map, at);
        if at.kind().is_structure() {
            assert_eq!(written.unwrap(), expected);
        } else {
            assert_eq!(written.unwrap_err().kind(), ErrorKind::WrongType);
        }
    }
}

#[test]
fn pointers_are_encoded_as_their_values() {
    let set = set();
    let value = Arc::new(Map::from_iter([("name", "Oslo")]));
    let at = set.shape(2).root();
    assert_eq!(calls(&value, at).unwrap(), calls(&*value, at).unwrap());
    let text: Arc<str> = Arc::from("Oslo");
    assert_eq!(calls(&text, set.shape(0).root()).unwrap(), ["Oslo"]);
}

#[test]
fn errors_of_floats_for_big_numbers_name_the_required_type() {
    let set = set();
    for (shape, expected) in [(3, "Value::BigInteger"), (4, "Value::BigDecimal")] {
        for value in [Value::from(1.5), Value::from(1.5_f32)] {
            let error = calls(&value, set.shape(shape).root()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WrongType);
            assert!(error.what_was_expected().contains(expected), "{error}");
            assert!(error.what_was_found().contains("a float"), "{error}");
        }
    }
    let written = calls(&Value::from(15), set.shape(4).root()).unwrap();
    assert_eq!(written, ["15"]);
}
