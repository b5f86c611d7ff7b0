//! The published cases with the input of an operation: the bindings of the model give the arguments.

use std::fs;

use polywire_aws::endpoint::{Arguments, ServiceRules};
use serde_json::{Value, json};
use test_data::{Missing, data};

use super::{cases, partitions, services, test_cases};

pub(crate) fn inputs_of_operations_give_the_same_results() -> Result<(), Missing> {
    let mut count = 0;
    for (name, traits) in services()? {
        let text = fs::read(data("models")?.join(format!("{name}.json"))).unwrap();
        let model: Value = serde_json::from_slice(&text).unwrap();
        let shapes = model["shapes"].as_object().unwrap();
        let service = shapes.iter().find(|(_, shape)| shape["type"] == "service");
        let rules = ServiceRules::from_model(&model, service.unwrap().0).unwrap();
        for case in test_cases(&traits) {
            for call in case["operationInputs"].as_array().into_iter().flatten() {
                let found = evaluate(&rules, call);
                assert_eq!(found, cases::expected(case), "{name}: {call}");
                count += 1;
            }
        }
    }
    println!("{count} inputs");
    assert!(count > 300);
    Ok(())
}

fn evaluate(rules: &ServiceRules, call: &Value) -> Value {
    let mut arguments = rules.rules().arguments();
    let built_ins = call["builtInParams"].as_object();
    for (name, value) in built_ins.into_iter().flatten() {
        set_built_in(&mut arguments, name, value);
    }
    let input = call.get("operationParams").cloned().unwrap_or(json!({}));
    let name = call["operationName"].as_str().unwrap();
    rules.bind(name, &input, &mut arguments).unwrap();
    cases::resolve(&arguments, partitions())
}

fn set_built_in<'a>(arguments: &mut Arguments<'a>, name: &str, value: &'a Value) {
    let set = match value {
        Value::Bool(value) => arguments.set_built_in(name, *value),
        Value::String(text) => arguments.set_built_in(name, text.as_str()),
        other => panic!("{name}: {other}"),
    };
    assert!(set.unwrap(), "{name}");
}
