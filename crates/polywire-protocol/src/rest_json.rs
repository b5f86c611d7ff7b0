//! `aws.protocols#restJson1`.
//!
//! <https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html>

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, request, response};
use polywire_codec::json::{JsonDecoder, JsonEncoder, JsonProfile};
use polywire_codec::{Dynamic, Message, Sink};
use polywire_schema::{
    Body, Decode, Direction, Error, ErrorKind, Limits, Map, Member, Operation, OperationFlags,
    Schema, Service, ShapeKind, Value,
};

use crate::protocol::{
    Claim, HostPrefix, MountError, Outcome, Plan, Protocol, ProtocolKind, ReadPlan,
};
use crate::rest::{
    Bindings, Found, HeadDecoder, HeadEncoder, PayloadDecoder, PayloadEncoder, Prepared, Router,
    is_raw, raw_payload,
};
use crate::{Fault, FaultKind, media};

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

/// Whether a message says that its body is JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok());
    text.is_some_and(|text| media::is_media_type(text, JSON))
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
                let profile = self
                    .profile
                    .with_document_only(self.bindings.document_only());
                let mut decoder = JsonDecoder::from_body(self.body, profile, self.limits)?;
                sink.decode_json(self.root, &mut decoder)?;
                decoder.finish()?;
                sink.finish(self.root, &mut decoder)
            }
            None => sink.finish(self.root, &mut head),
        }
    }
}

/// Who writes a message.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Side {
    Client,
    Server,
}

/// The body of a message and its media type.
fn write_body(
    root: Member<'_>,
    bindings: &Bindings,
    message: &dyn Message,
    empty: &'static [u8],
    side: Side,
) -> Result<Option<(Vec<u8>, HeaderValue)>, Error> {
    let json = || HeaderValue::from_static(JSON);
    let profile = match side {
        Side::Client => CLIENT,
        Side::Server => SERVER,
    };
    let Some((payload, kind)) = bindings.payload else {
        if !bindings.document {
            return Ok((!empty.is_empty()).then(|| (empty.to_vec(), json())));
        }
        let profile = profile.with_document_only(bindings.document_only());
        let mut encoder = JsonEncoder::new(profile, Vec::with_capacity(DOCUMENT));
        message.encode_json(root, &mut encoder);
        return Ok(Some((encoder.finish()?, json())));
    };
    let mut encoder = PayloadEncoder::new(JsonEncoder::new(profile, Vec::new()));
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
    // A structure that a client does not give is an empty object, unless that
    // could not be read again for want of its required members.
    let may_be_empty = side == Side::Client
        && kind == ShapeKind::Structure
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
        let json = |value: &HeaderValue| {
            value
                .to_str()
                .is_ok_and(|value| media::is_media_type(value, JSON))
        };
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
            Found::Methods(mut methods) => {
                if methods.contains(&Method::GET) {
                    methods.push(Method::HEAD);
                }
                Err(Fault::method_not_allowed(methods))
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
        let prepared = self.prepared(operation)?;
        let bindings = &prepared.output;
        let code = prepared.code;
        let answer = Answer {
            shape: operation.output(),
            bindings,
            code,
            is_headed: prepared.method == Method::HEAD,
            empty: match operation.has(OperationFlags::UNIT_OUTPUT) || code == 204 {
                true => b"",
                false => b"{}",
            },
        };
        answer.write(output)
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let value = Value::Map(fault.details().clone());
        let answer = Answer {
            shape: error,
            bindings: &Bindings::of(error, Direction::Response),
            code: error.error().map_or(500, |error| error.status),
            is_headed: false,
            empty: b"{}",
        };
        let mut response = answer.write(&Dynamic(&value))?;
        // Shape names are identifiers, which headers can hold.
        if let Ok(name) = HeaderValue::from_str(error.name()) {
            response.headers_mut().insert(ERROR_TYPE, name);
        }
        Ok(response)
    }

    /// Its name in the header, its message in the body.
    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let (kind, message) = fault.public();
        let body = Value::from(Map::from_iter([("message", message)]));
        // A map of one string can always be written.
        let body = polywire_codec::json::to_vec(&body).unwrap_or_default();
        let mut response = http::Response::new(Bytes::from(body));
        *response.status_mut() = kind.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(ERROR_TYPE, HeaderValue::from_static(kind.name()));
        fault.allow(headers);
        response
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
        let body = write_body(root, bindings, input, b"", Side::Client)?;
        check_length(head.content_length.as_ref(), body.as_ref())?;
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
        let error_type = head.headers.get(ERROR_TYPE);
        // Gateways of our age write JSON too.
        if error_type.is_none()
            && (!is_json(&head.headers) || head.status == StatusCode::BAD_GATEWAY)
        {
            return Ok(Outcome::Foreign(format!(
                "status {}, and nothing that restJson1 says of errors",
                head.status
            )));
        }
        let document = document_of(body, limits);
        let name = error_type
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
        let bindings = Bindings::of(error, Direction::Response);
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

/// An output or an error, to be written.
struct Answer<'a> {
    shape: Schema<'a>,
    bindings: &'a Bindings,
    code: u16,
    /// Whether it answers an operation whose method is HEAD.
    is_headed: bool,
    /// The body where no member has one.
    empty: &'static [u8],
}

