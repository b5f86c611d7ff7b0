//! What awsQuery and ec2Query share: forms that call, XML that answers.
//!
//! A call is a `POST /` whose body is a form: `Action`, `Version` and the
//! members of the input. What differs between the two is how a form nests and
//! which elements stand around an answer; that is a [`Dialect`].
//!
//! Decisions that the specification leaves open, or that differ from it:
//!
//! - A call may stand in the query of the URI instead, with `GET` or with an
//!   empty `POST`: AWS's services take it so, and people who write URIs by hand
//!   rely on it. Then nothing may stand in the body.
//! - The path is not looked at: clients put whatever path their endpoint has
//!   before it.
//! - `Version` may be anything, or missing. It names a date, clients are made
//!   for all of them, and those of other dates mostly get along.
//! - An answer has a request id once [`tell_request_id`](crate::ServerProtocol::tell_request_id) has put one
//!   there: nothing below the server may make random ones.

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
use polywire_schema::{Body, Error, ErrorKind, Limits, Operation, OperationFlags, Schema, Service};
use polywire_text::percent;

use crate::protocol::{
    Claim, ClientProtocol, FromService, HeadSummary, MountError, OfKind, Outcome, Plan,
    ProtocolKind, ReadPlan, Route, ServerProtocol,
};
use crate::room::Room;
use crate::{Fault, FaultKind, endpoint, media, request_id};

const FORM: &str = "application/x-www-form-urlencoded";
const FORM_TYPE: HeaderValue = HeaderValue::from_static(FORM);

const CLIENT: XmlProfile<'static> = XmlProfile::DEFAULT.for_client();

/// What differs between the query protocols.
#[derive(Debug)]
pub struct Dialect {
    pub(crate) kind: ProtocolKind,
    pub(crate) form: FormProfile,
    /// The content type of answers.
    pub(crate) answer: HeaderValue,
    /// Whether the members of an output stand in an element of their own,
    /// `NameResult`.
    pub(crate) result: bool,
    /// The elements around what is said of an error.
    pub(crate) error: &'static [&'static str],
    /// Whether errors say whose fault they are, and have codes and statuses of
    /// `@awsQueryError`.
    pub(crate) codes: bool,
    /// The elements around the id of the call in the document of an output.
    pub(crate) output_id: &'static [&'static str],
    /// The same in the document of an error.
    pub(crate) error_id: &'static [&'static str],
}

/// A query protocol as a type.
pub trait QueryProtocol: fmt::Debug + Send + Sync + 'static {
    /// Its settings.
    fn dialect() -> &'static Dialect;
}

/// A query protocol for a service.
#[derive(Debug)]
pub struct Query<D> {
    dialect: &'static Dialect,
    marker: PhantomData<D>,
    operations: HashMap<String, u32>,
    /// What is known of each call, by the index of the operation; none for
    /// operations of other services.
    calls: Vec<Option<Call>>,
    /// The headers of a call, to be copied.
    request: HeaderMap,
    /// The headers of an answer.
    answer: HeaderMap,
    /// `@xmlNamespace` of the service.
    namespace: Option<(Option<String>, String)>,
}

/// What all messages of an operation have in common.
#[derive(Debug)]
struct Call {
    /// `Action=Name&Version=` and what it is.
    begin: Vec<u8>,
    /// The elements around an output.
    response: String,
    result: String,
    request_room: Room,
    answer_room: Room,
}

impl<D: QueryProtocol> OfKind for Query<D> {
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
    /// The protocol for a service.
    ///
    /// # Errors
    ///
    /// A member of an input is named like a field of the protocol: `Action` or `Version`.
    pub fn new(service: Service<'_>) -> Result<Self, MountError> {
        let dialect = D::dialect();
        let names = dialect.form.names.source();
        let mut operations = HashMap::new();
        let mut calls = Vec::new();
        let mut version = b"&Version=".to_vec();
        let own = service.version().as_bytes();
        percent::push_bytes(&mut version, own, &percent::UNRESERVED);
        for operation in service.operations() {
            let mut members = operation.input().members();
            let taken =
                members.find(|member| dialect.form.protocol_fields.contains(&member.plain(names)));
            if let Some(member) = taken {
                let (operation, name) = (operation.name(), member.plain(names));
                return Err(MountError(format!(
                    "{operation}: a member of its input is `{name}` in forms, where {} has a \
                     field of its own by that name",
                    dialect.kind
                )));
            }
            let (name, index) = (operation.name(), operation.index());
            operations.insert(name.to_owned(), index);
            let (index, len) = (index as usize, calls.len());
            calls.resize_with(len.max(index + 1), || None);
            calls[index] = Some(Call {
                // Names of operations are identifiers: nothing in them is encoded.
                begin: [b"Action=", name.as_bytes(), &version].concat(),
                response: format!("{name}Response"),
                result: format!("{name}Result"),
                request_room: Room::default(),
                answer_room: Room::default(),
            });
        }
        let owned =
            |(prefix, uri): (Option<&str>, &str)| (prefix.map(str::to_owned), uri.to_owned());
        Ok(Self {
            dialect,
            marker: PhantomData,
            operations,
            calls,
            request: HeaderMap::from_iter([(CONTENT_TYPE, FORM_TYPE)]),
            answer: HeaderMap::from_iter([(CONTENT_TYPE, dialect.answer.clone())]),
            namespace: service.xml_namespace().map(owned),
        })
    }

