//! Servers in the same process, by their names.
//!
//! A connection to one is a pair of streams in memory, over which frames go as over any other, so that
//! nothing is different there. Calls with one answer take a shorter way: they are carried out where
//! they are made ([`Calls`]), without a frame, a queue or a change of threads.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use polywire_frame::Time;
use polywire_frame::server::Fault;
use tokio::io::DuplexStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::AbortHandle;

use super::Clock;
use super::hand::Hand;
use crate::connect::{PROCESS_NAME, is_process_name};
use crate::handler::Output;
use crate::methods::MethodReply;

/// The servers of this process that listen, by the names they are called by.
static NAMES: LazyLock<Mutex<HashMap<Box<str>, Arc<Listening>>>> = LazyLock::new(Mutex::default);

/// Connections that wait to be accepted, at most, as at other listeners.
const BACKLOG: usize = 1_024;

/// Bytes on their way in each direction, as the buffers of a socket have them.
const BUFFER: usize = 256 << 10;

/// The calls of one connection that are carried out where they are made.
pub(crate) trait Calls: fmt::Debug + Send + Sync {
    /// Begins a call, on this thread; nothing, if it needs a connection.
    fn begin(
        &self,
        operation: &str,
        time: CallTime,
        metadata: &[(&str, &[u8])],
        payload: &[u8],
    ) -> Option<Begun>;

    /// Begins a call whose input goes from hand to hand; nothing, if the server has other types.
    fn hand(
        &self,
        operation: &str,
        time: CallTime,
        metadata: &[(&str, &[u8])],
        hand: &Hand,
    ) -> Option<Begun>;

    /// Takes a reply back that has been read, for its space.
    fn read(&self, reply: MethodReply);

    /// How many have begun and not ended.
    fn open(&self) -> usize;

    /// When the last one began, or one that was a task ended, by the [clock of the client](Caller::clock): not when one
    /// ended that was carried out where it began.
    fn moved(&self) -> Time;

    /// Begins no more.
    fn stop(&self);

    /// Begins no more, and ends those that wait for something.
    fn cut(&self);

    /// Waits until all have ended.
    fn ended(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// What a client tells of itself when it connects, as over other wires by its hello.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller {
    /// What its calls are timed by.
    pub(crate) clock: Clock,
    /// Bytes of an answer, at most.
    pub(crate) most: u32,
}

/// When a call begins, and when nobody waits for it any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTime {
    pub(crate) now: Time,
    pub(crate) deadline: Time,
}

/// A call that has begun, or has not.
#[derive(Debug)]
pub(crate) enum Begun {
    Ended(Ended),
    /// The server has stopped: nothing of the call was carried out.
    Stopped,
    Working(Working),
}

/// What a call has ended in.
#[derive(Debug)]
pub(crate) enum Ended {
    Fault(Fault, Vec<u8>),
    /// For an input that was handed over.
    Handed(Output),
    Reply(MethodReply),
}

/// A handler at work on its server's runtime, until this is dropped.
#[derive(Debug)]
pub(crate) struct Working {
    answer: oneshot::Receiver<Ended>,
    task: AbortHandle,
}

impl Working {
    pub(crate) const fn new(answer: oneshot::Receiver<Ended>, task: AbortHandle) -> Self {
        Self { answer, task }
    }
}

impl Future for Working {
    /// Nothing, if the server has gone.
    type Output = Option<Ended>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.answer).poll(context).map(Result::ok)
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Both ways to call over a connection.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) stream: DuplexStream,
    pub(crate) calls: Arc<dyn Calls>,
    pub(crate) caller: Caller,
}

/// Makes the calls of a connection.
type MakeCalls = dyn Fn(Caller) -> Arc<dyn Calls> + Send + Sync;

/// A server that listens.
struct Listening {
    /// Connections that nobody has accepted.
    waiting: Mutex<VecDeque<Connected>>,
    arrived: Notify,
    calls: Box<MakeCalls>,
}

/// A name in this process, as long as this is there.
pub(crate) struct Bound {
    name: Box<str>,
    listening: Arc<Listening>,
}

impl Bound {
    /// Takes a name. Each connection has calls of its own.
    ///
    /// # Errors
    ///
    /// Somebody has it, or it is none.
    pub(crate) fn new(
        name: &str,
        calls: impl Fn(Caller) -> Arc<dyn Calls> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        if !is_process_name(name) {
            let words = format!("`{name}` is no name: {PROCESS_NAME}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, words));
        }
        match lock(&NAMES).entry(name.into()) {
            Entry::Occupied(_) => {
                let words = format!("inproc://{name}: a server of this process has this name");
                Err(io::Error::new(io::ErrorKind::AddrInUse, words))
            }
            Entry::Vacant(free) => {
                let listening = Arc::new(Listening {
                    waiting: Mutex::default(),
                    arrived: Notify::new(),
                    calls: Box::new(calls),
                });
                free.insert(Arc::clone(&listening));
                Ok(Self {
                    name: name.into(),
                    listening,
                })
            }
        }
    }

    /// The name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The next connection.
    pub(crate) async fn accept(&self) -> Connected {
        loop {
            // Before it is looked for, so that none is missed.
            let arrived = self.listening.arrived.notified();
            match self.next() {
                Some(connected) => return connected,
                None => arrived.await,
            }
        }
    }

    /// The next of those that wait already.
    pub(crate) fn next(&self) -> Option<Connected> {
        lock(&self.listening.waiting).pop_front()
    }

    /// From now on those who connect are told at once that nobody is there.
    pub(crate) fn close(&self) {
        let mut names = lock(&NAMES);
        // The name may be somebody else's by now.
        let own = |listening: &Arc<Listening>| Arc::ptr_eq(listening, &self.listening);
        if names.get(&self.name).is_some_and(own) {
            names.remove(&self.name);
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.close();
    }
}

/// Connects to the server of a name.
pub(crate) fn connect(name: &str, caller: Caller) -> io::Result<Connected> {
    let refused = |words: &str| Err(io::Error::new(io::ErrorKind::ConnectionRefused, words));
    let Some(server) = lock(&NAMES).get(name).cloned() else {
        return refused("no server of this process has this name");
    };
    let mut waiting = lock(&server.waiting);
    if waiting.len() >= BACKLOG {
        return refused("the server takes no more connections at present");
    }
    let (stream, other) = tokio::io::duplex(BUFFER);
    let calls = (server.calls)(caller);
    waiting.push_back(Connected {
        stream: other,
        calls: Arc::clone(&calls),
        caller,
    });
    drop(waiting);
    server.arrived.notify_one();
    Ok(Connected {
        stream,
        calls,
        caller,
    })
}

/// Each change of what is locked here is one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
