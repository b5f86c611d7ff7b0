//! Tests of the [`Decode`] implementations, with a decoder that returns scripted values.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test helpers may unwrap"
)]

mod script;

use std::collections::{BTreeMap, HashMap};

use polywire_schema::generated::distinct_keys;
use polywire_schema::{
    Decode, ErrorKind, Map, Member, MemberFlags, MemberSpec, SchemaBuilder, SchemaSet, ShapeKind,
    Value,
};
use script::{Script, Step};

/// Returns a set in which shape 1 is a list of strings and shape 2 is a map of strings. Shape 3 is
/// the structure `example#Shape` with a flattened list `list` and a flattened map `map`.
fn set() -> SchemaSet<'static> {
    let mut builder = SchemaBuilder::new();
    let string = builder.shape(ShapeKind::String, "smithy.api#String");
    let list = builder.shape(ShapeKind::List, "example#List");
    builder.member(list, MemberSpec::new("member", string));
    let map = builder.shape(ShapeKind::Map, "example#Map");
    builder.member(map, MemberSpec::new("key", string));
    builder.member(map, MemberSpec::new("value", string));
    let shape = builder.shape(ShapeKind::Structure, "example#Shape");
    for (name, target) in [("list", list), ("map", map)] {
        let member = MemberSpec::new(name, target).flag(MemberFlags::XML_FLATTENED);
        builder.member(shape, member);
    }
    builder.finish().unwrap()
}

/// Returns the steps of a list with one text.
fn list(text: &'static str, continues: bool) -> [Step; 3] {
    [Step::Begin { continues }, Step::Text(text), Step::End]
}

/// Returns the steps of a map with one entry.
fn map(key: &'static str, continues: bool) -> [Step; 4] {
    let begin = Step::Begin { continues };
    [begin, Step::Key(key), Step::Text("value"), Step::End]
}

/// Decodes `first`, and then decodes `second` into the result.
fn decode_both<T: for<'de> Decode<'de>>(at: Member<'_>, first: &[Step], second: &[Step]) -> T {
    let mut value = T::decode(at, &mut Script::new(first)).unwrap();
    value.decode_into(at, &mut Script::new(second)).unwrap();
    value
}

#[test]
fn lists_are_continued_or_replaced() {
    let set = set();
    let at = set.shape(1).root();
    let (first, more, other) = (list("a", false), list("b", true), list("b", false));
    assert_eq!(decode_both::<Vec<String>>(at, &first, &more), ["a", "b"]);
    assert_eq!(decode_both::<Vec<String>>(at, &first, &other), ["b"]);
    let boxed = decode_both::<Box<Vec<String>>>(at, &first, &more);
    assert_eq!(*boxed, ["a", "b"]);
    let optional = decode_both::<Option<Box<Vec<String>>>>(at, &first, &more);
    assert_eq!(optional.unwrap().len(), 2);
    let value: Value = decode_both(at, &first, &more);
    assert_eq!(value.as_list().unwrap().len(), 2);
    let value: Value = decode_both(at, &first, &other);
    assert_eq!(value.as_list().unwrap().len(), 1);
}

#[test]
fn maps_are_continued_or_replaced() {
    fn keys<T: for<'de> Decode<'de>>(continues: bool, keys: impl Fn(T) -> Vec<String>) {
        let (error, _) = duplicate_key::<T>(continues, keys);
        assert_eq!(error, continues.then_some(ErrorKind::Duplicate));
    }
    /// Decodes a duplicate key. Returns the error and the map.
    fn duplicate_key<T: for<'de> Decode<'de>>(
        continues: bool,
        keys: impl Fn(T) -> Vec<String>,
    ) -> (Option<ErrorKind>, T) {
        let set = set();
        let at = set.shape(2).root();
        let (first, second) = (map("a", false), map("b", continues));
        let mut found = keys(decode_both::<T>(at, &first, &second));
        found.sort();
        let expected: &[&str] = if continues { &["a", "b"] } else { &["b"] };
        assert_eq!(found, expected, "{}", std::any::type_name::<T>());
        // A duplicate key is an error only if the second part continues the map.
        let mut value = T::decode(at, &mut Script::new(&first)).unwrap();
        let duplicate = map("a", continues);
        let result = value.decode_into(at, &mut Script::new(&duplicate));
        (result.err().map(|error| error.kind()), value)
    }
    for continues in [false, true] {
        keys::<BTreeMap<String, String>>(continues, |map| map.into_keys().collect());
        keys::<HashMap<String, String>>(continues, |map| map.into_keys().collect());
        keys::<Box<BTreeMap<String, String>>>(continues, |map| map.into_keys().collect());
        // The keys of a vector are compared at the end of the structure.
        let (error, entries) = duplicate_key::<Vec<(String, String)>>(continues, |entries| {
            entries.into_iter().map(|(key, _)| key).collect()
        });
        assert_eq!(error, None);
        let error = distinct_keys(&entries, &Script::new(&[])).err();
        let kind = error.map(|error| error.kind());
        assert_eq!(kind, continues.then_some(ErrorKind::Duplicate));
        keys::<Map>(continues, |map| map.keys().map(str::to_owned).collect());
        keys::<Value>(continues, |value| {
            value.as_map().unwrap().keys().map(str::to_owned).collect()
        });
    }
}

