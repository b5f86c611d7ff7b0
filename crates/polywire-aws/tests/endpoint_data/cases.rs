//! Published test cases in the form of the trait `smithy.rules#endpointTests`.

use polywire_aws::endpoint::{Arguments, Endpoint, Partitions, Property, RuleSet};
use serde_json::{Map, Value, json};

/// Evaluates a rule set with the parameters of a case; the result has the form of what the case expects.
pub(crate) fn evaluate(rules: &RuleSet, params: &Value, partitions: &Partitions) -> Value {
    let mut arguments = rules.arguments();
    for (name, value) in params.as_object().into_iter().flatten() {
        if rules.parameter(name).is_none() {
            // Cases list values of clients that the rules do not use.
            continue;
        }
        let set = match value {
            Value::Bool(value) => arguments.set(name, *value),
            Value::String(text) => arguments.set(name, text.as_str()),
            Value::Array(items) => {
                let items = items.iter().map(|item| item.as_str().unwrap().to_owned());
                arguments.set(name, items.collect::<Vec<_>>())
            }
            Value::Null => Ok(()),
            other => panic!("{name}: {other}"),
        };
        set.unwrap();
    }
    resolve(&arguments, partitions)
}

/// The result in the form of what cases expect.
pub(crate) fn resolve(arguments: &Arguments<'_>, partitions: &Partitions) -> Value {
    match arguments.resolve(partitions) {
        Ok(endpoint) => json!({ "endpoint": document(&endpoint) }),
        Err(error) => json!({ "error": error.to_string() }),
    }
}

fn document(endpoint: &Endpoint) -> Value {
    let mut document = json!({ "url": endpoint.url });
    if !endpoint.headers.is_empty() {
        let headers = endpoint.headers.iter();
        document["headers"] = headers
            .map(|(name, values)| (name.clone(), json!(values)))
            .collect::<Map<_, _>>()
            .into();
    }
    if !endpoint.properties.is_empty() {
        document["properties"] = property(&Property::Record(endpoint.properties.clone()));
    }
    document
}

fn property(value: &Property) -> Value {
    match value {
        Property::Array(items) => items.iter().map(property).collect(),
        Property::Boolean(value) => (*value).into(),
        Property::Integer(value) => (*value).into(),
        Property::Record(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), property(value)))
            .collect::<Map<_, _>>()
            .into(),
        Property::String(text) => text.as_str().into(),
        other => panic!("{other:?}"),
    }
}

/// What a case expects, without empty members.
pub(crate) fn expected(case: &Value) -> Value {
    let mut expected = case["expect"].clone();
    if let Some(endpoint) = expected.get_mut("endpoint").and_then(Value::as_object_mut) {
        for key in ["headers", "properties"] {
            if endpoint
                .get(key)
                .and_then(Value::as_object)
                .is_some_and(Map::is_empty)
            {
                endpoint.remove(key);
            }
        }
    }
    expected
}
