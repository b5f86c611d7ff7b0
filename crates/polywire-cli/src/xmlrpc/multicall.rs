//! Many calls in one request.

use std::io::Read;

use polywire::rpc::CallErrorKind;
use polywire::rpc::xmlrpc::Client;
use polywire::schema::{Map, Value};

use super::advice::Advice;
use super::{Output, failure, input, report};
use crate::{Failure, Report};

/// A method and its parameters.
pub(super) type Call = (String, Vec<Value>);

/// Reads calls from a file.
pub(super) fn read(path: &str) -> Result<Vec<Call>, Failure> {
    let mut text = String::new();
    let read = match path {
        "-" => std::io::stdin().lock().read_to_string(&mut text),
        path => std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text)),
    };
    let name = if path == "-" { "standard input" } else { path };
    read.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    calls(&text).map_err(|reason| Failure::usage(format!("{name}: {reason}")))
}

fn calls(text: &str) -> Result<Vec<Call>, String> {
    const EXPECTED: &str = "expected a JSON array of {\"method\": NAME, \"params\": [...]}, or a \
                            JSON array per line, [\"NAME\", ARGUMENT, ...]";
    // A single line in the second form is an array too, but starts with a name.
    let whole = input::json(text);
    let is_list = |value: &Value| {
        let list = value.as_list();
        list.is_some_and(|list| list.first().is_none_or(|first| first.as_str().is_none()))
    };
    if let Ok(value) = &whole
        && is_list(value)
    {
        let list = value.as_list().unwrap_or_default();
        let each = list.iter().enumerate();
        return each
            .map(|(index, value)| call(value).ok_or(format!("call {}: {EXPECTED}", index + 1))?)
            .collect();
    }
    let lines = text.lines().enumerate();
    let calls: Result<Vec<Call>, String> = lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            let at = |reason: &str| format!("line {}: {reason}", index + 1);
            let value = input::json(line)
                .map_err(|error| at(&format!("{}; {EXPECTED}", error.message())))?;
            call(&value).ok_or_else(|| at(EXPECTED))?
        })
        .collect();
    let calls = calls?;
    match calls.is_empty() {
        true => Err(format!("no calls; {EXPECTED}")),
        false => Ok(calls),
    }
}

/// Parses a call in either form. `None` if it is neither.
fn call(value: &Value) -> Option<Result<Call, String>> {
    let (name, parameters) = match value {
        Value::List(list) => {
            let (name, parameters) = list.split_first()?;
            (name.as_str()?, parameters)
        }
        Value::Map(map) => {
            let name = map.get("method").or_else(|| map.get("methodName"))?;
            let parameters = match map.get("params") {
                None => &[][..],
                Some(parameters) => parameters.as_list()?,
            };
            (name.as_str()?, parameters)
        }
        _ => return None,
    };
    let parameters = parameters.iter().cloned().map(input::with_types);
    let parameters: Result<Vec<Value>, String> = parameters.collect();
    Some(parameters.map(|parameters| (name.to_owned(), parameters)))
}

pub(super) async fn run(
    client: &Client,
    advice: &Advice,
    calls: Vec<Call>,
    output: Output,
) -> Result<(), Failure> {
    let failure = |error| failure(advice, error);
    let mut batch = client.batch();
    let mut places = Vec::with_capacity(calls.len());
    for (method, parameters) in &calls {
        places.push(batch.add_values(method, parameters).map_err(failure)?);
    }
    let replies = batch.send().await.map_err(failure)?;
    let (mut faults, mut broken) = (0, None);
    let mut list = Vec::with_capacity(places.len());
    for place in places {
        let entry = match replies.get(place) {
            Ok(value) => ("result", value),
            // Print the results of earlier calls, because those calls were made.
            Err(error) if error.kind() == CallErrorKind::NotSent => ("notSent", Value::from(true)),
            Err(error) => match error.xmlrpc_fault() {
                Some(fault) => {
                    faults += 1;
                    ("fault", Value::Map(report(fault)))
                }
                None => {
                    let text = Value::from(error.to_string());
                    broken.get_or_insert(error);
                    ("error", text)
                }
            },
        };
        list.push(Value::Map(Map::from_iter([entry])));
    }
    output.print(&Value::List(list))?;
    if let Some(error) = broken {
        // The printed array contains the fault.
        return Err(failure(error).reported(Report::None));
    }
    match faults {
        0 => Ok(()),
        1 => Err(Failure::fault("one call of the batch returned a fault")),
        many => Err(Failure::fault(format!(
            "{many} calls of the batch returned faults"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let expected = vec![
            ("a".to_owned(), vec![Value::from(1)]),
            ("b".to_owned(), Vec::new()),
        ];
        for text in [
            r#"[{"method": "a", "params": [1]}, {"method": "b"}]"#,
            r#"[["a", 1], ["b"]]"#,
            "[\"a\", 1]\n\n[\"b\"]\n",
            "{\"method\": \"a\", \"params\": [1]}\n{\"methodName\": \"b\"}",
        ] {
            assert_eq!(calls(text).unwrap(), expected, "{text}");
        }
        assert_eq!(calls(r#"["a", 1]"#).unwrap(), expected[..1]);
        assert_eq!(calls("[]").unwrap(), []);
        for (text, part) in [
            ("", "no calls"),
            ("[1]", "call 1"),
            ("[\"a\"]\nx", "line 2"),
            ("[\"a\"]\n[1]", "line 2"),
            (r#"[{"params": []}]"#, "call 1"),
            (r#"[["a", {"$blob": "?"}]]"#, "$blob"),
        ] {
            let reason = calls(text).unwrap_err();
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }
}
