//! Rule sets that are not valid: the errors name the path and what was expected.

use polywire_aws::endpoint::{Partitions, RuleSet};
use serde_json::{Value, json};

use crate::rules::parameters;

fn tree(rule: Value) -> String {
    let rules = json!({ "version": "1.0", "parameters": parameters(), "rules": [rule] });
    match RuleSet::from_tree(&rules) {
        Ok(_) => "valid".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn condition(condition: Value) -> String {
    tree(json!({ "type": "error", "conditions": [condition], "error": "x" }))
}

fn endpoint(endpoint: Value) -> String {
    tree(json!({ "type": "endpoint", "conditions": [], "endpoint": endpoint }))
}

#[test]
fn errors_name_the_path() {
    let at = "$.rules[0].conditions[0]";
    let reference = |name: &str| json!({ "ref": name });
    for (found, expected) in [
        (condition(json!({ "argv": [] })), format!("{at}: the member `fn` is missing")),
        (condition(json!({ "fn": "isSet" })), format!("{at}: the member `argv` is missing")),
        (condition(json!({ "fn": "isset", "argv": [] })), format!("{at}.fn: there is no function `\"isset\"`")),
        (condition(json!({ "fn": "isSet", "argv": [] })), format!("{at}.argv: 0 arguments, expected 1")),
        (
            condition(json!({ "fn": "coalesce", "argv": ["a"] })),
            format!("{at}.argv: 1 arguments, expected 2 or more"),
        ),
        (
            condition(json!({ "fn": "not", "argv": ["a"] })),
            format!("{at}.argv[0]: the type is string, expected boolean"),
        ),
        (
            condition(json!({ "fn": "isSet", "argv": [reference("Nothing")] })),
            format!("{at}.argv[0].ref: there is no parameter or variable `Nothing` in scope"),
        ),
        (
            condition(json!({ "fn": "ite", "argv": [true, "a", 1] })),
            format!("{at}.argv[2]: the type is integer, but the arguments before have another"),
        ),
        (
            condition(json!({ "fn": "uriEncode", "argv": ["{Flag}"] })),
            format!("{at}.argv[0]: `{{Flag}}` is of the type boolean, expected a string"),
        ),
        (
            condition(json!({ "fn": "uriEncode", "argv": ["{Bucket"] })),
            format!("{at}.argv[0]: a `{{` of the template is not closed"),
        ),
        (
            condition(json!({ "fn": "uriEncode", "argv": ["Bucket}"] })),
            format!("{at}.argv[0]: a `}}` of the template has no `{{`"),
        ),
        (
            condition(json!({ "fn": "uriEncode", "argv": ["{Bucket#path}"] })),
            format!("{at}.argv[0]: values of the type string have no attribute `path`"),
        ),
        (
            condition(json!({ "fn": "getAttr", "argv": [reference("Names"), "[x]"] })),
            format!("{at}.argv[1]: `[x]` must end with an index such as `[0]`"),
        ),
        (
            condition(json!({ "fn": "getAttr", "argv": [reference("Bucket"), "[0]"] })),
            format!("{at}.argv[1]: values of the type string have no items"),
        ),
        (
            condition(json!({ "fn": "isSet", "argv": [reference("Bucket")], "assign": "Region" })),
            format!("{at}.assign: the name `Region` is in use"),
        ),
        (condition(json!({ "fn": "isSet", "argv": [null] })), format!("{at}.argv[0]: expected a literal, a reference or a function")),
        (condition(json!({ "fn": "isSet", "argv": [1.5] })), format!("{at}.argv[0]: expected an integer")),
        (tree(json!({ "type": "shrub", "conditions": [] })), "$.rules[0].type: there is no type of rules `shrub` here".to_owned()),
        (
            tree(json!({ "type": "tree", "conditions": [], "rules": [] })),
            "$.rules[0].rules: expected at least one rule".to_owned(),
        ),
        (
            endpoint(json!({ "url": "{Bucket}" })),
            "$.rules[0].endpoint.url: the value may be absent here; a condition must check it with `isSet`".to_owned(),
        ),
        (
            endpoint(json!({ "url": { "fn": "uriEncode", "argv": [{ "ref": "Bucket" }] } })),
            "$.rules[0].endpoint.url: the value may be absent here; a condition must check it with `isSet`".to_owned(),
        ),
        (
            endpoint(json!({ "url": "x", "headers": { "a": "b" } })),
            "$.rules[0].endpoint.headers.a: expected an array".to_owned(),
        ),
        (
            endpoint(json!({ "url": "x", "properties": { "a": [{ "ref": "Flag" }] } })),
            "$.rules[0].endpoint.properties.a[0]: properties have no references or functions".to_owned(),
        ),
        (
            endpoint(json!({ "url": "x", "properties": { "authSchemes": [{}] } })),
            "$.rules[0].endpoint.properties.authSchemes[0]: the member `name` is missing".to_owned(),
        ),
        (
            endpoint(json!({ "url": "x", "properties": { "authSchemes": [{ "name": "a" }, { "name": "a" }] } })),
            "$.rules[0].endpoint.properties.authSchemes[1].name: two authentication schemes have the same name".to_owned(),
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn variables_end_with_their_rule() {
    let assign = json!({ "fn": "uriEncode", "argv": ["a"], "assign": "x" });
    let inner =
        |name: &str| json!({ "type": "error", "conditions": [], "error": format!("{{{name}}}") });
    let rules = |second: Value| {
        json!({
            "version": "1.0",
            "parameters": {},
            "rules": [{ "type": "tree", "conditions": [assign], "rules": [inner("x")] }, second],
        })
    };
    assert!(RuleSet::from_tree(&rules(inner("x"))).is_err());
    let again = json!({ "type": "error", "conditions": [assign], "error": "{x}" });
    assert!(RuleSet::from_tree(&rules(again)).is_ok());
}

#[test]
fn versions_and_parameters_are_checked() {
    let rules = |version: &str, parameter: Value| {
        let rules = json!([{ "type": "error", "conditions": [], "error": "x" }]);
        let document =
            json!({ "version": version, "parameters": { "A": parameter }, "rules": rules });
        RuleSet::from_tree(&document)
            .err()
            .map(|error| error.to_string())
    };
    let string = json!({ "type": "string" });
    assert_eq!(rules("1.0", string.clone()), None);
    assert_eq!(rules("1.17", string.clone()), None);
    for version in ["2.0", "1", "1.x", ""] {
        assert!(
            rules(version, string.clone())
                .unwrap()
                .starts_with("$.version: version")
        );
    }
    for (parameter, expected) in [
        (json!({}), "$.parameters.A: the member `type` is missing"),
        (
            json!({ "type": "number" }),
            "$.parameters.A.type: expected `boolean`, `string` or `stringArray`",
        ),
        (
            json!({ "type": "string", "default": "x" }),
            "$.parameters.A: a parameter with a default must be required",
        ),
        (
            json!({ "type": "string", "default": true, "required": true }),
            "$.parameters.A.default: expected a string",
        ),
    ] {
        assert_eq!(rules("1.0", parameter).as_deref(), Some(expected));
    }
    assert!(
        RuleSet::from_json("{")
            .unwrap_err()
            .message()
            .starts_with("not JSON: ")
    );
}

#[test]
fn deep_rule_sets_are_rejected() {
    let mut rule = json!({ "type": "error", "conditions": [], "error": "x" });
    for _ in 0..200 {
        rule = json!({ "type": "tree", "conditions": [], "rules": [rule] });
    }
    assert!(tree(rule).ends_with("nested deeper than 64 levels"));
    let mut test = json!(true);
    for _ in 0..200 {
        test = json!({ "fn": "not", "argv": [test] });
    }
    assert!(condition(test).ends_with("nested deeper than 64 levels"));
    let mut property = json!("x");
    for _ in 0..200 {
        property = json!([property]);
    }
    let found = endpoint(json!({ "url": "x", "properties": { "a": property } }));
    assert!(found.ends_with("nested deeper than 64 levels"));
}

#[test]
fn tables_of_partitions_are_checked() {
    for (text, expected) in [
        ("[]", "$: expected an object"),
        (
            r#"{"version":"3.0","partitions":[]}"#,
            "$.version: expected a version 1.x",
        ),
        (
            r#"{"version":"1.0","partitions":[{}]}"#,
            "$.partitions[0]: the member `id` is missing",
        ),
        (
            r#"{"version":"1.0","partitions":[{"id":"a","regionRegex":"","outputs":{}}]}"#,
            "$.partitions[0].outputs: the member `dnsSuffix` is missing",
        ),
    ] {
        assert_eq!(
            Partitions::from_json(text).unwrap_err().to_string(),
            expected
        );
    }
}

#[test]
fn the_number_of_variables_is_bounded() {
    let rules = |count: usize| {
        let assign =
            |index| json!({ "fn": "uriEncode", "argv": ["a"], "assign": format!("v{index}") });
        let conditions: Vec<Value> = (0..count).map(assign).collect();
        tree(json!({ "type": "error", "conditions": conditions, "error": "x" }))
    };
    assert_eq!(rules(1_000), "valid");
    assert!(rules(1_100).ends_with("more than 1024 parameters and variables"));
}
