//! The query protocols, awsQuery and ec2Query: requests are forms, responses are XML.
//!
//! A request is a `POST /` with a form: `Action`, `Version` and the members of the input.
//! [`Dialect`] contains the differences between the two protocols: how forms nest, and which
//! elements surround a response.
//!
//! Where the specification is open, or this implementation differs from it:
//!
//! - A form can be in the query of the URI instead, with `GET` or an empty `POST`. AWS services
//!   accept it, and users write such URIs by hand. The request must then have no body.
//! - Servers ignore the path, because clients send the path of their endpoint.
//! - Servers ignore `Version`. It is a date, and clients with another date are usually compatible.
//! - A response has a request id only after
//!   [`add_request_id`](crate::ServerProtocol::add_request_id), because this crate does not
//!   generate random ids.

mod errors;

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode, request, response};
use polywire_codec::form::{FormDecoder, FormProfile};
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_codec::{Message, Sink, form};
use polywire_schema::{Body, Error, Limits, Operation, OperationFlags, Schema, Service};
use polywire_text::percent;

use crate::operation_table::OperationTable;
use crate::protocol::{
    Claim, ClientProtocol, FromService, HeadSummary, MountError, Outcome, Plan, ProtocolInfo,
    ProtocolKind, ReadPlan, Route, ServerProtocol,
};
use crate::size_hint::SizeHint;
use crate::{Fault, FaultKind, endpoint, media, request_id};

const FORM: &str = "application/x-www-form-urlencoded";
const FORM_TYPE: HeaderValue = HeaderValue::from_static(FORM);

const CLIENT: XmlProfile<'static> = XmlProfile::DEFAULT.for_client();

/// The differences between the query protocols.
#[derive(Debug)]
pub struct Dialect {
    pub(crate) kind: ProtocolKind,
    pub(crate) form: FormProfile,
    /// The content type of responses.
    pub(crate) content_type: HeaderValue,
    /// Whether an element `NameResult` contains the members of an output.
    pub(crate) has_result_element: bool,
    /// The elements around an error, from the outermost one.
    pub(crate) error_elements: &'static [&'static str],
    /// Whether errors have the element `Type`, and the codes and statuses of `@awsQueryError`.
    pub(crate) has_error_codes: bool,
    /// The elements around the request id in a response with an output.
    pub(crate) output_id_elements: &'static [&'static str],
    /// The elements around the request id in a response with an error.
    pub(crate) error_id_elements: &'static [&'static str],
}

/// A type for each query protocol.
pub trait QueryProtocol: fmt::Debug + Send + Sync + 'static {
    /// Returns the settings of the protocol.
    fn dialect() -> &'static Dialect;
}

/// A query protocol for a service.
#[derive(Debug)]
pub struct Query<D> {
    dialect: &'static Dialect,
    marker: PhantomData<D>,
    operations: HashMap<String, u32>,
    calls: OperationTable<CallTemplate>,
    /// The headers of a request.
    request: HeaderMap,
    /// The headers of a response.
    response: HeaderMap,
    /// `@xmlNamespace` of the service.
    namespace: Option<(Option<String>, String)>,
}

/// The parts that are equal in all messages of an operation.
#[derive(Debug)]
struct CallTemplate {
    /// `Action=Name&Version=1`: the start of the form.
    form_start: Vec<u8>,
    /// The element around an output, and that around its members.
    response: String,
    result: String,
    request_size: SizeHint,
    response_size: SizeHint,
}

impl<D: QueryProtocol> ProtocolInfo for Query<D> {
    fn kind(&self) -> ProtocolKind {
        self.dialect.kind
    }
}

impl<D: QueryProtocol> FromService for Query<D> {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Self::new(service)
    }
}

