//! What differs between the REST protocols.

use bytes::Bytes;
use http::{HeaderMap, response};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, Limits, Member, Operation, Part, Schema, Service};

use super::{Bindings, IncomingMessage, OperationBindings};
use crate::error_info::ErrorInfo;
use crate::event_stream::EventFormat;
use crate::fault::PublicFault;
use crate::protocol::{Claim, HeadSummary, ProtocolKind};
use crate::request_id;

/// The format of the documents of a REST protocol, and its other differences.
pub trait RestFormat: EventFormat + Sized {
    const KIND: ProtocolKind;
    /// The media type of documents.
    const MEDIA_TYPE: &'static str;
    /// Whether a request with a body must have a `Content-Type`.
    const REQUIRES_CONTENT_TYPE: bool;
    /// The body of an output without members in the document.
    const EMPTY_OUTPUT: &'static [u8];
    /// The body of a request whose payload is an absent structure. `None`: no body.
    const EMPTY_PAYLOAD: Option<&'static [u8]>;

    /// Whether a response names its error in a header. Only then can the body of an error be an
    /// `@httpPayload`.
    const ERROR_NAME_IN_HEADER: bool;

    /// Whether documents have an element for the request id.
    const HAS_REQUEST_IDS: bool = false;

    /// Creates the format for a service.
    fn for_service(service: Service<'_>) -> Self;

    /// See [`ServerProtocol::add_request_id`](crate::ServerProtocol::add_request_id).
    fn add_request_id(&self, response: &mut http::Response<Bytes>, id: &str) {
        request_id::add(&[], response, id);
    }

    /// Returns whether a media type, without parameters, is that of a document.
    fn is_document(media_type: &str) -> bool;

    /// Returns how likely a request is one of this protocol.
    fn claim(&self, summary: &HeadSummary<'_>) -> Claim;

    /// Adjusts the bindings of an operation to traits of this protocol.
    fn adjust_bindings(
        &self,
        operation: Operation<'_>,
        operation_bindings: &mut OperationBindings,
    ) {
        let _ = (operation, operation_bindings);
    }

    /// Reads the members of `part` from the body, and finishes the structure.
    ///
    /// `part` is the members in the document, or the payload if that is the whole document.
    fn read_document<'de>(
        &self,
        incoming: &IncomingMessage<'_, 'de>,
        part: Part,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error>;

    /// Checks whether a message that can have a body may have an empty one.
    fn check_empty_body(&self, incoming: &IncomingMessage<'_, '_>) -> Result<(), Error> {
        let _ = incoming;
        Ok(())
    }

    /// Writes the members of `part`: the members in the document, or the payload if that is the
    /// whole document. The result is empty if the payload is absent.
    fn write_document(
        &self,
        root: Member<'_>,
        bindings: &Bindings,
        part: Part,
        message: &dyn Message,
    ) -> Result<Vec<u8>, Error>;

    /// Writes the name of a modelled error into `headers`, if the protocol names errors there.
    fn write_error_name(&self, error: Schema<'_>, headers: &mut HeaderMap) {
        let _ = (error, headers);
    }

    /// Writes the body of a modelled error without a payload. `text` is the message of the fault. A
    /// member can contain the same text.
    fn write_error(
        &self,
        error: Schema<'_>,
        bindings: &Bindings,
        message: &dyn Message,
        text: &str,
    ) -> Result<Vec<u8>, Error>;

    /// Writes the body and the headers of a fault that is not a modelled error. Never fails.
    fn write_fault(&self, fault: PublicFault<'_>, headers: &mut HeaderMap) -> Vec<u8>;

    /// Returns whether the body of a response is an error although its status is that of an output.
    fn is_error(&self, operation_bindings: &OperationBindings, body: &Body) -> bool {
        let _ = (operation_bindings, body);
        false
    }

    /// Returns name and message of the error in a response. `None` if the response is not an error
    /// of this protocol, for example that of a proxy.
    fn error_info(&self, head: &response::Parts, body: &Body, limits: &Limits)
    -> Option<ErrorInfo>;
}
