//! Validation of the inputs of servers.
#![allow(
    clippy::unwrap_used,
    reason = "a test may panic, and panicking is how it fails"
)]

use std::cell::Cell;

use bytes::Bytes;
use polywire_codec::{EncodeAny, EncodeWith};
use polywire_model::Loader;
use polywire_protocol::{
    Fault, FaultKind, Plan, ReadPlan, RestJson1, ServerProtocol, Validator, read_input,
};
use polywire_schema::{
    BigDecimal, Body, Encoder, Limits, Map, Member, SchemaSet, Timestamp, Value,
};
use proptest::prelude::*;

/// A service with one operation, with these members and shapes.
fn set(members: &str, shapes: &str) -> SchemaSet<'static> {
    let text = format!(
        r#"
        $version: "2"
        namespace example
        use aws.protocols#restJson1
        @restJson1
        service Service {{ version: "1", operations: [Put] }}
        @http(method: "POST", uri: "/put")
        operation Put {{ input := {{ {members} }} }}
        {shapes}
        "#
    );
    let model = Loader::new().add_text("service.smithy", text).assemble();
    let model = model.unwrap_or_else(|error| panic!("{error:?}")).model;
    model.schemas("example#Service").unwrap().unwrap()
}

/// The failures of an input: path and constraint.
fn failures(set: &SchemaSet<'_>, input: &Map) -> Vec<(String, String)> {
    let validator = Validator::new(set.service(0)).unwrap();
    match validator.check(set.service(0).find_operation("Put").unwrap(), input) {
        Ok(()) => Vec::new(),
        Err(fault) => told(&fault),
    }
}

fn told(fault: &Fault) -> Vec<(String, String)> {
    assert_eq!(fault.kind(), FaultKind::Invalid);
    let fields = fault
        .details()
        .get("fieldList")
        .and_then(Value::as_list)
        .unwrap();
    let told = fields.iter().map(|field| {
        let message = field["message"].as_str().unwrap();
        let (_, constraint) = message.split_once(": ").unwrap();
        (
            field["path"].as_str().unwrap().to_owned(),
            constraint.to_owned(),
        )
    });
    told.collect()
}

fn paths(set: &SchemaSet<'_>, input: &Map) -> Vec<String> {
    failures(set, input)
        .into_iter()
        .map(|(path, _)| path)
        .collect()
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::from(Map::from_iter(entries))
}

fn list<const N: usize>(items: [Value; N]) -> Value {
    Value::List(Vec::from(items))
}

fn input<const N: usize>(entries: [(&str, Value); N]) -> Map {
    Map::from_iter(entries)
}

#[test]
fn every_failure_is_listed_with_its_path() {
    let set = set(
        "name: Name, names: Names, byKey: ByKey, choice: Choice, tree: Tree",
        r#"
        @length(min: 2, max: 4) @pattern("^[a-z]+$") string Name
        list Names { member: Name }
        map ByKey { key: Name, value: Names }
        union Choice { name: Name, other: String }
        structure Tree { name: Name, inner: Tree }
        "#,
    );
    let deep = map([("inner", map([("inner", map([("name", Value::from("X"))]))]))]);
    let input = input([
        ("name", Value::from("A")),
        ("names", list([Value::from("ok"), Value::from("toolong")])),
        (
            "byKey",
            map([("a/b~c", list([Value::from("fine"), Value::from("no!")]))]),
        ),
        ("choice", map([("name", Value::from("a"))])),
        ("tree", deep),
    ]);
    let found = paths(&set, &input);
    assert_eq!(
        found,
        [
            "/name",
            "/name",
            "/names/1",
            "/byKey",
            "/byKey",
            "/byKey/a~1b~0c/1",
            "/choice/name",
            "/tree/inner/inner/name",
            "/tree/inner/inner/name",
        ]
    );
}

