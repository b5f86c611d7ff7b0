//! `system.multicall`: several calls in one request.
//!
//! The calls are found first, without reading their parameters, and then made one
//! after the other. Whatever goes wrong with one is the answer to that one.

use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use polywire_codec::cbor::CborDecoder;
use polywire_codec::xmlrpc::{MulticallEntry, XmlRpcDecoder, code};
use polywire_protocol::{Fault, FaultKind};
use polywire_schema::{Body, Decoder, Error, ErrorKind, LimitKind, Limits, Member, Text};

use super::call::{Answering, MethodFuture, MethodReply};
use super::format::{Form, Writer};
use super::operation::run_operation;
use super::parameters::{Place, Reader, Source};
use crate::Context;
use crate::call::{Reply, Run, Target, catch_panic};
use crate::server::{App, decode_on_pool, is_large};

/// So many calls are made before others of the same worker have their turn.
const TURN: usize = 8;

/// One of the calls.
#[derive(Clone)]
struct Item {
    name: Text,
    /// What its parameters stand in.
    bytes: Bytes,
    place: Place,
}

/// Finds the calls and begins with the first.
pub(crate) fn begin(
    app: &Arc<App>,
    source: Source<'_>,
    context: Context,
    answer: Answering,
) -> Result<MethodFuture, Fault> {
    // Which operations are called, is known only when all of it has been read.
    let without_sensitive = |error: Error| {
        let operations = app.service.service().operations();
        operations.fold(error, |error, operation| {
            error.without_sensitive(operation.input().root())
        })
    };
    let items = find(source).map_err(without_sensitive)?;
    let items = items
        .into_iter()
        .enumerate()
        .map(|(index, item)| item.map_err(|error| wrong(index, &without_sensitive(error))));
    let items = items.collect();
    let app = Arc::clone(app);
    Ok(Box::pin(run(app, items, context, answer)))
}

async fn run(
    app: Arc<App>,
    items: Vec<Result<Item, Fault>>,
    context: Context,
    mut answer: Answering,
) -> Result<MethodReply, Fault> {
    let form = answer.form;
    let mut results = Writer::list(form, answer.out(), items.len());
    // What one result is written into before it is known that it can be.
    let mut space = Vec::new();
    let mut written = 0;
    for (index, item) in items.into_iter().enumerate() {
        if index % TURN == TURN - 1 {
            // The deadline of the whole can strike here.
            tokio::task::yield_now().await;
        }
        let mut target = None;
        let ended = match item {
            Err(fault) => Err(fault),
            Ok(_) if written > app.limits.bytes() => Err(too_long(app.limits.bytes())),
            Ok(item) => match admit(&app, index, &context) {
                Err(fault) => Err(fault),
                Ok(()) => {
                    let one = One {
                        app: &app,
                        item: &item,
                        form: form.of_item(),
                    };
                    one.call(context.clone(), mem::take(&mut space), &mut target)
                        .await
                }
            },
        };
        match ended {
            Ok(reply) => {
                written += reply.len();
                results.result(&reply);
                space = reply.into_space();
            }
            Err(fault) => {
                let fault = fault.with_detail(app.wants_detail(&context));
                results.fault(
                    app.fault(context.mount as usize, target.as_ref(), &fault)
                        .body(),
                );
            }
        }
    }
    let bytes = results.end_list().map_err(Fault::internal)?;
    Ok(MethodReply::new(form, bytes))
}

/// Asks the firewall for each call, as it was asked for the whole request, which
/// stands for the first.
fn admit(app: &App, index: usize, context: &Context) -> Result<(), Fault> {
    match index {
        0 => Ok(()),
        _ => app.admit_more(&context.call_head(context.uri().path())),
    }
}

/// What one of the calls is made of.
struct One<'a> {
    app: &'a Arc<App>,
    item: &'a Item,
    form: Form,
}

impl One<'_> {
    async fn call(
        self,
        context: Context,
        mut space: Vec<u8>,
        target: &mut Option<Target>,
    ) -> Result<MethodReply, Fault> {
        // The deadline is that of the whole call, which runs this one.
        let (run, mut space) = match is_large(&self.item.bytes) {
            true => {
                let (item, form) = (self.item.clone(), self.form);
                let started = decode_on_pool(Arc::clone(self.app), context.deadline, move |app| {
                    let (item, mut target) = (&item, None);
                    let one = One { app, item, form };
                    let run = one.start(context, &mut space, &mut target, true);
                    Ok((run, space, target))
                });
                let (run, space, known) = started.await?;
                *target = known;
                (run?, space)
            }
            false => {
                let run = catch_panic(|| self.start(context, &mut space, target, false))?;
                (run, space)
            }
        };
        let encode =
            |reply: Reply| reply.into_method_reply(self.app, self.form, mem::take(&mut space));
        run.finish(self.app, target.as_ref(), encode).await
    }

    /// Starts the call. A method takes `space` for its reply.
    fn start(
        &self,
        context: Context,
        space: &mut Vec<u8>,
        called: &mut Option<Target>,
        is_on_pool: bool,
    ) -> Result<Run, Fault> {
        let Some(router) = &self.app.methods else {
            return Err(Fault::internal("a server without methods"));
        };
        let Item { name, bytes, place } = self.item;
        let body = Body::new(bytes.clone());
        let target = router.find(name)?;
        match target {
            Target::Method(entry) if entry.is_multicall() => return Err(inside()),
            _ => *called = Some(target.clone()),
        }
        match target {
            Target::Method(entry) => {
                let source = place.open(bytes, &body, &self.app.limits)?;
                let answer = (self.form, mem::take(space), None);
                let future = router.start(self.app, entry, source, context, answer)?;
                Ok(Run::of_method(future))
            }
            Target::Operation(index) => {
                run_operation(self.app, *index, context, &body, *place, is_on_pool)
            }
        }
    }
}

