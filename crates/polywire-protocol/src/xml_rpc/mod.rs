//! `polywire#xmlRpc`.
//!
//! <http://xmlrpc.com/spec.md>; what Smithy's shapes are there is written up in
//! `docs/xmlrpc-mapping.md`.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, request, response};
use polywire_codec::xmlrpc::{
    Envelope, FaultDetail, ForbiddenText, Reply, Style, XmlRpcDecoder, XmlRpcEncoder,
    XmlRpcProfile, code, fault_parts, to_utf8,
};
use polywire_codec::{Message, Sink};
use polywire_schema::{
    Body, Decode, Defaults, Encode, Encoder, Error, ErrorKind, Limits, Map, Member, MemberFlags,
    Operation, OperationFlags, Schema, Service, Text, Value,
};

use crate::fault::{Members, PublicFault};
use crate::protocol::{
    Claim, ClientProtocol, FromService, HeadSummary, MountError, Outcome, Plan, ProtocolInfo,
    ProtocolKind, ReadPlan, Route, ServerProtocol,
};
use crate::{Fault, FaultKind, error_info, media, validate};

const TEXT_XML: HeaderValue = HeaderValue::from_static("text/xml");

/// XML-RPC: one path, a method name, one struct or positional parameters.
///
/// The sections are those of [the specification](http://xmlrpc.com/spec.md), and of
/// `docs/xmlrpc-mapping.md` where it leaves something open.
///
/// - Calls are posted to `/RPC2`, or where [`at_path`](Self::at_path) says, as `text/xml`:
///   "Header requirements" leaves the path to the server.
/// - A call whose `Content-Type` is `text/plain` or one of the two of forms is answered 415: any
///   web page can have a browser send these, "Over HTTP" of the mapping.
/// - The input is one struct, or by `@xmlRpcMethod` an array of positions: "Payload format", and
///   "Input" of the mapping.
/// - `i8` is written where a number does not fit `int`, and `nil` where a sparse list has
///   nothing, neither of which the specification has: "Scalar values", and "Types" of the mapping.
/// - The answer to a call has the status 200, a fault too: "Response format". Faults have the codes of the
///   [interoperability specification](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php),
///   and a third member, `detail`, with the error structure if [`Style::fault_detail`] includes
///   it: "Modelled errors" of the mapping.
#[derive(Debug)]
pub struct XmlRpc {
    path: String,
    methods: HashMap<String, u32>,
    profile: XmlRpcProfile,
    style: Style,
}

/// The member of a fault that holds a modelled error.
const DETAIL: &str = "detail";

/// The header with which a call asks for that member, and its value.
const DETAIL_HEADER: HeaderName = HeaderName::from_static("polywire-fault-detail");
const YES: HeaderValue = HeaderValue::from_static("yes");

impl XmlRpc {
    /// The protocol for a service, at `/RPC2`.
    ///
    /// # Errors
    ///
    /// Two operations have the same method name, or an input is positional and
    /// has members that `@xmlAttribute` moves.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        let mut methods = HashMap::new();
        for operation in service.operations() {
            let method = operation.xmlrpc_method().to_owned();
            let moved = |member: Member<'_>| member.has(MemberFlags::XML_ATTRIBUTE);
            if operation.has(OperationFlags::POSITIONAL) && operation.input().members().any(moved) {
                let name = operation.name();
                return Err(MountError(format!(
                    "{name}: its parameters are positional, and @xmlAttribute moves members of \
                     its input to the front"
                )));
            }
            if methods.insert(method.clone(), operation.index()).is_some() {
                let name = operation.name();
                return Err(MountError(format!(
                    "{name}: another operation is method {method} too"
                )));
            }
        }
        Ok(Self {
            path: "/RPC2".to_owned(),
            methods,
            profile: XmlRpcProfile::DEFAULT,
            style: Style::DEFAULT,
        })
    }

    /// The same protocol at another path.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets how messages are read: which leniencies there are for peers that need
    /// them. A client reads [as clients do](XmlRpcProfile::for_client) besides.
    ///
    /// ```
    /// use polywire_codec::xmlrpc::{Leniency, Style, XmlRpcProfile};
    /// use polywire_protocol::{MountError, XmlRpc};
    /// use polywire_schema::Service;
    ///
    /// /// For callers in PHP, and for those who read fractions of a second.
    /// fn protocol(service: Service<'_>) -> Result<XmlRpc, MountError> {
    ///     let leniency = Leniency::STRICT.with_foreign_encodings(true);
    ///     let protocol = XmlRpc::new(service)?
    ///         .with_profile(XmlRpcProfile::DEFAULT.with_leniency(leniency))
    ///         .with_style(Style::DEFAULT.with_fractions(true));
    ///     Ok(protocol)
    /// }
    /// # let _ = protocol;
    /// ```
    #[must_use]
    pub const fn with_profile(mut self, profile: XmlRpcProfile) -> Self {
        self.profile = profile;
        self
    }

    /// Sets how calls, results and faults are written where there is a choice.
    #[must_use]
    pub const fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// How a client reads.
    const fn for_client(&self) -> XmlRpcProfile {
        self.profile.for_client()
    }

    fn encoder(&self, envelope: Envelope<'_>) -> XmlRpcEncoder {
        XmlRpcEncoder::new(envelope, Vec::with_capacity(512)).with_style(self.style)
    }

    /// Whether to write the third member of a fault.
    fn tells_detail(&self, fault: &Fault) -> bool {
        match self.style.fault_detail {
            FaultDetail::Always => true,
            FaultDetail::Never => false,
            _ => fault.wants_detail(),
        }
    }

    /// The text of a fault is a string, whatever is in it: clients show it.
    fn fault_encoder(&self) -> XmlRpcEncoder {
        let style = match self.style.forbidden {
            ForbiddenText::Base64 => self.style.with_forbidden(ForbiddenText::Replace),
            _ => self.style,
        };
        self.encoder(Envelope::Fault).with_style(style)
    }
}

