//! Calls of operations within a multicall.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, request};
use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::{Message, Sink};
use polywire_protocol::{
    Claim, Fault, HeadSummary, Plan, ProtocolInfo, ProtocolKind, ReadPlan, Route, ServerProtocol,
};
use polywire_schema::{
    Body, Decoder, Error, ErrorKind, Limits, Member, Operation, OperationFlags, Schema,
};

use super::parameters::{Location, Reader};
use crate::Context;
use crate::call::{Engine, Invocation};

/// Starts a call of an operation whose parameters are at `location` in a body.
pub(super) fn run_operation(
    engine: &Arc<Engine>,
    index: u32,
    context: Context,
    body: &Body,
    location: Location,
    is_on_pool: bool,
) -> Result<Invocation, Fault> {
    let protocol = NestedProtocol {
        location,
        kind: context.protocol(),
    };
    engine.run_operation(&protocol, &Route::to(index), context, body, is_on_pool)
}

/// The protocol of a call within a multicall. Only decodes inputs.
#[derive(Debug)]
struct NestedProtocol {
    location: Location,
    kind: ProtocolKind,
}

impl ProtocolInfo for NestedProtocol {
    fn kind(&self) -> ProtocolKind {
        self.kind
    }
}

impl ServerProtocol for NestedProtocol {
    fn claim(&self, _: &HeadSummary<'_>) -> Claim {
        Claim::No
    }

    fn route(&self, _: &request::Parts) -> Result<Plan, Fault> {
        Err(no_message())
    }

    fn parse_input<'de>(
        &self,
        operation: Operation<'_>,
        request: &ReadPlan<'de>,
        sink: &mut dyn Sink<'de>,
    ) -> Result<(), Fault> {
        let root = operation.input().root();
        let positional = operation.has(OperationFlags::POSITIONAL);
        let location = self.location.with_positional(positional);
        match location.reader(request.body, request.limits)? {
            Reader::XmlRpc(mut decoder) => {
                sink.read(root, &mut decoder)?;
                decoder.finish()?;
                Ok(sink.finish(root, &mut decoder)?)
            }
            Reader::Cbor(decoder) | Reader::CborItem(decoder) => {
                read_cbor(root, decoder, request.limits, sink)
            }
        }
    }

    fn encode_output(&self, _: Operation<'_>, _: &dyn Message) -> Result<Response<Bytes>, Error> {
        Err(Error::new(ErrorKind::Internal))
    }

    fn encode_error(&self, _: Schema<'_>, _: &Fault) -> Result<Response<Bytes>, Error> {
        Err(Error::new(ErrorKind::Internal))
    }

    fn encode_other(&self, _: &Fault) -> Response<Bytes> {
        Response::new(Bytes::new())
    }
}

/// Reads the input from an array of one parameter. An empty array means an input without members.
fn read_cbor<'de>(
    root: Member<'_>,
    mut decoder: CborDecoder<'de>,
    limits: &Limits,
    sink: &mut dyn Sink<'de>,
) -> Result<(), Fault> {
    const EMPTY: &[u8] = &[0xa0];
    let document = Member::DOCUMENT;
    let mut parameters = decoder.list(document)?;
    if !decoder.item(document, &mut parameters)? {
        decoder = CborDecoder::from_slice(EMPTY, CborProfile::DEFAULT, limits)?;
        sink.read(root, &mut decoder)?;
        return Ok(sink.finish(root, &mut decoder)?);
    }
    sink.read(root, &mut decoder)?;
    if decoder.item(document, &mut parameters)? {
        let error = decoder.error(ErrorKind::Unknown, "one parameter: a map of the input");
        return Err(error.into());
    }
    Ok(sink.finish(root, &mut decoder)?)
}

#[cold]
fn no_message() -> Fault {
    Fault::internal("a call within another has no message of its own")
}
