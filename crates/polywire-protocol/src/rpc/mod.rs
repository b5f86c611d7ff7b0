//! The RPC protocols of Smithy: each call is a `POST`, the input and the output are the whole body,
//! and the document of an error contains its name.
//!
//! [`Rpc`] implements everything that these protocols share. [`Style`] contains what differs: how a
//! request names its operation, which headers mark a message, and the body of a message without a
//! structure. `server.rs` and `client.rs` implement the traits of the two sides. `v2.rs` contains
//! the common part of the two Smithy RPC v2 protocols.

mod client;
mod server;
mod v2;

use std::collections::HashMap;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Uri, request, response};
use polywire_schema::{Direction, Error, Operation, OperationFlags, Service};

pub(crate) use client::failure;
pub(crate) use server::{error_document, other_document, other_members};
pub(crate) use v2::RpcV2;

use crate::document::Document;
use crate::event_stream::{CONTENT_TYPE as EVENT_STREAM, EventCodec, EventFormat, stream_of};
use crate::operation_table::OperationTable;
use crate::protocol::{Claim, FromService, HeadSummary, MountError, ProtocolInfo, ProtocolKind};
use crate::size_hint::SizeHint;
use crate::{Fault, intern};

/// `Code;Sender` or `Code;Receiver`, in error responses of services with `@awsQueryCompatible`.
///
/// <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>
pub(crate) const QUERY_ERROR: HeaderName = HeaderName::from_static("x-amzn-query-error");
const QUERY_MODE: HeaderName = HeaderName::from_static("x-amzn-query-mode");

/// An RPC protocol for one service.
#[derive(Debug)]
pub struct Rpc<S> {
    style: S,
    service: String,
    /// The name of the service with its namespace, separated by a dot.
    qualified_service: String,
    /// The indices of the operations, by name.
    operations: HashMap<String, u32>,
    calls: OperationTable<CallTemplate>,
    query_compatible: bool,
}

/// The parts that are equal in all messages of an operation.
#[derive(Debug)]
struct CallTemplate {
    /// The target of requests. `None` if the names of service and operation do not form a valid
    /// path.
    target: Option<Uri>,
    /// The headers of a request.
    request: HeaderMap,
    /// The headers of a response with an output.
    response: HeaderMap,
    /// Whether the output has an event stream.
    streams_output: bool,
    request_size: SizeHint,
    response_size: SizeHint,
}

/// The differences between the RPC protocols.
pub trait Style: EventFormat + Sized {
    const NEW: Self;
    const KIND: ProtocolKind;
    /// The format of documents.
    type Document: Document;
    /// The media type of documents.
    const MEDIA_TYPE: &'static str;
    /// Whether a request without input has an empty document, rather than no body and no media
    /// type.
    const ALWAYS_A_DOCUMENT: bool;
    /// Whether a response without a body has a media type.
    const ALWAYS_A_TYPE: bool;
    /// Whether the names of errors have a namespace.
    const ABSOLUTE_ERRORS: bool;

    fn document(&self) -> &Self::Document;

    /// Returns how likely a request is one of this protocol.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim;

    /// Returns the name of the operation of a request. `service` is the name of the service, and
    /// `qualified_service` its name with namespace.
    fn operation<'h>(
        &self,
        head: &'h request::Parts,
        service: &str,
        qualified_service: &str,
    ) -> Result<&'h str, Fault>;

    /// Returns the path of requests for an operation.
    fn target(&self, service: &str, operation: &str) -> String;

    /// Adds the headers of a request that belong to the protocol.
    fn mark_request(&self, headers: &mut HeaderMap, service: &str, operation: &str);

    /// Adds the headers of a response that belong to the protocol.
    fn mark_response(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }

    /// Checks whether the caller accepts a response of this protocol.
    fn check_accept(&self, head: &HeadSummary<'_>) -> Result<(), Fault> {
        let _ = head;
        Ok(())
    }

    /// Checks whether a response comes from a server of this protocol. The error describes what is
    /// missing.
    fn check_response(&self, head: &response::Parts) -> Result<(), String>;
}

impl<S: Style> ProtocolInfo for Rpc<S> {
    fn kind(&self) -> ProtocolKind {
        S::KIND
    }

    fn event_codec(&self) -> Option<&dyn EventCodec> {
        Some(&self.style)
    }
}

impl<S: Style> FromService for Rpc<S> {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Ok(Self::new(service))
    }
}

impl<S: Style> Rpc<S> {
    /// Creates the protocol for a service.
    #[must_use]
    pub fn new(service: Service<'_>) -> Self {
        let mut rpc = Self {
            style: S::NEW,
            service: service.name().to_owned(),
            qualified_service: service.id().replace('#', "."),
            operations: HashMap::new(),
            calls: OperationTable::default(),
            query_compatible: service.is_aws_query_compatible(),
        };
        for operation in service.operations() {
            let call = rpc.template_of(operation);
            let name = operation.name().to_owned();
            rpc.operations.insert(name, operation.index());
            rpc.calls.insert(operation, call);
        }
        rpc
    }

    fn template_of(&self, operation: Operation<'_>) -> CallTemplate {
        let name = operation.name();
        let media_type = HeaderValue::from_static(S::MEDIA_TYPE);
        let mut request = HeaderMap::new();
        if !operation.has(OperationFlags::UNIT_INPUT) || S::ALWAYS_A_DOCUMENT {
            request.insert(CONTENT_TYPE, media_type.clone());
        }
        if self.query_compatible {
            request.insert(QUERY_MODE, HeaderValue::from_static("true"));
        }
        self.style.mark_request(&mut request, &self.service, name);
        let streams_output = stream_of(operation, Direction::Response).is_some();
        if streams_output && request.contains_key(ACCEPT) {
            request.insert(ACCEPT, HeaderValue::from_static(EVENT_STREAM));
        }
        let mut response = HeaderMap::new();
        if !operation.has(OperationFlags::UNIT_OUTPUT) || S::ALWAYS_A_TYPE {
            response.insert(CONTENT_TYPE, media_type);
        }
        self.style.mark_response(&mut response);
        CallTemplate {
            target: intern::target(&self.style.target(&self.service, name)),
            request,
            response,
            streams_output,
            request_size: SizeHint::default(),
            response_size: SizeHint::default(),
        }
    }

    fn call(&self, operation: Operation<'_>) -> Result<&CallTemplate, Error> {
        self.calls.get(operation, S::KIND)
    }
}
