//! The traits that protocols implement.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use http::{HeaderMap, request, response};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, ErrorKind, Limits, Operation, Schema, Service};

pub(crate) use crate::detect::{Claim, HeadSummary};
use crate::event_stream::EventCodec;
pub(crate) use crate::kind::ProtocolKind;
pub use crate::mount_error::MountError;
use crate::{Fault, InputMemory, request_id};

/// The part of a protocol that is the same for clients and servers.
pub trait ProtocolInfo: fmt::Debug + Send + Sync {
    /// Returns the kind of the protocol.
    fn kind(&self) -> ProtocolKind;

    /// Converts the body of a message to UTF-8. Returns `None` if the body is UTF-8 already, or if
    /// the protocol is not configured to accept other encodings. The other methods of the protocol
    /// expect the converted body.
    ///
    /// # Errors
    ///
    /// The encoding is unknown, or the body is not valid in it or exceeds the limits.
    fn in_utf8(
        &self,
        headers: &HeaderMap,
        body: &Body,
        limits: &Limits,
    ) -> Result<Option<Body>, Error> {
        let _ = (headers, body, limits);
        Ok(None)
    }

    /// Returns the codec for event streams. `None` if the protocol has none.
    fn event_codec(&self) -> Option<&dyn EventCodec> {
        None
    }
}

/// A protocol for one service, with the client side and the server side.
///
/// The operations that are passed to a protocol belong to the schema set of its service. One
/// protocol serves all requests concurrently. It stores no data from messages except their sizes
/// and which headers were set.
///
/// Clients use `dyn` [`ClientProtocol`] and servers `dyn` [`ServerProtocol`], so that a program
/// contains only the code of the side that it needs.
pub trait Protocol: ClientProtocol + ServerProtocol {}

impl<P: ClientProtocol + ServerProtocol + ?Sized> Protocol for P {}

/// A protocol that can be created from a service without further options.
pub trait FromService: ProtocolInfo + Sized {
    /// Creates the protocol for a service.
    ///
    /// # Errors
    ///
    /// The protocol does not support the service. The message names the operation.
    fn from_service(service: Service<'_>) -> Result<Self, MountError>;
}

/// The server side of a protocol.
pub trait ServerProtocol: ProtocolInfo {
    /// Returns the path of the protocol, if all requests have the same one. Two protocols of the
    /// same kind can share a server if their paths differ.
    fn endpoint(&self) -> Option<&str> {
        None
    }

    /// Returns how likely a request is one of this protocol, from its head alone.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim;

    /// Finds the operation of a request, as far as the head determines it.
    ///
    /// # Errors
    ///
    /// The operation does not exist.
    fn route(&self, head: &request::Parts) -> Result<Plan, Fault>;

    /// Finds the operation of a request from its body, after [`route`](Self::route) returned
    /// [`Plan::BufferThenRoute`].
    ///
    /// # Errors
    ///
    /// The operation does not exist, or the body cannot be decoded.
    fn route_body(
        &self,
        head: &request::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Route, Fault> {
        let _ = (head, body, limits);
        Err(Fault::internal(
            "this protocol finds the operation by the head",
        ))
    }

    /// Finds the calls in a message, after [`ServerProtocol::route`] returned
    /// [`Plan::BufferThenSplit`]. The server runs each of them like any other call and then calls
    /// [`join`](Self::join).
    ///
    /// # Errors
    ///
    /// The message cannot be decoded, or has more than [`Limits::calls`] calls. No call runs then,
    /// and [`encode_other`](Self::encode_other) writes the response.
    fn split(
        &self,
        head: &request::Parts,
        body: Bytes,
        limits: &Limits,
    ) -> Result<CallBatch, Fault> {
        let _ = (head, body, limits);
        Err(Fault::internal("this protocol has one call per message"))
    }

    /// Joins the responses to a message with several calls. `responses` has one response for each
    /// call of the batch, in the same order, and `None` for each call without [an
    /// id](BatchEntry::id). A response that this protocol did not write is replaced with a fault.
    fn join(
        &self,
        batch: &CallBatch,
        responses: Vec<Option<http::Response<Bytes>>>,
    ) -> http::Response<Bytes> {
        let _ = (batch, responses);
        self.encode_other(&Fault::internal("this protocol has one call per message"))
    }

    /// Returns whether the body of a request is the value of a blob with `@streaming`. Then a server can pass the body
    /// to [`decode_input`](Self::decode_input) as a [`PayloadStream`](crate::PayloadStream) before it has arrived.
    fn has_input_stream(&self, operation: Operation<'_>) -> bool {
        let _ = operation;
        false
    }

    /// Decodes the input of a call. Errors do not quote an input that can contain sensitive data:
    /// [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// The request does not contain a valid input of the operation.
    fn decode_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        self.parse_input(operation, request, sink)
            .map_err(|fault| fault.without_sensitive(operation.input().root()))
    }