#[test]
fn lengths_are_of_characters_bytes_items_and_entries() {
    let set = set(
        "text: Text, data: Data, items: Items, entries: Entries",
        r#"
        @length(min: 2, max: 2) string Text
        @length(min: 2, max: 2) blob Data
        @length(min: 2, max: 2) list Items { member: Integer }
        @length(min: 2, max: 2) map Entries { key: String, value: Integer }
        "#,
    );
    let blob = |bytes: &[u8]| Value::Blob(polywire_schema::Blob::from(bytes));
    let one = Value::Integer(1);
    let fits = input([
        ("text", Value::from("\u{1f44d}\u{e9}")),
        ("data", blob(&[0xff, 0])),
        ("items", list([one.clone(), one.clone()])),
        ("entries", map([("a", one.clone()), ("b", one.clone())])),
    ]);
    assert_eq!(paths(&set, &fits), Vec::<String>::new());
    let misfits = input([
        ("text", Value::from("\u{1f44d}")),
        ("data", blob("\u{1f44d}".as_bytes())),
        ("items", list([one])),
        ("entries", map([])),
    ]);
    assert_eq!(
        paths(&set, &misfits),
        ["/text", "/data", "/items", "/entries"]
    );
}

#[test]
fn ranges_are_exact() {
    let set = set(
        "long: Long_, half: Half, float: Float_, big: Big, decimal: Decimal",
        r#"
        @range(min: -9007199254740993, max: 9007199254740993) long Long_
        @range(min: 0, max: 2) integer Half
        @range(min: 2.2, max: 8.8) float Float_
        @range(max: 100000000000000000000000000000) bigInteger Big
        @range(min: 0.1, max: 0.3) bigDecimal Decimal
        "#,
    );
    let decimal = |text: &str| Value::BigDecimal(text.parse().unwrap());
    let big = |text: &str| Value::BigInteger(text.parse().unwrap());
    let fits = input([
        ("long", Value::Integer(9_007_199_254_740_993)),
        ("half", Value::Integer(1)),
        ("float", Value::Float(8.8)),
        ("big", big("100000000000000000000000000000")),
        ("decimal", decimal("0.30000000000000000000000000000000000")),
    ]);
    assert_eq!(paths(&set, &fits), Vec::<String>::new());
    let misfits = input([
        ("long", Value::Integer(9_007_199_254_740_994)),
        ("half", Value::Integer(3)),
        ("float", Value::Float(f32::NAN)),
        ("big", big("100000000000000000000000000001")),
        ("decimal", decimal("0.30000000000000000000000000000000001")),
    ]);
    assert_eq!(
        paths(&set, &misfits),
        ["/long", "/half", "/float", "/big", "/decimal"]
    );
}

#[test]
fn duplicate_items_are_found_in_any_order() {
    let set = set(
        "lists: Lists, maps: Maps, shapes: Shapes, times: Times, decimals: Decimals",
        r#"
        @uniqueItems list Lists { member: Inner }
        @uniqueItems list Inner { member: String }
        @uniqueItems list Maps { member: Entries }
        map Entries { key: String, value: String }
        @uniqueItems list Shapes { member: Shape_ }
        structure Shape_ { a: String, b: Inner }
        @uniqueItems list Times { member: Timestamp }
        @uniqueItems list Decimals { member: BigDecimal }
        "#,
    );
    let text = Value::from;
    let time = |text: &str| Value::Timestamp(Timestamp::parse_date_time(text).unwrap());
    let decimal = |text: &str| Value::BigDecimal(text.parse::<BigDecimal>().unwrap());
    let fits = input([
        (
            "lists",
            list([
                list([text("a"), text("b")]),
                list([text("b"), text("a")]),
                list([text("ab")]),
            ]),
        ),
        (
            "maps",
            list([map([("a", text("b"))]), map([("b", text("a"))])]),
        ),
        (
            "shapes",
            list([
                map([("a", text("x"))]),
                map([("b", list([text("x")]))]),
                map([]),
            ]),
        ),
        (
            "times",
            list([time("2020-01-01T00:00:00Z"), time("2020-01-01T00:00:00.5Z")]),
        ),
        (
            "decimals",
            list([decimal("1"), decimal("-1"), decimal("10"), decimal("0")]),
        ),
    ]);
    assert_eq!(paths(&set, &fits), Vec::<String>::new());
    let misfits = input([
        (
            "lists",
            list([
                list([text("a"), text("a")]),
                list([text("b")]),
                list([text("b")]),
            ]),
        ),
        (
            "maps",
            list([
                map([("a", text("1")), ("b", text("2"))]),
                map([("b", text("2")), ("a", text("1"))]),
            ]),
        ),
        ("shapes", list([map([]), map([("a", text("x"))]), map([])])),
        (
            "times",
            list([
                time("2020-01-01T00:00:00Z"),
                time("2020-01-01T00:00:00.000Z"),
            ]),
        ),
        ("decimals", list([decimal("1.0"), decimal("10e-1")])),
    ]);
    let found = paths(&set, &misfits);
    assert_eq!(
        found,
        [
            "/lists/0",
            "/lists",
            "/maps",
            "/shapes",
            "/times",
            "/decimals"
        ]
    );
}

