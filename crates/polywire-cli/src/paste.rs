//! Example commands that call the service, to be copied into a terminal.

use http::Request;
use polywire::codec::Dynamic;
use polywire::codec::json::{JsonEncoder, JsonProfile};
use polywire::model::Model;
use polywire::prelude::*;
use polywire::protocol::ClientProtocol;
use polywire::schema::{Encode, Operation};

use crate::authentication::CredentialKind;

/// Returns a command that calls an operation: with curl if the body is text, or else with this
/// program. `None` if neither can send the credentials.
pub(crate) fn command(
    base: &str,
    protocol: &dyn ClientProtocol,
    operation: Operation<'_>,
    input: &Map,
    credentials: CredentialKind,
) -> Option<String> {
    let value = Value::Map(input.clone());
    let request = protocol.encode_input(operation, &Dynamic(&value)).ok()?;
    match std::str::from_utf8(request.body()) {
        Ok(body) if protocol.kind() != ProtocolKind::RpcV2Cbor => {
            Some(curl(base, &request, body, credentials.of_curl(base)?))
        }
        _ => own_call(base, protocol.kind(), operation, input, credentials),
    }
}

fn curl(base: &str, request: &Request<bytes::Bytes>, body: &str, credentials: &str) -> String {
    let mut line = format!("curl{credentials}");
    let method = request.method().as_str();
    // The method that curl uses by default.
    let default_method = if body.is_empty() { "GET" } else { "POST" };
    if method != default_method {
        line.push_str(&format!(" -X {method}"));
    }
    let target = format!("{base}{}", request.uri());
    line.push_str(&format!(" {}", quote(&target)));
    for (name, value) in request.headers() {
        if let Ok(value) = value.to_str() {
            line.push_str(&format!(" -H {}", quote(&format!("{name}: {value}"))));
        }
    }
    if !body.is_empty() {
        line.push_str(&format!(" -d {}", quote(body)));
    }
    line
}

fn own_call(
    base: &str,
    kind: ProtocolKind,
    operation: Operation<'_>,
    input: &Map,
    credentials: CredentialKind,
) -> Option<String> {
    let call = over_frames(base, operation, input, credentials)?;
    Some(format!("{call} --protocol {kind}"))
}

/// Returns a command that calls an operation with this program, over frames if the URL is for
/// frames. `None` if it cannot send the credentials.
pub(crate) fn over_frames(
    base: &str,
    operation: Operation<'_>,
    input: &Map,
    credentials: CredentialKind,
) -> Option<String> {
    let credentials = credentials.of_program(base)?;
    let mut encoder = JsonEncoder::new(JsonProfile::HUMAN, Vec::new());
    input.encode(operation.input().root(), &mut encoder);
    let json = encoder.finish().unwrap_or_default();
    let json = String::from_utf8_lossy(&json);
    let json = if json == "{}" {
        String::new()
    } else {
        format!(" {}", quote(&json))
    };
    let (program, name) = (program(), operation.name());
    Some(format!("{program} call{credentials} {base} {name}{json}"))
}

/// The name under which this program was started, which works in the user's terminal.
fn program() -> String {
    let started = std::env::args().next();
    quote(&started.unwrap_or_else(|| "polywire".to_owned()))
}

/// Quotes a word for a POSIX shell.
fn quote(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%,+".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Selects the operation that is easiest to call, and an input for it: a read-only operation with
/// an example, or else one without required input.
pub(crate) fn easiest_call<'s>(
    model: &Model,
    service: &'s ServiceHandle,
) -> Option<(Operation<'s>, Map)> {
    use polywire::schema::OperationFlags;
    let cost = |operation: &Operation<'_>, input: &Map, example: bool| {
        let required = operation
            .input()
            .members()
            .filter(|member| member.is_required())
            .count();
        let reads = operation.has(OperationFlags::READONLY);
        (!reads, !example, required, input.len())
    };
    service
        .service()
        .operations()
        .filter_map(|operation| {
            let (input, example) = polywire::mock::input(model, operation)?;
            Some((cost(&operation, &input, example), operation, input))
        })
        .min_by_key(|(cost, _, _)| *cost)
        .map(|(_, operation, input)| (operation, input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(quote("a/b?c"), "'a/b?c'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote("plain"), "plain");
    }
}
