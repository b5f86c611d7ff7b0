//! `aws.protocols#restJson1`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html>

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, StatusCode, request, response};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Dynamic, Message, Sink};
use polywire_schema::{
    Body, Decode, Error, ErrorKind, Limits, Member, Operation, OperationFlags, Schema, Service,
    ShapeKind, Value,
};

use crate::protocol::{
    Claim, HostPrefix, MountError, Outcome, Plan, Protocol, ProtocolKind, ReadPlan,
};
use crate::rest::{
    Bindings, Found, HeadDecoder, HeadEncoder, PayloadDecoder, PayloadEncoder, Prepared, Router,
    accepts, is_media_type, is_raw, raw_payload,
};
use crate::{Fault, FaultKind};

const JSON: &str = "application/json";
/// The space with which a document begins: most need no more, and a piece of
/// this size costs an allocator no more than a smaller one.
const DOCUMENT: usize = 512;
const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// restJson1: HTTP bindings, and JSON by `@jsonName`.
#[derive(Debug)]
pub struct RestJson1 {
    router: Router,
    /// By the index of the operation; none for operations of other services.
    operations: Vec<Option<Prepared>>,
}

const SERVER: JsonProfile = JsonProfile::DEFAULT.with_json_names(true);
const CLIENT: JsonProfile = SERVER.lenient();

impl RestJson1 {
    /// The protocol for a service.
    ///
    /// # Errors
    ///
    /// An operation has no `@http`, or two have the same.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        let mut router = Router::default();
        let mut operations = Vec::new();
        for operation in service.operations() {
            let prepared = Prepared::of(operation)?;
            router.add(operation, &prepared)?;
            let index = operation.index() as usize;
            operations.resize_with(operations.len().max(index + 1), || None);
            operations[index] = Some(prepared);
        }
        Ok(Self { router, operations })
    }

    fn prepared(&self, operation: Operation<'_>) -> Result<&Prepared, Error> {
        let found = self.operations.get(operation.index() as usize);
        found.and_then(Option::as_ref).ok_or_else(|| {
            Error::new(ErrorKind::Internal)
                .in_format("restJson1")
                .expected("an operation of the service that the protocol was made for")
                .found(operation.id().to_owned())
        })
    }
}

/// Reads the parts of a structure: head, then payload or document.
struct Parts<'a, 'de> {
    root: Member<'a>,
    bindings: &'a Bindings,
    body: &'de Body,
    limits: &'a Limits,
    profile: JsonProfile,
}

impl<'de> Parts<'_, 'de> {
    fn read(&self, head: HeadDecoder<'de>, sink: &mut dyn Sink<'de>) -> Result<(), Error> {
        let mut head = head;
        if self.bindings.head {
            sink.decode_any(self.root, &mut head)?;
        }
        let empty = self.body.is_empty();
        match self.bindings.payload {
            _ if empty => sink.finish(self.root, &mut head),
            Some((payload, kind)) if is_raw(kind) => {
                let mut decoder = raw_payload(self.body, payload, self.profile.required);
                sink.decode_any(self.root, &mut decoder)?;
                sink.finish(self.root, &mut decoder)
            }
            Some((payload, _)) => {
                let decoder = JsonDecoder::from_body(self.body, self.profile, self.limits)?;
                let mut decoder = PayloadDecoder::new(decoder, payload);
                sink.decode_any(self.root, &mut decoder)?;
                let mut decoder = decoder.into_inner();
                decoder.finish()?;
                sink.finish(self.root, &mut decoder)
            }
            None if self.bindings.document => {
                let profile = self.profile.with_document_only(self.bindings.head);
                let mut decoder = JsonDecoder::from_body(self.body, profile, self.limits)?;
                sink.decode_json(self.root, &mut decoder)?;
                decoder.finish()?;
                sink.finish(self.root, &mut decoder)
            }
            None => sink.finish(self.root, &mut head),
        }
    }
}

