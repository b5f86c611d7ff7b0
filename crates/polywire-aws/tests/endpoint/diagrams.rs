//! Decision diagrams: published cases, and diagrams that are not valid.

use polywire_aws::endpoint::{Partitions, ResolveError, RuleSet};
use polywire_text::base64;
use serde_json::{Value, json};

use crate::cases;

#[test]
fn published_cases_pass() {
    let published: Value = serde_json::from_str(include_str!("published.json")).unwrap();
    let mut count = 0;
    for suite in published["suites"].as_array().unwrap() {
        let rules = RuleSet::from_json(&suite["rules"].to_string()).unwrap();
        for case in suite["cases"].as_array().unwrap() {
            let found = cases::evaluate(&rules, &case["params"], Partitions::aws());
            assert_eq!(found, cases::expected(case), "{}: {case}", suite["name"]);
            count += 1;
        }
    }
    assert_eq!(count, 36);
}

/// A diagram with the conditions `A` and `B`, the results `zero` and `one`, and these nodes after the terminal.
fn diagram(root: i64, nodes: &[[i32; 3]]) -> Value {
    let mut bytes = Vec::new();
    for node in [[-1, 1, -1]].iter().chain(nodes) {
        bytes.extend(node.iter().flat_map(|integer| integer.to_be_bytes()));
    }
    let mut text = Vec::new();
    base64::push(&mut text, &bytes);
    let flag = json!({ "type": "boolean", "required": true, "default": false });
    let test = |name: &str| json!({ "fn": "booleanEquals", "argv": [{ "ref": name }, true] });
    json!({
        "version": "1.1",
        "parameters": { "A": flag, "B": flag },
        "conditions": [test("A"), test("B")],
        "results": [{ "type": "error", "error": "zero" }, { "type": "error", "error": "one" }],
        "root": root,
        "nodeCount": nodes.len() + 1,
        "nodes": String::from_utf8(text).unwrap(),
    })
}

fn evaluate(rules: &RuleSet, a: bool, b: bool) -> String {
    let mut arguments = rules.arguments();
    arguments.set("A", a).unwrap();
    arguments.set("B", b).unwrap();
    arguments
        .resolve(Partitions::aws())
        .unwrap_err()
        .to_string()
}

const ZERO: i32 = 100_000_001;
const ONE: i32 = 100_000_002;

#[test]
fn complements_exchange_the_branches() {
    // A ? not node 3 : node 3, where node 3 is B ? zero : one.
    let rules = RuleSet::from_diagram(&diagram(2, &[[0, -3, 3], [1, ZERO, ONE]])).unwrap();
    assert_eq!(evaluate(&rules, false, true), "zero");
    assert_eq!(evaluate(&rules, false, false), "one");
    assert_eq!(evaluate(&rules, true, true), "one");
    assert_eq!(evaluate(&rules, true, false), "zero");
}

#[test]
fn terminals_match_nothing() {
    for root in [1, -1, 100_000_000] {
        let rules = RuleSet::from_diagram(&diagram(root, &[])).unwrap();
        let error = rules.arguments().resolve(Partitions::aws()).unwrap_err();
        assert_eq!(error, ResolveError::NoMatch);
    }
    let rules = RuleSet::from_diagram(&diagram(i64::from(ONE), &[])).unwrap();
    assert_eq!(evaluate(&rules, false, false), "one");
}

#[test]
fn invalid_diagrams_are_rejected() {
    let error = |root: i64, nodes: &[[i32; 3]]| {
        RuleSet::from_diagram(&diagram(root, nodes))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(error(0, &[]), "$.root: the reference 0 leads nowhere");
    assert_eq!(error(2, &[]), "$.root: the reference 2 leads nowhere");
    assert_eq!(
        error(-2, &[[0, ZERO, ONE]]),
        "$.root: the root is a complement"
    );
    assert_eq!(
        error(1 << 40, &[]),
        "$.root: expected a reference of 32 bits"
    );
    assert_eq!(
        error(2, &[[2, ZERO, ONE]]),
        "$.nodes: node 1: there is no condition 2"
    );
    assert_eq!(
        error(2, &[[-1, ZERO, ONE]]),
        "$.nodes: node 1: there is no condition -1"
    );
    for reference in [0, 3, -9, ONE + 1, i32::MAX, i32::MIN] {
        assert!(
            error(2, &[[0, reference, 1]]).ends_with("leads nowhere"),
            "{reference}"
        );
    }
    assert_eq!(
        error(2, &[[0, ZERO, 2]]),
        "$.nodes: node 1 is part of a cycle"
    );
    assert!(error(2, &[[0, ZERO, 3], [1, -4, 1], [0, 1, -3]]).ends_with("is part of a cycle"));

    let mut short = diagram(2, &[[0, 1, 1]]);
    short["nodeCount"] = json!(3);
    let message = RuleSet::from_diagram(&short).unwrap_err().to_string();
    assert_eq!(
        message,
        "$.nodeCount: the nodes have 24 bytes, which are not 12 per node"
    );
    short["nodes"] = json!("*");
    assert!(
        RuleSet::from_diagram(&short)
            .unwrap_err()
            .message()
            .starts_with("not base64")
    );
    let mut conditions = diagram(2, &[[0, 1, 1]]);
    conditions["results"][0]["conditions"] = conditions["conditions"].clone();
    let message = RuleSet::from_diagram(&conditions).unwrap_err().to_string();
    assert_eq!(
        message,
        "$.results[0].conditions: results of a diagram have no conditions"
    );
    let mut old = diagram(1, &[]);
    old["version"] = json!("1.0");
    assert!(RuleSet::from_diagram(&old).is_err());
}

#[test]
fn an_absent_value_in_a_result_is_an_error() {
    let mut document = diagram(i64::from(ZERO), &[]);
    document["parameters"]["C"] = json!({ "type": "string" });
    document["results"][0]["error"] = json!("{C}");
    let rules = RuleSet::from_diagram(&document).unwrap();
    let error = rules.arguments().resolve(Partitions::aws()).unwrap_err();
    assert_eq!(error, ResolveError::Absent);
}
