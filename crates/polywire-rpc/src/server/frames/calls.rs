//! Calls: which names there are, and how one begins.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use polywire_protocol::{Fault, Frame, Route};
use polywire_schema::Body;

use super::pipe::Pipe;
use crate::call::queue::OperationCost;
use crate::frames::payload;
use crate::methods::{Form, MethodFuture, MethodReply, Place, Router, Target, write_output};
use crate::server::app::{App, Called};
use crate::server::decoding::{decode_on_pool, is_large};
use crate::{Context, ServiceHandle};

/// From so many bytes on, what is read out of a payload shares its bytes.
const LARGE: usize = 4 << 10;

thread_local! {
    /// Where results are written before they are copied into a frame.
    static SPACE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Room for results that a thread keeps for the next.
const MOST_KEPT: usize = 64 << 10;

/// The reply has been written.
pub(super) fn written(reply: MethodReply) {
    let space = reply.into_space();
    if space.capacity() <= MOST_KEPT {
        SPACE.set(space);
    }
}

/// All that frames can call, by the names that it has there.
pub(crate) struct Table {
    names: HashMap<Box<str>, u32>,
    targets: Vec<Target>,
    costs: Vec<OperationCost>,
    wire: Frame,
}

impl Table {
    /// The methods of a server, and the operations of its model: by the name of the service and
    /// theirs, and, where no method has it, by theirs alone.
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

    /// The processor time of its calls.
    #[inline]
    pub(super) fn cost(&self, index: u32) -> &OperationCost {
        &self.costs[index as usize]
    }

    pub(super) const fn wire(&self) -> &Frame {
        &self.wire
    }

    pub(super) fn called(&self, index: u32) -> Called {
        match &self.targets[index as usize] {
            Target::Method(entry) => Called::Method(Arc::clone(entry)),
            Target::Operation(index) => Called::Operation(*index),
        }
    }

    /// Carries out a call of a method of bytes.
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
        let mut output = SPACE.take();
        output.clear();
        let answer = function(payload, &mut output, context);
        Some(answer.map(|()| MethodReply::new(Form::Cbor, output)))
    }

    /// Whether its calls have streams.
    pub(super) fn is_stream(&self, index: u32) -> bool {
        matches!(&self.targets[index as usize], Target::Method(entry) if entry.is_stream())
    }

    /// The name, for people.
    pub(super) fn name<'a>(&'a self, app: &'a App, index: u32) -> &'a str {
        match &self.targets[index as usize] {
            Target::Method(entry) => entry.name(),
            Target::Operation(index) => app.service.operation(*index).name(),
        }
    }

    /// Begins a call of a method with streams.
    pub(super) fn begin_stream(
        &self,
        app: &Arc<App>,
        index: u32,
        context: Context,
        payload: &[u8],
        pipe: Arc<Pipe>,
    ) -> Result<MethodFuture, Fault> {
        let bytes = Bytes::copy_from_slice(payload);
        if is_large(payload) {
            let begun = decode_on_pool(Arc::clone(app), context.deadline, move |app| {
                app.table()?
                    .begin_stream_here(app, index, context, &bytes, pipe)
            });
            return Ok(Box::pin(async move { begun.await?.await }));
        }
        self.begin_stream_here(app, index, context, &bytes, pipe)
    }

    fn begin_stream_here(
        &self,
        app: &Arc<App>,
        index: u32,
        context: Context,
        bytes: &Bytes,
        pipe: Arc<Pipe>,
    ) -> Result<MethodFuture, Fault> {
        let (Target::Method(entry), Some(router)) = (&self.targets[index as usize], &app.methods)
        else {
            return Err(Fault::internal("a method with streams that is none"));
        };
        let body = Body::new(bytes.clone());
        let source = Place::Cbor.open(bytes, &body, &app.limits)?;
        router.begin_stream(app, entry, source, context, pipe)
    }

    /// Begins a call.
    pub(super) fn begin(
        &self,
        app: &Arc<App>,
        index: u32,
        context: Context,
        (payload, whole): (&[u8], Option<&Bytes>),
    ) -> Result<MethodFuture, Fault> {
        let shared = || shared(payload, whole);
        if is_large(payload) {
            let bytes = shared();
            let begun = decode_on_pool(Arc::clone(app), context.deadline, move |app| {
                app.table()?
                    .begin_here(app, index, context, (&bytes, Some(&bytes)))
            });
            return Ok(Box::pin(async move { begun.await?.await }));
        }
        self.begin_here(app, index, context, (payload, whole))
    }

    /// Begins a call on this thread.
    fn begin_here(
        &self,
        app: &Arc<App>,
        index: u32,
        context: Context,
        (payload, whole): (&[u8], Option<&Bytes>),
    ) -> Result<MethodFuture, Fault> {
        let shared = || shared(payload, whole);
        match &self.targets[index as usize] {
            Target::Method(entry) => {
                let Some(router) = &app.methods else {
                    return Err(Fault::internal("a server without methods"));
                };
                let answer = (Form::Cbor, SPACE.take());
                if payload.len() < LARGE {
                    let source = Place::lent(payload, &app.limits)?;
                    return router.begin(app, entry, source, context, answer);
                }
                let bytes = shared();
                let body = Body::new(bytes.clone());
                let source = Place::Cbor.open(&bytes, &body, &app.limits)?;
                router.begin(app, entry, source, context, answer)
            }
            Target::Operation(index) => {
                let index = *index;
                let body = Body::new(shared());
                let call = app.decode_by(&self.wire, &Route::to(index), context, &body)?;
                let app = Arc::clone(app);
                Ok(Box::pin(async move {
                    let output = app.start(call).await?;
                    let root = app.service.operation(index).output().root();
                    let bytes = write_output(Form::Cbor, Vec::new(), root, output.message());
                    Ok(MethodReply::new(
                        Form::Cbor,
                        bytes.map_err(Fault::internal)?,
                    ))
                }))
            }
        }
    }
}

/// The bytes of a payload: those of the frame that it came in, if it is large enough, else a copy.
fn shared(payload: &[u8], whole: Option<&Bytes>) -> Bytes {
    let part = whole.and_then(|whole| payload::part(whole, payload));
    part.unwrap_or_else(|| Bytes::copy_from_slice(payload))
}
