//! Calls of clients in the same process, carried out where they are made.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use polywire_frame::server::Fault as Answer;
use polywire_frame::{Extension, FaultCode};
use polywire_protocol::{Fault, FaultKind};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::calls;
use super::handlers::{self, Handlers, Request, is_of_the_input};
use super::stats::Sum;
use crate::frames::inproc::{Begun, CallTime, Calls, Ended, Working};
use crate::methods::MethodReply;
use crate::server::app::{App, Called};
use crate::server::peer::Peer;

thread_local! {
    /// Calls that this thread is in: handlers that call others of this process.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Calls in calls on one stack. Further ones begin on the server's runtime.
const DEEPEST: u32 = 16;

/// The calls of one connection.
///
/// A handler begins on the caller's thread, within the server's runtime, and most have their answer
/// at once. One that waits for something goes on as a task of the server's runtime.
pub(super) struct Direct {
    handlers: Handlers,
    context: crate::Context,
    runtime: Handle,
    stopped: AtomicBool,
    open: Arc<AtomicUsize>,
    /// Handlers that wait for something.
    working: Mutex<JoinSet<()>>,
}

impl Direct {
    /// Nothing, if the server does not offer frames.
    pub(super) fn new(app: Arc<App>, runtime: Handle) -> Option<Self> {
        Some(Self {
            handlers: Handlers::new(app)?,
            context: handlers::context(Peer::in_process()),
            runtime,
            stopped: AtomicBool::new(false),
            open: Arc::default(),
            working: Mutex::default(),
        })
    }

    fn working(&self) -> std::sync::MutexGuard<'_, JoinSet<()>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ends(&self, operation: u32, answer: Result<MethodReply, Fault>) -> Ended {
        ended(&self.handlers, operation, answer)
    }

    #[cold]
    fn fault(&self, called: &Called, fault: &Fault, unstarted: bool) -> Begun {
        let (answer, details) = self.handlers.told(called, fault, unstarted);
        count(&self.handlers, &answer);
        Begun::Ended(Ended::Fault(answer, details))
    }

    #[cold]
    fn shed(&self) -> Begun {
        let message = "as many calls are at work as may be, try again later";
        let fault = Fault::new(FaultKind::Overloaded, message);
        let fault = fault.with_retry_after(self.handlers.app.flow.limits.interval);
        self.fault(&Called::Unknown, &fault, true)
    }

    fn work(&self, operation: u32, begun: handlers::Begun, held: handlers::Share) -> Begun {
        let future = match begun {
            handlers::Begun::Ended(answer) => return Begun::Ended(self.ends(operation, answer)),
            handlers::Begun::Working(future) => future,
        };
        let (sender, answer) = oneshot::channel();
        let finished = self.handlers.finish(operation, future);
        let at_work = self.handlers.app.flow.works();
        let open = Opened::new(&self.open);
        let handlers = self.handlers.share();
        let mut working = self.working();
        while working.try_join_next().is_some() {}
        let work = async move {
            let answer = finished.await;
            // Until the handler has ended, also one that was given up.
            drop((held, at_work, open));
            // Nobody there is as good as told.
            let _ = sender.send(ended(&handlers, operation, answer));
        };
        let task = working.spawn_on(work, &self.runtime);
        Begun::Working(Working::new(answer, task))
    }
}

/// An answer as the caller has it, counted.
fn ended(handlers: &Handlers, operation: u32, answer: Result<MethodReply, Fault>) -> Ended {
    match answer {
        Ok(reply) => {
            handlers.app.flow.sums.add(Sum::Replies, 1);
            Ended::Reply(reply)
        }
        Err(fault) => {
            let called = handlers.table.called(operation);
            let (answer, details) = handlers.told(&called, &fault, false);
            count(handlers, &answer);
            Ended::Fault(answer, details)
        }
    }
}

#[cold]
fn count(handlers: &Handlers, answer: &Answer) {
    let sums = &handlers.app.flow.sums;
    let what = match answer.code {
        FaultCode::OVERLOADED if answer.unstarted => Sum::Shed,
        FaultCode::DEADLINE => Sum::Deadlines,
        _ => Sum::Faults,
    };
    sums.add(what, 1);
    if answer.code == FaultCode::INTERNAL {
        sums.add(Sum::Internal, 1);
    }
}

impl Calls for Direct {
    fn begin(
        &self,
        name: &str,
        time: CallTime,
        metadata: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Begun {
        if self.stopped.load(Ordering::Acquire) {
            return Begun::Stopped;
        }
        let flow = &self.handlers.app.flow;
        flow.sums.add(Sum::Calls, 1);
        let Some(operation) = self.handlers.table.find(name) else {
            let fault = handlers::no_operation(name);
            return self.fault(&Called::Unknown, &fault, true);
        };
        let most = self.handlers.app.limits.bytes();
        if payload.len() > most {
            let message = format!(
                "an input of {} bytes, where at most {most} are taken",
                payload.len()
            );
            let fault = Fault::new(FaultKind::TooLarge, message);
            return self.fault(&Called::Unknown, &fault, true);
        }
        if flow.at_work() >= flow.limits.at_work {
            return self.shed();
        }
        let share = match self.handlers.take(&self.context.peer, payload.len()) {
            Ok(share) => share,
            Err(fault) => return self.fault(&Called::Unknown, &fault, true),
        };
        let mut own;
        let context = match metadata {
            [] => &self.context,
            pairs => {
                own = self.context.clone();
                handlers::bring(&mut own, pairs.iter().copied());
                &own
            }
        };
        let request = Request {
            operation,
            context,
            extension: &Extension::default(),
            payload,
            deadline: time.until(self.handlers.app.timeouts.handler),
        };
        // What handlers begin by themselves, timers and tasks, is the server's runtime's.
        let within = self.runtime.enter();
        let depth = Depth::deeper();
        let begun = self.handlers.begin(&request, depth.0 <= DEEPEST);
        drop((depth, within));
        match begun {
            Ok(begun) => self.work(operation, begun, share),
            Err(fault) => {
                let unstarted = is_of_the_input(fault.kind());
                let called = self.handlers.table.called(operation);
                self.fault(&called, &fault, unstarted)
            }
        }
    }

    fn read(&self, reply: MethodReply) {
        calls::written(reply);
    }

    fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    fn ended(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            loop {
                // Taken out, as nobody may wait with the lock.
                let mut working = std::mem::take(&mut *self.working());
                if working.is_empty() {
                    return;
                }
                while working.join_next().await.is_some() {}
            }
        })
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Direct")
            .field("open", &self.open())
            .finish_non_exhaustive()
    }
}

/// A call that this thread is in.
struct Depth(u32);

impl Depth {
    fn deeper() -> Self {
        let depth = DEPTH.get() + 1;
        DEPTH.set(depth);
        Self(depth)
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DEPTH.set(self.0 - 1);
    }
}

/// A call that waits for something.
struct Opened(Arc<AtomicUsize>);

impl Opened {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