impl Answer<'_> {
    fn write(&self, message: &dyn Message) -> Result<http::Response<Bytes>, Error> {
        let root = self.shape.root();
        let mut response = http::Response::new(Bytes::new());
        *response.status_mut() = StatusCode::from_u16(self.code).unwrap_or(StatusCode::OK);
        if self.bindings.head {
            let mut head = HeadEncoder::new(self.bindings);
            message.encode_any(root, &mut head);
            head.finish_response(&mut response, self.is_headed)?;
        }
        if self.is_headed {
            return Ok(response);
        }
        let body = write_body(root, self.bindings, message, self.empty, Side::Server)?;
        if let Some((body, media_type)) = body {
            response
                .headers_mut()
                .entry(CONTENT_TYPE)
                .or_insert(media_type);
            *response.body_mut() = Bytes::from(body);
        }
        Ok(response)
    }
}

/// What a member says of the length of the body has to be true: a peer takes
/// that many bytes for the body, and the rest for the next message.
fn check_length(
    said: Option<&HeaderValue>,
    body: Option<&(Vec<u8>, HeaderValue)>,
) -> Result<(), Error> {
    let len = body.map_or(0, |(body, _)| body.len()).to_string();
    match said {
        Some(said) if said.as_bytes() != len.as_bytes() => Err(Error::new(ErrorKind::Unwritable)
            .in_format("HTTP")
            .expected(format!("{len}, the length of the body"))
            .found(format!("{said:?}"))
            .at_path("header content-length".to_owned())),
        _ => Ok(()),
    }
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

/// A fault under the name that the peer gave it, or else its status. What
/// kind it is tells the status: whether to try again, say.
fn unmodelled(name: &str, status: StatusCode, document: &Value) -> Fault {
    let message = ["message", "Message", "errorMessage"]
        .into_iter()
        .find_map(|key| document[key].as_str())
        .map_or_else(|| reason(status), str::to_owned);
    let kind = FaultKind::from_name(name).unwrap_or(match status {
        StatusCode::NOT_FOUND => FaultKind::UnknownOperation,
        StatusCode::PAYLOAD_TOO_LARGE => FaultKind::TooLarge,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => FaultKind::Overloaded,
        StatusCode::GATEWAY_TIMEOUT => FaultKind::DeadlineExceeded,
        status if status.is_client_error() => FaultKind::Malformed,
        _ => FaultKind::Internal,
    });
    let fault = Fault::new(kind, message);
    match name {
        "" => fault.with_name(format!("HTTP {}", status.as_u16())),
        name => fault.with_name(name),
    }
}

fn reason(status: StatusCode) -> String {
    status.canonical_reason().unwrap_or_default().to_owned()
}

/// Whether an input is a structure without members, to which some may be added
/// and whose callers may send an empty object.
fn is_open(operation: Operation<'_>) -> bool {
    operation.input().is_empty() && !operation.has(OperationFlags::UNIT_INPUT)
}

/// Whether the caller sent what the input needs and takes what the output is.
fn check_media_types(
    operation: Operation<'_>,
    prepared: &Prepared,
    request: &ReadPlan<'_>,
) -> Result<(), Fault> {
    /// The type of a body with these bindings: `None` if it may be any.
    fn expected<'s>(bindings: &Bindings, shape: Schema<'s>) -> Option<&'s str> {
        match bindings.payload {
            Some((payload, kind)) if is_raw(kind) => {
                let own = shape.member(payload).media_type();
                own.or((kind != ShapeKind::Blob).then_some("text/plain"))
            }
            _ => Some(JSON),
        }
    }
    let Prepared { input, output, .. } = prepared;
    let headers = &request.head.headers;
    if !request.body.is_empty() {
        media::check_coding(headers)?;
        let wanted = expected(input, operation.input());
        if input.document || input.payload.is_some() {
            if let Some(wanted) = wanted {
                media::check_sent(headers, wanted)?;
            }
        } else if headers.contains_key(CONTENT_TYPE) && !is_open(operation) {
            let message = format!("{} takes no body", operation.name());
            return Err(Fault::new(FaultKind::UnsupportedMediaType, message));
        }
    }
    if (output.document || output.payload.is_some())
        && let Some(wanted) = expected(output, operation.output())
    {
        media::check_accept(headers, wanted)?;
    }
    Ok(())
}
