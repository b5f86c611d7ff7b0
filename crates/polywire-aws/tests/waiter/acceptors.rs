//! Which results lead to which step.

use std::time::Duration;

use polywire_aws::waiter::{Step, WaitFailure, Waiter};
use serde_json::{Value, json};

/// The step after one call of a waiter with this acceptor and one for success that never matches.
fn step(acceptor: Value, input: Value, result: Result<Value, &str>) -> Step {
    let never = json!({ "state": "success", "matcher": { "errorType": "Never" } });
    let waiter = Waiter::from_json(&json!({ "acceptors": [acceptor, never] })).unwrap();
    let mut waiting = waiter.start(Duration::from_secs(100));
    waiting.responded(
        Duration::ZERO,
        &input,
        result.as_ref().map_err(|error| *error),
        0.0,
    )
}

const RETRY: Step = Step::Wait(Duration::from_secs(2));

#[test]
fn results_without_acceptor_are_retried_and_errors_fail() {
    let acceptor = || json!({ "state": "retry", "matcher": { "errorType": "a.b#Missing" } });
    assert_eq!(step(acceptor(), json!({}), Ok(json!({}))), RETRY);
    assert_eq!(step(acceptor(), json!({}), Err("Missing")), RETRY);
    assert_eq!(step(acceptor(), json!({}), Err("other#Missing")), RETRY);
    let unexpected = Step::Failed(WaitFailure::UnexpectedError);
    assert_eq!(step(acceptor(), json!({}), Err("Denied")), unexpected);
}

#[test]
fn success_matches_any_result_or_any_error() {
    let acceptor =
        |expected: bool| json!({ "state": "success", "matcher": { "success": expected } });
    assert_eq!(
        step(acceptor(true), json!({}), Ok(json!({}))),
        Step::Succeeded
    );
    assert_eq!(step(acceptor(false), json!({}), Ok(json!({}))), RETRY);
    assert_eq!(
        step(acceptor(false), json!({}), Err("Any")),
        Step::Succeeded
    );
}

#[test]
fn comparators_follow_the_specification() {
    let check = |path: &str, comparator: &str, expected: &str, output: Value| {
        let matcher = json!({ "path": path, "comparator": comparator, "expected": expected });
        let acceptor = json!({ "state": "success", "matcher": { "output": matcher } });
        step(acceptor, json!({}), Ok(output)) == Step::Succeeded
    };
    assert!(check("s", "stringEquals", "x", json!({ "s": "x" })));
    assert!(!check("s", "stringEquals", "x", json!({ "s": "y" })));
    assert!(!check("s", "stringEquals", "1", json!({ "s": 1 })));
    assert!(check("b", "booleanEquals", "false", json!({ "b": false })));
    assert!(!check(
        "b",
        "booleanEquals",
        "false",
        json!({ "b": "false" })
    ));
    assert!(!check("b", "booleanEquals", "false", json!({})));
    for (list, all, any) in [
        (json!([]), false, false),
        (json!(["x"]), true, true),
        (json!(["x", "x"]), true, true),
        (json!(["x", "y"]), false, true),
        (json!(["y"]), false, false),
        (json!([1, "x"]), false, true),
        (json!("x"), false, false),
        (Value::Null, false, false),
    ] {
        assert_eq!(
            check("l", "allStringEquals", "x", json!({ "l": list })),
            all,
            "{list}"
        );
        assert_eq!(
            check("l", "anyStringEquals", "x", json!({ "l": list })),
            any,
            "{list}"
        );
    }
    // The length of null is an error, which does not match.
    assert!(!check(
        "length(l) == `0`",
        "booleanEquals",
        "true",
        json!({})
    ));
    assert!(check(
        "length(l) == `0`",
        "booleanEquals",
        "true",
        json!({ "l": [] })
    ));
}

#[test]
fn input_and_output_can_be_compared() {
    let path = "length(input.groups) == length(output.groups)";
    let matcher = json!({ "path": path, "comparator": "booleanEquals", "expected": "true" });
    let acceptor = || json!({ "state": "success", "matcher": { "inputOutput": matcher } });
    let input = json!({ "groups": [1, 2] });
    assert_eq!(
        step(acceptor(), input.clone(), Ok(json!({ "groups": [3, 4] }))),
        Step::Succeeded
    );
    assert_eq!(step(acceptor(), input, Ok(json!({ "groups": [3] }))), RETRY);
}

