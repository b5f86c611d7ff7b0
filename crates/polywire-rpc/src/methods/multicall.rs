//! `system.multicall`: several calls in one request.
//!
//! The array of calls is parsed first, without decoding parameters. Then the calls run one after the other. A failed
//! call has a fault as its result, and the others run.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use polywire_codec::cbor::CborDecoder;
use polywire_codec::xmlrpc::{MulticallEntry, XmlRpcDecoder, code};
use polywire_protocol::{Fault, FaultKind, ServerProtocol};
use polywire_schema::{Body, Decoder, Error, ErrorKind, LimitKind, Limits, Member, Text};

use super::call::{MethodFuture, MethodReply, ReplyWriter};
use super::format::{ReplyFormat, Writer};
use super::operation::run_operation;
use super::parameters::{Location, Reader, Source};
use super::wire::CborMethods;
use crate::Context;
use crate::call::decoding::{decode_on_pool, is_large};
use crate::call::{CallSequence, Engine, Invocation, Reply, Target, catch_panic};

/// A call within the multicall.
#[derive(Clone)]
struct Item {
    name: Text,
    /// Contains the parameters, at `location`.
    bytes: Bytes,
    location: Location,
}

/// Parses the array of calls and returns the future that runs them.
pub(crate) fn start(
    engine: &Arc<Engine>,
    source: Source<'_>,
    context: Context,
    reply: ReplyWriter,
) -> Result<MethodFuture, Fault> {
    // The operation is not known if parsing fails, so the sensitive members of all operations are hidden.
    let without_sensitive = |error: Error| {
        let operations = engine.service.service().operations();
        operations.fold(error, |error, operation| {
            error.without_sensitive(operation.input().root())
        })
    };
    let items = parse_items(source).map_err(without_sensitive)?;
    let items = items
        .into_iter()
        .enumerate()
        .map(|(index, item)| item.map_err(|error| item_fault(index, &without_sensitive(error))));
    let items = items.collect();
    let engine = Arc::clone(engine);
    Ok(Box::pin(run(engine, items, context, reply)))
}

async fn run(
    engine: Arc<Engine>,
    items: Vec<Result<Item, Fault>>,
    context: Context,
    mut reply: ReplyWriter,
) -> Result<MethodReply, Fault> {
    let format = reply.format;
    let protocol: &dyn ServerProtocol = match format {
        // Also over frames, where a call has no mount.
        ReplyFormat::Cbor => &CborMethods::FAULTS,
        ReplyFormat::XmlRpcResponse(_) | ReplyFormat::XmlRpcValue(_) => {
            &*engine.protocols[context.mount as usize]
        }
    };
    let mut results = Writer::list(format, reply.take_buffer(), items.len());
    // The buffer of a single result, which is copied to `results` once it is complete.
    let mut buffer = Vec::new();
    let mut sequence = CallSequence::new(&engine, &context);
    for item in items {
        let mut target = None;
        let result = match sequence.next(item).await {
            Err(fault) => Err(fault),
            Ok(item) => {
                let call = ItemCall {
                    engine: &engine,
                    item: &item,
                    format: format.of_item(),
                };
                call.run(context.clone(), mem::take(&mut buffer), &mut target)
                    .await
            }
        };
        match result {
            Ok(reply) => {
                if let Some(Target::Method(entry)) = &target {
                    entry.record_size(reply.len());
                }
                sequence.add_result(reply.len());
                results.result(&reply);
                buffer = reply.into_buffer();
            }
            Err(fault) => {
                let fault = fault.with_detail(protocol.wants_detail(&context.head));
                let fault = engine.fault_in(protocol, target.as_ref(), &fault);
                sequence.add_result(fault.body().len());
                results.fault(fault.body());
            }
        }
    }
    let bytes = results.end_list().map_err(Fault::internal)?;
    Ok(MethodReply::new(format, bytes))
}

/// The run of one call.
struct ItemCall<'a> {
    engine: &'a Arc<Engine>,
    item: &'a Item,
    format: ReplyFormat,
}

impl ItemCall<'_> {
    /// Runs the call. Sets `target` if the name is known. The reply is written into `buffer`.
    async fn run(
        self,
        context: Context,
        mut buffer: Vec<u8>,
        target: &mut Option<Target>,
    ) -> Result<MethodReply, Fault> {
        // The multicall enforces the deadline.
        let (run, mut buffer) = match is_large(&self.item.bytes) {
            true => {
                let (item, format) = (self.item.clone(), self.format);
                let started =
                    decode_on_pool(Arc::clone(self.engine), context.deadline, move |engine| {
                        let (item, mut target) = (&item, None);
                        let call = ItemCall {
                            engine,
                            item,
                            format,
                        };
                        let run = call.start(context, &mut buffer, &mut target, true);
                        Ok((run, buffer, target))
                    });
                let (run, buffer, known) = started.await?;
                *target = known;
                (run?, buffer)
            }
            false => {
                let run = catch_panic(|| self.start(context, &mut buffer, target, false))?;
                (run, buffer)
            }
        };
        let encode = |reply: Reply| {
            reply.into_method_reply(self.engine, self.format, mem::take(&mut buffer))
        };
        run.finish(self.engine, target.as_ref(), encode).await
    }

    /// Starts the call. A method takes `buffer` for its reply.
    fn start(
        &self,
        context: Context,
        buffer: &mut Vec<u8>,
        called: &mut Option<Target>,
        is_on_pool: bool,
    ) -> Result<Invocation, Fault> {
        let Some(router) = &self.engine.methods else {
            return Err(Fault::internal("a server without methods"));
        };
        let Item {
            name,
            bytes,
            location,
        } = self.item;
        let body = Body::new(bytes.clone());
        let target = router.find(name)?;
        match target {
            Target::Method(entry) if entry.is_multicall() => return Err(nested_multicall()),
            _ => *called = Some(target.clone()),
        }
        match target {
            Target::Method(entry) => {
                let source = location.open(bytes, &body, &self.engine.limits)?;
                let reply = (self.format, mem::take(buffer), None);
                let future = router.start(self.engine, entry, source, context, reply)?;
                Ok(Invocation::of_method(future))
            }
            Target::Operation(index) => {
                run_operation(self.engine, *index, context, &body, *location, is_on_pool)
            }
        }
    }
}

