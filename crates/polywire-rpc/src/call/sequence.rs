//! The calls of one message, which run one after the other: batches of JSON-RPC and `system.multicall`.

use polywire_protocol::{Fault, FaultKind};

use super::Engine;
use crate::Context;

/// The task yields after this number of calls.
const YIELD_INTERVAL: usize = 8;

/// Decides for each call of a message whether it may run.
pub(crate) struct CallSequence<'a> {
    engine: &'a Engine,
    /// The context of the message.
    context: &'a Context,
    /// The number of calls so far.
    count: usize,
    /// The bytes of their results.
    written: usize,
}

impl<'a> CallSequence<'a> {
    pub(crate) const fn new(engine: &'a Engine, context: &'a Context) -> Self {
        Self {
            engine,
            context,
            count: 0,
            written: 0,
        }
    }

    /// The next call, if it is valid and may run. The deadline of the message can end the task here.
    pub(crate) async fn next<T>(&mut self, call: Result<T, Fault>) -> Result<T, Fault> {
        self.count += 1;
        if self.count.is_multiple_of(YIELD_INTERVAL) {
            tokio::task::yield_now().await;
        }
        let limit = self.engine.limits.bytes();
        if self.written > limit {
            return Err(results_too_large(limit));
        }
        let call = call?;
        // The message was counted as a request, which is its first call. Without counting the others, one message would
        // bypass the rate limits.
        if self.count > 1 {
            let head = self.context.call_head(self.context.uri().path());
            self.engine.rates.request(&head)?;
        }
        Ok(call)
    }

    /// Counts the result or fault of a call.
    pub(crate) const fn add_result(&mut self, len: usize) {
        self.written += len;
    }
}

/// The results of the calls before exceed the limit: a small message must not make the server buffer many large results.
#[cold]
fn results_too_large(limit: usize) -> Fault {
    let message =
        format!("not called: the results before it are more than {limit} bytes (Limits::bytes)");
    Fault::new(FaultKind::TooLarge, message)
}
