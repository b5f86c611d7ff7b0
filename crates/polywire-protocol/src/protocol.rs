//! What every protocol does.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use http::{HeaderMap, request, response};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, ErrorKind, Limits, Operation, Schema, Service};

pub(crate) use crate::detect::{Claim, HeadSummary};
pub(crate) use crate::kind::ProtocolKind;
use crate::{Fault, InputMemory, request_id};

/// What is the same on both sides of a protocol.
pub trait OfKind: fmt::Debug + Send + Sync {
    /// Which protocol it is.
    fn kind(&self) -> ProtocolKind;

    /// The body of a message that is in another encoding than UTF-8, in UTF-8, if this
    /// protocol was told to read such: then that is what the other methods are given.
    /// `None` if it is to be read as it came.
    ///
    /// # Errors
    ///
    /// The encoding is not known, or the body is not in it, or too long.
    fn in_utf8(
        &self,
        headers: &HeaderMap,
        body: &Body,
        limits: &Limits,
    ) -> Result<Option<Body>, Error> {
        let _ = (headers, body, limits);
        Ok(None)
    }
}

/// A protocol for one service: both sides of it.
///
/// Operations are given by handles into the set that the protocol was made
/// for. One protocol serves all requests at once; it keeps nothing of a message
/// but how much space it took and which headers it had.
///
/// Clients take a `dyn` [`ClientProtocol`] and servers a `dyn`
/// [`ServerProtocol`]: a program links what the side does that it has, and not
/// what the other does.
pub trait Protocol: ClientProtocol + ServerProtocol {}

impl<P: ClientProtocol + ServerProtocol + ?Sized> Protocol for P {}

/// A protocol that is made from a service alone.
pub trait FromService: OfKind + Sized {
    /// The protocol for a service.
    ///
    /// # Errors
    ///
    /// The protocol does not support the service. The message names the operation.
    fn from_service(service: Service<'_>) -> Result<Self, MountError>;
}

/// The side of a server.
pub trait ServerProtocol: OfKind {
    /// The one path at which it is called, if there is one: two of its
    /// kind are told apart by that.
    fn endpoint(&self) -> Option<&str> {
        None
    }

    /// Returns how sure it is that a request is one of this protocol, by its head alone.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim;

    /// Which operation a request calls, as far as its head says.
    ///
    /// # Errors
    ///
    /// There is no such operation.
    fn route(&self, head: &request::Parts) -> Result<Plan, Fault>;

    /// Which operation a request calls that [`ServerProtocol::route`] wanted
    /// to see whole.
    ///
    /// # Errors
    ///
    /// There is no such operation, or the body cannot be read.
    fn route_body(
        &self,
        head: &request::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Route, Fault> {
        let _ = (head, body, limits);
        Err(Fault::internal("this protocol routes by the head"))
    }

    /// The calls of a message, after [`ServerProtocol::route`] returned
    /// [`Plan::BufferThenSplit`]. The server runs each of them like any other call and then
    /// calls [`join`](Self::join).
    ///
    /// # Errors
    ///
    /// The message cannot be read, or has more than [`Limits::calls`] calls. No call runs then,
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

    /// The response to a message with several calls. `responses` has one response for each call
    /// of the batch, in the same order, and `None` for each call without
    /// [an id](BatchEntry::id). This protocol wrote these responses; others become faults.
    fn join(
        &self,
        batch: &CallBatch,
        responses: Vec<Option<http::Response<Bytes>>>,
    ) -> http::Response<Bytes> {
        let _ = (batch, responses);
        self.encode_other(&Fault::internal("this protocol has one call per message"))
    }

    /// Reads the input of a call. Errors repeat nothing of an input that may hold sensitive
    /// data: [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// The request does not hold that input.
    fn decode_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        self.parse_input(operation, request, sink)
            .map_err(|fault| fault.without_sensitive(operation.input().root()))
    }

    /// What a protocol implements for [`decode_input`](Self::decode_input), which is called in
    /// its place: its errors may quote any input.
    ///
    /// # Errors
    ///
    /// As of [`decode_input`](Self::decode_input).
    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault>;

    /// Writes the output of a call.
    ///
    /// # Errors
    ///
    /// The output does not fit the model or the format.
    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error>;

    /// Whether the head of a call asks to include the error structure in faults, in protocols
    /// that omit it by default. The server passes the result to [`Fault::with_detail`] before
    /// it writes a fault of the call.
    fn wants_detail(&self, head: &request::Parts) -> bool {
        let _ = head;
        false
    }

    /// Writes an error of the model.
    ///
    /// # Errors
    ///
    /// Its details do not fit the structure or the format.
    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error>;

    /// Writes a fault that the model does not know. Never fails.
    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes>;

    /// Writes a fault as whichever of the two it is. What cannot be
    /// written becomes an internal fault.
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

