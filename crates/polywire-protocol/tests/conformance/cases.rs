//! The five kinds of cases.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use polywire_codec::Message;
use polywire_protocol::{
    Fault, FaultKind, HostPrefix, Outcome, Plan, Protocol, ProtocolKind, ReadPlan, RequestOptions,
    Route, WithToken, decode_content, finish_request, s3,
};
use polywire_schema::{Body, Error, Limits, NameSource, Operation, Schema};
use serde_json::Value as Json;

use crate::Run;
use crate::compare::{
    body, same, same_answer, same_body, same_error, same_headers, same_value, texts,
    without_foreign_headers,
};
use crate::subject::{EncodedResponse, Subject, TestValue};

pub(crate) const LIMITS: Limits = Limits::DEFAULT;

/// A client encodes the value as this request.
pub(crate) fn client_request(
    protocol: &dyn Protocol,
    operation: Operation<'_>,
    subject: &dyn Subject,
    case: &Json,
) -> Result<(), String> {
    let input = params(subject, case, operation.input())?;
    let mut request = sent(protocol, operation, &*input)?;
    if is_virtual_hosted(case) {
        s3::virtual_hosted(&mut request);
    }
    same(
        "method",
        case["method"].as_str().unwrap(),
        request.method().as_str(),
    )?;
    let host = case["host"].as_str().unwrap_or_default();
    // A client appends the path of the request to that of the endpoint.
    let (host, base) = host.split_at(host.find('/').unwrap_or(host.len()));
    let path = format!("{base}{}", request.uri().path());
    same("path", case["uri"].as_str().unwrap(), &path)?;
    let query = request.uri().query().unwrap_or_default();
    let query: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).collect();
    let has_key = |key: &str| query.iter().any(|part| part.split('=').next() == Some(key));
    for part in texts(&case["queryParams"]) {
        if !query.contains(&part) {
            return Err(format!("no {part} in the query {query:?}"));
        }
    }
    for key in texts(&case["forbidQueryParams"]) {
        if has_key(key) {
            return Err(format!("{key} in the query, which must not be there"));
        }
    }
    for key in texts(&case["requireQueryParams"]) {
        if !has_key(key) {
            return Err(format!("no {key} in the query"));
        }
    }
    if let Some(expected) = case["resolvedHost"].as_str() {
        let prefix = request.extensions().get::<HostPrefix>();
        let prefix = prefix.map_or("", |prefix| &prefix.0);
        same("host", expected, &format!("{prefix}{host}"))?;
    }
    same_headers(case, request.headers())?;
    same_body(case, operation.input(), request.body())
}

/// Returns whether the S3 settings of a case allow the bucket in the host, which is the default of
/// S3 clients.
fn is_virtual_hosted(case: &Json) -> bool {
    let settings = &case["vendorParams"]["scopedConfig"];
    let style = |of: &str| settings[of]["s3"]["addressing_style"].as_str();
    let style = style("operation").or_else(|| style("client"));
    settings.is_object() && style != Some("path")
}

/// The domains of S3 in the region of the cases.
const S3_DOMAINS: [&str; 4] = [
    "s3-accelerate.amazonaws.com",
    "s3-accelerate.dualstack.amazonaws.com",
    "s3.dualstack.us-west-2.amazonaws.com",
    "s3.us-west-2.amazonaws.com",
];

/// Encodes the request of a client, including the token and the traits that `finish_request`
/// applies.
pub(crate) fn sent(
    protocol: &dyn Protocol,
    operation: Operation<'_>,
    input: &dyn TestValue,
) -> Result<http::Request<Bytes>, String> {
    /// The token that all suites expect.
    const TOKEN: &str = "00000000-0000-4000-8000-000000000000";

    let encode = |message: &dyn Message| {
        let codec = input.codec();
        codec.write(message, |message| protocol.encode_input(operation, message))
    };
    write_with(input, |message| {
        let mut request = match WithToken::is_due(operation, message) {
            false => encode(message),
            true => encode(&WithToken::new(operation, message, TOKEN)),
        }?;
        finish_request(&[operation], &mut request, &RequestOptions::DEFAULT)?;
        Ok(request)
    })
}

/// Cases with compressed bodies contain no body, because compressors differ. The server decodes the
/// request that the client encodes.
fn is_written_by_client(case: &Json) -> bool {
    let encoding = case["headers"]["Content-Encoding"].as_str();
    case["body"].is_null() && encoding.is_some_and(|encoding| encoding.ends_with("gzip"))
}

