//! The table of names that frames can call, and the start of a call.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use polywire_protocol::{Fault, Frame, Route};
use polywire_schema::Body;

use crate::call::decoding::{decode_on_pool, is_large};
use crate::call::pipe::Pipe;
use crate::call::queue::OperationCost;
use crate::call::{Engine, Invocation, Reply, Target};
use crate::frames::payload;
use crate::methods::{Location, MethodReply, ReplyFormat, Router};
use crate::{Context, ServiceHandle};

/// Blobs and texts of payloads of this many bytes or more share the bytes of the payload.
const LARGE: usize = 4 << 10;

thread_local! {
    /// The buffer into which results are encoded, before they are copied into a frame.
    static REPLY_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Capacity, in bytes, up to which a thread keeps its buffer.
const MAX_BUFFER: usize = 64 << 10;

/// Takes back the buffer of a reply that was copied into a frame.
pub(super) fn recycle(reply: MethodReply) {
    let space = reply.into_buffer();
    if space.capacity() <= MAX_BUFFER {
        REPLY_BUFFER.set(space);
    }
}

/// Methods and operations, by the names that they have over frames.
pub(crate) struct Table {
    names: HashMap<Box<str>, u32>,
    targets: Vec<Target>,
    costs: Vec<OperationCost>,
    wire: Frame,
}

impl Table {
    /// The methods of a server, and the operations of its model: as `Service.Operation`, and as `Operation` unless a method
    /// has that name.
    pub(crate) fn new(service: &ServiceHandle, methods: Option<&Router>) -> Self {
        let service = service.service();
        let mut table = Self {
            names: HashMap::new(),
            targets: Vec::new(),
            costs: Vec::new(),
            wire: Frame::new(service),
        };
        if let Some(methods) = methods {
            for (name, target) in methods.targets() {
                table.add(name, target.clone());
            }
        }
        for operation in service.operations() {
            let target = Target::Operation(operation.index());
            let full = format!("{}.{}", service.name(), operation.name());
            for name in [full.as_str(), operation.name()] {
                if !table.names.contains_key(name) {
                    table.add(name, target.clone());
                }
            }
        }
        table
    }

    fn add(&mut self, name: &str, target: Target) {
        let index = self.targets.len() as u32;
        self.targets.push(target);
        self.costs.push(OperationCost::default());
        self.names.insert(name.into(), index);
    }

    pub(super) fn find(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// The cost of the calls of a target.
    #[inline]
    pub(super) fn cost(&self, index: u32) -> &OperationCost {
        &self.costs[index as usize]
    }

    pub(super) const fn wire(&self) -> &Frame {
        &self.wire
    }

    pub(super) fn target(&self, index: u32) -> &Target {
        &self.targets[index as usize]
    }

    /// Runs a method of bytes. None if the target is none.
    pub(super) fn bytes(
        &self,
        index: u32,
        context: &Context,
        payload: &[u8],
    ) -> Option<Result<MethodReply, Fault>> {
        let Target::Method(entry) = &self.targets[index as usize] else {
            return None;
        };
        let function = entry.bytes()?;
        let mut output = REPLY_BUFFER.take();
        output.clear();
        let answer = function(payload, &mut output, context);
        Some(answer.map(|()| MethodReply::new(ReplyFormat::Cbor, output)))
    }

    /// Whether the calls of a target have streams.
    pub(super) fn is_stream(&self, index: u32) -> bool {
        matches!(&self.targets[index as usize], Target::Method(entry) if entry.is_stream())
    }

    /// The name, for messages.
    pub(super) fn name<'a>(&'a self, engine: &'a Engine, index: u32) -> &'a str {
        self.target(index).name(engine)
    }

    /// Decodes the input of a call and starts its handler. A large input is decoded on the pool. `pipe` carries the items
    /// of a method with streams.
    pub(super) fn run(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        index: u32,
        context: Context,
        (payload, whole): Input<'_>,
        pipe: Option<Arc<Pipe>>,
    ) -> Result<Invocation, Fault> {
        if !is_large(payload) {
            return self.run_here(engine, index, context, (payload, whole), pipe, false);
        }
        let bytes = shared(payload, whole);
        let table = Arc::clone(self);
        let started = decode_on_pool(Arc::clone(engine), context.deadline, move |engine| {
            let input = (&*bytes, Some(&bytes));
            table.run_here(engine, index, context, input, pipe, true)
        });
        let engine = Arc::clone(engine);
        Ok(Invocation::of_method(Box::pin(async move {
            started
                .await?
                .finish(&engine, None, |reply| encode(&engine, reply))
                .await
        })))
    }

    /// As [`Self::run`], on this thread.
    fn run_here(
        &self,
        engine: &Arc<Engine>,
        index: u32,
        context: Context,
        (payload, whole): Input<'_>,
        pipe: Option<Arc<Pipe>>,
        is_on_pool: bool,
    ) -> Result<Invocation, Fault> {
        match &self.targets[index as usize] {
            Target::Method(entry) => {
                let Some(router) = &engine.methods else {
                    return Err(Fault::internal("a server without methods"));
                };
                // A stream would hold the buffer of the thread until it ends.
                let buffer = match &pipe {
                    Some(_) => Vec::new(),
                    None => REPLY_BUFFER.take(),
                };
                let answer = (ReplyFormat::Cbor, buffer, pipe);
                if payload.len() < LARGE {
                    let source = Location::borrowed(payload, &engine.limits)?;
                    return Ok(Invocation::of_method(
                        router.start(engine, entry, source, context, answer)?,
                    ));
                }
                let bytes = shared(payload, whole);
                let body = Body::new(bytes.clone());
                let source = Location::Cbor.open(&bytes, &body, &engine.limits)?;
                Ok(Invocation::of_method(
                    router.start(engine, entry, source, context, answer)?,
                ))
            }
            Target::Operation(index) => {
                let (route, body) = (Route::to(*index), Body::new(shared(payload, whole)));
                engine.run_operation(&self.wire, &route, context, &body, is_on_pool)
            }
        }
    }
}

/// The payload of a call, and the buffer that it is a part of if it is large.
pub(super) type Input<'a> = (&'a [u8], Option<&'a Bytes>);

/// Encodes the result of a handler as the payload of a frame.
#[inline]
pub(super) fn encode(engine: &Engine, reply: Reply) -> Result<MethodReply, Fault> {
    reply.into_method_reply(engine, ReplyFormat::Cbor, Vec::new())
}

/// The bytes of a payload: shared with its frame if it is large, else copied.
fn shared(payload: &[u8], whole: Option<&Bytes>) -> Bytes {
    let part = whole.and_then(|whole| payload::part(whole, payload));
    part.unwrap_or_else(|| Bytes::copy_from_slice(payload))
}