impl ProtocolInfo for XmlRpc {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::XmlRpc
    }

    fn in_utf8(
        &self,
        headers: &HeaderMap,
        body: &Body,
        limits: &Limits,
    ) -> Result<Option<Body>, Error> {
        let leniency = self.profile.leniency;
        if !leniency.foreign_encodings() {
            return Ok(None);
        }
        to_utf8(body, media::charset(headers), leniency, limits)
    }
}

impl FromService for XmlRpc {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Self::new(service)
    }
}

impl ServerProtocol for XmlRpc {
    fn endpoint(&self) -> Option<&str> {
        Some(&self.path)
    }

    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        let head = summary.head;
        if head.uri.path() == self.path {
            // What is refused here may be another protocol's, such as a form.
            return match head.method == Method::POST && is_of_any_page(summary) {
                true => Claim::Misdirected,
                false => Claim::Strong,
            };
        }
        // A call that went to another path shall get a fault that it can read, if
        // it is not another protocol's request.
        let call = head.method == Method::POST && summary.is_of("text/xml");
        if call { Claim::Misdirected } else { Claim::No }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        if head.uri.path() != self.path {
            let message = format!(
                "XML-RPC is called at {}, not at {}",
                self.path,
                head.uri.path()
            );
            return Err(Fault::new(FaultKind::UnknownOperation, message));
        }
        if head.method != Method::POST {
            return Err(Fault::method_not_allowed(vec![Method::POST]));
        }
        let summary = HeadSummary::new(head);
        if is_of_any_page(&summary) {
            return Err(of_any_page(&summary));
        }
        Ok(Plan::BufferThenRoute)
    }

    fn route_body(
        &self,
        head: &request::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Route, Fault> {
        media::check_coding(&head.headers)?;
        let (method, _) = XmlRpcDecoder::call(body, self.profile, limits)?;
        match self.methods.get(&*method) {
            Some(index) => Ok(Route::to(*index)),
            None => Err(Fault::unknown_name("method", &method)),
        }
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let positional = operation.has(OperationFlags::POSITIONAL);
        let profile = self.profile.with_positional(positional);
        let root = operation.input().root();
        let (_, mut decoder) = XmlRpcDecoder::call(request.body, profile, request.limits)?;
        sink.read(root, &mut decoder)?;
        decoder.finish()?;
        Ok(sink.finish(root, &mut decoder)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let mut encoder = self.encoder(Envelope::Response);
        output.write(operation.output().root(), &mut encoder);
        Ok(response(encoder.finish()?))
    }

    fn wants_detail(&self, head: &request::Parts) -> bool {
        head.headers.get(DETAIL_HEADER) == Some(&YES)
    }

    /// Writes code and text, and the error structure as `detail` if that is included.
    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let members = fault.members(error)?;
        let status = error.error().map_or(500, |error| i64::from(error.status));
        let text = match fault.message() {
            "" => error.name().to_owned(),
            message => format!("{}: {message}", error.name()),
        };
        let at = Member::DOCUMENT;
        let tells_detail = self.tells_detail(fault);
        let mut encoder = self.fault_encoder();
        encoder.begin_map(at, 2 + usize::from(tells_detail));
        encoder.key(at, "faultCode");
        encoder.integer(at, fault.code().unwrap_or(status));
        encoder.key(at, "faultString");
        encoder.string(at, &text);
        if tells_detail {
            encoder.key(at, DETAIL);
            push_detail(&mut encoder, error, &members);
        } else {
            // Written and dropped: a value that does not fit the structure is an error even if
            // the structure is omitted.
            let mut unsent = self.encoder(Envelope::Value);
            push_detail(&mut unsent, error, &members);
            unsent.finish()?;
        }
        encoder.end_map(at);
        let mut response = response(encoder.finish()?);
        fault.write_head(response.headers_mut());
        Ok(response)
    }

    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let PublicFault {
            kind,
            message,
            details,
            ..
        } = fault.public();
        let code = fault_code(fault);
        let details = details.filter(|_| self.tells_detail(fault));
        let write = |text: &str, details: Option<&Map>| {
            let mut map = Map::from_iter([
                ("faultCode", Value::from(code)),
                ("faultString", Value::from(text)),
            ]);
            if let Some(details) = details {
                let name = Value::from(validate::VALIDATION_EXCEPTION);
                let members = details.iter();
                let members = members.map(|(key, value)| (Text::from(key), value.clone()));
                let name = (Text::from("__type"), name);
                let detail = Map::from_iter(std::iter::once(name).chain(members));
                map.extend([(Text::from(DETAIL), Value::Map(detail))]);
            }
            let mut encoder = self.fault_encoder();
            Value::Map(map).encode(Member::DOCUMENT, &mut encoder);
            encoder.finish()
        };
        // A message may repeat what the caller sent, which XML may not allow.
        let body = write(message, details)
            .or_else(|_| write("the request could not be read", None))
            .unwrap_or_default();
        let mut response = response(body);
        if kind == FaultKind::MethodNotAllowed {
            // No client of XML-RPC asks so: this is for a person.
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        }
        if fault.own_status() == Some(StatusCode::UNSUPPORTED_MEDIA_TYPE) {
            // Nor does any send what a page may.
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        }
        fault.write_head(response.headers_mut());
        response
    }
}

