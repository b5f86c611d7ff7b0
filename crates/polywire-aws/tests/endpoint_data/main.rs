//! The published endpoint test cases of the service models, in three ways: by the rule tree, by a decision diagram
//! made of it, and by the reference implementation.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    reason = "tests"
)]
#![allow(clippy::print_stdout, reason = "counts and measurements")]

mod bindings;
mod cases;
mod conversion;
mod reference;

use std::sync::LazyLock;
use std::time::Instant;

use polywire_aws::endpoint::{Partitions, RuleSet};
use serde_json::{Value, json};
use test_data::{Missing, data};

use bindings::inputs_of_operations_give_the_same_results;

test_data::tests! {
    published_cases_pass,
    diagrams_give_the_same_results,
    combinations_of_arguments_give_the_same_results,
    evaluations_per_second,
    inputs_of_operations_give_the_same_results,
    built_ins_are_known,
}

/// The services of the models that have endpoint rules: name, and their traits.
fn services() -> Result<Vec<(String, Value)>, Missing> {
    let mut services = Vec::new();
    for entry in std::fs::read_dir(data("models")?).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let model: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for shape in model["shapes"].as_object().unwrap().values() {
            if shape["type"] == "service" && rules(&shape["traits"]).is_object() {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                services.push((name, shape["traits"].clone()));
            }
        }
    }
    services.sort_by(|left, right| left.0.cmp(&right.0));
    assert!(!services.is_empty());
    Ok(services)
}

/// The partitions at the time of the models: two of them did not support dual stack yet.
fn partitions() -> &'static Partitions {
    static TABLE: LazyLock<Partitions> =
        LazyLock::new(|| Partitions::from_json(include_str!("partitions.json")).unwrap());
    &TABLE
}

fn rules(traits: &Value) -> &Value {
    &traits["smithy.rules#endpointRuleSet"]
}

fn test_cases(traits: &Value) -> &[Value] {
    let cases = traits["smithy.rules#endpointTests"]["testCases"].as_array();
    cases.unwrap()
}

fn published_cases_pass() -> Result<(), Missing> {
    let mut total = 0;
    for (name, traits) in services()? {
        let rules = RuleSet::from_tree(rules(&traits)).unwrap();
        let failures = failures(&name, &rules, test_cases(&traits));
        println!(
            "{name}: {} cases, {failures} failures",
            test_cases(&traits).len()
        );
        assert_eq!(failures, 0, "{name}");
        total += test_cases(&traits).len();
    }
    println!("{total} cases");
    Ok(())
}

fn diagrams_give_the_same_results() -> Result<(), Missing> {
    for (name, traits) in services()? {
        let rules = RuleSet::from_diagram(&conversion::diagram(rules(&traits))).unwrap();
        assert_eq!(failures(&name, &rules, test_cases(&traits)), 0, "{name}");
    }
    Ok(())
}

fn failures(name: &str, rules: &RuleSet, cases: &[Value]) -> usize {
    let mut failures = 0;
    for case in cases {
        let found = cases::evaluate(rules, &case["params"], partitions());
        let expected = cases::expected(case);
        if found != expected {
            failures += 1;
            println!(
                "{name}: {}\n  expected {expected}\n  found    {found}",
                case["documentation"]
            );
        }
    }
    failures
}

/// For each case, replaces each parameter by the values that other cases have for it.
fn combinations_of_arguments_give_the_same_results() -> Result<(), Missing> {
    let mut count = 0;
    for (name, traits) in services()? {
        let tree = RuleSet::from_tree(rules(&traits)).unwrap();
        let diagram = RuleSet::from_diagram(&conversion::diagram(rules(&traits))).unwrap();
        let cases = test_cases(&traits);
        for (index, case) in cases.iter().enumerate() {
            for other in cases.iter().skip(index % 7).step_by(7) {
                let mut params = json!({});
                for (key, value) in case["params"].as_object().into_iter().flatten() {
                    params[key] = value.clone();
                }
                let keys = other["params"].as_object();
                for (key, value) in keys.into_iter().flatten().skip(index % 2).step_by(2) {
                    params[key] = value.clone();
                }
                let expected = reference::evaluate(rules(&traits), &params, partitions());
                for rules in [&tree, &diagram] {
                    let found = cases::evaluate(rules, &params, partitions());
                    assert_eq!(found, expected, "{name}: {params}");
                }
                count += 1;
            }
        }
    }
    println!("{count} combinations");
    Ok(())
}

/// Prints rates for S3. Only a release build gives figures to publish.
fn evaluations_per_second() -> Result<(), Missing> {
    let services = services()?;
    let (_, traits) = services.iter().find(|(name, _)| name == "s3").unwrap();
    let tree = RuleSet::from_tree(rules(traits)).unwrap();
    let diagram = RuleSet::from_diagram(&conversion::diagram(rules(traits))).unwrap();
    let cases = test_cases(traits);
    let rounds = if cfg!(debug_assertions) { 2 } else { 300 };
    let start = Instant::now();
    for _ in 0..rounds.min(3) {
        for case in cases {
            let found = reference::evaluate(rules(traits), &case["params"], partitions());
            assert!(found.is_object());
        }
    }
    let slow = rate(start, cases.len() * rounds.min(3));
    for (form, rules) in [("tree", &tree), ("diagram of the tree", &diagram)] {
        let prepared: Vec<_> = cases.iter().map(|case| arguments(rules, case)).collect();
        let start = Instant::now();
        let mut endpoints = 0;
        for _ in 0..rounds {
            for arguments in &prepared {
                endpoints += usize::from(arguments.resolve(partitions()).is_ok());
            }
        }
        let fast = rate(start, cases.len() * rounds);
        let expected = cases
            .iter()
            .filter(|case| case["expect"]["error"].is_null());
        assert_eq!(endpoints, expected.count() * rounds);
        println!(
            "S3, {form}: {fast:.0} evaluations a second, reference {slow:.0}, {:.0} times",
            fast / slow
        );
    }
    let start = Instant::now();
    for _ in 0..10 {
        RuleSet::from_tree(rules(traits)).unwrap();
    }
    println!("S3: compiled in {:?}", start.elapsed() / 10);
    Ok(())
}

fn rate(start: Instant, count: usize) -> f64 {
    count as f64 / start.elapsed().as_secs_f64()
}

fn arguments<'a>(rules: &'a RuleSet, case: &'a Value) -> polywire_aws::endpoint::Arguments<'a> {
    let mut arguments = rules.arguments();
    for (name, value) in case["params"].as_object().unwrap() {
        match value {
            Value::Bool(value) => arguments.set(name, *value).unwrap(),
            Value::String(text) => arguments.set(name, text.as_str()).unwrap(),
            other => panic!("{other}"),
        }
    }
    arguments
}

fn built_ins_are_known() -> Result<(), Missing> {
    for (name, traits) in services()? {
        let rules = RuleSet::from_tree(rules(&traits)).unwrap();
        for built_in in rules.built_ins() {
            let is_known = polywire_aws::endpoint::built_in::ALL.contains(&built_in);
            assert!(is_known, "{name}: {built_in}");
        }
    }
    Ok(())
}