/// A server decodes the request as this value.
pub(crate) fn server_request(
    run: &Run<'_>,
    subject: &dyn Subject,
    case: &Json,
) -> Result<(), String> {
    let (protocol, operation) = (run.protocol, run.operation);
    let expected = params(subject, case, operation.input())?;
    let (mut head, body) = match is_written_by_client(case) {
        true => {
            let (head, body) = sent(protocol, operation, &*expected)?.into_parts();
            (head, Body::new(body))
        }
        false => request(case),
    };
    complete(protocol.kind(), operation, &mut head);
    s3::path_style(&mut head, &S3_DOMAINS);
    let (route, found) = read(run, subject, &head, &body).map_err(|fault| fault.to_string())?;
    if route.operation != operation.index() {
        return Err("routed to another operation".to_owned());
    }
    same_or_same_message(case, &*expected, &*found, operation.input(), |message| {
        protocol.encode_input(operation, message)
    })
}

/// Cases whose message has several values: encoding both values must give the same bytes. An empty
/// structure as payload and an absent one are both `{}`. An empty list and an absent one are both
/// no query or form parameter, and an empty map and an absent one are both no header. A map of all
/// query parameters also contains those of members (`RestXmlServersPutAllQueryParamsInMap`) and
/// does not write them.
const SAME_ON_THE_WIRE: [&str; 12] = [
    "AllQueryStringTypes",
    "Ec2EmptyQueryLists",
    "HttpPrefixHeadersAreNotPresent",
    "QueryEmptyQueryMaps",
    "RestJsonHttpWithEmptyStructurePayload",
    "RestJsonHttpWithHeadersButNoPayload",
    "RestJsonOmitsEmptyListQueryValues",
    "RestXmlQueryStringEscaping",
    "RestXmlSupportsInfinityFloatQueryValues",
    "RestXmlSupportsNaNFloatQueryValues",
    "RestXmlSupportsNegativeInfinityFloatQueryValues",
    "RestXmlZeroAndFalseQueryValues",
];

/// Cases for clients with a value that can be written in several ways, of which a server uses
/// another one: dates with an offset from UTC. A client must decode the response of the server as
/// the value of the case.
const SAME_WHEN_READ: [&str; 4] = [
    "Ec2QueryDateTimeWithNegativeOffset",
    "Ec2QueryDateTimeWithPositiveOffset",
    "RestXmlDateTimeWithNegativeOffset",
    "RestXmlDateTimeWithPositiveOffset",
];

/// Checks that two values are equal, or are encoded as the same message.
fn same_or_same_message<T: std::fmt::Debug>(
    case: &Json,
    expected: &dyn TestValue,
    found: &dyn TestValue,
    shape: Schema<'_>,
    message: impl Fn(&dyn Message) -> Result<T, Error>,
) -> Result<(), String> {
    let reason = match same_value(expected, found, shape) {
        Ok(()) => return Ok(()),
        Err(reason) => reason,
    };
    let listed = SAME_ON_THE_WIRE.contains(&case["id"].as_str().unwrap());
    let message = |value| write(value, &message).map(|message| format!("{message:?}"));
    match listed && message(expected)? == message(found)? {
        true => Ok(()),
        false => Err(reason),
    }
}

/// A server rejects the request with this response.
pub(crate) fn malformed(run: &Run<'_>, subject: &dyn Subject, case: &Json) -> Result<(), String> {
    let (protocol, operation) = (run.protocol, run.operation);
    let (head, body) = request(&case["request"]);
    match read(run, subject, &head, &body) {
        Ok((_, input)) => Err(format!("taken for {}", input.show(operation.input()))),
        Err(fault) => {
            let response = protocol.encode_fault(Some(operation), &fault);
            let expected = &case["response"];
            same(
                "status",
                &expected["code"].to_string(),
                response.status().as_str(),
            )
            .and_then(|()| same_headers(expected, response.headers()))
            .and_then(|()| same_answer(expected, response.headers(), response.body()))
            .map_err(|reason| format!("{reason} ({fault})"))
        }
    }
}

pub(crate) fn read(
    run: &Run<'_>,
    subject: &dyn Subject,
    head: &http::request::Parts,
    body: &Body,
) -> Result<(Route, Box<dyn TestValue>), Fault> {
    let protocol = run.protocol;
    let plan = protocol.route(head)?;
    let called = matches!(plan, Plan::Buffer(_)).then_some(run.operation);
    let mut head = head.clone();
    let bytes = Bytes::copy_from_slice(body.as_bytes());
    let decoded = decode_content(called, &mut head, &bytes, &mut |_| Ok(()))?;
    let body = Body::new(decoded.unwrap_or(bytes));
    let route = match plan {
        Plan::Buffer(route) => route,
        _ => protocol.route_body(&head, &body, &LIMITS)?,
    };
    let plan = ReadPlan {
        head: &head,
        body: &body,
        route: &route,
        limits: &LIMITS,
        memory: None,
    };
    let input = subject.decode_input(protocol, run.operation, &plan, run.validator)?;
    Ok((route, input))
}