#[test]
fn enum_failures_list_values_that_are_not_internal() {
    let set = set(
        "suit: Suit, faces: Faces",
        r#"
        enum Suit { CLUBS = "c", @internal SPADES = "s", HEARTS = "h" }
        intEnum Face { ONE = 1, SIX = 6 }
        list Faces { member: Face }
        "#,
    );
    let fits = input([
        ("suit", Value::from("s")),
        ("faces", list([Value::Integer(6)])),
    ]);
    assert_eq!(paths(&set, &fits), Vec::<String>::new());
    let misfits = input([
        ("suit", Value::from("C")),
        ("faces", list([Value::Integer(2)])),
    ]);
    let constraint = |values: &str| format!("Member must satisfy enum value set: {values}");
    assert_eq!(
        failures(&set, &misfits),
        [
            ("/suit".to_owned(), constraint("[c, h]")),
            ("/faces/0".to_owned(), constraint("[1, 6]")),
        ]
    );
}

#[test]
fn sensitive_keys_and_values_are_not_shown() {
    let set = set(
        "secrets: Secrets",
        r#"
        @sensitive @length(max: 3) string Secret
        map Secrets { key: Secret, value: Secret }
        "#,
    );
    let input = input([("secrets", map([("hunter2", Value::from("swordfish"))]))]);
    let validator = Validator::new(set.service(0)).unwrap();
    let operation = set.service(0).find_operation("Put").unwrap();
    let fault = validator.check(operation, &input).unwrap_err();
    let shown = format!("{fault} {:?}", fault.details());
    assert!(
        !shown.contains("hunter") && !shown.contains("sword"),
        "{shown}"
    );
    assert_eq!(paths(&set, &input), ["/secrets", "/secrets/*"]);
}

/// Keys are hidden if the key, the map or a value that contains the map is sensitive.
#[test]
fn keys_of_sensitive_maps_are_not_shown() {
    const SHAPES: &str = r#"
        @range(max: 3) short Small
        map Plain { key: String, value: Small }
        @sensitive map Secrets { key: String, value: Small }
        @sensitive string Secret
        map SecretKeys { key: Secret, value: Small }
        structure Box { plain: Plain }
        @sensitive structure SecretBox { plain: Plain }
        @sensitive list SecretList { member: Plain }
        map Outer { key: String, value: Secrets }
    "#;
    let entry = || map([("hunter2", Value::from(5))]);
    let boxed = || map([("plain", entry())]);
    for (members, value, path) in [
        ("x: Plain", entry(), "/x/hunter2"),
        ("x: Secrets", entry(), "/x/*"),
        ("x: SecretKeys", entry(), "/x/*"),
        ("x: Box", boxed(), "/x/plain/hunter2"),
        ("x: SecretBox", boxed(), "/x/plain/*"),
        ("x: SecretList", Value::List(vec![entry()]), "/x/0/*"),
        ("x: Outer", map([("shown", entry())]), "/x/shown/*"),
    ] {
        let members = format!("{members}, y: Plain");
        let set = set(&members, SHAPES);
        // Members after a sensitive one are shown.
        let input = input([("x", value), ("y", entry())]);
        assert_eq!(paths(&set, &input), [path, "/y/hunter2"], "{members}");
    }
}