#[cold]
fn nested_multicall() -> Fault {
    let message = "no system.multicall within system.multicall";
    Fault::new(FaultKind::Invalid, message).with_code(code::INVALID_REQUEST)
}

/// Parses the array of calls. An outer error fails the request, an inner one its call.
fn parse_items(source: Source<'_>) -> Result<Vec<Result<Item, Error>>, Error> {
    let (bytes, limits) = (source.bytes.to_bytes(), source.limits);
    match source.reader {
        Reader::XmlRpc(decoder) => parse_xmlrpc(decoder, source.location, &bytes),
        Reader::Cbor(decoder) | Reader::CborItem(decoder) => parse_cbor(decoder, &bytes, limits),
    }
}

/// The fault of an invalid call. The message contains its number, from 1.
#[cold]
fn item_fault(index: usize, error: &Error) -> Fault {
    let message = format!("call {}: {}", index + 1, error.message());
    Fault::new(FaultKind::Invalid, message)
}

fn parse_xmlrpc(
    mut decoder: XmlRpcDecoder<'_>,
    location: Location,
    bytes: &Bytes,
) -> Result<Vec<Result<Item, Error>>, Error> {
    let profile = location.profile();
    let item = |entry: MulticallEntry| Item {
        name: entry.method,
        location: Location::XmlRpcItem(entry.parameters.start, profile),
        bytes: bytes.slice(entry.parameters),
    };
    let items = decoder.multicall()?.into_iter();
    Ok(items.map(|entry| entry.map(item)).collect())
}

/// The message is an array of one parameter, which is an array of maps of `methodName` and `params`.
fn parse_cbor(
    mut decoder: CborDecoder<'_>,
    bytes: &Bytes,
    limits: &Limits,
) -> Result<Vec<Result<Item, Error>>, Error> {
    const ONE: &str = "one parameter, an array of calls";

    let document = Member::DOCUMENT;
    let max = limits.calls();
    if decoder.major_type().is_none() {
        return Err(decoder.error(ErrorKind::Missing, ONE));
    }
    let mut parameters = decoder.list(document)?;
    if !decoder.item(document, &mut parameters)? {
        return Err(decoder.error(ErrorKind::Missing, ONE));
    }
    let mut items = Vec::new();
    let mut list = decoder.list(document)?;
    while decoder.item(document, &mut list)? {
        if items.len() >= max as usize {
            let kind = ErrorKind::Limit(LimitKind::Calls(max));
            return Err(decoder.error(kind, ""));
        }
        let index = items.len();
        items.push(parse_cbor_item(&mut decoder, index, bytes)?);
    }
    if decoder.item(document, &mut parameters)? {
        return Err(decoder.error(ErrorKind::Unknown, ONE));
    }
    decoder.finish()?;
    Ok(items)
}

/// Parses the call at the position of the decoder. An outer error fails the request, an inner one its call.
///
/// The path of an error is built here. The decoder would read the message again for each invalid call.
fn parse_cbor_item(
    decoder: &mut CborDecoder<'_>,
    index: usize,
    bytes: &Bytes,
) -> Result<Result<Item, Error>, Error> {
    const EXPECTED: &str = "a map of methodName and params";

    let document = Member::DOCUMENT;
    let path = |member: &str| format!("[0][{index}]{member}");
    if decoder.major_type() != Some(cbor::MAP) {
        let error = decoder.error_in(path(""), ErrorKind::WrongType, EXPECTED);
        decoder.skip()?;
        return Ok(Err(error));
    }
    let (mut name, mut location, mut error) = (None, None, None);
    let mut map = decoder.map(document)?;
    while let Some(key) = decoder.key(document, &mut map)? {
        let kind = decoder.major_type();
        let (kind, expected) = match &*key {
            "methodName" if name.is_none() && kind == Some(cbor::TEXT) => {
                name = Some(decoder.text(document)?);
                continue;
            }
            "params" if location.is_none() && kind == Some(cbor::ARRAY) => {
                let start = decoder.offset();
                decoder.skip()?;
                location = Some(Location::CborItem(start, decoder.offset()));
                continue;
            }
            "methodName" if name.is_none() => (ErrorKind::WrongType, "the name of a method"),
            "params" if location.is_none() => (ErrorKind::WrongType, "an array of parameters"),
            "methodName" | "params" => (ErrorKind::Duplicate, "each member once"),
            _ => {
                decoder.skip()?;
                continue;
            }
        };
        error.get_or_insert_with(|| decoder.error_in(path(&format!(".{key}")), kind, expected));
        decoder.skip()?;
    }
    Ok(match (error, name, location) {
        (Some(error), ..) => Err(error),
        (None, Some(name), Some(location)) => Ok(Item {
            name,
            location,
            bytes: bytes.clone(),
        }),
        _ => Err(decoder.error_in(path(""), ErrorKind::Missing, EXPECTED)),
    })
}

/// CBOR major types.
mod cbor {
    pub(super) const TEXT: u8 = 3;
    pub(super) const ARRAY: u8 = 4;
    pub(super) const MAP: u8 = 5;
}