    /// The query of the URI, if it is the call.
    fn called_by<'h>(&self, head: &'h request::Parts) -> Option<&'h str> {
        let query = head.uri.query()?;
        // Looked at with no limit, since the server has limited the head.
        let form = FormDecoder::from_str(query, self.dialect.form, &Limits::DEFAULT).ok()?;
        let action = form.find("Action").ok()?;
        action.map(|_| query)
    }

    fn find(&self, form: &FormDecoder<'_>) -> Result<Route, Fault> {
        let Some(action) = form.find("Action")? else {
            let message = "the form has no field `Action`, which says what is called";
            return Err(Fault::new(FaultKind::UnknownOperation, message).with_name("MissingAction"));
        };
        match self.operations.get(&*action) {
            Some(index) => Ok(Route::to(*index)),
            None => {
                let message = format!("no action `{}`", action.escape_debug());
                Err(Fault::new(FaultKind::UnknownOperation, message))
            }
        }
    }

    fn call(&self, operation: Operation<'_>) -> Result<&Call, Error> {
        let found = self.calls.get(operation.index() as usize);
        found.and_then(Option::as_ref).ok_or_else(|| {
            Error::new(ErrorKind::Internal)
                .in_format(self.dialect.kind.name())
                .expected("an operation of the service that the protocol was made for")
                .found(operation.id().to_owned())
        })
    }

    fn answer(&self, status: StatusCode, body: Vec<u8>) -> http::Response<Bytes> {
        let mut response = http::Response::new(Bytes::from(body));
        *response.status_mut() = status;
        *response.headers_mut() = self.answer.clone();
        response
    }
}

impl<D: QueryProtocol> ServerProtocol for Query<D> {
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim {
        let head = summary.head;
        let post = head.method == Method::POST;
        let by_body = post && summary.is_of(FORM);
        let by_query = (post || head.method == Method::GET) && self.called_by(head).is_some();
        if by_query || by_body && matches!(head.uri.path(), "" | "/") {
            Claim::Weak
        } else if by_body {
            // What curl sends without a word about its type is such a form: to the path of
            // another protocol's operation it is a slip, which that one can tell better.
            Claim::Fallback
        } else {
            Claim::No
        }
    }

    fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
        if let Some(query) = self.called_by(head) {
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
        let mut decoder = match self.called_by(request.head) {
            None => FormDecoder::from_body(request.body, profile, request.limits)?,
            Some(query) if request.body.as_bytes().is_empty() => {
                FormDecoder::from_str(query, profile, request.limits)?
            }
            Some(_) => {
                let message = "`Action` stands in the query, so all of the call does, and there \
                    must be no body";
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
        let mut encoder = XmlEncoder::new(profile, call.answer_room.vec());
        encoder.open(&call.response);
        if !operation.has(OperationFlags::UNIT_OUTPUT) {
            let root = operation.output().root();
            if self.dialect.result {
                encoder.open(&call.result);
                output.write(root, &mut encoder);
                encoder.close(&call.result);
            } else {
                output.write(root, &mut encoder);
            }
        }
        encoder.close(&call.response);
        let document = encoder.finish()?;
        call.answer_room.took(document.len());
        Ok(self.answer(StatusCode::OK, document))
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

    fn tell_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        let path = match response.status().is_success() {
            true => self.dialect.output_id,
            false => self.dialect.error_id,
        };
        request_id::tell(path, response, id);
    }

    fn has_request_ids(&self) -> bool {
        true
    }

    fn conflicts_with(&self, other: ProtocolKind) -> Option<&'static str> {
        let is_query = matches!(other, ProtocolKind::AwsQuery | ProtocolKind::Ec2Query);
        is_query.then_some("both are called with a form that names an Action")
    }
}

impl<D: QueryProtocol> ClientProtocol for Query<D> {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let call = self.call(operation)?;
        let mut out = call.request_room.vec();
        out.extend_from_slice(&call.begin);
        let mut encoder = form::FormEncoder::new(self.dialect.form.for_client(), out);
        input.write(operation.input().root(), &mut encoder);
        let form = encoder.finish()?;
        call.request_room.took(form.len());
        let mut request = http::Request::new(Bytes::from(form));
        *request.method_mut() = Method::POST;
        *request.headers_mut() = self.request.clone();
        if let Some(prefix) = endpoint::host_prefix(operation, input)? {
            request.extensions_mut().insert(prefix);
        }
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
            // An output without members may come as nothing at all. What is
            // asked of a decoder at the end is the same in all formats.
            let profile = self.dialect.form.for_client();
            return sink.finish(root, &mut FormDecoder::from_str("", profile, limits)?);
        }
        let mut decoder = XmlDecoder::from_body(body, CLIENT, limits)?;
        if self.dialect.result {
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
        decoder.take_any_case_message(error)?;
        sink.read(error.root(), &mut decoder)?;
        decoder.finish()?;
        sink.finish(error.root(), &mut decoder)
    }
}