/// The body of a message and its media type.
fn write_body(
    root: Member<'_>,
    bindings: &Bindings,
    message: &dyn Message,
    empty: &'static [u8],
) -> Result<Option<(Vec<u8>, HeaderValue)>, Error> {
    let json = || HeaderValue::from_static(JSON);
    let Some((payload, kind)) = bindings.payload else {
        if !bindings.document {
            return Ok((!empty.is_empty()).then(|| (empty.to_vec(), json())));
        }
        let profile = SERVER.with_document_only(bindings.head);
        let mut encoder = JsonEncoder::new(profile, Vec::with_capacity(DOCUMENT));
        message.encode_json(root, &mut encoder);
        return Ok(Some((encoder.finish()?, json())));
    };
    let mut encoder = PayloadEncoder::new(JsonEncoder::new(SERVER, Vec::new()));
    message.encode_any(root, &mut encoder);
    let member = root.target().member(payload);
    let media_type = match (member.media_type(), kind) {
        (Some(media_type), _) => HeaderValue::from_str(media_type).map_err(|_| {
            Error::new(ErrorKind::Internal)
                .expected("a media type")
                .found(media_type.to_owned())
        })?,
        (None, ShapeKind::Blob) => HeaderValue::from_static("application/octet-stream"),
        (None, ShapeKind::String | ShapeKind::Enum) => HeaderValue::from_static("text/plain"),
        (None, _) => json(),
    };
    // A structure that is not there is an empty object, unless that could not
    // be read again for want of its required members.
    let may_be_empty = kind == ShapeKind::Structure
        && !member.target().members().any(|member| member.is_required());
    match encoder.finish() {
        None if may_be_empty => Ok(Some((b"{}".to_vec(), json()))),
        None => Ok(None),
        Some(Ok(raw)) => Ok(Some((raw, media_type))),
        Some(Err(encoder)) => Ok(Some((encoder.finish()?, media_type))),
    }
}

