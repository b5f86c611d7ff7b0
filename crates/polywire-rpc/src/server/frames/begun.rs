//! How a call begins, where it was read or when its turn has come.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_protocol::{Fault, FaultKind};
use tokio::time::Instant;

use super::calls::Table;
use super::handlers::{Handlers, Request, bring_all, is_of_the_input};
use super::turns::Waiting;
use crate::frames::payload;
use crate::methods::MethodReply;
use crate::server::answer::caught;
use crate::server::app::{App, Called};

/// A call that has begun.
pub(super) enum Begun<T = MethodReply> {
    Ended(Result<T, Fault>),
    Working(Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>),
}

impl<T> Begun<T> {
    /// Looks at once, if that is wanted, whether a call has ended.
    pub(super) fn of(
        mut future: Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>,
        looks: bool,
    ) -> Self {
        if !looks || !tokio::task::coop::has_budget_remaining() {
            return Self::Working(future);
        }
        // Whoever asks again brings the waker that counts.
        let mut nobody = Context::from_waker(Waker::noop());
        match future.as_mut().poll(&mut nobody) {
            Poll::Ready(answer) => Self::Ended(answer),
            Poll::Pending => Self::Working(future),
        }
    }
}

/// What is read of a call, and what it is a part of, if it is large.
pub(super) type Input<'a> = (&'a [u8], Option<&'a Bytes>);

/// Begins a call that is alone in its circumstances.
pub(super) fn begin_own(
    app: &Arc<App>,
    table: &Table,
    operation: u32,
    context: crate::Context,
    input: Input<'_>,
    looks: bool,
) -> Result<Begun, Fault> {
    caught(|| match table.bytes(operation, &context, input.0) {
        Some(answer) => Ok(Begun::Ended(answer)),
        None => begin_any(app, table, operation, context, input, looks),
    })
}

/// Begins a call of what is no method of bytes.
#[inline]
pub(super) fn begin_any(
    app: &Arc<App>,
    table: &Table,
    operation: u32,
    context: crate::Context,
    input: Input<'_>,
    looks: bool,
) -> Result<Begun, Fault> {
    let future = table.begin(app, operation, context, input)?;
    Ok(Begun::of(future, looks))
}

pub(super) async fn finish<T>(
    app: Arc<App>,
    called: Called,
    mut future: Pin<Box<dyn Future<Output = Result<T, Fault>> + Send>>,
) -> Result<T, Fault> {
    let work = poll_fn(|context| {
        caught(|| Ok(future.as_mut().poll(context))).unwrap_or_else(|fault| Poll::Ready(Err(fault)))
    });
    match tokio::time::timeout(app.timeouts.handler, work).await {
        Ok(answer) => answer,
        Err(_) => Err(app.late(&called)),
    }
}

/// A call that has its turn later than it was read.
pub(super) struct Later {
    app: Arc<App>,
    table: Arc<Table>,
    operation: u32,
    context: crate::Context,
    payload: Bytes,
    waiting: Waiting,
}

impl Later {
    pub(super) fn new(handlers: &Handlers, request: &Request<'_>) -> Self {
        let mut context = request.context.clone();
        bring_all(&mut context, request.extension);
        let cost = handlers.table.cost(request.operation);
        let part = request
            .whole
            .and_then(|whole| payload::part(whole, request.payload));
        Self {
            app: Arc::clone(&handlers.app),
            table: Arc::clone(&handlers.table),
            operation: request.operation,
            context,
            payload: part.unwrap_or_else(|| Bytes::copy_from_slice(request.payload)),
            waiting: handlers.turns.enter(cost),
        }
    }

    /// What it ends in.
    ///
    /// # Errors
    ///
    /// Its handler has not begun: why.
    pub(super) async fn result(self) -> Result<Result<MethodReply, Fault>, Fault> {
        let turn = self.waiting.turn().await;
        let begun = Instant::now();
        if self
            .context
            .deadline
            .is_some_and(|deadline| begun >= deadline)
        {
            let message = "its time was over before its turn came";
            return Err(Fault::new(FaultKind::DeadlineExceeded, message));
        }
        if turn.is_late() {
            let message = "calls wait too long, try again later";
            let wait = self.app.flow.limits.interval;
            return Err(Fault::new(FaultKind::Overloaded, message).with_retry_after(wait));
        }
        let input = (&*self.payload, Some(&self.payload));
        let (operation, context) = (self.operation, self.context);
        let begins = begin_own(&self.app, &self.table, operation, context, input, true);
        drop(self.payload);
        self.table.cost(self.operation).took(begun.elapsed());
        drop(turn);
        match begins {
            Ok(Begun::Ended(result)) => Ok(result),
            Ok(Begun::Working(future)) => {
                let called = self.table.called(self.operation);
                Ok(finish(self.app, called, future).await)
            }
            Err(fault) if is_of_the_input(fault.kind()) => Err(fault),
            Err(fault) => Ok(Err(fault)),
        }
    }
}
