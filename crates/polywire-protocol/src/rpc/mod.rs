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

use http::{HeaderMap, HeaderName, request, response};
use polywire_schema::Service;

pub(crate) use document::{Cbor, Document, Json};
pub(crate) use v2::RpcV2;

use crate::Fault;
use crate::protocol::{Claim, ProtocolKind};
use crate::rest::Side;

/// `Code;Sender` or `Code;Receiver`, in answers of services that have
/// `@awsQueryCompatible`.
///
/// <https://smithy.io/2.0/aws/protocols/aws-query-protocol.html>
pub(crate) const QUERY_ERROR: HeaderName = HeaderName::from_static("x-amzn-query-error");
const QUERY_MODE: HeaderName = HeaderName::from_static("x-amzn-query-mode");

/// An RPC protocol for one service.
#[derive(Debug)]
pub(crate) struct Rpc<S> {
    style: S,
    service: String,
    /// The indices of the operations, by name.
    operations: HashMap<String, u32>,
    query_compatible: bool,
}

/// What tells one RPC protocol from another.
pub(crate) trait Style: fmt::Debug + Send + Sync {
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
    fn claim(&self, head: &request::Parts) -> Claim;

    /// The name of the operation that a request calls.
    fn operation<'h>(&self, head: &'h request::Parts, service: &str) -> Result<&'h str, Fault>;

    /// The path of a call.
    fn target(&self, service: &str, operation: &str) -> String;

    /// Adds the headers of a call.
    fn mark_request(&self, headers: &mut HeaderMap, service: &str, operation: &str);

    /// Adds the headers of an answer.
    fn mark_response(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }

    /// Whether the caller takes an answer of this protocol.
    fn check_accept(&self, headers: &HeaderMap) -> Result<(), Fault> {
        let _ = headers;
        Ok(())
    }

    /// Whether an answer comes from a server of this protocol; if not, what is
    /// missing.
    fn check_answer(&self, head: &response::Parts) -> Result<(), String>;
}

impl<S: Style> Rpc<S> {
    /// The protocol for a service.
    pub(crate) fn new(service: Service<'_>, style: S) -> Self {
        let operations = service.operations();
        let named = operations.map(|operation| (operation.name().to_owned(), operation.index()));
        Self {
            style,
            service: service.name().to_owned(),
            operations: named.collect(),
            query_compatible: service.is_aws_query_compatible(),
        }
    }
}