#[test]
fn the_list_of_failures_is_limited() {
    let set = set(
        "names: Names",
        "@length(max: 1) string Name\nlist Names { member: Name }",
    );
    let names = vec![Value::from("too long"); 100_000];
    let input = input([("names", Value::List(names))]);
    let validator = Validator::new(set.service(0)).unwrap();
    let operation = set.service(0).find_operation("Put").unwrap();
    let fault = validator.check(operation, &input).unwrap_err();
    assert!(
        fault
            .message()
            .starts_with("100000 validation errors detected. ")
    );
    assert!(fault.message().ends_with("; and 99936 more"));
    assert!(fault.message().len() < 20_000);
    assert_eq!(told(&fault).len(), 64);
}

#[test]
fn unsupported_patterns_are_rejected_by_name() {
    for pattern in [
        r"^(?!aws)",
        r"(a)\\1",
        r"^\\w{1000}{9}$",
        "(((a{1000}){1000}){1000})",
    ] {
        let set = set(
            "name: Name",
            &format!("@pattern(\"{pattern}\") string Name"),
        );
        let error = Validator::new(set.service(0)).unwrap_err();
        assert_eq!(error.shape, "example#Name");
        assert!(
            error
                .to_string()
                .starts_with("the pattern of example#Name cannot be checked: ")
        );
        let (validator, unchecked) = Validator::with_unchecked_patterns(set.service(0));
        assert_eq!(unchecked, [error]);
        let operation = set.service(0).find_operation("Put").unwrap();
        let input = input([("name", Value::from("aws"))]);
        assert!(validator.check(operation, &input).is_ok());
    }
    // A member that overrides the pattern is named in the error.
    let set = set(
        "@pattern(\"(?=a)\") name: Name",
        "@pattern(\"a\") string Name",
    );
    let error = Validator::new(set.service(0)).unwrap_err();
    assert_eq!(error.shape, "example#PutInput$name");
}

#[test]
fn classes_of_posix_are_checked() {
    let set = set(
        "name: Name",
        r#"@pattern("^[\\p{Print}]+\\p{Alnum}$") string Name"#,
    );
    let fails = |name: &str| !paths(&set, &input([("name", Value::from(name))])).is_empty();
    assert!(!fails("grün, 5"));
    assert!(!fails("a\u{a0}é"));
    assert!(fails("a\tb"));
    assert!(fails("a-"));
}

#[test]
fn hostile_patterns_take_linear_time() {
    // An engine that backtracks would not finish any of them.
    for pattern in [
        "^(a+)+$",
        "^(a|a)*$",
        "^(a|aa)+$",
        "(.*a){12}$",
        "^([a-z]+)*b$",
    ] {
        let set = set(
            "name: Name",
            &format!("@pattern(\"{pattern}\") string Name"),
        );
        let text = format!("{}!", "a".repeat(50_000));
        assert_eq!(
            paths(&set, &input([("name", Value::from(text.as_str()))])),
            ["/name"]
        );
    }
}

/// A message that counts how often it is encoded.
struct Counted<'a>(&'a Map, &'a Cell<u32>);

impl EncodeAny for Counted<'_> {
    fn encode_any(&self, at: Member<'_>, encoder: &mut dyn Encoder) {
        self.1.set(self.1.get() + 1);
        self.0.encode_any(at, encoder);
    }
}

impl<E> EncodeWith<E> for Counted<'_> {}

