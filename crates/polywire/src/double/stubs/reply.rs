//! What a stub answers.

use std::sync::Arc;

use http::StatusCode;
use polywire_model::Model;
use polywire_protocol::{Fault, FaultKind};
use polywire_rpc::server::ConnectionFault;
use polywire_schema::{Map, Operation, Value};

use super::StubError;
use super::matcher::below;
use crate::double::json;
use crate::mock::sample;

/// What a stub answers.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Output(Arc<Map>),
    Fault(Fault),
    Connection(ConnectionFault),
    /// No answer, until the handler timeout of the server.
    Stall,
}

const KINDS: &str = "expected one of `output`, `error`, `fault` and `connection`";

impl Reply {
    /// Reads a response of a stub.
    pub(super) fn read(
        model: &Model,
        operation: Operation<'_>,
        map: &Map,
        path: &str,
    ) -> Result<Self, StubError> {
        let known = [
            "output",
            "error",
            "members",
            "fault",
            "connection",
            "delay_ms",
        ];
        if let Some(name) = map.keys().find(|name| !known.contains(name)) {
            return Err(StubError::new(
                below(path, name),
                format!("expected one of {}", known.join(", ")),
            ));
        }
        let kinds = ["output", "error", "fault", "connection"];
        let mut given = kinds
            .iter()
            .filter_map(|kind| Some((*kind, map.get(kind)?)));
        let (Some((kind, value)), None) = (given.next(), given.next()) else {
            return Err(StubError::new(path, KINDS));
        };
        let at = below(path, kind);
        if kind != "error" && map.contains_key("members") {
            return Err(StubError::new(
                below(path, "members"),
                "expected `error` beside it",
            ));
        }
        match kind {
            "output" => {
                let output = json::structure(value, operation.output(), true);
                let output = output.map_err(|error| StubError::new(at, error.to_string()))?;
                Ok(Self::Output(Arc::new(output)))
            }
            "error" => {
                let name = value.as_str();
                let name =
                    name.ok_or_else(|| StubError::new(&*at, "expected the name of an error"))?;
                let members = map.get("members");
                let fault = modelled(model, operation, name, members);
                fault
                    .map(Self::Fault)
                    .map_err(|(is_name, reason)| match is_name {
                        true => StubError::new(at, reason),
                        false => StubError::new(below(path, "members"), reason),
                    })
            }
            "fault" => fault(operation, value)
                .map(Self::Fault)
                .map_err(|reason| StubError::new(at, reason)),
            _ => match value.as_str() {
                Some("reset") => Ok(Self::Connection(ConnectionFault::Reset)),
                Some("close") => Ok(Self::Connection(ConnectionFault::Close)),
                Some("stall") => Ok(Self::Stall),
                _ => Err(StubError::new(at, "expected `reset`, `close` or `stall`")),
            },
        }
    }
}

/// A modelled error. Required members that are not given have samples. The error says whether it is
/// the name that is wrong.
fn modelled(
    model: &Model,
    operation: Operation<'_>,
    name: &str,
    members: Option<&Value>,
) -> Result<Fault, (bool, String)> {
    let mut errors = operation.errors();
    let found = errors.find(|error| error.id() == name || error.name() == name);
    let Some(shape) = found else {
        let names: Vec<&str> = operation.errors().map(|error| error.name()).collect();
        let expected = match names.is_empty() {
            true => format!("{} has no errors; use `fault`", operation.name()),
            false => format!("expected one of {}", names.join(", ")),
        };
        return Err((true, expected));
    };
    let mut details = match members {
        None => Map::new(),
        Some(members) => {
            json::structure(members, shape, false).map_err(|error| (false, error.to_string()))?
        }
    };
    let sample = sample::structure(model, shape);
    for member in shape.members().filter(|member| member.is_required()) {
        if let (false, Some(sample)) = (
            details.contains_key(member.name()),
            sample.get(member.name()),
        ) {
            details.insert(member.name(), sample.clone());
        }
    }
    Ok(Fault::modelled(shape.id().to_owned(), details))
}

/// A fault that is no error of the model: by a word, or `{"status", "name", "message"}`.
fn fault(operation: Operation<'_>, value: &Value) -> Result<Fault, String> {
    const WORDS: &str = "expected `throttling`, `unavailable`, `internal`, `timeout`, `forbidden`, \
        or an object of `status`, `name` and `message`";
    if let Value::Map(map) = value {
        let status = map.get("status").and_then(Value::as_i64);
        let status = status.and_then(|status| u16::try_from(status).ok());
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        let status = status.filter(|status| status.is_client_error() || status.is_server_error());
        let status = status.ok_or("expected `status`: a number from 400 to 599")?;
        let name = map.get("name").and_then(Value::as_str);
        let name = name.ok_or("expected `name`: the name of the error")?;
        let message = map.get("message").and_then(Value::as_str);
        return Ok(Fault::named(status, name, message.unwrap_or_default()));
    }
    let named = |status, name: &str| Fault::named(status, name, "a stub of the test");
    Ok(match value.as_str().ok_or(WORDS)? {
        "throttling" => throttling(operation),
        "unavailable" => Fault::new(FaultKind::Overloaded, "a stub of the test"),
        "internal" => named(StatusCode::INTERNAL_SERVER_ERROR, "InternalFailure"),
        "timeout" => named(StatusCode::GATEWAY_TIMEOUT, "RequestTimeoutException"),
        "forbidden" => named(StatusCode::FORBIDDEN, "AccessDeniedException"),
        _ => return Err(WORDS.to_owned()),
    })
}

/// The modelled error for too many calls: one with `@retryable(throttling: true)` or such a name.
/// Without one it is `ThrottlingException` with the status 429.
pub(super) fn throttling(operation: Operation<'_>) -> Fault {
    const NAMES: [&str; 5] = [
        "throttl",
        "toomanyrequests",
        "slowdown",
        "throughputexceeded",
        "requestlimitexceeded",
    ];
    let mut errors = operation.errors();
    let modelled = errors.find(|error| {
        let name = error.name().to_ascii_lowercase();
        NAMES.iter().any(|own| name.contains(own))
            || error.error().is_some_and(|own| own.status == 429)
    });
    let text = "too many calls, by a stub of the test";
    match modelled {
        Some(shape) => {
            let mut members = shape.members();
            let message = members.find(|member| member.name().eq_ignore_ascii_case("message"));
            let details = message.map(|member| (member.name().to_owned(), Value::from(text)));
            Fault::modelled(shape.id().to_owned(), Map::from_iter(details))
        }
        None => Fault::named(StatusCode::TOO_MANY_REQUESTS, "ThrottlingException", text),
    }
}