/// Decodes the structure of a case.
pub(crate) fn params(
    subject: &dyn Subject,
    case: &Json,
    shape: Schema<'_>,
) -> Result<Box<dyn TestValue>, String> {
    let params = match &case["params"] {
        params @ Json::Object(_) => params.to_string(),
        _ => "{}".to_owned(),
    };
    subject
        .of_params(shape, &params)
        .map_err(|error| format!("the value of the case: {error}"))
}

/// Writes the message of a structure with its codec.
fn write<T>(
    own: &dyn TestValue,
    mut write: impl FnMut(&dyn Message) -> Result<T, Error>,
) -> Result<T, String> {
    write_with(own, |message| own.codec().write(message, &mut write))
}

/// Writes the message of a structure with `write`.
fn write_with<T>(
    value: &dyn TestValue,
    mut write: impl FnMut(&dyn Message) -> Result<T, Error>,
) -> Result<T, String> {
    let mut written = None;
    value.with_message(&mut |message| written = Some(write(message)));
    written.unwrap().map_err(|error| error.to_string())
}

pub(crate) fn request(case: &Json) -> (http::request::Parts, Body) {
    let mut uri = case["uri"].as_str().unwrap().to_owned();
    for part in texts(&case["queryParams"]) {
        uri.push(if uri.contains('?') { '&' } else { '?' });
        uri.push_str(part);
    }
    let mut builder = http::Request::builder()
        .method(case["method"].as_str().unwrap())
        .uri(uri);
    for (name, value) in case["headers"].as_object().into_iter().flatten() {
        builder = builder.header(name, value.as_str().unwrap());
    }
    if let Some(host) = case["resolvedHost"].as_str() {
        builder = builder.header(HOST, host);
    }
    // Cases for clients contain only the headers that they test. A server needs the media type.
    // Cases of malformed requests contain all headers.
    if let Some(media_type) = case["bodyMediaType"].as_str()
        && !body(case).is_empty()
        && builder
            .headers_ref()
            .is_some_and(|headers| !headers.contains_key(CONTENT_TYPE))
    {
        builder = builder.header(CONTENT_TYPE, media_type);
    }
    let (head, ()) = builder.body(()).unwrap().into_parts();
    (head, Body::new(Bytes::from(body(case))))
}

/// Adds the headers for operation and media type to cases of awsJson that omit them.
pub(crate) fn complete(
    kind: ProtocolKind,
    operation: Operation<'_>,
    head: &mut http::request::Parts,
) {
    let aws_json = matches!(kind, ProtocolKind::AwsJson1_0 | ProtocolKind::AwsJson1_1);
    if aws_json && !head.headers.contains_key("x-amz-target") {
        let service = operation.input().set().service(0);
        let target = format!("{}.{}", service.name(), operation.name());
        head.headers.insert("x-amz-target", target.parse().unwrap());
        let version = kind.name().replace("awsJson", "application/x-amz-json-");
        let media_type = version.replace('_', ".").parse().unwrap();
        head.headers.insert(CONTENT_TYPE, media_type);
    }
}

pub(crate) fn response_head(case: &Json) -> http::response::Parts {
    let code = u16::try_from(case["code"].as_u64().unwrap()).unwrap();
    let mut builder = http::Response::builder().status(code);
    for (name, value) in case["headers"].as_object().into_iter().flatten() {
        builder = builder.header(name, value.as_str().unwrap());
    }
    builder.body(()).unwrap().into_parts().0
}

/// A client decodes the response as this value.
pub(crate) fn client_response(
    protocol: &dyn Protocol,
    operation: Operation<'_>,
    error: Option<Schema<'_>>,
    subject: &dyn Subject,
    case: &Json,
) -> Result<(), String> {
    let head = response_head(case);
    let body = Body::new(Bytes::from(body(case)));
    let answer = EncodedResponse {
        head: &head,
        body: &body,
        limits: &LIMITS,
    };
    let outcome = protocol.outcome(operation, &head, &body, &LIMITS);
    let (shape, found) = match (outcome.map_err(|error| error.to_string())?, error) {
        (Outcome::Output, None) => {
            let found = subject.decode_output(protocol, operation, &answer);
            (operation.output(), found)
        }
        (Outcome::Error(shape), Some(error)) if shape == error => {
            (shape, subject.decode_error(protocol, shape, &answer))
        }
        (outcome, _) => return Err(format!("taken for {outcome:?}")),
    };
    same_query_error(case, &head)?;
    let found = found.map_err(|error| error.to_string())?;
    let expected = params(subject, case, shape)?;
    same_or_same_message(case, &*expected, &*found, shape, |message| {
        protocol.encode_output(operation, message)
    })
}