#[test]
fn failures_have_messages() {
    let rejected = |message: &str, output: Value| {
        let acceptor =
            json!({ "state": "failure", "message": message, "matcher": { "success": true } });
        match step(acceptor, json!({}), Ok(output)) {
            Step::Failed(WaitFailure::Rejected { message }) => message,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        rejected("reason", json!({ "reason": "no space" })).as_deref(),
        Some("no space")
    );
    assert_eq!(
        rejected(
            "all[].why",
            json!({ "all": [{ "why": "a" }, { "why": "b" }] })
        )
        .as_deref(),
        Some("a; b")
    );
    assert_eq!(rejected("reason", json!({})), None);
}

#[test]
fn the_first_acceptor_that_matches_decides() {
    let acceptors = json!([
        { "state": "failure", "matcher": { "success": true } },
        { "state": "success", "matcher": { "success": true } },
    ]);
    let waiter = Waiter::from_json(&json!({ "acceptors": acceptors })).unwrap();
    let mut waiting = waiter.start(Duration::from_secs(9));
    let step = waiting.responded(Duration::ZERO, &json!({}), Ok(&json!({})), 0.0);
    assert_eq!(step, Step::Failed(WaitFailure::Rejected { message: None }));
}

#[test]
fn invalid_waiters_are_rejected() {
    let success = json!({ "state": "success", "matcher": { "success": true } });
    let acceptor = |acceptor: Value| json!({ "acceptors": [acceptor] });
    for (value, expected) in [
        (json!({}), "$: the member `acceptors` is not an array"),
        (
            json!({ "acceptors": [] }),
            "$: no acceptor has the state `success`",
        ),
        (
            acceptor(json!({ "state": "done" })),
            "$.acceptors[0].state: expected `failure`, `retry` or `success`",
        ),
        (
            acceptor(json!({ "state": "success", "matcher": {} })),
            "$.acceptors[0].matcher: expected an object with one member",
        ),
        (
            acceptor(
                json!({ "state": "success", "matcher": { "success": true, "errorType": "x" } }),
            ),
            "$.acceptors[0].matcher: expected an object with one member",
        ),
        (
            acceptor(json!({ "state": "success", "matcher": { "input": {} } })),
            "$.acceptors[0].matcher.input: expected `errorType`, `inputOutput`, `output` or `success`",
        ),
        (
            acceptor(
                json!({ "state": "success", "matcher": { "output": { "path": "a[", "comparator": "stringEquals", "expected": "" } } }),
            ),
            "$.acceptors[0].matcher.output.path: JMESPath expression, byte 2: expected an index, a slice, `*` or `?`",
        ),
        (
            acceptor(
                json!({ "state": "success", "matcher": { "output": { "path": "a", "comparator": "equals", "expected": "" } } }),
            ),
            "$.acceptors[0].matcher.output.comparator: there is no comparator `equals`",
        ),
        (
            acceptor(
                json!({ "state": "success", "matcher": { "output": { "path": "a", "comparator": "booleanEquals", "expected": "yes" } } }),
            ),
            "$.acceptors[0].matcher.output.expected: expected `true` or `false`",
        ),
        (
            acceptor(json!({ "state": "success", "message": "a", "matcher": { "success": true } })),
            "$.acceptors[0]: only acceptors with the state `failure` have a message",
        ),
        (
            json!({ "acceptors": [success], "minDelay": 0 }),
            "$.minDelay: expected a number of seconds from 1 to 31536000",
        ),
        (
            json!({ "acceptors": [success], "minDelay": 121 }),
            "$: `minDelay` is more than `maxDelay`",
        ),
    ] {
        assert_eq!(Waiter::from_json(&value).unwrap_err().to_string(), expected);
    }
    let all = Waiter::all_from_json(&json!({ "A": {} })).unwrap_err();
    assert_eq!(all.path(), "$.A");
}
