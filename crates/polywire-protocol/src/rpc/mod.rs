//! What RPC protocols share: one `POST` a call, a structure as the whole body,
//! and errors that say in the document which they are.
//!
//! An [`Rpc`] is a whole protocol but for what its [`Style`] decides: where a
//! request names its operation, what marks a message, what a message without a
//! structure looks like. `server.rs` and `client.rs` are its two sides;
//! `document.rs` has the formats, and `v2.rs` what the two protocols of
//! Smithy RPC v2 have in common.

mod client;
mod document;
mod server;
mod v2;

use std::collections::HashMap;
use std::fmt;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Uri, request, response};
use polywire_schema::{Error, Operation, OperationFlags, Service};

pub(crate) use client::failure;
pub(crate) use document::{Cbor, Document, Json};
pub(crate) use server::{ErrorDocument, error_document, other_document, other_members};
pub(crate) use v2::RpcV2;

use crate::operation_table::OperationTable;
use crate::protocol::{Claim, FromService, HeadSummary, MountError, ProtocolInfo, ProtocolKind};
use crate::rest::Side;
use crate::size_hint::SizeHint;
use crate::{Fault, intern};

/// `Code;Sender` or `Code;Receiver`, in answers of services that have
/// `@awsQueryCompatible`.
///
/// <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>
pub(crate) const QUERY_ERROR: HeaderName = HeaderName::from_static("x-amzn-query-error");
const QUERY_MODE: HeaderName = HeaderName::from_static("x-amzn-query-mode");

/// An RPC protocol for one service.
#[derive(Debug)]
pub struct Rpc<S> {
    style: S,
    service: String,
    /// Its name with the namespace, a dot between them.
    absolute: String,
    /// The indices of the operations, by name.
    operations: HashMap<String, u32>,
    calls: OperationTable<CallTemplate>,
    query_compatible: bool,
}

/// The parts that are equal in all messages of an operation.
#[derive(Debug)]
struct CallTemplate {
    /// `None` if the names of service and operation cannot make one.
    target: Option<Uri>,
    /// The headers of a request, to be copied.
    request: HeaderMap,
    /// The headers of an answer that is an output.
    answer: HeaderMap,
    request_size: SizeHint,
    response_size: SizeHint,
}

/// What tells one RPC protocol from another.
pub trait Style: fmt::Debug + Send + Sync + Sized {
    const NEW: Self;
    const KIND: ProtocolKind;
    /// The format of its documents.
    type Document: Document;
    /// Their media type.
    const MEDIA_TYPE: &'static str;
    /// Whether requests without an input have an empty document, rather than no
    /// body and no media type.
    const ALWAYS_A_DOCUMENT: bool;
    /// Whether a response without a body says its media type.
    const ALWAYS_A_TYPE: bool;
    /// Whether errors are named with their namespace.
    const ABSOLUTE_ERRORS: bool;

    fn document(&self) -> &Self::Document;

    /// Whether a request is one of this protocol.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim;

    /// The name of the operation that a request calls, of a service with this name and
    /// this one with its namespace.
    fn operation<'h>(
        &self,
        head: &'h request::Parts,
        service: &str,
        absolute: &str,
    ) -> Result<&'h str, Fault>;

    /// The path of a call.
    fn target(&self, service: &str, operation: &str) -> String;

    /// Adds the headers of a call.
    fn mark_request(&self, headers: &mut HeaderMap, service: &str, operation: &str);

    /// Adds the headers of an answer.
    fn mark_response(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }

    /// Whether the caller takes an answer of this protocol.
    fn check_accept(&self, head: &HeadSummary<'_>) -> Result<(), Fault> {
        let _ = head;
        Ok(())
    }

    /// Whether an answer comes from a server of this protocol; if not, what is
    /// missing.
    fn check_answer(&self, head: &response::Parts) -> Result<(), String>;
}

impl<S: Style> ProtocolInfo for Rpc<S> {
    fn kind(&self) -> ProtocolKind {
        S::KIND
    }
}

impl<S: Style> FromService for Rpc<S> {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Ok(Self::new(service))
    }
}

impl<S: Style> Rpc<S> {
    /// The protocol for a service.
    #[must_use]
    pub fn new(service: Service<'_>) -> Self {
        let mut rpc = Self {
            style: S::NEW,
            service: service.name().to_owned(),
            absolute: service.id().replace('#', "."),
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
        let mut answer = HeaderMap::new();
        if !operation.has(OperationFlags::UNIT_OUTPUT) || S::ALWAYS_A_TYPE {
            answer.insert(CONTENT_TYPE, media_type);
        }
        self.style.mark_response(&mut answer);
        CallTemplate {
            target: intern::target(&self.style.target(&self.service, name)),
            request,
            answer,
            request_size: SizeHint::default(),
            response_size: SizeHint::default(),
        }
    }

    fn call(&self, operation: Operation<'_>) -> Result<&CallTemplate, Error> {
        self.calls.get(operation, S::KIND)
    }
}
