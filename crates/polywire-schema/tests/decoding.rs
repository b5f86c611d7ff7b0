//! What types do with what a decoder gives them, told apart from any format: a
//! decoder that plays a script.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests may unwrap as tests do"
)]

mod script;

use std::collections::{BTreeMap, HashMap};

use polywire_schema::generated::distinct_keys;
use polywire_schema::{
    Decode, ErrorKind, Map, Member, MemberFlags, MemberSpec, SchemaBuilder, SchemaSet, ShapeKind,
    Value,
};
use script::{Script, Step};

/// `example#Shape` with a flattened list `list` and a flattened map `map` of
/// strings; shapes 1 and 2 are the list and the map.
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

/// A list or map of one text, that goes on or begins anew.
fn list(text: &'static str, continues: bool) -> [Step; 3] {
    [Step::Begin { continues }, Step::Text(text), Step::End]
}

fn map(key: &'static str, continues: bool) -> [Step; 4] {
    let begin = Step::Begin { continues };
    [begin, Step::Key(key), Step::Text("value"), Step::End]
}

/// Reads `first`, and `second` into it.
fn both<T: for<'de> Decode<'de>>(at: Member<'_>, first: &[Step], second: &[Step]) -> T {
    let mut value = T::decode(at, &mut Script::new(first)).unwrap();
    value.decode_into(at, &mut Script::new(second)).unwrap();
    value
}

#[test]
fn lists_go_on_or_begin_anew() {
    let set = set();
    let at = set.shape(1).root();
    let (first, on, anew) = (list("a", false), list("b", true), list("b", false));
    assert_eq!(both::<Vec<String>>(at, &first, &on), ["a", "b"]);
    assert_eq!(both::<Vec<String>>(at, &first, &anew), ["b"]);
    assert_eq!(*both::<Box<Vec<String>>>(at, &first, &on), ["a", "b"]);
    assert_eq!(
        both::<Option<Box<Vec<String>>>>(at, &first, &on)
            .unwrap()
            .len(),
        2
    );
    let value: Value = both(at, &first, &on);
    assert_eq!(value.as_list().unwrap().len(), 2);
    let value: Value = both(at, &first, &anew);
    assert_eq!(value.as_list().unwrap().len(), 1);
}

#[test]
fn maps_go_on_or_begin_anew() {
    fn keys<T: for<'de> Decode<'de>>(continues: bool, keys: impl Fn(T) -> Vec<String>) {
        let (again, value) = twice::<T>(continues, keys);
        assert_eq!(again, continues.then_some(ErrorKind::Duplicate));
        drop(value);
    }
    /// What comes of a key that comes again, and the map then.
    fn twice<T: for<'de> Decode<'de>>(
        continues: bool,
        keys: impl Fn(T) -> Vec<String>,
    ) -> (Option<ErrorKind>, T) {
        let set = set();
        let at = set.shape(2).root();
        let (first, second) = (map("a", false), map("b", continues));
        let mut found = keys(both::<T>(at, &first, &second));
        found.sort();
        let expected: &[&str] = if continues { &["a", "b"] } else { &["b"] };
        assert_eq!(found, expected, "{}", std::any::type_name::<T>());
        // A key that comes again is an error where the map goes on only.
        let mut value = T::decode(at, &mut Script::new(&first)).unwrap();
        let again = map("a", continues);
        let result = value.decode_into(at, &mut Script::new(&again));
        (result.err().map(|error| error.kind()), value)
    }
    for continues in [false, true] {
        keys::<BTreeMap<String, String>>(continues, |map| map.into_keys().collect());
        keys::<HashMap<String, String>>(continues, |map| map.into_keys().collect());
        keys::<Box<BTreeMap<String, String>>>(continues, |map| map.into_keys().collect());
        // The parts of a vector are compared at the end of the structure.
        let (again, entries) = twice::<Vec<(String, String)>>(continues, |entries| {
            entries.into_iter().map(|(key, _)| key).collect()
        });
        assert_eq!(again, None);
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
fn a_structure_gathers_what_stands_apart() {
    let set = set();
    let at = set.shape(3).root();
    let mut steps = vec![Step::Begin { continues: false }];
    let (parts, entries) = ([("a", false), ("b", true)], [("x", false), ("y", true)]);
    for ((text, on), (key, more)) in parts.into_iter().zip(entries) {
        steps.push(Step::Member(0));
        steps.extend(list(text, on));
        steps.push(Step::Member(1));
        steps.extend(map(key, more));
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
fn entries_keep_their_order_and_differ() {
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
    let twice = script(&["b", "a", "b"]);
    let error = Vec::<(String, String)>::decode(at, &mut Script::new(&twice)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    assert_eq!(error.what_was_found(), "`b`");
}

#[test]
fn a_map_is_read_as_structure_and_document_too() {
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

/// How many items the lists and maps of a value have space for, to each that
/// they hold. Takes the value, since a copy would have no space to spare.
fn slack(value: Value) -> usize {
    match value {
        Value::List(list) => {
            let own = list.capacity() / list.len().max(1);
            list.into_iter().map(slack).fold(own, usize::max)
        }
        Value::Map(map) => {
            let entries = map.into_entries();
            let own = entries.capacity() / entries.len().max(1);
            let values = entries.into_iter().map(|(_, value)| slack(value));
            values.fold(own, usize::max)
        }
        _ => 0,
    }
}

#[test]
fn collections_of_one_reserve_one() {
    // Lists in lists, and maps in maps: by document, and by schema.
    for key in [None, Some(Step::Key("k"))] {
        let level = [Some(Step::Begin { continues: false }), key];
        let level: Vec<Step> = level.into_iter().flatten().collect();
        let mut steps = level.repeat(50);
        steps.push(Step::Text("x"));
        steps.extend([Step::End; 50]);
        let read = Value::decode(Member::DOCUMENT, &mut Script::new(&steps)).unwrap();
        assert_eq!(slack(read), 1);
    }
    let set = set();
    let shape = [
        &[Step::Begin { continues: false }, Step::Member(0)][..],
        &list("a", false),
        &[Step::End],
    ]
    .concat();
    let read = Value::decode(set.shape(3).root(), &mut Script::new(&shape)).unwrap();
    assert_eq!(slack(read), 1);
    let read = Value::decode(set.shape(1).root(), &mut Script::new(&list("a", false))).unwrap();
    assert_eq!(slack(read), 1);
    let read = Value::decode(set.shape(2).root(), &mut Script::new(&map("a", false))).unwrap();
    assert_eq!(slack(read), 1);
}