#[test]
fn inputs_without_constraints_are_not_traversed() {
    for (members, walks) in [
        ("@required name: String, inner: Inner", 0),
        ("@length(min: 0) @required name: String", 1),
        ("name: String, suit: Suit", 1),
    ] {
        let shapes = "structure Inner { a: Inner, b: String }\nenum Suit { A, B }";
        let set = set(members, shapes);
        let validator = Validator::new(set.service(0)).unwrap();
        let operation = set.service(0).find_operation("Put").unwrap();
        let (input, count) = (input([("name", Value::from("x"))]), Cell::new(0));
        validator
            .check(operation, &Counted(&input, &count))
            .unwrap();
        assert_eq!(count.get(), walks, "{members}");
    }
}

/// The result of decoding a JSON body on a server.
fn read(set: &SchemaSet<'_>, body: &str, validated: bool) -> Result<Map, Fault> {
    let service = set.service(0);
    let protocol = RestJson1::new(service).unwrap();
    let validator = validated.then(|| Validator::new(service).unwrap());
    let request = http::Request::post("/put").header("content-type", "application/json");
    let (head, ()) = request.body(()).unwrap().into_parts();
    let Plan::Buffer(route) = protocol.route(&head).unwrap() else {
        panic!("restJson1 routes by the head");
    };
    let body = Body::new(Bytes::copy_from_slice(body.as_bytes()));
    let plan = ReadPlan {
        head: &head,
        body: &body,
        route: &route,
        limits: &Limits::DEFAULT,
        memory: None,
    };
    let mut input = Map::new();
    let operation = service.find_operation("Put").unwrap();
    read_input(&protocol, operation, &plan, &mut input, validator.as_ref())?;
    Ok(input)
}

#[test]
fn missing_members_are_listed_with_other_failures() {
    let set = set(
        "@required a: Name, @required b: Inner, list: Inners, @required c: Integer = 1",
        r#"
        @length(min: 2) string Name
        structure Inner { @required x: Name, @required y: String }
        list Inners { member: Inner }
        "#,
    );
    let body = r#"{"b": {"y": "1"}, "list": [{"x": "1", "y": ""}, {"x": "12"}]}"#;
    let fault = read(&set, body, true).unwrap_err();
    let found: Vec<String> = told(&fault).into_iter().map(|(path, _)| path).collect();
    assert_eq!(found, ["/b/x", "/list/0/x", "/list/1/y", "/a"]);
    // A malformed input is reported as such, even if members are missing.
    let fault = read(&set, r#"{"b": {}, "list": 1}"#, true).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Malformed);
    // Without a validator, the first missing member is the error.
    let fault = read(&set, body, false).unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Invalid);
    assert!(fault.details().is_empty());
    let whole = r#"{"a": "12", "b": {"x": "12", "y": ""}}"#;
    let input = read(&set, whole, true).unwrap();
    assert_eq!(input.get("c"), Some(&Value::Integer(1)));
}

proptest! {
    // Each case loads a model.
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn items_are_unique_if_no_two_are_equal(items in prop::collection::vec("[ab]{0,3}", 0..8)) {
        let set = set("items: Items", "@uniqueItems list Items { member: String }");
        let unique = items.iter().collect::<std::collections::HashSet<_>>().len() == items.len();
        let values = items.iter().map(|item| Value::from(item.as_str())).collect();
        let found = paths(&set, &input([("items", Value::List(values))]));
        prop_assert_eq!(found.is_empty(), unique);
    }

    #[test]
    fn integers_are_within_or_not(value: i64, one: i64, other: i64) {
        let (least, most) = (one.min(other), one.max(other));
        let members = format!("@range(min: {least}, max: {most}) long: Long");
        let set = set(&members, "");
        let found = paths(&set, &input([("long", Value::Integer(value))]));
        prop_assert_eq!(found.is_empty(), (least..=most).contains(&value));
    }

    #[test]
    fn lengths_are_within_or_not(text in "\\PC{0,6}", least in 0_usize..5, more in 0_usize..3) {
        let most = least + more;
        let members = format!("@length(min: {least}, max: {most}) text: String");
        let set = set(&members, "");
        let found = paths(&set, &input([("text", Value::from(text.as_str()))]));
        prop_assert_eq!(found.is_empty(), (least..=most).contains(&text.chars().count()));
    }
}
