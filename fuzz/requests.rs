//! Requests to a service with every HTTP binding, on all protocols at once.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, request, response,
};
use polywire_codec::{Dynamic, Format, Sink};
use polywire_model::Loader;
use polywire_protocol::{
    BatchEntry, Fault, Outcome, Plan, Protocol, ProtocolKind, ReadPlan, Route, detect,
};
use polywire_schema::{Body, Error, Limits, Map, Operation, SchemaSet, Value};

use super::alike::Wire;
use super::readers::SMALL;

static SET: LazyLock<SchemaSet<'static>> = LazyLock::new(|| {
    let text = include_str!("service.smithy");
    let loaded = Loader::new().add_text("service.smithy", text).assemble();
    let model = loaded.unwrap_or_else(|error| panic!("{error}")).model;
    model.schemas("fuzz#Everything").unwrap().unwrap()
});

static PROTOCOLS: LazyLock<Vec<Box<dyn Protocol>>> = LazyLock::new(|| {
    let service = SET.service(0);
    let build = |kind: ProtocolKind| kind.build(service).unwrap();
    ProtocolKind::http().map(build).collect()
});

pub(crate) fn any(data: &[u8]) {
    let Some((head, body)) = parse(data) else {
        return;
    };
    answer(&head, &body);
    // The same headers and body as what a peer might answer.
    for status in [StatusCode::OK, StatusCode::CONFLICT] {
        let (mut response, ()) = Response::new(()).into_parts();
        response.headers = head.headers.clone();
        response.status = status;
        for protocol in PROTOCOLS.iter() {
            for operation in SET.service(0).operations() {
                read_response(&**protocol, operation, &response, &body);
            }
        }
    }
}

/// What the client of a service makes of a body that says why there is no output.
pub(crate) fn fault(data: &[u8]) {
    let protocol = PROTOCOLS
        .iter()
        .find(|protocol| protocol.kind() == ProtocolKind::XmlRpc);
    let (head, ()) = Response::new(()).into_parts();
    let body = Body::from(data.to_vec());
    for operation in SET.service(0).operations() {
        read_response(&**protocol.unwrap(), operation, &head, &body);
    }
}

/// Reads `METHOD TARGET`, lines of headers, an empty line, and the body.
fn parse(data: &[u8]) -> Option<(request::Parts, Body)> {
    let end = data.windows(2).position(|pair| pair == b"\n\n")?;
    let mut lines = data[..end].split(|byte| *byte == b'\n');
    let first = lines.next()?;
    let space = first.iter().position(|byte| *byte == b' ')?;
    let (mut head, ()) = Request::new(()).into_parts();
    head.method = Method::from_bytes(&first[..space]).ok()?;
    head.uri = Uri::try_from(&first[space + 1..]).ok()?;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
        head.headers.append(name, value);
    }
    Some((head, Body::from(data[end + 2..].to_vec())))
}

/// What a server does with it, but for the handler.
fn answer(head: &request::Parts, body: &Body) {
    let Some(protocol) = detect(&PROTOCOLS, head) else {
        return;
    };
    let protocol = &*PROTOCOLS[protocol];
    match calls(protocol, head, body, &SMALL) {
        Err(fault) => refused(protocol, None, &fault),
        Ok(calls) => {
            for call in calls {
                match call {
                    Ok((route, input)) => answer_call(protocol, head, &input, &route),
                    Err(fault) => refused(protocol, None, &fault),
                }
            }
        }
    }
}

/// A call of a message, or why it is none.
type Call = Result<(Route, Body), Fault>;

/// The operation of each call of a message, and the part of the body with its input.
fn calls(
    protocol: &dyn Protocol,
    head: &request::Parts,
    body: &Body,
    limits: &Limits,
) -> Result<Vec<Call>, Fault> {
    let bytes = Bytes::copy_from_slice(body.as_bytes());
    let route = match protocol.route(head)? {
        Plan::Buffer(route) => route,
        Plan::BufferThenSplit => {
            let calls = protocol.split(head, bytes, limits)?.calls.into_iter();
            let call = |call: BatchEntry| Ok((call.target?, Body::new(call.input)));
            return Ok(calls.map(call).collect());
        }
        _ => protocol.route_body(head, body, limits)?,
    };
    Ok(vec![Ok((route, Body::new(bytes)))])
}

/// What a server does with a call.
fn answer_call(protocol: &dyn Protocol, head: &request::Parts, body: &Body, route: &Route) {
    let operation = SET.operation(route.operation);
    let plan = ReadPlan {
        head,
        body,
        route,
        limits: &SMALL,
        memory: None,
    };
    let mut input = Map::new();
    match protocol.decode_input(operation, &plan, &mut input) {
        Ok(()) => {
            let input = without_repeats(operation, input);
            written(protocol, operation, &Value::Map(input));
        }
        Err(fault) => refused(protocol, Some(operation), &fault),
    }
}

