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
//! - An answer has a request id once [`tell_request_id`](crate::Protocol::tell_request_id) has put one
//!   there: nothing below the server may make random ones.

mod errors;

use std::collections::HashMap;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, StatusCode, request, response};
use polywire_codec::form::{FormDecoder, FormProfile};
use polywire_codec::xml::{XmlDecoder, XmlEncoder, XmlProfile};
use polywire_codec::{Message, Sink, form};
use polywire_schema::{Body, Error, Limits, Operation, OperationFlags, Schema, Service};
use polywire_text::percent;

use crate::protocol::{Claim, MountError, Outcome, Plan, ProtocolKind, ReadPlan, Route};
use crate::{Fault, FaultKind, endpoint, media};

const FORM: &str = "application/x-www-form-urlencoded";
const FORM_TYPE: HeaderValue = HeaderValue::from_static(FORM);

const CLIENT: XmlProfile<'static> = XmlProfile::DEFAULT.lenient();

/// What differs between the query protocols.
#[derive(Debug)]
pub(crate) struct Dialect {
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
}

/// A query protocol for a service.
#[derive(Debug)]
pub(crate) struct Query {
    dialect: &'static Dialect,
    operations: HashMap<String, u32>,
    /// `&Version=` and what it is.
    version: Vec<u8>,
    /// `@xmlNamespace` of the service.
    namespace: Option<(Option<String>, String)>,
}

impl Query {
    pub(crate) fn new(service: Service<'_>, dialect: &'static Dialect) -> Result<Self, MountError> {
        let names = dialect.form.names.source();
        let mut operations = HashMap::new();
        for operation in service.operations() {
            let mut members = operation.input().members();
            let taken = members.find(|member| dialect.form.own.contains(&member.plain(names)));
            if let Some(member) = taken {
                let (operation, name) = (operation.name(), member.plain(names));
                return Err(MountError(format!(
                    "{operation}: a member of its input is `{name}` in forms, where {} has a \
                     field of its own by that name",
                    dialect.kind
                )));
            }
            operations.insert(operation.name().to_owned(), operation.index());
        }
        let mut version = b"&Version=".to_vec();
        let own = service.version().as_bytes();
        percent::push_bytes(&mut version, own, &percent::UNRESERVED);
        let owned =
            |(prefix, uri): (Option<&str>, &str)| (prefix.map(str::to_owned), uri.to_owned());
        Ok(Self {
            dialect,
            operations,
            version,
            namespace: service.xml_namespace().map(owned),
        })
    }

    pub(crate) fn claim(&self, head: &request::Parts) -> Claim {
        let form = |value: &HeaderValue| {
            let value = value.to_str();
            value.is_ok_and(|value| media::is_media_type(value, FORM))
        };
        let post = head.method == Method::POST;
        let by_body = post && head.headers.get(CONTENT_TYPE).is_some_and(form);
        let by_query = (post || head.method == Method::GET) && self.called_by(head).is_some();
        if by_body || by_query {
            Claim::Weak
        } else {
            Claim::No
        }
    }

    /// The query of the URI, if it is the call.
    fn called_by<'h>(&self, head: &'h request::Parts) -> Option<&'h str> {
        let query = head.uri.query()?;
        // Looked at with no limit, since the server has limited the head.
        let form = FormDecoder::from_str(query, self.dialect.form, &Limits::DEFAULT).ok()?;
        let action = form.find("Action").ok()?;
        action.map(|_| query)
    }

    pub(crate) fn route(&self, head: &request::Parts) -> Result<Plan, Fault> {
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
        media::check_sent(&head.headers, FORM)?;
        Ok(Plan::BufferThenRoute)
    }

    pub(crate) fn route_body(
        &self,
        head: &request::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Route, Fault> {
        media::check_coding(&head.headers)?;
        self.find(&FormDecoder::from_body(body, self.dialect.form, limits)?)
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

    pub(crate) fn decode_input<'de>(
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
        sink.decode_form(root, &mut decoder)?;
        decoder.finish()?;
        Ok(sink.finish(root, &mut decoder)?)
    }

    pub(crate) fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let mut out = Vec::with_capacity(512);
        out.extend_from_slice(b"Action=");
        // Names of operations are identifiers: nothing in them is encoded.
        out.extend_from_slice(operation.name().as_bytes());
        out.extend_from_slice(&self.version);
        let mut encoder = form::FormEncoder::new(self.dialect.form.lenient(), out);
        input.encode_form(operation.input().root(), &mut encoder);
        let mut request = http::Request::new(Bytes::from(encoder.finish()?));
        *request.method_mut() = Method::POST;
        request.headers_mut().insert(CONTENT_TYPE, FORM_TYPE);
        if let Some(prefix) = endpoint::host_prefix(operation, input)? {
            request.extensions_mut().insert(prefix);
        }
        Ok(request)
    }

    pub(crate) fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let namespace = self.namespace.as_ref();
        let namespace = namespace.map(|(prefix, uri)| (prefix.as_deref(), &**uri));
        let profile = XmlProfile::DEFAULT.with_namespace(namespace);
        let mut encoder = XmlEncoder::new(profile, Vec::with_capacity(512));
        let name = operation.name();
        let response = format!("{name}Response");
        encoder.open(&response);
        if !operation.has(OperationFlags::UNIT_OUTPUT) {
            let root = operation.output().root();
            if self.dialect.result {
                let result = format!("{name}Result");
                encoder.open(&result);
                output.encode_xml(root, &mut encoder);
                encoder.close(&result);
            } else {
                output.encode_xml(root, &mut encoder);
            }
        }
        encoder.close(&response);
        Ok(self.answer(StatusCode::OK, encoder.finish()?))
    }

    fn answer(&self, status: StatusCode, body: Vec<u8>) -> http::Response<Bytes> {
        let mut response = http::Response::new(Bytes::from(body));
        *response.status_mut() = status;
        let answer = self.dialect.answer.clone();
        response.headers_mut().insert(CONTENT_TYPE, answer);
        response
    }

    pub(crate) fn decode_output<'de>(
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
            let profile = self.dialect.form.lenient();
            return sink.finish(root, &mut FormDecoder::from_str("", profile, limits)?);
        }
        let mut decoder = XmlDecoder::from_body(body, CLIENT, limits)?;
        if self.dialect.result {
            decoder.enter_joined(operation.name(), "Result")?;
        }
        sink.decode_xml(root, &mut decoder)?;
        decoder.finish()?;
        sink.finish(root, &mut decoder)
    }

    pub(crate) fn outcome<'s>(
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

    pub(crate) fn decode_error<'de>(
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
        sink.decode_xml(error.root(), &mut decoder)?;
        decoder.finish()?;
        sink.finish(error.root(), &mut decoder)
    }
}
