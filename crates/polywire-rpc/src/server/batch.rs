//! Messages with several calls: [`Plan::BufferThenSplit`].
//!
//! The protocol finds all calls of a message before any of them runs. Then they run one after
//! the other, each like the call of a message of its own, and the protocol puts the responses
//! together. All of them share the deadline of the message. A call that has not started at the
//! deadline gets a fault without running.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use polywire_protocol::{CallBatch, Fault, Plan};

use super::answer::{Answer, PendingBody};
use super::app::App;
use super::body::RequestBody;
use crate::call::decoding::is_large;
use crate::call::{CallSequence, catch_panic};

/// Marks the response to a message whose calls were found: it has the ids of the calls. Other responses to such a message
/// are errors of the whole message.
#[derive(Clone, Copy)]
pub(super) struct Joined;

impl PendingBody {
    /// Starts the calls of the message with the result of reading the body.
    #[cold]
    pub(super) fn begin_batch(self, bytes: Result<Bytes, Fault>) -> Answer {
        let Self {
            app,
            mut context,
            mut body,
            ..
        } = self;
        let protocol = context.mount as usize;
        let wants_detail = app.engine.wants_detail(&context);
        let split = catch_panic(|| {
            context.deadline = app.handler_deadline(context.deadline)?;
            let bytes = app.decode_body((protocol, None), &mut context, bytes?, &mut body)?;
            app.mounts.protocols[protocol].split(&context.head, bytes, &app.engine.limits)
        });
        match split {
            Err(fault) => app.into_answer((protocol, wants_detail), None, body, Err(fault)),
            Ok(batch) => Answer::Boxed(Box::pin(run(app, batch, context, body))),
        }
    }
}

/// Runs the calls. `_body` holds the memory of the message until the last call has ended.
async fn run(
    app: Arc<App>,
    mut batch: CallBatch,
    context: crate::Context,
    _body: RequestBody,
) -> Response<Bytes> {
    let protocol = context.mount as usize;
    let wants_detail = app.engine.wants_detail(&context);
    let fault = |fault: Fault| {
        app.engine
            .fault(protocol, None, &fault.with_detail(wants_detail))
    };
    let mut sequence = CallSequence::new(&app.engine, &context);
    let mut responses = Vec::with_capacity(batch.calls.len());
    for call in &mut batch.calls {
        let response = match sequence.next(call.target.clone()).await {
            Err(rejected) => fault(rejected),
            Ok(route) => {
                let bytes = std::mem::take(&mut call.input);
                let pending = PendingBody {
                    app: Arc::clone(&app),
                    plan: Plan::Buffer(route),
                    context: context.clone(),
                    body: RequestBody::empty(),
                };
                let answer = match is_large(&bytes) {
                    true => pending.begin_on_pool(bytes),
                    false => pending.begin(Ok(bytes), false),
                };
                answer.await
            }
        };
        let response = call.id.is_some().then_some(response);
        sequence.add_result(
            response
                .as_ref()
                .map_or(0, |response| response.body().len()),
        );
        responses.push(response);
    }
    let joined = catch_panic(|| Ok(app.mounts.protocols[protocol].join(&batch, responses)));
    match joined {
        Ok(mut response) => {
            response.extensions_mut().insert(Joined);
            response
        }
        Err(panic) => fault(panic),
    }
}
