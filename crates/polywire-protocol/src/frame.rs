//! `polywire#frame`.

use bytes::Bytes;
use http::{StatusCode, request, response};
use polywire_codec::{Message, Sink};
use polywire_schema::{Body, Error, Limits, Operation, OperationFlags, Schema, Service};

use crate::document::{Cbor, Document, Side};
use crate::fault::status_of;
use crate::protocol::{
    Claim, ClientProtocol, FromService, HeadSummary, MountError, Outcome, Plan, ProtocolInfo,
    ReadPlan, ServerProtocol,
};
use crate::rpc::{error_document, other_document};
use crate::size_hint::SizeHint;
use crate::{Fault, FaultKind, ProtocolKind};

/// The payloads of the framed protocol (`docs/frame.md`): CBOR as in
/// [`RpcV2Cbor`](crate::RpcV2Cbor).
///
/// Frames contain the name of the operation, the result of the call and its deadline. Metadata
/// replaces headers. The requests and responses here therefore have only a body. The status of a
/// response distinguishes an output (2xx) from a fault. No HTTP request belongs to this protocol.
///
/// - An input or output without members can be an empty payload. An input or output of type `Unit`
///   always is.
/// - The details of a fault are a map. `__type` is the name of the error, with its namespace if it
///   is modelled. The members of the error follow.
#[derive(Debug)]
pub struct Frame {
    /// The sizes of the payloads of the operations, by index.
    sizes: Vec<SizeHints>,
}

impl Frame {
    /// Creates the protocol for a service.
    #[must_use]
    pub fn new(service: Service<'_>) -> Self {
        let indices = service.operations().map(|operation| operation.index());
        let count = indices.max().map_or(0, |last| last as usize + 1);
        let mut sizes = Vec::new();
        sizes.resize_with(count, SizeHints::default);
        Self { sizes }
    }
}

impl ProtocolInfo for Frame {
    fn kind(&self) -> ProtocolKind {
        ProtocolKind::Frame
    }
}

impl FromService for Frame {
    fn from_service(service: Service<'_>) -> Result<Self, MountError> {
        Ok(Self::new(service))
    }
}

#[derive(Debug, Default)]
struct SizeHints {
    input: SizeHint,
    output: SizeHint,
}

impl Frame {
    fn write(
        &self,
        schema: Schema<'_>,
        message: &dyn Message,
        side: Side,
        hint: impl FnOnce(&SizeHints) -> &SizeHint,
        index: u32,
    ) -> Result<Bytes, Error> {
        let new = SizeHints::default();
        let sizes = self.sizes.get(index as usize).unwrap_or(&new);
        let payload = Cbor.write(schema.root(), message, side, hint(sizes))?;
        Ok(Bytes::from(payload))
    }
}

impl ServerProtocol for Frame {
    fn claim(&self, _: &HeadSummary<'_>) -> Claim {
        Claim::No
    }

    fn route(&self, _: &request::Parts) -> Result<Plan, Fault> {
        let message = "the framed protocol does not use HTTP requests";
        Err(Fault::new(FaultKind::UnknownOperation, message))
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let root = operation.input().root();
        Ok(Cbor.read(root, request.body, request.limits, Side::Server, sink)?)
    }

    fn encode_output(
        &self,
        operation: Operation<'_>,
        output: &dyn Message,
    ) -> Result<http::Response<Bytes>, Error> {
        let payload = match operation.has(OperationFlags::UNIT_OUTPUT) {
            true => Bytes::new(),
            false => {
                let (schema, index) = (operation.output(), operation.index());
                self.write(schema, output, Side::Server, |sizes| &sizes.output, index)?
            }
        };
        Ok(http::Response::new(payload))
    }

    fn encode_error(
        &self,
        error: Schema<'_>,
        fault: &Fault,
    ) -> Result<http::Response<Bytes>, Error> {
        let details = error_document(&Cbor, error, error.id(), fault)?;
        Ok(error_response(status_of(error), details, fault))
    }

    fn encode_other(&self, fault: &Fault) -> http::Response<Bytes> {
        let details = other_document(&Cbor, true, fault);
        error_response(fault.public().status, details, fault)
    }
}

impl ClientProtocol for Frame {
    fn encode_input(
        &self,
        operation: Operation<'_>,
        input: &dyn Message,
    ) -> Result<http::Request<Bytes>, Error> {
        let payload = match operation.has(OperationFlags::UNIT_INPUT) {
            true => Bytes::new(),
            false => {
                let (schema, index) = (operation.input(), operation.index());
                self.write(schema, input, Side::Client, |sizes| &sizes.input, index)?
            }
        };
        Ok(http::Request::new(payload))
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
        Ok(crate::rpc::failure(&Cbor, operation, head, body, limits))
    }

    fn parse_output<'de>(
        &self,
        operation: Operation<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        Cbor.read(operation.output().root(), body, limits, Side::Client, sink)
    }

    fn parse_error<'de>(
        &self,
        error: Schema<'_>,
        _: &'de response::Parts,
        body: &'de Body,
        limits: &Limits,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Error> {
        Cbor.read(error.root(), body, limits, Side::Client, sink)
    }
}

fn error_response(status: StatusCode, details: Vec<u8>, fault: &Fault) -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from(details));
    *response.status_mut() = status;
    fault.write_head(response.headers_mut());
    response
}
