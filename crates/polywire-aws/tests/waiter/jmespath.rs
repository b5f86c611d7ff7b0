//! Expressions: results, errors, limits.

use polywire_aws::waiter::jmespath::{Expression, MAX_LENGTH, SearchError};
use proptest::prelude::*;
use serde_json::{Value, json};

fn search(text: &str, value: &Value) -> Value {
    let expression = Expression::parse(text).unwrap();
    expression.search(value).unwrap().into_owned()
}

#[test]
fn results_follow_the_specification() {
    let value = json!({
        "a": { "b": { "c": 1 }, "d e": "x", "n": null },
        "list": [1, 2, 3, 4],
        "items": [
            { "name": "one", "size": 1, "tags": ["p", "q"] },
            { "name": "two", "size": 2, "tags": [] },
            { "size": 3 },
        ],
        "map": { "k1": { "v": 1 }, "k2": { "v": 2 }, "k3": {} },
        "nested": [[1, [2]], 3, [null]],
        "text": "hé",
        "empty": [],
    });
    for (text, expected) in [
        ("a.b.c", json!(1)),
        ("a.\"d e\"", json!("x")),
        ("a.b.missing.c", Value::Null),
        ("@.a.b", json!({ "c": 1 })),
        ("list[0]", json!(1)),
        ("list[-1]", json!(4)),
        ("list[9]", Value::Null),
        ("list[1:3]", json!([2, 3])),
        ("list[::2]", json!([1, 3])),
        ("list[::-1]", json!([4, 3, 2, 1])),
        ("list[-2:]", json!([3, 4])),
        ("items[*].name", json!(["one", "two"])),
        ("items[].tags[]", json!(["p", "q"])),
        ("items[*].tags[0]", json!(["p"])),
        ("items[*].tags | [0]", json!(["p", "q"])),
        ("items[?size > `1`].size", json!([2, 3])),
        ("items[?name == 'two' || size == `3`].size", json!([2, 3])),
        ("items[?!(name)].size", json!([3])),
        ("items[?name && size < `2`].name | [0]", json!("one")),
        ("map.*.v", json!([1, 2])),
        ("nested[]", json!([1, [2], 3])),
        ("nested[][]", json!([1, 2, 3])),
        ("a.[b.c, n]", json!([1, null])),
        ("a.{x: b.c, \"y z\": n}", json!({ "x": 1, "y z": null })),
        ("missing.[a]", Value::Null),
        ("keys(map)", json!(["k1", "k2", "k3"])),
        ("values(a.b)", json!([1])),
        ("length(list)", json!(4)),
        ("length(text)", json!(2)),
        ("length(items[?size == `1.0`]) == `1`", json!(true)),
        ("contains(list, `3`) && contains(text, 'h')", json!(true)),
        ("starts_with(text, 'h')", json!(true)),
        ("ends_with(text, 'h')", json!(false)),
        ("join(', ', items[].name)", json!("one, two")),
        ("not_null(a.n, missing, a.b.c)", json!(1)),
        ("to_array(a.b.c)", json!([1])),
        ("to_array(list)", json!([1, 2, 3, 4])),
        ("to_string(a.b)", json!("{\"c\":1}")),
        ("type(list)", json!("array")),
        ("empty || text", json!("hé")),
        ("'it\\'s'", json!("it's")),
        ("`[1, {\"a\": \"\\`\"}]`", json!([1, { "a": "`" }])),
        ("a < b", Value::Null),
        ("a != list", json!(true)),
    ] {
        assert_eq!(search(text, &value), expected, "{text}");
    }
}

#[test]
fn results_are_borrowed_where_possible() {
    let value = json!({ "a": [{ "b": "x" }] });
    let expression = Expression::parse("a[0].b").unwrap();
    let found = expression.search(&value).unwrap();
    assert!(matches!(found, std::borrow::Cow::Borrowed(_)));
}

