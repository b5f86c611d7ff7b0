//! Arbitrary documents and arguments: errors, but no panics.

use polywire_aws::endpoint::{Argument, Partitions, RuleSet};
use proptest::collection::{hash_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        "[a-z{}#\\[\\]0-9 ]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "{A}",
            "{B#path}",
            "{v}",
            "{v#resourceId[0]}",
            "a-b",
            "1.0",
            "1.1",
            "string",
            "tree",
            "endpoint",
            "error",
        ])
        .prop_map(Value::from),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        prop::sample::select(vec![
            "version",
            "parameters",
            "rules",
            "conditions",
            "type",
            "endpoint",
            "url",
            "error",
            "fn",
            "argv",
            "ref",
            "assign",
            "headers",
            "properties",
            "authSchemes",
            "name",
            "nodes",
            "nodeCount",
            "root",
            "results",
        ])
        .prop_map(str::to_owned),
        "[a-z]{0,3}",
    ];
    scalar().prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            hash_map(key.clone(), inner, 0..6)
                .prop_map(|members| { Value::Object(members.into_iter().collect()) }),
        ]
    })
}

fn argument() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        scalar(),
        prop::sample::select(vec!["A", "B", "C", "v", "w"]).prop_map(|name| json!({ "ref": name })),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| call(inner).boxed())
}

fn call(argument: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let function = prop::sample::select(vec![
        "aws.isVirtualHostableS3Bucket",
        "aws.parseArn",
        "aws.partition",
        "booleanEquals",
        "coalesce",
        "getAttr",
        "isSet",
        "isValidHostLabel",
        "ite",
        "not",
        "parseURL",
        "split",
        "stringEquals",
        "substring",
        "uriEncode",
    ]);
    (function, vec(argument, 0..5))
        .prop_map(|(function, argv)| json!({ "fn": function, "argv": argv }))
}

/// A condition that is often valid.
fn condition() -> impl Strategy<Value = Value> {
    (
        call(argument()),
        prop::option::of(prop::sample::select(vec!["v", "w"])),
    )
        .prop_map(|(mut call, assign)| {
            if let Some(name) = assign {
                call["assign"] = json!(name);
            }
            call
        })
}

fn parameters() -> Value {
    json!({
        "A": { "type": "string", "required": true, "default": "https://a.b/c" },
        "B": { "type": "string" },
        "C": { "type": "stringArray" },
    })
}

proptest! {
    #[test]
    fn arbitrary_documents_do_not_panic(document in document()) {
        let _ = RuleSet::from_tree(&document);
        let _ = RuleSet::from_diagram(&document);
        let _ = RuleSet::from_json(&document.to_string());
        let _ = Partitions::from_json(&document.to_string());
    }

    #[test]
    fn arbitrary_nodes_do_not_panic(nodes in vec(any::<[i8; 12]>(), 0..9), root in -3_i64..9) {
        let bytes: Vec<u8> = nodes.iter().flatten().map(|byte| *byte as u8).collect();
        let mut text = Vec::new();
        polywire_text::base64::push(&mut text, &bytes);
        let document = json!({
            "version": "1.1",
            "parameters": parameters(),
            "conditions": [{ "fn": "isSet", "argv": [{ "ref": "B" }] }],
            "results": [{ "type": "error", "error": "{B}" }],
            "root": root,
            "nodeCount": nodes.len(),
            "nodes": String::from_utf8(text).unwrap(),
        });
        if let Ok(rules) = RuleSet::from_diagram(&document) {
            let _ = rules.arguments().resolve(Partitions::aws());
        }
    }

    /// Small references, so that many diagrams are valid.
    #[test]
    fn small_diagrams_do_not_hang(nodes in vec((0_i32..2, -5_i32..6, -5_i32..6), 0..6), set in any::<bool>()) {
        let mut bytes = Vec::new();
        for (condition, high, low) in [(-1, 1, -1)].iter().chain(&nodes) {
            let result = |reference: i32| if reference == 5 { 100_000_001 } else { reference };
            for integer in [*condition, result(*high), result(*low)] {
                bytes.extend(integer.to_be_bytes());
            }
        }
        let mut text = Vec::new();
        polywire_text::base64::push(&mut text, &bytes);
        let document = json!({
            "version": "1.1",
            "parameters": parameters(),
            "conditions": [
                { "fn": "isSet", "argv": [{ "ref": "B" }] },
                { "fn": "parseURL", "argv": [{ "ref": "B" }], "assign": "v" },
            ],
            "results": [{ "type": "endpoint", "endpoint": { "url": "{v#path}" } }],
            "root": 2,
            "nodeCount": nodes.len() + 1,
            "nodes": String::from_utf8(text).unwrap(),
        });
        if let Ok(rules) = RuleSet::from_diagram(&document) {
            let mut arguments = rules.arguments();
            if set {
                arguments.set("B", "http://a/b").unwrap();
            }
            let _ = arguments.resolve(Partitions::aws());
        }
    }

    #[test]
    fn arbitrary_conditions_and_arguments_do_not_panic(
        conditions in vec(condition(), 0..4),
        text in ".{0,20}",
        arn in "arn:[a-z:/]{0,12}",
        list in prop::option::of(vec(".{0,4}", 0..3)),
    ) {
        let document = json!({
            "version": "1.0",
            "parameters": parameters(),
            "rules": [{ "type": "error", "conditions": conditions, "error": "x" }],
        });
        if let Ok(rules) = RuleSet::from_tree(&document) {
            let mut arguments = rules.arguments();
            arguments.set("A", text).unwrap();
            arguments.set("B", arn).unwrap();
            if let Some(list) = list {
                arguments.set("C", Argument::from(list)).unwrap();
            }
            let _ = arguments.resolve(Partitions::aws());
        }
    }
}
