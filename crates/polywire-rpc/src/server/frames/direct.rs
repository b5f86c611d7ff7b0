//! Calls of clients in the same process, carried out where they are made.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use polywire_frame::server::Fault as Answer;
use polywire_frame::{FaultCode, Time, TooLarge};
use polywire_protocol::{Fault, FaultKind};
use tokio::runtime::{EnterGuard, Handle};
use tokio::sync::oneshot;

use super::begun;
use super::calls;
use super::handlers::{self, Handlers, is_of_the_input};
use super::presence::Presence;
use super::stats::Sum;
use crate::frames::hand::Hand;
use crate::frames::inproc::{Begun, CallTime, Caller, Calls, Ended, Working};
use crate::handler::Output;
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
    handlers: Arc<Handlers>,
    context: crate::Context,
    caller: Caller,
    runtime: Handle,
    presence: Arc<Presence>,
    /// What was called last, which is most often what is called next.
    last: AtomicU32,
}

impl Direct {
    /// Nothing, if the server does not offer frames.
    pub(super) fn new(app: Arc<App>, runtime: Handle, caller: Caller) -> Option<Self> {
        Some(Self {
            handlers: Arc::new(Handlers::of_connection(app)?),
            context: handlers::context(Peer::in_process()),
            runtime,
            presence: Arc::new(Presence::new(caller.clock)),
            caller,
            last: AtomicU32::new(0),
        })
    }

    /// A call that has ended so soon in a fault.
    #[cold]
    fn fault(&self, called: &Called, fault: &Fault, unstarted: bool) -> Begun {
        self.handlers.app.flow.sums.add(Sum::Calls, 1);
        let most = self.caller.most;
        Begun::Ended(failed(&self.handlers, called, fault, unstarted, most))
    }

    /// One look at a name instead of a hash, for most calls.
    #[inline]
    fn find(&self, name: &str) -> Option<u32> {
        let table = &self.handlers.table;
        // A guess, which is looked at.
        let last = self.last.load(Ordering::Relaxed);
        if table.is_called(last, name) {
            return Some(last);
        }
        let found = table.find(name)?;
        self.last.store(found, Ordering::Relaxed);
        Some(found)
    }

    /// Takes what a call needs of the server's, or says why it does not begin.
    #[inline]
    fn admit(
        &self,
        metadata: &[(&str, &[u8])],
        bytes: usize,
    ) -> Result<handlers::Admitted, Box<Begun>> {
        let app = &self.handlers.app;
        let most = app.limits.bytes();
        if bytes > most {
            let message = format!("an input of {bytes} bytes, where at most {most} are taken");
            let fault = Fault::new(FaultKind::TooLarge, message);
            return Err(Box::new(self.fault(&Called::Unknown, &fault, true)));
        }
        let load = app.flow.limits.load.as_ref();
        app.flow.measure_load();
        if app.flow.at_work() >= app.flow.limits.at_work
            || load.is_some_and(|load| app.flow.load() > load.most)
        {
            return Err(Box::new(self.shed()));
        }
        let share = self
            .handlers
            .admit(&self.context, metadata.iter().copied(), bytes);
        share.map_err(|fault| Box::new(self.fault(&Called::Unknown, &fault, true)))
    }

    /// What a handler knows of a call.
    fn circumstances(&self, time: CallTime, metadata: &[(&str, &[u8])]) -> crate::Context {
        let mut context = self.context.clone();
        let CallTime { now, deadline } = time;
        context.deadline = self.handlers.until(self.caller.clock, now, deadline);
        if !metadata.is_empty() {
            handlers::bring(&mut context, metadata.iter().copied());
        }
        context
    }

    #[cold]
    fn shed(&self) -> Begun {
        let message = "there is too much to do, try again later";
        let fault = Fault::new(FaultKind::Overloaded, message);
        let fault = fault.with_retry_after(self.handlers.app.flow.limits.interval);
        self.fault(&Called::Unknown, &fault, true)
    }

    /// What the caller has of a call that has begun, or has not.
    fn begun<T>(
        &self,
        operation: u32,
        begun: Result<begun::Begun<T>, Fault>,
        held: handlers::Admitted,
    ) -> Begun
    where
        T: Into<Ended> + Send + 'static,
    {
        let most = self.caller.most;
        let future = match begun {
            Ok(begun::Begun::Ended(answer)) => {
                return match answer.and_then(|answer| fitting(answer.into(), most)) {
                    Ok(answer) => {
                        self.handlers.app.flow.sums.add(Sum::AtOnce, 1);
                        Begun::Ended(answer)
                    }
                    Err(fault) => self.fault(&self.handlers.table.called(operation), &fault, false),
                };
            }
            Ok(begun::Begun::Working(future)) => future,
            Err(fault) => {
                let unstarted = is_of_the_input(&fault);
                let called = self.handlers.table.called(operation);
                return self.fault(&called, &fault, unstarted);
            }
        };
        let (sender, answer) = oneshot::channel();
        let finished = self.handlers.finish(operation, future);
        let at_work = self.handlers.app.flow.works();
        let (staying, mut open) = (self.presence.stay(), Open::new(&self.handlers));
        let work = async move {
            let answer = tokio::select! {
                biased;
                answer = finished => answer,
                () = staying.is_cut() => return,
            };
            // Until the handler has ended, also one that was given up.
            drop((held, at_work));
            open.ended = true;
            let ended = ended(&open.handlers, operation, answer, most);
            // Nobody there is as good as told.
            let _ = sender.send(ended);
            drop((open, staying));
        };
        let task = self.runtime.spawn(work).abort_handle();
        Begun::Working(Working::new(answer, task))
    }
}