impl Protocol for RestJson1 {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::RestJson1
    }

    fn claim(&self, head: &request::Parts) -> Claim {
        let json =
            |value: &HeaderValue| value.to_str().is_ok_and(|value| is_media_type(value, JSON));
        match head.headers.get(CONTENT_TYPE) {
            Some(value) if json(value) => Claim::Weak,
            _ => Claim::Fallback,
        }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
        let mut found = self.router.find(&head.method, path, query);
        // RFC 9110, section 9.3.2: HEAD is GET whose answer has no body, which
        // the transport leaves out.
        if head.method == Method::HEAD
            && let Found::Methods(methods) = &found
            && methods.contains(&Method::GET)
        {
            found = self.router.find(&Method::GET, path, query);
        }
        match found {
            Found::Route(route) => Ok(Plan::Buffer(route)),
            Found::Methods(methods) => {
                let methods: Vec<&str> = methods.iter().map(Method::as_str).collect();
                Err(Fault::new(FaultKind::MethodNotAllowed, methods.join(", ")))
            }
            Found::Nothing => {
                let message = format!("no operation answers {} {path}", head.method);
                Err(Fault::new(FaultKind::UnknownOperation, message))
            }
        }
    }

    fn decode_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let prepared = self.prepared(operation)?;
        check_media_types(operation, prepared, request)?;
        let parts = Parts {
            root: operation.input().root(),
            bindings: &prepared.input,
            body: request.body,
            limits: request.limits,
            profile: SERVER,
        };
        Ok(parts.read(HeadDecoder::request(request.head, request.route), sink)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let bindings = &self.prepared(operation)?.output;
        let code = operation.http().map_or(200, |(_, _, code)| code);
        let empty: &[u8] = match operation.has(OperationFlags::UNIT_OUTPUT) || code == 204 {
            true => b"",
            false => b"{}",
        };
        write_response(operation.output(), bindings, output, code, empty)
    }

    fn encode_fault(
        &self,
        operation: Option<Operation<'_>>,
        fault: &Fault,
    ) -> http::Response<Bytes> {
        if fault.kind() == FaultKind::Modelled
            && let Some(shape) = operation.and_then(|operation| operation.find_error(fault.shape()))
        {
            let value = Value::Map(fault.details().clone());
            let status = shape.error().map_or(500, |error| error.status);
            let bindings = Bindings::of(shape);
            let written = write_response(shape, &bindings, &Dynamic(&value), status, b"{}");
            if let Ok(mut response) = written {
                // Shape names are identifiers, which headers can hold.
                if let Ok(name) = HeaderValue::from_str(shape.name()) {
                    response.headers_mut().insert(ERROR_TYPE, name);
                }
                return response;
            }
        }
        framework_fault(fault)
    }

    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let prepared = self.prepared(operation)?;
        let bindings = &prepared.input;
        let root = operation.input().root();
        let mut head = HeadEncoder::new(bindings);
        message_head(input, root, bindings, operation, &mut head);
        let head = head.into_request(&prepared.pattern, operation.host_prefix())?;
        let body = write_body(root, bindings, input, b"")?;
        let mut request = http::Request::new(Bytes::new());
        *request.method_mut() = prepared.method.clone();
        *request.uri_mut() = head.target.parse().map_err(|_| {
            Error::new(ErrorKind::Unwritable)
                .in_format("HTTP")
                .expected("a path and a query that make a target of a request")
                .found(head.target)
        })?;
        *request.headers_mut() = head.headers;
        if let Some((body, media_type)) = body {
            // A header member may have said it already.
            request
                .headers_mut()
                .entry(CONTENT_TYPE)
                .or_insert(media_type);
            *request.body_mut() = Bytes::from(body);
        }
        if !head.host_prefix.is_empty() {
            request
                .extensions_mut()
                .insert(HostPrefix(head.host_prefix));
        }
        Ok(request)
    }

    fn outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        let code = operation.http().map_or(200, |(_, _, code)| code);
        if head.status.is_success() || head.status.as_u16() == code {
            return Ok(Outcome::Output);
        }
        let document = document_of(body, limits);
        let name = head
            .headers
            .get(ERROR_TYPE)
            .and_then(|value| value.to_str().ok())
            .or_else(|| document["__type"].as_str())
            .or_else(|| document["code"].as_str())
            .unwrap_or_default();
        let name = error_name(name);
        if let Some(error) = operation.find_error(name) {
            return Ok(Outcome::Error(error));
        }
        Ok(Outcome::Fault(unmodelled(name, head.status, &document)))
    }

    fn decode_output<'de>(
        &self,
        operation: Operation<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let parts = Parts {
            root: operation.output().root(),
            bindings: &self.prepared(operation)?.output,
            body,
            limits,
            profile: CLIENT,
        };
        parts.read(HeadDecoder::response(head), sink)
    }

    fn decode_error<'de>(
        &self,
        error: Schema<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let bindings = Bindings::of(error);
        let parts = Parts {
            root: error.root(),
            bindings: &bindings,
            body,
            limits,
            profile: CLIENT,
        };
        parts.read(HeadDecoder::response(head), sink)
    }
}

/// Writes the members of a head, and of a host prefix.
fn message_head(
    message: &dyn Message,
    root: Member<'_>,
    bindings: &Bindings,
    operation: Operation<'_>,
    head: &mut HeadEncoder<'_>,
) {
    if bindings.head || !operation.host_prefix().is_empty() {
        message.encode_any(root, head);
    }
}

fn write_response(
    shape: Schema<'_>,
    bindings: &Bindings,
    message: &dyn Message,
    status: u16,
    empty: &'static [u8],
) -> Result<http::Response<Bytes>, Error> {
    let root = shape.root();
    let mut response = http::Response::new(Bytes::new());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    if bindings.head {
        let mut head = HeadEncoder::new(bindings);
        message.encode_any(root, &mut head);
        head.finish_response(&mut response)?;
    }
    if let Some((body, media_type)) = write_body(root, bindings, message, empty)? {
        response
            .headers_mut()
            .entry(CONTENT_TYPE)
            .or_insert(media_type);
        *response.body_mut() = Bytes::from(body);
    }
    Ok(response)
}