/// The calls before have had so many results that there is no room for more: a
/// small request must not make a server hold a thousand large ones at once.
#[cold]
fn too_long(limit: usize) -> Fault {
    let message =
        format!("not called: the results before it are more than {limit} bytes (Limits::bytes)");
    Fault::new(FaultKind::Invalid, message).with_code(code::INVALID_REQUEST)
}

/// A multicall in a multicall.
#[cold]
fn inside() -> Fault {
    let message = "no system.multicall within system.multicall";
    Fault::new(FaultKind::Invalid, message).with_code(code::INVALID_REQUEST)
}

/// Finds the calls of a request.
fn find(source: Source<'_>) -> Result<Vec<Result<Item, Error>>, Error> {
    let (bytes, limits) = (source.bytes.to_bytes(), source.limits);
    match source.reader {
        Reader::XmlRpc(decoder) => find_xmlrpc(decoder, source.place, &bytes),
        Reader::Cbor(decoder) | Reader::CborItem(decoder) => find_cbor(decoder, &bytes, limits),
    }
}

/// What is wrong with one of the calls, counted from one.
#[cold]
fn wrong(index: usize, error: &Error) -> Fault {
    let message = format!("call {}: {}", index + 1, error.message());
    Fault::new(FaultKind::Invalid, message)
}

fn find_xmlrpc(
    mut decoder: XmlRpcDecoder<'_>,
    place: Place,
    bytes: &Bytes,
) -> Result<Vec<Result<Item, Error>>, Error> {
    let profile = place.profile();
    let item = |entry: MulticallEntry| Item {
        name: entry.method,
        place: Place::XmlRpcItem(entry.parameters.start, profile),
        bytes: bytes.slice(entry.parameters),
    };
    let items = decoder.multicall()?.into_iter();
    Ok(items.map(|entry| entry.map(item)).collect())
}

/// An array of one parameter, which is an array of maps of `methodName` and
/// `params`.
fn find_cbor(
    mut decoder: CborDecoder<'_>,
    bytes: &Bytes,
    limits: &Limits,
) -> Result<Vec<Result<Item, Error>>, Error> {
    const ONE: &str = "one parameter, an array of calls";

    let document = Member::DOCUMENT;
    let most = limits.calls();
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
        if items.len() >= most as usize {
            let kind = ErrorKind::Limit(LimitKind::Calls(most));
            return Err(decoder.error(kind, ""));
        }
        let index = items.len();
        items.push(item_of_cbor(&mut decoder, index, bytes)?);
    }
    if decoder.item(document, &mut parameters)? {
        return Err(decoder.error(ErrorKind::Unknown, ONE));
    }
    decoder.finish()?;
    Ok(items)
}

/// The call at the reader, which then stands behind it. The outer error ends the
/// message, the inner one the call. Its path is made here: a thousand wrong calls must
/// not have the message read a thousand times.
fn item_of_cbor(
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
    let (mut name, mut place, mut wrong) = (None, None, None);
    let mut map = decoder.map(document)?;
    while let Some(key) = decoder.key(document, &mut map)? {
        let kind = decoder.major_type();
        let error = match &*key {
            "methodName" if name.is_none() && kind == Some(cbor::TEXT) => {
                name = Some(decoder.text(document)?);
                continue;
            }
            "params" if place.is_none() && kind == Some(cbor::ARRAY) => {
                let start = decoder.offset();
                decoder.skip()?;
                place = Some(Place::CborItem(start, decoder.offset()));
                continue;
            }
            "methodName" if name.is_none() => (ErrorKind::WrongType, "the name of a method"),
            "params" if place.is_none() => (ErrorKind::WrongType, "an array of parameters"),
            "methodName" | "params" => (ErrorKind::Duplicate, "each member once"),
            _ => {
                decoder.skip()?;
                continue;
            }
        };
        let (kind, expected) = error;
        wrong.get_or_insert_with(|| decoder.error_in(path(&format!(".{key}")), kind, expected));
        decoder.skip()?;
    }
    Ok(match (wrong, name, place) {
        (Some(error), ..) => Err(error),
        (None, Some(name), Some(place)) => Ok(Item {
            name,
            place,
            bytes: bytes.clone(),
        }),
        _ => Err(decoder.error_in(path(""), ErrorKind::Missing, EXPECTED)),
    })
}

/// The major types that calls consist of.
mod cbor {
    pub(super) const TEXT: u8 = 3;
    pub(super) const ARRAY: u8 = 4;
    pub(super) const MAP: u8 = 5;
}