    /// Adds the id of the call to a response that this protocol has written: in the header
    /// `x-amzn-requestid`, and in the document if [the protocol has an element for
    /// it](Self::has_request_ids). A header that is there already stays.
    fn tell_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        request_id::tell(&[], response, id);
    }

    /// Whether the documents of this protocol have an element for the id of the call.
    ///
    /// <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#response-serialization>
    fn has_request_ids(&self) -> bool {
        false
    }

    /// Why requests of another protocol cannot be told from requests of this one. `None` if
    /// they can.
    fn conflicts_with(&self, other: ProtocolKind) -> Option<&'static str> {
        let _ = other;
        None
    }
}

/// The side of a client.
pub trait ClientProtocol: OfKind {
    /// Writes a call. The URI has a path and a query only. A host
    /// prefix that the model asks for stands in the extensions as a
    /// [`HostPrefix`].
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

    /// Whether a response holds an output or a fault. Errors repeat nothing of a response that
    /// may hold sensitive data, as an output or as an error of the operation:
    /// [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// It cannot be read as a response of this protocol.
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

    /// What a protocol implements for [`outcome`](Self::outcome), which is called in its place:
    /// its errors may quote any input.
    ///
    /// # Errors
    ///
    /// As of [`outcome`](Self::outcome).
    fn parse_outcome<'s>(
        &self,
        operation: Operation<'s>,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Result<Outcome<'s>, Error>;

    /// Reads the output of a call. Errors repeat nothing of an output that may hold sensitive
    /// data: [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// The response does not hold that output.
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

    /// What a protocol implements for [`decode_output`](Self::decode_output), which is called
    /// in its place: its errors may quote any input.
    ///
    /// # Errors
    ///
    /// As of [`decode_output`](Self::decode_output).
    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;

    /// Reads the structure of an error that [`ClientProtocol::outcome`] named. Errors repeat
    /// nothing of a structure that may hold sensitive data: [`Error::without_sensitive`].
    ///
    /// # Errors
    ///
    /// The response does not hold that structure.
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

    /// What a protocol implements for [`decode_error`](Self::decode_error), which is called in
    /// its place: its errors may quote any input.
    ///
    /// # Errors
    ///
    /// As of [`decode_error`](Self::decode_error).
    fn parse_error<'de>(
        &self,
        shape: Schema<'_>,
        head: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;
}

/// What a server does with a request after its head.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Plan {
    /// Read the whole body, up to the limit, and then decode the input of this
    /// call.
    Buffer(Route),
    /// Read the whole body, up to the limit, and then ask
    /// [`ServerProtocol::route_body`] which operation it is.
    BufferThenRoute,
    /// Read the whole body, up to the limit, and then ask [`ServerProtocol::split`] for the
    /// calls in it.
    BufferThenSplit,
}

impl Plan {
    /// The operation, if the head names it.
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
    /// The route to an operation that is named by something other than a path.
    #[must_use]
    pub fn to(operation: u32) -> Self {
        Self {
            operation,
            labels: smallvec::SmallVec::new(),
        }
    }
}

/// A whole request, to be decoded.
#[derive(Clone, Copy, Debug)]
pub struct ReadPlan<'de> {
    /// Its head.
    pub head: &'de request::Parts,
    /// Its body.
    pub body: &'de Body,
    /// Where it was routed to.
    pub route: &'de Route,
    /// What it may cost.
    pub limits: &'de Limits,
    /// Where [`read_input`](crate::read_input) counts the memory of the decoded input. That takes a
    /// walk over it.
    pub memory: Option<&'de dyn InputMemory>,
}

/// What a response holds.
#[derive(Debug)]
pub enum Outcome<'s> {
    /// The output.
    Output,
    /// An error of the model: read it with [`ClientProtocol::decode_error`].
    Error(Schema<'s>),
    /// A fault that the model does not know.
    Fault(Fault),
    /// An answer that is none of the protocol, but a proxy's or another
    /// service's: what can be said of it.
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

/// Why a service cannot be offered over a protocol.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MountError(pub(crate) String);

impl MountError {
    /// A client was generated without a protocol, but with those others.
    #[must_use]
    pub fn left_out(kind: ProtocolKind, others: &[ProtocolKind]) -> Self {
        let others: Vec<&str> = others.iter().map(|kind| kind.name()).collect();
        Self(format!(
            "the client was generated without {kind}, for {}: `Build::protocols` names those that \
             it has",
            others.join(", ")
        ))
    }
}

impl MountError {
    /// A protocol that is not HTTP has no place below a path or on a host.
    #[must_use]
    pub fn no_place(kind: ProtocolKind) -> Self {
        Self(format!(
            "{kind} has neither paths nor hosts, so that it cannot be mounted at one"
        ))
    }
}

impl MountError {
    /// A protocol whose messages are not lines.
    #[must_use]
    pub fn no_lines(kind: ProtocolKind) -> Self {
        Self(format!("the messages of {kind} are not lines of a stream"))
    }
}

impl fmt::Display for MountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MountError {}