/// A fault for the caller is one that a client reads as such.
fn refused(protocol: &dyn Protocol, operation: Option<Operation<'_>>, fault: &Fault) {
    assert_ne!(
        fault.kind(),
        polywire_protocol::FaultKind::Internal,
        "{fault:?}"
    );
    let (head, body) = protocol.encode_fault(operation, fault).into_parts();
    let any = operation.unwrap_or_else(|| SET.operation(0));
    match protocol.outcome(any, &head, &Body::from(body), &Default::default()) {
        Ok(Outcome::Fault(_) | Outcome::Foreign(_)) => {}
        Ok(outcome) => panic!("{fault:?} became {outcome:?}"),
        Err(error) => assert!(head.status.is_client_error(), "{error}"),
    }
}

/// An input that a client can write is the one that a server reads.
fn written(protocol: &dyn Protocol, operation: Operation<'_>, input: &Value) {
    let Ok(request) = protocol.encode_input(operation, &Dynamic(input)) else {
        return;
    };
    let (head, body) = request.into_parts();
    let body = Body::from(body);
    let calls = calls(protocol, &head, &body, &Default::default());
    let mut calls = calls.unwrap_or_else(|fault| panic!("{fault:?} for {head:?}"));
    let (route, body) = calls.swap_remove(0).unwrap();
    assert_eq!(SET.operation(route.operation).name(), operation.name());
    let plan = ReadPlan {
        head: &head,
        body: &body,
        route: &route,
        limits: &Default::default(),
        memory: None,
    };
    let mut again = Map::new();
    if let Err(fault) = protocol.decode_input(operation, &plan, &mut again) {
        panic!("{fault:?} for {head:?} of {input:?}");
    }
    let again = Value::Map(without_repeats(operation, again));
    let alike = wire(protocol).alike(input, &again);
    assert!(alike, "{input:?}\n{again:?}\n{head:?}");
}

/// The map of all parameters also has those of members, and where one came
/// several times the map alone has the others. A client must not write them
/// there again: `@httpQuery` takes precedence over `@httpQueryParams`.
fn without_repeats(operation: Operation<'_>, mut input: Map) -> Map {
    if operation.name() == "Parameters"
        && let Some(Value::Map(all)) = input.get_mut("all")
    {
        all.remove("s");
    }
    input
}

/// What a client does with a response.
fn read_response(
    protocol: &dyn Protocol,
    operation: Operation<'_>,
    head: &response::Parts,
    body: &Body,
) {
    let mut value = Map::new();
    match protocol.outcome(operation, head, body, &SMALL) {
        Ok(Outcome::Output) => {
            let sink: &mut dyn Sink<'_> = &mut value;
            let read = protocol.decode_output(operation, head, body, &SMALL, sink);
            if checked(&read) {
                output(protocol, operation, &Value::Map(value));
            }
        }
        Ok(Outcome::Error(error)) => {
            let sink: &mut dyn Sink<'_> = &mut value;
            checked(&protocol.decode_error(error, head, body, &SMALL, sink));
        }
        Ok(Outcome::Fault(fault)) => assert!(!format!("{fault:?}").is_empty()),
        Ok(Outcome::Foreign(what)) => assert!(!what.is_empty()),
        Err(error) => {
            checked(&Err(error));
        }
    }
}

/// An output that a server can write is the one that a client reads.
fn output(protocol: &dyn Protocol, operation: Operation<'_>, value: &Value) {
    let Ok(response) = protocol.encode_output(operation, &Dynamic(value)) else {
        return;
    };
    let (head, body) = response.into_parts();
    let body = Body::from(body);
    let limits = Default::default();
    let mut again = Map::new();
    let read = protocol.decode_output(operation, &head, &body, &limits, &mut again);
    read.unwrap_or_else(|error| panic!("{error} for {head:?} of {value:?}"));
    let again = Value::Map(again);
    let alike = wire(protocol).alike(value, &again);
    assert!(alike, "{value:?}\n{again:?}\n{head:?}");
}

fn checked(read: &Result<(), Error>) -> bool {
    if let Err(error) = read {
        assert!(error.is_sender_fault(), "{error}");
        assert!(!error.to_string().contains(char::is_control), "{error}");
    }
    read.is_ok()
}

/// What the bodies of a protocol are written in. What stands in a head is the
/// same in all.
fn wire(protocol: &dyn Protocol) -> Wire {
    match protocol.kind().formats().last() {
        Some(Format::Json) => Wire::Json,
        Some(Format::Xml) => Wire::Xml,
        Some(Format::Cbor) => Wire::Cbor,
        Some(Format::XmlRpc) => Wire::XmlRpc,
        other => panic!("{other:?}"),
    }
}
