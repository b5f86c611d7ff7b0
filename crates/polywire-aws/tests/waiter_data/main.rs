//! The waiters and the paths of `operationContextParams` of the service models.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests")]

use std::time::Duration;

use polywire_aws::waiter::jmespath::Expression;
use polywire_aws::waiter::{Step, Waiter};
use serde_json::{Value, json};
use test_data::{Missing, data};

test_data::tests! {
    waiters_are_read_and_evaluated,
    context_paths_are_read_and_evaluated,
}

/// The traits of all operations of all models.
fn operations() -> Result<Vec<Value>, Missing> {
    let mut operations = Vec::new();
    for entry in std::fs::read_dir(data("models")?).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let mut model: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for shape in model["shapes"].as_object_mut().unwrap().values_mut() {
            if shape["type"] == "operation" {
                operations.push(shape["traits"].take());
            }
        }
    }
    Ok(operations)
}

fn waiters_are_read_and_evaluated() -> Result<(), Missing> {
    let (mut count, mut succeeded) = (0, 0);
    for traits in operations()? {
        let waitable = &traits["smithy.waiters#waitable"];
        if waitable.is_null() {
            continue;
        }
        for (name, waiter) in Waiter::all_from_json(waitable).unwrap() {
            count += 1;
            for output in [json!({}), output_for(&waitable[&name])] {
                let mut waiting = waiter.start(Duration::from_secs(60));
                let step = waiting.responded(Duration::ZERO, &json!({}), Ok(&output), 0.5);
                succeeded += usize::from(step == Step::Succeeded);
            }
        }
    }
    println!("{count} waiters, {succeeded} successes");
    assert!(count > 0 && succeeded >= count / 2);
    Ok(())
}

/// An output for which the first acceptor with a path and the state `success` matches, if its path has a known form.
fn output_for(waiter: &Value) -> Value {
    let acceptors = waiter["acceptors"].as_array().unwrap();
    let success = acceptors.iter().find(|a| a["state"] == "success").unwrap();
    let matcher = &success["matcher"]["output"];
    let Some(path) = matcher["path"].as_str() else {
        return json!({});
    };
    let list = path
        .strip_prefix("length(")
        .and_then(|rest| rest.strip_suffix("[]) > `0`"));
    match list {
        Some(list) => json!({ list: [1] }),
        None => path.rsplit('.').fold(
            matcher["expected"].clone(),
            |value, name| json!({ name: value }),
        ),
    }
}

fn context_paths_are_read_and_evaluated() -> Result<(), Missing> {
    let input = json!({
        "RequestItems": { "table-1": [], "table-2": [] },
        "TableCreationParameters": { "TableName": "table-3" },
        "TransactItems": [{ "Get": { "TableName": "table-4" } }, { "Put": { "TableName": "table-5" } }],
    });
    let mut found = Vec::new();
    for traits in operations()? {
        let parameters = traits["smithy.rules#operationContextParams"].as_object();
        for parameter in parameters.into_iter().flatten() {
            let path = Expression::parse(parameter.1["path"].as_str().unwrap()).unwrap();
            found.push(path.search(&input).unwrap().into_owned());
        }
    }
    println!("{} paths", found.len());
    for expected in [
        json!(["table-1", "table-2"]),
        json!("table-3"),
        json!(["table-4"]),
    ] {
        assert!(found.contains(&expected), "{expected}");
    }
    Ok(())
}