/// Checks the header `x-amzn-query-error` of a response.
fn same_query_error(case: &Json, head: &http::response::Parts) -> Result<(), String> {
    let expected = &case["vendorParams"];
    // awsQuery has no such header: the code is in the document.
    if case["protocol"] == ProtocolKind::AwsQuery.id() {
        return Ok(());
    }
    let fault = Fault::new(FaultKind::Invalid, "").with_head(&head.headers);
    match (expected["type"].as_str(), fault.query_error()) {
        (Some(side), Some(found)) => {
            let found = (
                &*found.code,
                if found.sender { "Sender" } else { "Receiver" },
            );
            let expected = (expected["code"].as_str().unwrap_or_default(), side);
            same(
                "query error",
                &format!("{expected:?}"),
                &format!("{found:?}"),
            )
        }
        (None, None) => Ok(()),
        (expected, found) => Err(format!(
            "query error: expected {expected:?}, found {found:?}"
        )),
    }
}

pub(crate) fn written_response(
    protocol: &dyn Protocol,
    operation: Operation<'_>,
    error: Option<Schema<'_>>,
    subject: &dyn Subject,
    case: &Json,
) -> Result<http::Response<Bytes>, String> {
    match error {
        Some(error) => {
            let details = params(subject, case, error)?;
            let fault = Fault::modelled(error.id(), details.to_map(error));
            let fault = details.codec().fault(fault);
            protocol
                .encode_error(error, &fault)
                .map_err(|error| error.to_string())
        }
        None => {
            let output = params(subject, case, operation.output())?;
            write(&*output, |message| {
                protocol.encode_output(operation, message)
            })
        }
    }
}

/// A server encodes the value as this response.
pub(crate) fn server_response(
    protocol: &dyn Protocol,
    operation: Operation<'_>,
    error: Option<Schema<'_>>,
    subject: &dyn Subject,
    case: &Json,
) -> Result<(), String> {
    let response = written_response(protocol, operation, error, subject, case)?;
    same(
        "status",
        &case["code"].to_string(),
        response.status().as_str(),
    )?;
    same_headers(&without_foreign_headers(case), response.headers())?;
    if SAME_WHEN_READ.contains(&case["id"].as_str().unwrap()) {
        let mut case = case.clone();
        case["body"] = std::str::from_utf8(response.body()).unwrap().into();
        return client_response(protocol, operation, error, subject, &case);
    }
    match error {
        None => same_body(case, operation.output(), response.body()),
        Some(error) => {
            let given = |name: &str| {
                case["params"]
                    .get(name)
                    .is_some_and(|value| !value.is_null())
            };
            let given = error.members().filter(|member| given(member.name()));
            let mut known = vec!["Type", "Code"];
            known.extend(given.map(|member| member.plain(NameSource::Xml)));
            same_error(case, error, response.body(), &known)
        }
    }
}

/// Expands a case for each set of its parameters. `$name:L` in its text is the parameter, and
/// `$name:S` the parameter as a JSON string. Other dollar signs are doubled, also in cases without
/// parameters.
pub(crate) fn with_parameters(case: &Json) -> Vec<Json> {
    let plain = case.to_string().replace("$$", "\0");
    let Some(parameters) = case["testParameters"].as_object() else {
        return vec![serde_json::from_str(&plain.replace('\0', "$")).unwrap()];
    };
    let count = parameters
        .values()
        .next()
        .map_or(0, |values| values.as_array().unwrap().len());
    let of_number = |number: usize| {
        let mut text = plain.clone();
        for (name, values) in parameters {
            let value = &values[number];
            // The case is JSON itself, so escape the text once more.
            let inside = |text: &str| {
                let quoted = Json::from(text).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            };
            text = text.replace(&format!("${name}:L"), &inside(value.as_str().unwrap()));
            text = text.replace(&format!("${name}:S"), &inside(&value.to_string()));
        }
        let mut case: Json = serde_json::from_str(&text.replace('\0', "$")).unwrap();
        case["id"] = Json::from(format!("{}_{number}", case["id"].as_str().unwrap()));
        case
    };
    (0..count).map(of_number).collect()
}
