//! Finds operations in several doubles, and adds stubs to them.

use polywire_codec::json;
use polywire_schema::{Operation, Value};

use super::stubs::{Stub, StubError, below};
use super::{Double, lock};

/// The double and the operation of a name. The error says what is wrong with the name.
pub(super) fn find<'d>(
    doubles: &'d [Double],
    service: Option<&str>,
    operation: &str,
) -> Result<(usize, &'d Double, Operation<'d>), String> {
    let doubles = doubles.iter().enumerate().filter(|(_, double)| {
        let own = double.0.service.service();
        service.is_none_or(|name| name == own.id() || name == own.name())
    });
    let mut found = doubles.filter_map(|(at, double)| {
        let operation = double.0.service.find_operation(operation)?;
        Some((at, double, operation))
    });
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some((_, one, _)), Some((_, other, _))) => Err(format!(
            "{operation} is an operation of {} and of {}: name the service",
            one.0.service.service().id(),
            other.0.service.service().id()
        )),
        (None, _) => Err(match service {
            Some(service) => format!("no operation `{operation}` of {service}"),
            None => format!("no operation `{operation}`"),
        }),
    }
}

/// Adds stubs before those that there are: a JSON list of them, or one. `docs/double.md` describes
/// them. A stub belongs to the service that it names, or to the one that has its operation.
///
/// # Errors
///
/// The path in the document, and what was expected there: names, types and required members of
/// outputs and errors are checked against the model. Then no stub is added.
///
/// ```
/// # use std::sync::Arc;
/// # use polywire::double::{Double, add_stubs};
/// # let text = r#"
/// #     $version: "2"
/// #     namespace example
/// #     service Clock { version: "1", operations: [Now] }
/// #     operation Now { output := { @required hour: Integer } }
/// # "#;
/// # let model = polywire::model::Loader::new().add_text("clock.smithy", text).assemble()?.model;
/// # let service = polywire::service_of(&model, None)?;
/// let double = Double::builder(Arc::new(model), service).build();
/// let doubles = [double];
/// add_stubs(&doubles, r#"{"operation": "Now", "response": {"output": {"hour": 7}}}"#)?;
/// let wrong = r#"[{"operation": "Now", "response": {"output": {"hour": "7"}}}]"#;
/// let error = add_stubs(&doubles, wrong).unwrap_err().to_string();
/// assert!(error.starts_with("[0].response.output: "), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add_stubs(doubles: &[Double], text: &str) -> Result<(), StubError> {
    let document = json::read_value(text);
    let document = document.map_err(|error| StubError::new("", error.to_string()))?;
    let (items, is_list) = match &document {
        Value::List(items) => (items.as_slice(), true),
        one => (std::slice::from_ref(one), false),
    };
    let mut new: Vec<Vec<Stub>> = doubles.iter().map(|_| Vec::new()).collect();
    for (index, item) in items.iter().enumerate() {
        let path = match is_list {
            true => format!("[{index}]"),
            false => String::new(),
        };
        let Value::Map(_) = item else {
            return Err(StubError::new(path, "expected an object"));
        };
        let service = item.get("service").and_then(Value::as_str);
        let Some(name) = item.get("operation").and_then(Value::as_str) else {
            let at = below(&path, "operation");
            return Err(StubError::new(at, "expected the name of an operation"));
        };
        let found = find(doubles, service, name);
        let (at, double, _) =
            found.map_err(|reason| StubError::new(below(&path, "operation"), reason))?;
        let service = double.0.service.service();
        new[at].push(Stub::read(&double.0.model, service, item, &path)?);
    }
    for (double, stubs) in doubles.iter().zip(&new) {
        lock(&double.0.stubs).check(stubs.len())?;
    }
    for (double, stubs) in doubles.iter().zip(new) {
        lock(&double.0.stubs).add(stubs);
    }
    Ok(())
}
