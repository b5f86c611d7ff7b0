//! Operations of the model within a multicall.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, request};
use polywire_codec::cbor::{CborDecoder, CborProfile};
use polywire_codec::{Message, Sink};
use polywire_protocol::{
    Claim, Fault, HeadSummary, OfKind, Plan, ProtocolKind, ReadPlan, Route, ServerProtocol,
};
use polywire_schema::{
    Body, Decoder, Error, ErrorKind, Limits, Member, Operation, OperationFlags, Schema,
};

use super::call::{MethodFuture, MethodReply};
use super::format::{self, Form};
use super::parameters::{Place, Reader};
use crate::Context;
use crate::server::App;

/// Begins a call of an operation whose parameters stand somewhere in a body.
pub(super) fn call_operation(
    app: &Arc<App>,
    index: u32,
    context: Context,
    body: &Body,
    place: Place,
    (form, space): (Form, Vec<u8>),
) -> Result<MethodFuture, Fault> {
    let route = Route::to(index);
    let within = Within {
        place,
        kind: context.protocol(),
    };
    let call = app.decode_by(&within, &route, context, body)?;
    let app = Arc::clone(app);
    Ok(Box::pin(async move {
        let output = app.start(call).await?;
        let root = app.service.operation(index).output().root();
        let bytes = format::write_output(form, space, root, output.message());
        Ok(MethodReply::new(form, bytes.map_err(Fault::internal)?))
    }))
}

/// The protocol of a call that is part of another: its input stands in the middle
/// of a body.
#[derive(Debug)]
struct Within {
    place: Place,
    kind: ProtocolKind,
}

impl OfKind for Within {
    fn kind(&self) -> ProtocolKind {
        self.kind
    }
}

impl ServerProtocol for Within {
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
        let place = self.place.with_positional(positional);
        match place.reader(request.body, request.limits)? {
            Reader::XmlRpc(mut decoder) => {
                sink.read_xmlrpc(root, &mut decoder)?;
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

/// Reads the input from an array of one parameter, or none if nothing in it is
/// required.
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
        sink.read_cbor(root, &mut decoder)?;
        return Ok(sink.finish(root, &mut decoder)?);
    }
    sink.read_cbor(root, &mut decoder)?;
    if decoder.item(document, &mut parameters)? {
        let error = decoder.error(ErrorKind::Unknown, "one parameter: a map of the input");
        return Err(error.into());
    }
    Ok(sink.finish(root, &mut decoder)?)
}

/// Only inputs are read by it.
#[cold]
fn no_message() -> Fault {
    Fault::internal("a call within another has no message of its own")
}
