//! Error messages and JSON output of failed calls.

use polywire::prelude::*;
use polywire::rpc::CallErrorKind;
use polywire::schema::Operation;

use crate::transport::TransportArguments;
use crate::{Failure, Report, print};

/// Formats a fault with its members, or another failure.
pub(super) fn failure(
    error: CallError,
    operation: Operation<'_>,
    transport: &TransportArguments,
) -> Failure {
    let Some(fault) = error.fault() else {
        let kind = match error.kind() {
            CallErrorKind::Encode => return Failure::usage(error),
            CallErrorKind::Deadline => "timeout",
            CallErrorKind::Decode | CallErrorKind::Protocol => "answer",
            _ => "transport",
        };
        let cause = error.transport();
        let advice = cause.map_or("", |cause| transport.advice(cause));
        let failure = Failure::transport(&error).advised(advice);
        return failure.reported(Report::Error(kind));
    };
    let shape = operation.find_error(fault.shape());
    let details = shape.and_then(|shape| {
        let details = Value::Map(fault.details().clone());
        print::json_of(&details, shape.root()).ok()
    });
    let report = match report(fault, details.as_deref()) {
        Ok(report) => Report::Fault(report),
        Err(_) => Report::Error("fault"),
    };
    let mut message = fault.to_string();
    if let Some(code) = fault.code() {
        message.push_str(&format!(" (fault code {code})"));
    }
    if let Some(json) = details {
        message.push_str(&format!("\n{json}"));
    }
    Failure::fault(message).reported(report)
}

/// Formats a fault as JSON: its code, message, kind and modelled members.
fn report(fault: &Fault, details: Option<&str>) -> Result<String, Failure> {
    let mut about = Map::new();
    if let Some(code) = fault.code() {
        about.insert("code", code);
    }
    about.insert("message", fault.message());
    about.insert("kind", fault.name());
    let mut json = print::json(&Value::Map(about))?;
    if let Some(details) = details {
        json.pop();
        json.push_str(&format!(",\"details\":{details}}}"));
    }
    Ok(json)
}
