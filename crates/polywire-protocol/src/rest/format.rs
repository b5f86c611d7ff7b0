//! What tells one REST protocol from another.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, response};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, Limits, Member, Operation, Schema, Service};

use super::{Bindings, Parts, Prepared};
use crate::error_facts::ErrorFacts;
use crate::fault::Public;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::request_id;

/// The format of the documents of a REST protocol, and what else it does in a
/// way of its own.
pub trait RestFormat: fmt::Debug + Send + Sync + Sized {
    const KIND: ProtocolKind;
    /// The media type of documents.
    const MEDIA_TYPE: &'static str;
    /// Whether a body has to say its media type.
    const SAYS_TYPE: bool;
    /// The document of an output without members that stand there.
    const EMPTY_OUTPUT: &'static [u8];
    /// The document of a structure as payload that a client does not give, if
    /// it writes one all the same.
    const EMPTY_PAYLOAD: Option<&'static [u8]>;

    /// Whether the head of a response names its error, so that a member of the
    /// error may be the whole body.
    const NAMES_ERRORS_IN_HEAD: bool;

    /// Whether documents have an element for the id of the call.
    const HAS_REQUEST_IDS: bool = false;

    /// The format for a service.
    fn for_service(service: Service<'_>) -> Self;

    /// See [`ServerProtocol::tell_request_id`](crate::ServerProtocol::tell_request_id).
    fn tell_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        request_id::tell(&[], response, id);
    }

    /// Whether a media type is that of a document.
    fn is_document(media_type: &str) -> bool;

    /// Whether a request is one of this protocol.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim;

    /// What else the bindings of an operation depend on.
    fn prepare(&self, operation: Operation<'_>, prepared: &mut Prepared) {
        let _ = (operation, prepared);
    }

    /// Reads the members that stand in a document, and finishes the structure.
    fn read_document<'de>(
        &self,
        parts: &Parts<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;

    /// Reads the member that is the whole document, and finishes the
    /// structure.
    fn read_payload<'de>(
        &self,
        parts: &Parts<'_, 'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;

    /// Reads nothing, where a body could have been.
    fn read_nothing(&self, parts: &Parts<'_, '_>) -> Result<(), Error> {
        let _ = parts;
        Ok(())
    }

    /// Writes the members that stand in a document.
    fn write_document(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error>;

    /// Writes the member that is the whole document; nothing if it is not
    /// there.
    fn write_payload(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error>;

    /// Writes the body of an error of the model, and says in `headers` which
    /// it is, where the protocol does so. `text` is what the error says; a member
    /// may say it too.
    fn write_error(
        &self,
        error: Schema<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        text: &str,
        headers: &mut HeaderMap,
    ) -> Result<Vec<u8>, Error>;

    /// The same for a fault that the model does not know. Never fails.
    fn write_fault(&self, fault: Public<'_>, headers: &mut HeaderMap) -> Vec<u8>;

    /// Whether the body of a response is an error, though its status is that of
    /// an output.
    fn is_error(&self, prepared: &Prepared, body: &Body) -> bool {
        let _ = (prepared, body);
        false
    }

    /// What a response says of its error. `None` if it says nothing as this
    /// protocol does.
    fn error_facts(
        &self,
        head: &response::Parts,
        body: &Body,
        limits: &Limits,
    ) -> Option<ErrorFacts>;
}