impl<D: QueryProtocol> Query<D> {
    /// Creates the protocol for a service.
    ///
    /// # Errors
    ///
    /// A member of an input has the name of a field of the protocol: `Action` or `Version`.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        let dialect = D::dialect();
        let names = dialect.form.names.source();
        let mut operations = HashMap::new();
        let mut calls = OperationTable::default();
        let mut version = b"&Version=".to_vec();
        let value = service.version().as_bytes();
        percent::push_bytes(&mut version, value, &percent::UNRESERVED);
        for operation in service.operations() {
            let mut members = operation.input().members();
            let reserved =
                members.find(|member| dialect.form.protocol_fields.contains(&member.plain(names)));
            if let Some(member) = reserved {
                let (operation, name) = (operation.name(), member.plain(names));
                return Err(MountError(format!(
                    "{operation}: a member of its input has the name `{name}` in forms, which is \
                     reserved in {}",
                    dialect.kind
                )));
            }
            let name = operation.name();
            operations.insert(name.to_owned(), operation.index());
            let template = CallTemplate {
                // The names of operations are identifiers and need no percent-encoding.
                form_start: [b"Action=", name.as_bytes(), &version].concat(),
                response: format!("{name}Response"),
                result: format!("{name}Result"),
                request_size: SizeHint::default(),
                response_size: SizeHint::default(),
            };
            calls.insert(operation, template);
        }
        let owned =
            |(prefix, uri): (Option<&str>, &str)| (prefix.map(str::to_owned), uri.to_owned());
        Ok(Self {
            dialect,
            marker: PhantomData,
            operations,
            calls,
            request: HeaderMap::from_iter([(CONTENT_TYPE, FORM_TYPE)]),
            response: HeaderMap::from_iter([(CONTENT_TYPE, dialect.content_type.clone())]),
            namespace: service.xml_namespace().map(owned),
        })
    }

    /// Returns the query of the URI, if it contains the call.
    fn form_in_query<'h>(&self, head: &'h request::Parts) -> Option<&'h str> {
        let query = head.uri.query()?;
        // The server has already limited the size of the head.
        let form = FormDecoder::from_str(query, self.dialect.form, &Limits::DEFAULT).ok()?;
        let action = form.find("Action").ok()?;
        action.map(|_| query)
    }

    fn find(&self, form: &FormDecoder<'_>) -> Result<Route, Fault> {
        let Some(action) = form.find("Action")? else {
            let message = "the form has no field `Action`, which names the operation";
            return Err(Fault::new(FaultKind::UnknownOperation, message).with_name("MissingAction"));
        };
        match self.operations.get(&*action) {
            Some(index) => Ok(Route::to(*index)),
            None => Err(Fault::unknown_name("action", &action)),
        }
    }

    fn call(&self, operation: Operation<'_>) -> Result<&CallTemplate, Error> {
        self.calls.get(operation, self.dialect.kind)
    }

    fn response(&self, status: StatusCode, body: Vec<u8>) -> http::Response<Bytes> {
        let mut response = http::Response::new(Bytes::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = self.response.clone();
        response
    }
}

