//! Bindings of parameters in models.

use polywire_aws::endpoint::{Argument, ServiceRules};
use serde_json::{Value, json};

const SERVICE: &str = "example#Store";

/// A model with one operation, its traits and the members of its input.
fn model(traits: &Value, members: &Value) -> Value {
    let parameter = |kind: &str| json!({ "type": kind, "documentation": "" });
    json!({ "smithy": "2.0", "shapes": {
        SERVICE: { "type": "service", "version": "1", "traits": { "smithy.rules#endpointRuleSet": {
            "version": "1.0",
            "parameters": {
                "Text": parameter("string"), "Flag": parameter("boolean"), "Names": parameter("stringArray"),
            },
            "rules": [{ "type": "endpoint", "conditions": [], "endpoint": { "url": "https://h" } }],
        } } },
        "example#Get": {
            "type": "operation", "input": { "target": "example#GetInput" }, "traits": traits,
        },
        "example#Other": { "type": "operation" },
        "example#GetInput": { "type": "structure", "members": members },
    } })
}

fn bound(traits: &Value, members: &Value, input: &Value) -> [Option<Argument<'static>>; 3] {
    let rules = ServiceRules::from_model(&model(traits, members), SERVICE).unwrap();
    let mut arguments = rules.rules().arguments();
    rules.bind("Get", input, &mut arguments).unwrap();
    ["Text", "Flag", "Names"].map(|name| match arguments.get(name) {
        None => None,
        Some(Argument::Boolean(value)) => Some(Argument::from(*value)),
        Some(Argument::String(text)) => Some(Argument::from(text.clone().into_owned())),
        Some(Argument::StringArray(items)) => Some(Argument::from(items.clone().into_owned())),
    })
}

#[test]
fn members_expressions_and_constants_bind_parameters() {
    let text = |text: &str| Some(Argument::from(text.to_owned()));
    let context = |name: &str| json!({ "target": "smithy.api#String", "traits": { "smithy.rules#contextParam": { "name": name } } });
    let members = json!({ "A": context("Text"), "B": context("Flag"), "C": { "target": "smithy.api#String" } });
    let input = json!({ "A": "a", "B": true, "C": "c", "D": { "x": 1, "y": 2 } });
    let none = json!({});
    assert_eq!(
        bound(&none, &members, &input),
        [text("a"), Some(true.into()), None]
    );
    // Values of other types, null and absent members bind nothing.
    for input in [
        json!({ "A": 1, "B": "x" }),
        json!({ "A": null }),
        json!({}),
        json!(null),
    ] {
        assert_eq!(bound(&none, &members, &input), [None, None, None]);
    }
    let paths = json!({ "smithy.rules#operationContextParams": {
        "Names": { "path": "keys(D)" }, "Text": { "path": "C" },
    } });
    let names = Argument::from(vec!["x".to_owned(), "y".to_owned()]);
    assert_eq!(
        bound(&paths, &json!({}), &input),
        [text("c"), None, Some(names)]
    );
    // Members win over expressions, and constants over members.
    assert_eq!(bound(&paths, &members, &input)[0], text("a"));
    let constants = json!({ "smithy.rules#staticContextParams": { "Text": { "value": "s" } } });
    assert_eq!(bound(&constants, &members, &input)[0], text("s"));
}

#[test]
fn only_needed_members_are_read() {
    let members = json!({ "A": { "target": "smithy.api#String",
        "traits": { "smithy.rules#contextParam": { "name": "Text" } } } });
    let rules = ServiceRules::from_model(&model(&json!({}), &members), SERVICE).unwrap();
    assert_eq!(rules.member("Get", "Text"), Some("A"));
    assert_eq!(
        (rules.member("Get", "Flag"), rules.member("Other", "Text")),
        (None, None)
    );
    assert!(rules.needs_input("Get") && !rules.needs_input("Other") && !rules.needs_input("None"));
    assert!(rules.needs_member("Get", "A") && !rules.needs_member("Get", "B"));
    let mut arguments = rules.rules().arguments();
    rules.bind("None", &json!({}), &mut arguments).unwrap();
    assert_eq!(arguments.get("Text"), None);
}

#[test]
fn invalid_bindings_name_their_place() {
    let fixed = "smithy.rules#staticContextParams";
    let paths = "smithy.rules#operationContextParams";
    for (traits, place, reason) in [
        (
            json!({ fixed: { "No": { "value": "x" } } }),
            "staticContextParams\"].No",
            "a parameter",
        ),
        (
            json!({ fixed: { "Text": { "value": true } } }),
            "Text",
            "of the type string",
        ),
        (
            json!({ fixed: { "Text": { "value": 1 } } }),
            "Text",
            "a value of a parameter",
        ),
        (json!({ fixed: [] }), "staticContextParams", "an object"),
        (json!({ paths: { "Text": {} } }), "Text", "a member `path`"),
        (json!({ paths: { "Text": { "path": "a[" } } }), "Text", ""),
    ] {
        let error = ServiceRules::from_model(&model(&traits, &json!({})), SERVICE).unwrap_err();
        assert!(
            error.path().starts_with("$.shapes[\"example#Get\"].traits"),
            "{error}"
        );
        assert!(
            error.path().contains(place) && error.message().contains(reason),
            "{error}"
        );
    }
    let members = json!({ "A": { "traits": { "smithy.rules#contextParam": { "name": "No" } } } });
    let error = ServiceRules::from_model(&model(&json!({}), &members), SERVICE).unwrap_err();
    assert!(error.to_string().contains("members.A"), "{error}");
    let error = ServiceRules::from_model(&model(&json!({}), &json!({})), "example#No").unwrap_err();
    assert_eq!(error.path(), "$.shapes[\"example#No\"]");
    assert!(ServiceRules::from_model(&json!([]), SERVICE).is_err());
}
