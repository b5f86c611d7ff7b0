//! Answers from a recording.

use std::collections::HashMap;

use http::StatusCode;
use polywire_codec::json;
use polywire_protocol::Fault;
use polywire_rpc::server::ConnectionFault;
use polywire_schema::{Map, MemberFlags, Operation, Service, Value};

use super::stubs::{Reply, StubError, below};

/// What calls were answered with, by operation and input.
#[derive(Debug, Default)]
pub(crate) struct Replay(HashMap<u32, Vec<Answers>>);

/// The answers to equal inputs.
#[derive(Debug)]
struct Answers {
    input: Value,
    /// In the order of the recording. The last one is repeated.
    replies: Vec<Reply>,
    next: usize,
}

impl Replay {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the calls of a recording: one JSON object per line. Calls of other services are skipped.
    ///
    /// # Errors
    ///
    /// The number of a line, and what was expected there.
    pub(crate) fn read(&mut self, service: Service<'_>, text: &str) -> Result<(), StubError> {
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let path = format!("line {}", index + 1);
            let value = json::read_value(line);
            let value = value.map_err(|error| StubError::new(&*path, error.to_string()))?;
            if value["service"]
                .as_str()
                .is_some_and(|own| own != service.id())
            {
                continue;
            }
            let name = value["operation"].as_str().unwrap_or_default();
            let Some(operation) = service.find_operation(name) else {
                let reason = format!("{} has no operation `{name}`", service.name());
                return Err(StubError::new(below(&path, "operation"), reason));
            };
            let input = value["input"].clone().into_owned();
            if !matches!(input, Value::Map(_)) {
                let at = below(&path, "input");
                return Err(StubError::new(at, "expected an object of members"));
            }
            // Those whose caller left have no answer.
            if let Some(reply) = reply(operation, &value, &path)? {
                self.add(operation, input, reply);
            }
        }
        Ok(())
    }

    fn add(&mut self, operation: Operation<'_>, input: Value, reply: Reply) {
        let input = comparable(operation, input);
        let all = self.0.entry(operation.index()).or_default();
        match all.iter_mut().find(|answers| answers.input == input) {
            Some(answers) => answers.replies.push(reply),
            None => all.push(Answers {
                input,
                replies: vec![reply],
                next: 0,
            }),
        }
    }

    /// The next answer to an input.
    pub(crate) fn reply(&mut self, operation: Operation<'_>, input: &Value) -> Option<Reply> {
        let all = self.0.get_mut(&operation.index())?;
        let input = comparable(operation, input.clone());
        let answers = all.iter_mut().find(|answers| answers.input == input)?;
        let reply = answers.replies.get(answers.next).or(answers.replies.last());
        let reply = reply.cloned();
        answers.next += 1;
        reply
    }
}

/// An input without its idempotency tokens, which clients make up.
fn comparable(operation: Operation<'_>, mut input: Value) -> Value {
    if let Value::Map(map) = &mut input {
        for member in operation.input().members() {
            if member.has(MemberFlags::IDEMPOTENCY_TOKEN) {
                map.remove(member.name());
            }
        }
    }
    input
}

/// The answer of a recorded call.
fn reply(operation: Operation<'_>, call: &Value, path: &str) -> Result<Option<Reply>, StubError> {
    let expected = "expected `output`, `error` or `connection`";
    let output = &call["output"];
    if !output.is_null() {
        let output = super::json::structure(output, operation.output(), false);
        let at = below(path, "output");
        let output = output.map_err(|error| StubError::new(at, error.to_string()))?;
        return Ok(Some(Reply::Output(output.into())));
    }
    let error = &call["error"];
    if let Some(name) = error["name"].as_str() {
        let at = below(path, "error");
        if let Some(shape) = operation.errors().find(|shape| shape.name() == name) {
            let members = match &error["members"] {
                Value::Null => Ok(Map::new()),
                members => super::json::structure(members, shape, false),
            };
            let at = below(&at, "members");
            let members = members.map_err(|error| StubError::new(at, error.to_string()))?;
            return Ok(Some(Reply::Fault(Fault::modelled(shape.id(), members))));
        }
        let status = error["status"].as_i64().unwrap_or(500);
        let status = u16::try_from(status).ok();
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        let at = below(&at, "status");
        let status = status.ok_or_else(|| StubError::new(at, "expected an HTTP status"))?;
        let message = error["message"].as_str().unwrap_or_default();
        return Ok(Some(Reply::Fault(Fault::named(status, name, message))));
    }
    match call["connection"].as_str() {
        Some("reset") => Ok(Some(Reply::Connection(ConnectionFault::Reset))),
        Some("close") => Ok(Some(Reply::Connection(ConnectionFault::Close))),
        Some("cancelled") => Ok(None),
        _ => Err(StubError::new(path, expected)),
    }
}