impl ClientProtocol for XmlRpc {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let envelope = Envelope::Call {
            method: operation.xmlrpc_method(),
            positional: operation.has(OperationFlags::POSITIONAL),
        };
        let mut encoder = self.encoder(envelope).with_defaults(Defaults::Client);
        input.write(operation.input().root(), &mut encoder);
        let mut request = http::Request::new(Bytes::from(encoder.finish()?));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.path.parse().map_err(|_| {
            Error::new(ErrorKind::Internal)
                .in_format("XML-RPC")
                .expected(format!("a path, not {}", self.path))
        })?;
        request.headers_mut().insert(CONTENT_TYPE, TEXT_XML);
        if self.style.fault_detail != FaultDetail::Never {
            request.headers_mut().insert(DETAIL_HEADER, YES);
        }
        Ok(request)
    }

    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        // A server that rejects a request by its head has a status for proxies, and a fault for the caller.
        let is_error = head.status != StatusCode::OK;
        let is_fault = || {
            matches!(
                XmlRpcDecoder::response(body, self.for_client(), limits),
                Ok((Reply::Fault, _))
            )
        };
        if is_error && !is_fault() {
            let message = format!("status {}, so this is no answer of XML-RPC", head.status);
            return Ok(Outcome::Foreign(message));
        }
        let (reply, mut decoder) = XmlRpcDecoder::response(body, self.for_client(), limits)?;
        if reply == Reply::Result {
            return Ok(Outcome::Output);
        }
        let value = Value::decode(Member::DOCUMENT, &mut decoder)?;
        let id = value[DETAIL]["__type"].as_str().unwrap_or_default();
        if let Some(error) = operation.find_error(id) {
            return Ok(Outcome::Error(error));
        }
        let (code, message) = fault_parts(&value, self.profile.leniency)?;
        let kind = match is_error {
            true => error_info::kind_of_status(head.status, &message),
            false => kind_of(code),
        };
        let fault = Fault::new(kind, message).with_code(code);
        Ok(Outcome::Fault(fault.with_status(head.status)))
    }

    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let root = operation.output().root();
        let (_, mut decoder) = XmlRpcDecoder::response(body, self.for_client(), limits)?;
        sink.read(root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(root, &mut decoder)
    }

    fn parse_error<'de>(
        &self,
        error: Schema<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let (_, mut decoder) = XmlRpcDecoder::response(body, self.for_client(), limits)?;
        // The structure stands in a member of the fault; the others are
        // skipped, and after it nothing else is wanted.
        if decoder.enter(DETAIL)? {
            sink.read(error.root(), &mut decoder)?;
        }
        sink.finish(error.root(), &mut decoder)
    }
}