/// The answer to a call that had to wait, as the caller has it, which takes so many bytes of it; counted.
fn ended<T: Into<Ended>>(
    handlers: &Handlers,
    operation: u32,
    answer: Result<T, Fault>,
    most: u32,
) -> Ended {
    let answer = answer.and_then(|answer| fitting(answer.into(), most));
    match answer {
        Ok(answer) => {
            handlers.app.flow.sums.add(Sum::Replies, 1);
            answer
        }
        Err(fault) => {
            let called = handlers.table.called(operation);
            failed(handlers, &called, &fault, false, most)
        }
    }
}

/// A fault as the caller has it, counted; without its details, if those are longer than the caller takes.
#[cold]
fn failed(
    handlers: &Handlers,
    called: &Called,
    fault: &Fault,
    unstarted: bool,
    most: u32,
) -> Ended {
    let (answer, mut details) = handlers.told(called, fault, unstarted);
    if details.len() > most as usize {
        details.clear();
    }
    count(handlers, &answer);
    Ended::Fault(answer, details)
}

/// An answer, unless it is longer than its caller takes.
#[inline]
fn fitting(answer: Ended, most: u32) -> Result<Ended, Fault> {
    match &answer {
        Ended::Reply(reply) if reply.len() > most as usize => {
            let length = reply.len();
            let words = TooLarge { length, most }.to_string();
            Err(Fault::new(FaultKind::TooLarge, words))
        }
        _ => Ok(answer),
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
    ) -> Option<Begun> {
        let Some(_inside) = self.presence.enter(time.now) else {
            return Some(Begun::Stopped);
        };
        let Some(operation) = self.find(name) else {
            let fault = handlers::no_operation(name);
            return Some(self.fault(&Called::Unknown, &fault, true));
        };
        // Its items need a connection.
        if self.handlers.table.is_stream(operation) {
            return None;
        }
        let share = match self.admit(metadata, payload.len()) {
            Ok(share) => share,
            Err(refused) => return Some(*refused),
        };
        let context = self.circumstances(time, metadata);
        let within = Within::new(&self.runtime);
        let begun = self
            .handlers
            .begin_own(operation, context, payload, within.looks());
        drop(within);
        Some(self.begun(operation, begun, share))
    }

    fn hand(
        &self,
        name: &str,
        time: CallTime,
        metadata: &[(&str, &[u8])],
        hand: &Hand,
    ) -> Option<Begun> {
        let Handlers { app, table, .. } = &*self.handlers;
        let operation = self.find(name)?;
        let index = table.operation(operation)?;
        if !app.has_types(index, hand.input_type, hand.output_type) {
            return None;
        }
        let Some(_inside) = self.presence.enter(time.now) else {
            return Some(Begun::Stopped);
        };
        let input = hand.take()?;
        let share = match self.admit(metadata, 0) {
            Ok(share) => share,
            Err(refused) => {
                hand.put(input);
                return Some(*refused);
            }
        };
        let context = self.circumstances(time, metadata);
        let within = Within::new(&self.runtime);
        let begun = self
            .handlers
            .begin_by_hand(index, context, input, within.looks());
        drop(within);
        Some(self.begun(operation, begun, share))
    }

    fn read(&self, reply: MethodReply) {
        calls::written(reply);
    }

    fn open(&self) -> usize {
        self.presence.count()
    }

    fn moved(&self) -> Time {
        self.presence.moved()
    }

    fn stop(&self) {
        self.presence.stop();
    }

    fn cut(&self) {
        self.presence.cut();
    }

    fn ended(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.presence.ended())
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Direct")
            .field("open", &self.open())
            .finish_non_exhaustive()
    }
}

impl From<MethodReply> for Ended {
    fn from(reply: MethodReply) -> Self {
        Self::Reply(reply)
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self::Handed(output)
    }
}

/// A call that this thread is in. What its handler begins by itself, timers and tasks, is the server's
/// runtime's.
struct Within<'a> {
    depth: u32,
    _runtime: EnterGuard<'a>,
}

impl<'a> Within<'a> {
    fn new(runtime: &'a Handle) -> Self {
        let depth = DEPTH.get() + 1;
        DEPTH.set(depth);
        Self {
            depth,
            _runtime: runtime.enter(),
        }
    }

    /// Whether it may be looked at here whether the call has ended.
    const fn looks(&self) -> bool {
        self.depth <= DEEPEST
    }
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        DEPTH.set(self.depth - 1);
    }
}

/// A call that waits for something, as it is counted: one that ends without having ended was given up.
struct Open {
    handlers: Arc<Handlers>,
    ended: bool,
}

impl Open {
    fn new(handlers: &Arc<Handlers>) -> Self {
        let sums = &handlers.app.flow.sums;
        sums.add(Sum::Calls, 1);
        sums.add(Sum::Open, 1);
        Self {
            handlers: Arc::clone(handlers),
            ended: false,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let sums = &self.handlers.app.flow.sums;
        sums.take(Sum::Open, 1);
        if !self.ended {
            sums.add(Sum::Cancelled, 1);
        }
    }
}