#[test]
fn errors_name_the_offset() {
    for (text, expected) in [
        ("", "byte 0: expected an expression"),
        (
            "a.",
            "byte 2: expected a name, `*`, `[` or `{` after the dot",
        ),
        ("a[", "byte 2: expected an index, a slice, `*` or `?`"),
        ("a b", "byte 2: expected the end of the expression"),
        ("a.b[?c", "byte 6: expected `]`"),
        ("[*]a", "byte 3: expected the end of the expression"),
        ("'a", "byte 0: the `'` is not closed"),
        ("a.`", "byte 2: the ``` is not closed"),
        ("`x`", "byte 0: the literal between back-ticks is not JSON"),
        ("\"\\x\"", "byte 0: the name in quotes is not a JSON string"),
        ("a = b", "byte 2: unexpected `=`"),
        ("sort_by(a, &b)", "byte 11: unexpected `&`"),
        (
            "reverse(a)",
            "byte 0: the function `reverse` is not supported",
        ),
        ("length(a, b)", "byte 0: `length` does not take 2 arguments"),
        (
            "list[1:2:3:4]",
            "byte 10: expected a number, `:` or `]` in the slice",
        ),
        ("list[99999999999999999999]", "byte 5: expected an integer"),
        ("{a: b", "byte 5: expected `,` or `}`"),
    ] {
        let error = Expression::parse(text).unwrap_err().to_string();
        assert_eq!(error, format!("JMESPath expression, {expected}"), "{text}");
    }
}

#[test]
fn wrong_types_are_errors() {
    for (text, function) in [
        ("length(a)", "length"),
        ("keys(`1`)", "keys"),
        ("join('', `[1]`)", "join"),
    ] {
        let found = Expression::parse(text)
            .unwrap()
            .search(&json!({}))
            .map(|_| ());
        assert_eq!(found, Err(SearchError::ArgumentType { function }));
    }
    let found = Expression::parse("@[::0]")
        .unwrap()
        .search(&json!([]))
        .map(|_| ());
    assert_eq!(found, Err(SearchError::SliceStep));
}

#[test]
fn expressions_and_results_are_bounded() {
    let long = "a".repeat(MAX_LENGTH + 1);
    for text in [
        "(".repeat(2_000),
        "a.".repeat(1_000) + "a",
        "!".repeat(2_000),
        "[".repeat(4_000),
        long,
    ] {
        assert!(Expression::parse(&text).is_err());
    }
    // Each step doubles the value.
    let text = vec!["[@, @]"; 60].join(" | ");
    let found = Expression::parse(&text)
        .unwrap()
        .search(&json!(1))
        .map(|_| ());
    assert_eq!(found, Err(SearchError::TooLarge));
}

proptest! {
    #[test]
    fn arbitrary_texts_do_not_panic(text in "[ab0-9.\\[\\]?*@!&|(){}:,'\"`<>= -]{0,40}") {
        if let Ok(expression) = Expression::parse(&text) {
            let value = json!({ "a": [{ "b": 1 }, { "b": [2, "x"] }], "b": { "a": null } });
            let _ = expression.search(&value);
        }
    }

    #[test]
    fn slices_are_those_of_a_slow_implementation(
        len in 0_i64..8,
        start in prop::option::of(-10_i64..10),
        stop in prop::option::of(-10_i64..10),
        step in prop::sample::select(vec![-3_i64, -2, -1, 1, 2, 3]),
    ) {
        let text = |part: Option<i64>| part.map(|part| part.to_string()).unwrap_or_default();
        let expression = format!("@[{}:{}:{step}]", text(start), text(stop));
        let items: Vec<i64> = (0..len).collect();
        // Every position, visited in the direction of the step.
        let absolute = |part: i64| if part < 0 { part + len } else { part };
        let first = start.map_or(if step > 0 { 0 } else { len - 1 }, |start| match step > 0 {
            true => absolute(start).max(0),
            false => absolute(start).min(len - 1),
        });
        let mut expected = Vec::new();
        let mut at = first;
        while (0..len).contains(&at) {
            let is_before_stop = stop.is_none_or(|stop| match step > 0 {
                true => at < absolute(stop),
                false => at > absolute(stop).max(-1),
            });
            if !is_before_stop {
                break;
            }
            expected.push(at);
            at += step;
        }
        prop_assert_eq!(search(&expression, &json!(items)), json!(expected));
    }
}