    /// The implementation of [`decode_input`](Self::decode_input), for protocols. Callers use
    /// `decode_input`. Errors can quote the input.
    ///
    /// # Errors
    ///
    /// The same as [`decode_input`](Self::decode_input).
    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault>;

    /// Encodes the output of a call.
    ///
    /// # Errors
    ///
    /// The output does not fit the model or the format.
    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error>;

    /// Returns whether the caller asks to include the error structure in faults, in protocols that
    /// omit it by default. The server passes the result to [`Fault::with_detail`] before it encodes
    /// a fault of the call.
    fn wants_detail(&self, head: &request::Parts) -> bool {
        let _ = head;
        false
    }

    /// Encodes a modelled error.
    ///
    /// # Errors
    ///
    /// The details do not fit the structure or the format.
    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error>;

    /// Encodes a fault that is not a modelled error. Never fails.
    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes>;

    /// Encodes a fault, as a modelled error if the operation lists it. If encoding fails, the
    /// result is an internal fault.
    fn encode_fault(
        &self,
        operation: Option<Operation<'_>>,
        fault: &Fault,
    ) -> http::Response<Bytes> {
        match fault.shape_in(operation) {
            None => self.encode_other(fault),
            Some(shape) => self
                .encode_error(shape, fault)
                .unwrap_or_else(|error| self.encode_other(&Fault::internal(error))),
        }
    }

    /// Adds the request id to a response that this protocol has written: in the header
    /// `x-amzn-requestid`, and in the document if [the protocol has an element for
    /// it](Self::has_request_ids). Does not replace an existing header.
    fn add_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        request_id::add(&[], response, id);
    }

    /// Returns whether the documents of this protocol have an element for the request id.
    ///
    /// <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#response-serialization>
    fn has_request_ids(&self) -> bool {
        false
    }

    /// Returns why requests of this protocol cannot be distinguished from those of another one.
    /// `None` if they can.
    fn conflicts_with(&self, other: ProtocolKind) -> Option<&'static str> {
        let _ = other;
        None
    }
}

/// The client side of a protocol.
pub trait ClientProtocol: ProtocolInfo {
    /// Encodes a request. Its URI consists of path and query. If the model defines a host prefix,
    /// the extensions contain a [`HostPrefix`].
    ///
    /// # Errors
    ///
    /// The input does not fit the model or the format.
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error>;

    /// Turns a call that [`encode_input`](Self::encode_input) wrote into a notification, which
    /// has no response. `None` if the protocol has no notifications.
    fn to_notification(&self, call: http::Request<Bytes>) -> Option<http::Request<Bytes>> {
        let _ = call;
        None
    }

    /// Whether a response says no more than that the server has accepted a notification.
    fn accepts_notification(&self, head: &response::Parts, body: &Body) -> bool {
        let _ = (head, body);
        false
    }

    /// Joins calls that [`encode_input`](Self::encode_input) wrote into one message. There is
    /// one id for each call, in the same order. `None` if the protocol has one call per message.
    ///
    /// # Errors
    ///
    /// The calls go to different hosts.
    fn join_calls(
        &self,
        calls: Vec<http::Request<Bytes>>,
        ids: Range<u64>,
    ) -> Result<Option<http::Request<Bytes>>, Error> {
        let _ = (calls, ids);
        Ok(None)
    }

    /// Finds the responses to the calls of [`join_calls`](Self::join_calls) in the response to
    /// their message. Each of them is then read like the response to any other call, with the
    /// same head. Errors repeat nothing of the response.
    ///
    /// # Errors
    ///
    /// It cannot be read as a response of this protocol.
    fn split_responses(
        &self,
        ids: Range<u64>,
        head: &response::Parts,
        body: Body,
        limits: &Limits,
    ) -> Result<BatchOutcome, Error> {
        let _ = (ids, head, body, limits);
        Err(Error::new(ErrorKind::Internal).expected("a protocol with several calls per message"))
    }

    /// Returns whether the body of this response is the value of a blob with `@streaming` of the output. Then a client
    /// can pass the body to [`decode_output`](Self::decode_output) as a [`PayloadStream`](crate::PayloadStream) before
    /// it has arrived, and need not call [`outcome`](Self::outcome).
    fn has_output_stream(&self, operation: Operation<'_>, head: &response::Parts) -> bool {
        let _ = (operation, head);
        false
    }

    /// Finds out whether a response contains an output or a fault. Errors do not quote a response
    /// that can contain sensitive data, as an output or as an error of the operation:
    /// [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// The response cannot be decoded.
    fn outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error> {
        self.parse_outcome(operation, head, body, limits)
            .map_err(|error| {
                let shapes = std::iter::once(operation.output()).chain(operation.errors());
                shapes.fold(error, |error, shape| error.without_sensitive(shape.root()))
            })
    }

