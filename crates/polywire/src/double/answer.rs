//! The answer to a call.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use http::header::HOST;
use polywire_protocol::Fault;
use polywire_rpc::Context;
use polywire_rpc::server::ConnectionFault;
use polywire_schema::{Map, Timestamp, Value};

use super::calls::{CallRecord, Outcome};
use super::state::Surroundings;
use super::stubs::Reply;
use super::{Inner, json, lock};

/// Answers a call, and remembers it.
pub(super) async fn answer(
    inner: Arc<Inner>,
    operation: u32,
    input: Map,
    context: &Context,
) -> Result<Arc<Map>, Fault> {
    let shape = inner.service.operation(operation).input();
    // Inputs that were decoded fit their schema, except that required members can be missing.
    let as_json = json::value(&input, shape).unwrap_or_default();
    let pending = PendingCall {
        record: Some(CallRecord {
            time: Timestamp::from(SystemTime::now()),
            protocol: context.protocol().name(),
            operation,
            input: as_json,
            outcome: Outcome::Connection("cancelled"),
            duration: std::time::Duration::ZERO,
        }),
        inner,
        start: Instant::now(),
    };
    let result = pending.reply(operation, &input, context).await;
    pending.end(result)
}

/// A call that has no answer yet. If the caller leaves, it is remembered as cancelled.
struct PendingCall {
    /// `None` after the end.
    record: Option<CallRecord>,
    inner: Arc<Inner>,
    start: Instant,
}

impl PendingCall {
    fn input(&self) -> &Value {
        static NONE: Value = Value::Null;
        self.record.as_ref().map_or(&NONE, |record| &record.input)
    }

    /// The answer of the first that has one.
    async fn reply(
        &self,
        operation: u32,
        input: &Map,
        context: &Context,
    ) -> Result<Arc<Map>, Fault> {
        let inner = &self.inner;
        let shape = inner.service.operation(operation);
        let stub = {
            let mut stubs = lock(&inner.stubs);
            match stubs.is_empty() {
                true => None,
                false => stubs.reply(shape, self.input(), Instant::now()),
            }
        };
        if let Some(stub) = stub {
            if !stub.delay.is_zero() {
                tokio::time::sleep(stub.delay).await;
            }
            if let Some(reply) = stub.reply {
                return give(reply).await;
            }
        }
        let recorded = {
            let mut replay = lock(&inner.replay);
            match replay.is_empty() {
                true => None,
                false => replay.reply(shape, self.input()),
            }
        };
        if let Some(reply) = recorded {
            return give(reply).await;
        }
        let mock = inner.mocks.get(operation as usize).and_then(Option::as_ref);
        if let Some(state) = &inner.state {
            let base = base(context);
            let surroundings = Surroundings {
                now: Timestamp::from(SystemTime::now()),
                base: &base,
            };
            let result = lock(state).perform(shape, input, surroundings);
            if let Some((result, is_vacant)) = result {
                // An example says better what this very input is answered with.
                let example = mock.filter(|_| is_vacant);
                let example = example.and_then(|mock| mock.example(input));
                return example.unwrap_or_else(|| result.map(Arc::new));
            }
        }
        match mock {
            Some(mock) => mock.pick(input),
            None => Err(Fault::internal("an operation without a mock")),
        }
    }

    /// Remembers the call and its end.
    fn end(mut self, result: Result<Arc<Map>, Fault>) -> Result<Arc<Map>, Fault> {
        let Some(mut record) = self.record.take() else {
            return result;
        };
        let output = self.inner.service.operation(record.operation).output();
        record.outcome = match &result {
            Ok(map) => Outcome::Output(json::value(map, output).unwrap_or_default()),
            Err(fault) => match ConnectionFault::of(fault) {
                Some(ConnectionFault::Reset) => Outcome::Connection("reset"),
                Some(_) => Outcome::Connection("close"),
                None => Outcome::Fault(fault.clone()),
            },
        };
        self.store(record)?;
        result
    }

    fn store(&self, mut record: CallRecord) -> Result<(), Fault> {
        record.duration = self.start.elapsed();
        let inner = &self.inner;
        let operation = inner.service.operation(record.operation);
        let line = record.to_line(inner.service.service().id(), operation);
        lock(&inner.calls).push(record, line.len());
        if let Some(recorder) = &inner.recorder {
            let written = lock(recorder)(&line);
            written.map_err(|error| Fault::internal(format!("the recording: {error}")))?;
        }
        Ok(())
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            // `drop` cannot report an error.
            let _ = self.store(record);
        }
    }
}

async fn give(reply: Reply) -> Result<Arc<Map>, Fault> {
    match reply {
        Reply::Output(output) => Ok(output),
        Reply::Fault(fault) => Err(fault),
        Reply::Connection(fault) => Err(Fault::internal(fault)),
        Reply::Stall => std::future::pending().await,
    }
}

/// Scheme and authority by which the caller reaches the double.
fn base(context: &Context) -> String {
    let host = context
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.or_else(|| context.uri().authority().map(http::uri::Authority::as_str));
    let scheme = match context.caller().is_encrypted() {
        true => "https",
        false => "http",
    };
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}
