//! How a call begins, where it was read or when its turn has come.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use polywire_protocol::{Fault, FaultKind};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::calls::Table;
use super::flow::AtWork;
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
        None => {
            let future = table.begin(app, operation, context, input)?;
            Ok(Begun::of(future, looks))
        }
    })
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
struct Later {
    app: Arc<App>,
    table: Arc<Table>,
    operation: u32,
    context: crate::Context,
    /// The caller's; how long handlers have counts from when they begin.
    deadline: Option<Instant>,
    payload: Bytes,
}

/// What became of a call when its turn came, and its place among those that are at work. It has not begun, if that is
/// an error.
type Turned = Result<(Result<Begun, Fault>, Option<AtWork>), Fault>;

/// Has a call wait for its turn from now on. What it ends in, and what it takes while its handler waits for
/// something.
///
/// # Errors
///
/// Its handler has not begun: why.
pub(super) fn later(
    handlers: &Handlers,
    request: &Request<'_>,
) -> (
    Arc<Waiting>,
    impl Future<Output = Result<Result<MethodReply, Fault>, Fault>> + Send + use<>,
) {
    let mut context = request.context.clone();
    bring_all(&mut context, request.extension);
    let operation = request.operation;
    let part = request
        .whole
        .and_then(|whole| payload::part(whole, request.payload));
    let later = Later {
        app: Arc::clone(&handlers.app),
        table: Arc::clone(&handlers.table),
        operation,
        context,
        deadline: request.clock.instant(request.deadline),
        payload: part.unwrap_or_else(|| Bytes::copy_from_slice(request.payload)),
    };
    let (app, table) = (Arc::clone(&later.app), Arc::clone(&later.table));
    let (tell, told) = oneshot::channel::<Turned>();
    let run = Box::new(move |late| {
        // Nobody may want it any more, which is no matter.
        let _ = tell.send(later.begin(late));
    });
    let waiting = Arc::new(handlers.turns.enter(table.cost(operation), run));
    let own = Arc::clone(&waiting);
    let result = async move {
        let turned = told.await;
        drop(own);
        let stopped = || Fault::new(FaultKind::Overloaded, "the server has stopped");
        let (begun, _at_work) = turned.map_err(|_| stopped())??;
        match begun {
            Ok(Begun::Ended(result)) => Ok(result),
            Ok(Begun::Working(future)) => {
                let called = table.called(operation);
                Ok(finish(app, called, future).await)
            }
            Err(fault) if is_of_the_input(&fault) => Err(fault),
            Err(fault) => Ok(Err(fault)),
        }
    };
    (waiting, result)
}

impl Later {
    /// Its turn has come, perhaps too late.
    fn begin(mut self, late: bool) -> Turned {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            let message = "its time was over before its turn came";
            return Err(Fault::new(FaultKind::DeadlineExceeded, message));
        }
        let flow = &self.app.flow;
        let full = flow.at_work() >= flow.limits.at_work;
        if late || full {
            let message = match full {
                true => "as many calls are at work as may be, try again later",
                false => "calls wait too long, try again later",
            };
            let wait = flow.limits.interval;
            return Err(Fault::new(FaultKind::Overloaded, message).with_retry_after(wait));
        }
        let handler = now.checked_add(self.app.timeouts.handler);
        self.context.deadline = match (self.deadline, handler) {
            (Some(deadline), Some(handler)) => Some(deadline.min(handler)),
            (deadline, handler) => deadline.or(handler),
        };
        let input = (&*self.payload, Some(&self.payload));
        let begun = begin_own(
            &self.app,
            &self.table,
            self.operation,
            self.context,
            input,
            true,
        );
        // What was refused says nothing of how long its handler would have taken.
        if !matches!(&begun, Err(fault) if is_of_the_input(fault)) {
            self.table.cost(self.operation).took(now.elapsed());
        }
        let working = matches!(&begun, Ok(Begun::Working(_)));
        let at_work = working.then(|| self.app.flow.works());
        Ok((begun, at_work))
    }
}