/// A fault that the model does not know: its name in the header, its message
/// in the body.
fn framework_fault(fault: &Fault) -> http::Response<Bytes> {
    let kind = match fault.kind() {
        FaultKind::Modelled => FaultKind::Internal,
        kind => kind,
    };
    let message = match fault.kind() {
        FaultKind::Modelled => "an internal error occurred",
        FaultKind::MethodNotAllowed => "this path answers other methods",
        _ => fault.message(),
    };
    let body = Value::from(polywire_schema::Map::from_iter([("message", message)]));
    // A map of one string can always be written.
    let body = polywire_codec::json::to_vec(&body).unwrap_or_default();
    let mut response = http::Response::new(Bytes::from(body));
    *response.status_mut() = kind.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    headers.insert(ERROR_TYPE, HeaderValue::from_static(kind.name()));
    if fault.kind() == FaultKind::MethodNotAllowed
        && let Ok(allow) = HeaderValue::from_str(fault.message())
    {
        headers.insert(ALLOW, allow);
    }
    response
}

/// The body of an error as a value; null if it is not JSON.
fn document_of(body: &Body, limits: &Limits) -> Value {
    let read = || {
        let mut decoder = JsonDecoder::from_body(body, CLIENT, limits)?;
        Value::decode(Member::DOCUMENT, &mut decoder)
    };
    read().unwrap_or_default()
}

/// The name of an error without namespace and URI:
/// `aws.example#Name:http://...` is `Name`.
fn error_name(text: &str) -> &str {
    let text = text.split(':').next().unwrap_or_default();
    text.rsplit('#').next().unwrap_or_default()
}

fn unmodelled(name: &str, status: StatusCode, document: &Value) -> Fault {
    let message = ["message", "Message", "errorMessage"]
        .into_iter()
        .find_map(|key| document[key].as_str())
        .map_or_else(|| format!("status {status}"), str::to_owned);
    let kind = FaultKind::from_name(name).unwrap_or(match status {
        StatusCode::NOT_FOUND => FaultKind::UnknownOperation,
        StatusCode::PAYLOAD_TOO_LARGE => FaultKind::TooLarge,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => FaultKind::Overloaded,
        StatusCode::GATEWAY_TIMEOUT => FaultKind::DeadlineExceeded,
        status if status.is_client_error() => FaultKind::Malformed,
        _ => FaultKind::Internal,
    });
    Fault::new(kind, message)
}

/// Whether the caller sent what the input needs and takes what the output is.
fn check_media_types(
    operation: Operation<'_>,
    prepared: &Prepared,
    request: &ReadPlan<'_>,
) -> Result<(), Fault> {
    let Prepared { input, output, .. } = prepared;
    let header = |name| {
        request
            .head
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    fn expected<'s>(payload: Option<(u32, ShapeKind)>, shape: Schema<'s>) -> Option<&'s str> {
        match payload {
            Some((payload, kind)) if is_raw(kind) => shape.member(payload).media_type(),
            _ => Some(JSON),
        }
    }
    if !request.body.is_empty()
        && (input.document || input.payload.is_some())
        && let Some(wanted) = expected(input.payload, operation.input())
        && let Some(sent) = header(CONTENT_TYPE)
        && !is_media_type(sent, wanted)
    {
        let message = format!("expected a body of {wanted}, found {sent}");
        return Err(Fault::new(FaultKind::UnsupportedMediaType, message));
    }
    if (output.document || output.payload.is_some())
        && let Some(wanted) = expected(output.payload, operation.output())
        && let Some(accept) = header(ACCEPT)
        && !accepts(accept, wanted)
    {
        let message = format!("the answer is {wanted}, which {accept} does not accept");
        return Err(Fault::new(FaultKind::NotAcceptable, message));
    }
    Ok(())
}