/// Writes the structure of a modelled error, with its name.
fn push_detail(encoder: &mut XmlRpcEncoder, error: Schema<'_>, Members(members): &Members<'_, '_>) {
    let at = Member::DOCUMENT;
    encoder.begin_map(at, members.len() + 1);
    encoder.key(at, "__type");
    encoder.string(at, error.id());
    for (member, value) in members {
        encoder.member(*member);
        value.encode(*member, encoder);
    }
    encoder.end_map(at);
}

/// Whether a browser sends such a request for any page to any server without asking
/// that server first: the three types of the
/// [safelist](https://fetch.spec.whatwg.org/#cors-safelisted-request-header), and none
/// at all. A browser says then from which origin the page is, and no client does.
///
/// Whoever lures a person to a page could else have their browser call a server that only
/// they can reach, on their own machine or with what their browser knows of them.
fn is_of_any_page(head: &HeadSummary<'_>) -> bool {
    const SAFELISTED: [&str; 3] = [
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "text/plain",
    ];
    match head.content_type {
        None => head.has_origin,
        Some(_) => SAFELISTED.iter().any(|media_type| head.is_of(media_type)),
    }
}

#[cold]
fn of_any_page(head: &HeadSummary<'_>) -> Fault {
    let found = match head.content_type {
        None => Cow::Borrowed("no content-type from a web page"),
        Some(sent) => String::from_utf8_lossy(sent.as_bytes()),
    };
    let message = format!(
        "expected the content-type text/xml or application/xml, or none, found {}: web pages \
         could send that to any server",
        found.escape_debug()
    );
    Fault::new(FaultKind::UnsupportedMediaType, message)
        .with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
}

fn response(body: Vec<u8>) -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from(body));
    response.headers_mut().insert(CONTENT_TYPE, TEXT_XML);
    response
}

/// The number that a fault without a structure of a model is sent with: its own, or
/// the one that the
/// [interoperability specification](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php)
/// has for what went wrong.
///
/// ```
/// use polywire_protocol::{Fault, FaultKind, fault_code};
///
/// assert_eq!(fault_code(&Fault::new(FaultKind::UnknownOperation, "no method `x`")), -32601);
/// assert_eq!(fault_code(&Fault::coded(7, "division by zero")), 7);
/// ```
#[must_use]
pub fn fault_code(fault: &Fault) -> i64 {
    match fault.kind() {
        FaultKind::Modelled => code::APPLICATION_ERROR,
        kind => fault.code().unwrap_or_else(|| code_of(kind, fault)),
    }
}

/// The fault for a number and a text, without a model. The numbers from -32768 to -32000 have the kind of the
/// [interoperability specification](https://xmlrpc-epi.sourceforge.net/specs/rfc.fault_codes.php); others are those of an
/// application: [`Fault::coded`].
///
/// ```
/// use polywire_protocol::{FaultKind, fault_of_code};
///
/// assert_eq!(fault_of_code(-32601, "no method `x`").kind(), FaultKind::UnknownOperation);
/// assert_eq!(fault_of_code(7, "division by zero").kind(), FaultKind::Named);
/// ```
#[must_use]
pub fn fault_of_code(code: i64, message: impl Into<String>) -> Fault {
    match code {
        -32_768..=-32_000 => Fault::new(kind_of(code), message).with_code(code),
        _ => Fault::coded(code, message),
    }
}

/// The code of a fault by what went wrong.
fn code_of(kind: FaultKind, fault: &Fault) -> i64 {
    let source = std::error::Error::source(fault);
    let error = source.and_then(|source| source.downcast_ref::<Error>());
    match kind {
        FaultKind::Malformed => match error {
            Some(error) => code::of(error),
            // What no reader of messages complains of came from below it.
            None if source.is_some() => code::TRANSPORT_ERROR,
            None => code::INVALID_PARAMETERS,
        },
        FaultKind::Invalid => code::INVALID_PARAMETERS,
        FaultKind::RequestTimeout => code::TRANSPORT_ERROR,
        FaultKind::UnknownOperation => code::METHOD_NOT_FOUND,
        FaultKind::Named => code::APPLICATION_ERROR,
        FaultKind::Internal | FaultKind::Modelled => code::INTERNAL_ERROR,
        FaultKind::Overloaded | FaultKind::DeadlineExceeded => code::SYSTEM_ERROR,
        _ => code::INVALID_REQUEST,
    }
}

fn kind_of(code: i64) -> FaultKind {
    match code {
        code::NOT_WELL_FORMED
        | code::INVALID_CHARACTER
        | code::INVALID_REQUEST
        | code::TRANSPORT_ERROR => FaultKind::Malformed,
        code::METHOD_NOT_FOUND => FaultKind::UnknownOperation,
        code::INVALID_PARAMETERS => FaultKind::Invalid,
        code::SYSTEM_ERROR => FaultKind::Overloaded,
        _ => FaultKind::Internal,
    }
}