impl<D: QueryProtocol> ServerProtocol for Query<D> {
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        let head = summary.head;
        let post = head.method == Method::POST;
        let by_body = post && summary.has_media_type(FORM);
        let by_query = (post || head.method == Method::GET) && self.form_in_query(head).is_some();
        if by_query || by_body && matches!(head.uri.path(), "" | "/") {
            Claim::Weak
        } else if by_body {
            // curl sends this media type by default. If the path belongs to an operation of another
            // protocol, that protocol can report the error better.
            Claim::Fallback
        } else {
            Claim::No
        }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        if let Some(query) = self.form_in_query(head) {
            if head.method != Method::POST && head.method != Method::GET {
                return Err(Fault::method_not_allowed(vec![Method::GET, Method::POST]));
            }
            let form = FormDecoder::from_str(query, self.dialect.form, &Limits::DEFAULT)?;
            return self.find(&form).map(Plan::Buffer);
        }
        if head.method != Method::POST {
            return Err(Fault::method_not_allowed(vec![Method::POST]));
        }
        HeadSummary::new(head).check_type(FORM, |_| false)?;
        Ok(Plan::BufferThenRoute)
    }

    fn route_body(
        &self,
        head: &request::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Route, Fault> {
        media::check_coding(&head.headers)?;
        self.find(&FormDecoder::from_body(body, self.dialect.form, limits)?)
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let profile = self.dialect.form;
        let mut decoder = match self.form_in_query(request.head) {
            None => FormDecoder::from_body(request.body, profile, request.limits)?,
            Some(query) if request.body.as_bytes().is_empty() => {
                FormDecoder::from_str(query, profile, request.limits)?
            }
            Some(_) => {
                let message = "`Action` is in the query, so the request must not have a body";
                return Err(Fault::new(FaultKind::Malformed, message));
            }
        };
        let root = operation.input().root();
        sink.read(root, &mut decoder)?;
        decoder.finish()?;
        Ok(sink.finish(root, &mut decoder)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let namespace = self.namespace.as_ref();
        let namespace = namespace.map(|(prefix, uri)| (prefix.as_deref(), &**uri));
        let profile = XmlProfile::DEFAULT.with_namespace(namespace);
        let call = self.call(operation)?;
        let mut encoder = XmlEncoder::new(profile, call.response_size.new_buffer());
        encoder.open(&call.response);
        if !operation.has(OperationFlags::UNIT_OUTPUT) {
            let root = operation.output().root();
            if self.dialect.has_result_element {
                encoder.open(&call.result);
                output.write(root, &mut encoder);
                encoder.close(&call.result);
            } else {
                output.write(root, &mut encoder);
            }
        }
        encoder.close(&call.response);
        let document = encoder.finish()?;
        call.response_size.record(document.len());
        Ok(self.response(StatusCode::OK, document))
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        self.write_modelled(error, fault)
    }

    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        self.write_fault(fault)
    }

    fn add_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        let path = match response.status().is_success() {
            true => self.dialect.output_id_elements,
            false => self.dialect.error_id_elements,
        };
        request_id::add(path, response, id);
    }

    fn has_request_ids(&self) -> bool {
        true
    }

    fn conflicts_with(&self, other: ProtocolKind) -> Option<&'static str> {
        let is_query = matches!(other, ProtocolKind::AwsQuery | ProtocolKind::Ec2Query);
        is_query.then_some("both send forms with the field `Action`")
    }
}

impl<D: QueryProtocol> ClientProtocol for Query<D> {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let call = self.call(operation)?;
        let mut out = call.request_size.new_buffer();
        out.extend_from_slice(&call.form_start);
        let mut encoder = form::FormEncoder::new(self.dialect.form.for_client(), out);
        input.write(operation.input().root(), &mut encoder);
        let form = encoder.finish()?;
        call.request_size.record(form.len());
        let mut request = http::Request::new(Bytes::from(form));
        *request.method_mut() = Method::POST;
        *request.headers_mut() = self.request.clone();
        endpoint::add_host_prefix(&mut request, operation, input)?;
        Ok(request)
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
        if body.as_bytes().is_empty() {
            // An empty body is an output without members. Any decoder can finish it.
            let profile = self.dialect.form.for_client();
            return sink.finish(root, &mut FormDecoder::from_str("", profile, limits)?);
        }
        let mut decoder = XmlDecoder::from_body(body, CLIENT, limits)?;
        if self.dialect.has_result_element {
            decoder.enter(&self.call(operation)?.result)?;
        }
        sink.read(root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(root, &mut decoder)
    }

    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        if head.status.is_success() {
            return Ok(Outcome::Output);
        }
        Ok(self.failure(operation, head.status, body, limits))
    }

    fn parse_error<'de>(
        &self,
        error: Schema<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        let mut decoder = XmlDecoder::from_body(body, CLIENT, limits)?;
        errors::enter(&mut decoder)?;
        decoder.allow_any_case_message(error)?;
        sink.read(error.root(), &mut decoder)?;
        decoder.finish()?;
        sink.finish(error.root(), &mut decoder)
    }
}