#[test]
fn a_structure_combines_separated_items() {
    let set = set();
    let at = set.shape(3).root();
    let mut steps = vec![Step::Begin { continues: false }];
    let (parts, entries) = ([("a", false), ("b", true)], [("x", false), ("y", true)]);
    for ((text, list_continues), (key, map_continues)) in parts.into_iter().zip(entries) {
        steps.push(Step::Member(0));
        steps.extend(list(text, list_continues));
        steps.push(Step::Member(1));
        steps.extend(map(key, map_continues));
    }
    steps.push(Step::End);
    let value = Value::decode(at, &mut Script::new(&steps)).unwrap();
    let expected = Map::from_iter([
        (
            "list",
            Value::List(vec![Value::from("a"), Value::from("b")]),
        ),
        (
            "map",
            Map::from_iter([("x", "value"), ("y", "value")]).into(),
        ),
    ]);
    assert_eq!(value, Value::from(expected));
}

#[test]
fn entries_keep_their_order_and_have_unique_keys() {
    let set = set();
    let at = set.shape(2).root();
    let script = |keys: &[&'static str]| {
        let mut steps = vec![Step::Begin { continues: false }];
        for key in keys {
            steps.extend([Step::Key(key), Step::Text("value")]);
        }
        steps.push(Step::End);
        steps
    };
    let entries: Vec<(String, String)> =
        Decode::decode(at, &mut Script::new(&script(&["b", "a", "c"]))).unwrap();
    let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["b", "a", "c"]);
    let duplicate = script(&["b", "a", "b"]);
    let error = Vec::<(String, String)>::decode(at, &mut Script::new(&duplicate)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    assert_eq!(error.what_was_found(), "`b`");
}

#[test]
fn a_map_is_decoded_from_structures_and_documents() {
    let set = set();
    let steps = [
        &[Step::Begin { continues: false }, Step::Member(0)][..],
        &list("a", false),
        &[Step::End],
    ]
    .concat();
    let read = Map::decode(set.shape(3).root(), &mut Script::new(&steps)).unwrap();
    assert_eq!(read.get("list").unwrap()[0], Value::from("a"));
    let document = map("a", false);
    let read = Map::decode(Member::DOCUMENT, &mut Script::new(&document)).unwrap();
    assert_eq!(read.get("a"), Some(&Value::from("value")));
    let error = Map::decode(Member::DOCUMENT, &mut Script::new(&list("a", false))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WrongType);
}

/// Returns the maximum ratio of capacity to length of all lists and maps in a value. Takes the
/// value by move, because a clone would have no spare capacity.
fn max_capacity_ratio(value: Value) -> usize {
    match value {
        Value::List(list) => {
            let own = list.capacity() / list.len().max(1);
            list.into_iter()
                .map(max_capacity_ratio)
                .fold(own, usize::max)
        }
        Value::Map(map) => {
            let entries = map.into_entries();
            let own = entries.capacity() / entries.len().max(1);
            let values = entries.into_iter();
            let ratios = values.map(|(_, value)| max_capacity_ratio(value));
            ratios.fold(own, usize::max)
        }
        _ => 0,
    }
}

#[test]
fn collections_with_one_item_have_no_spare_capacity() {
    // Nested lists and nested maps, without and with a schema.
    for key in [None, Some(Step::Key("k"))] {
        let level = [Some(Step::Begin { continues: false }), key];
        let level: Vec<Step> = level.into_iter().flatten().collect();
        let mut steps = level.repeat(50);
        steps.push(Step::Text("x"));
        steps.extend([Step::End; 50]);
        let read = Value::decode(Member::DOCUMENT, &mut Script::new(&steps)).unwrap();
        assert_eq!(max_capacity_ratio(read), 1);
    }
    let set = set();
    let shape = [
        &[Step::Begin { continues: false }, Step::Member(0)][..],
        &list("a", false),
        &[Step::End],
    ]
    .concat();
    let read = Value::decode(set.shape(3).root(), &mut Script::new(&shape)).unwrap();
    assert_eq!(max_capacity_ratio(read), 1);
    let read = Value::decode(set.shape(1).root(), &mut Script::new(&list("a", false))).unwrap();
    assert_eq!(max_capacity_ratio(read), 1);
    let read = Value::decode(set.shape(2).root(), &mut Script::new(&map("a", false))).unwrap();
    assert_eq!(max_capacity_ratio(read), 1);
}