    /// The implementation of [`outcome`](Self::outcome), for protocols. Callers use `outcome`.
    /// Errors can quote the response.
    ///
    /// # Errors
    ///
    /// The same as [`outcome`](Self::outcome).
    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error>;

    /// Decodes the output of a call. Errors do not quote an output that can contain sensitive data:
    /// [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// The response does not contain a valid output of the operation.
    fn decode_output<'de>(
        &self,
        operation: Operation<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        self.parse_output(operation, head, body, limits, sink)
            .map_err(|error| error.without_sensitive(operation.output().root()))
    }

    /// The implementation of [`decode_output`](Self::decode_output), for protocols. Callers use
    /// `decode_output`. Errors can quote the output.
    ///
    /// # Errors
    ///
    /// The same as [`decode_output`](Self::decode_output).
    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;

    /// Decodes the modelled error that [`outcome`](Self::outcome) returned. Errors do not quote a
    /// structure that can contain sensitive data: [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// The response does not contain a valid structure of this shape.
    fn decode_error<'de>(
        &self,
        shape: Schema<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        self.parse_error(shape, head, body, limits, sink)
            .map_err(|error| error.without_sensitive(shape.root()))
    }

    /// The implementation of [`decode_error`](Self::decode_error), for protocols. Callers use
    /// `decode_error`. Errors can quote the structure.
    ///
    /// # Errors
    ///
    /// The same as [`decode_error`](Self::decode_error).
    fn parse_error<'de>(
        &self,
        shape: Schema<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;
}

/// How a server continues after the head of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Plan {
    /// Read the body, up to the limit, and then decode the input of this operation.
    Buffer(Route),
    /// Read the body, up to the limit, and then call [`ServerProtocol::route_body`] to find the
    /// operation.
    BufferThenRoute,
    /// Read the body, up to the limit, and then call [`ServerProtocol::split`] to find its calls.
    BufferThenSplit,
}

impl Plan {
    /// Returns the operation, if the head determines it.
    #[must_use]
    pub const fn route(&self) -> Option<&Route> {
        match self {
            Self::Buffer(route) => Some(route),
            _ => None,
        }
    }
}

/// The calls of one message.
#[derive(Debug)]
pub struct CallBatch {
    /// Whether the message is a list of calls, which a list of responses answers. A list may
    /// have a single call.
    pub is_list: bool,
    /// The calls, in the order of the message.
    pub calls: Vec<BatchEntry>,
}

/// A call of a [`CallBatch`].
#[derive(Debug)]
pub struct BatchEntry {
    /// The id that the response repeats, as the message spells it. `None` if the caller expects
    /// no response.
    pub id: Option<Bytes>,
    /// The operation, or why the call cannot run.
    pub target: Result<Route, Fault>,
    /// The part of the message that holds the input. It shares the memory of the message, unless
    /// it is less than 1/256 of it.
    pub input: Bytes,
}

/// The operation that a request calls.
#[derive(Clone, Debug)]
pub struct Route {
    /// The index of the operation in its set.
    pub operation: u32,
    /// The labels of the path: the place of the member, and the bytes of the
    /// path that it is.
    pub(crate) labels: smallvec::SmallVec<[(u32, Range<usize>); 2]>,
}

impl Route {
    /// Creates a route without labels, for protocols that do not name the operation in the path.
    #[must_use]
    pub fn to(operation: u32) -> Self {
        Self {
            operation,
            labels: smallvec::SmallVec::new(),
        }
    }
}

/// A complete request, and how to decode it.
#[derive(Clone, Copy, Debug)]
pub struct ReadPlan<'de> {
    /// The head of the request.
    pub head: &'de request::Parts,
    /// The body of the request.
    pub body: &'de Body,
    /// The operation and the labels.
    pub route: &'de Route,
    /// The limits for decoding.
    pub limits: &'de Limits,
    /// The counter for the memory of the decoded input, for [`read_input`](crate::read_input). With
    /// a counter, it traverses the input once more.
    pub memory: Option<&'de dyn InputMemory>,
}

/// The kind of content in a response.
#[derive(Debug)]
pub enum Outcome<'s> {
    /// The output.
    Output,
    /// A modelled error. Decode it with [`ClientProtocol::decode_error`].
    Error(Schema<'s>),
    /// A fault that is not a modelled error.
    Fault(Fault),
    /// A response of a proxy or another service, not of this protocol. Contains a description.
    Foreign(String),
}

/// What the response to a message with several calls holds.
#[derive(Debug)]
pub enum BatchOutcome {
    /// For each call, in the order of the calls, its response, or the reason why there is none.
    Responses(Vec<Result<Body, String>>),
    /// One fault instead of all responses.
    Fault(Fault),
    /// As [`Outcome::Foreign`].
    Foreign(String),
}

/// The host prefix that a call asks for, in the extensions of its request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostPrefix(pub String);
