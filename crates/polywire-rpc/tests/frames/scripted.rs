//! A server over in-memory streams that answers as a test defines.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use polywire_frame::server::{Connection, Event, Fault, Step};
use polywire_frame::{CallId, FaultCode, Reason, Settings, Time};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// What the server does with a call.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Answers with the input.
    Echo,
    /// Answers with a fault: code, time to wait before a retry in milliseconds, and whether the call is unstarted.
    Fault(FaultCode, u32, bool),
    /// Sends `GOAWAY` with this reason, and answers with the input.
    GoAway(Reason),
    /// Closes the connection.
    HangUp,
    /// Does nothing.
    Hold,
    /// Answers with the input after this time.
    Later(Duration),
}

/// A call as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedCall {
    /// The index of the call among all calls of the server, from 0.
    pub(crate) number: usize,
    /// The time of arrival by the clock of the test.
    pub(crate) at: Instant,
    /// The deadline of the call.
    pub(crate) deadline: Option<Instant>,
    pub(crate) payload: Vec<u8>,
}

type Script = dyn Fn(&ReceivedCall) -> Action + Send + Sync;

struct Inner {
    script: Box<Script>,
    settings: Settings,
    seen: Mutex<Vec<ReceivedCall>>,
    cancels: AtomicUsize,
    connections: AtomicUsize,
    down: AtomicBool,
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// A server. Clones share its state.
#[derive(Clone)]
pub(crate) struct ScriptedServer(Arc<Inner>);

impl ScriptedServer {
    pub(crate) fn new(script: impl Fn(&ReceivedCall) -> Action + Send + Sync + 'static) -> Self {
        Self::with(Settings::DEFAULT, script)
    }

    pub(crate) fn with(
        settings: Settings,
        script: impl Fn(&ReceivedCall) -> Action + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Inner {
            script: Box::new(script),
            settings,
            seen: Mutex::default(),
            cancels: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            down: AtomicBool::new(false),
            tasks: Mutex::default(),
        }))
    }

    /// A connector to this server for a client.
    pub(crate) fn connector(
        &self,
    ) -> impl Fn() -> std::future::Ready<io::Result<DuplexStream>> + use<> {
        let server = self.clone();
        move || std::future::ready(server.connect())
    }

    fn connect(&self) -> io::Result<DuplexStream> {
        self.0.connections.fetch_add(1, Ordering::Relaxed);
        if self.0.down.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (theirs, ours) = tokio::io::duplex(64 << 10);
        let serving = tokio::spawn(serve(Arc::clone(&self.0), ours));
        self.0.tasks.lock().unwrap().push(serving);
        Ok(theirs)
    }

    /// Closes all connections and refuses new ones.
    pub(crate) fn kill(&self) {
        self.0.down.store(true, Ordering::Relaxed);
        for task in self.0.tasks.lock().unwrap().drain(..) {
            task.abort();
        }
    }

    /// Waits until all connections have ended.
    pub(crate) async fn closed(&self) {
        let tasks = std::mem::take(&mut *self.0.tasks.lock().unwrap());
        for task in tasks {
            task.await.unwrap();
        }
    }

    pub(crate) fn revive(&self) {
        self.0.down.store(false, Ordering::Relaxed);
    }

    pub(crate) fn seen(&self) -> Vec<ReceivedCall> {
        self.0.seen.lock().unwrap().clone()
    }

    pub(crate) fn cancels(&self) -> usize {
        self.0.cancels.load(Ordering::Relaxed)
    }

    /// The number of attempts to connect.
    pub(crate) fn connections(&self) -> usize {
        self.0.connections.load(Ordering::Relaxed)
    }
}

/// Lets all tasks run until they wait. The clock does not advance.
pub(crate) async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

/// A delayed answer to a call: the action, and the input of the call.
type DelayedAnswer = (CallId, Action, Vec<u8>);

fn later(to: &UnboundedSender<DelayedAnswer>, wait: Duration, due: DelayedAnswer) {
    let to = to.clone();
    tokio::spawn(async move {
        tokio::time::sleep(wait).await;
        // The connection may have ended.
        let _ = to.send(due);
    });
}

async fn serve(server: Arc<Inner>, mut stream: DuplexStream) {
    let began = Instant::now();
    let mut machine = Connection::<(), ()>::new(server.settings);
    let (to, mut due) = unbounded_channel::<DelayedAnswer>();
    let mut bytes = Vec::new();
    loop {
        let mut actions = Vec::new();
        tokio::select! {
            read = stream.read_buf(&mut bytes) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            },
            Some(action) = due.recv() => actions.push(action),
        }
        let now = Time::ZERO.after(began.elapsed());
        let mut at = 0;
        while let Step::Consumed(count, event) = machine
            .receive(now, &bytes[at..], &mut Vec::new(), |_| Some(()))
            .unwrap()
        {
            at += count;
            match event {
                Some(Event::Call {
                    id,
                    payload,
                    deadline,
                    ..
                }) => {
                    let payload = payload.to_vec();
                    let seen = {
                        let mut all = server.seen.lock().unwrap();
                        let number = all.len();
                        all.push(ReceivedCall {
                            number,
                            at: Instant::now(),
                            deadline: match deadline {
                                Time::NEVER => None,
                                time => Some(began + time.since(Time::ZERO)),
                            },
                            payload: payload.clone(),
                        });
                        all.last().unwrap().clone()
                    };
                    match (server.script)(&seen) {
                        Action::Later(wait) => later(&to, wait, (id, Action::Echo, payload)),
                        action => actions.push((id, action, payload)),
                    }
                }
                Some(Event::Cancelled(..)) => {
                    server.cancels.fetch_add(1, Ordering::Relaxed);
                }
                _ => {}
            }
        }
        bytes.drain(..at);
        for (id, action, payload) in actions {
            match action {
                Action::Echo | Action::GoAway(_) => {
                    if let Action::GoAway(reason) = action {
                        machine.go_away(reason, 0, "");
                    }
                    if let Some(mut answer) = machine.reply(now, id) {
                        answer.payload().extend_from_slice(&payload);
                        answer.send().unwrap();
                    }
                }
                Action::Fault(code, retry_after, unstarted) => {
                    let mut fault = Fault::new(code);
                    fault.retry_after = retry_after;
                    fault.unstarted = unstarted;
                    machine.fault(now, id, fault, &[]);
                }
                Action::HangUp => return,
                Action::Hold | Action::Later(_) => {}
            }
        }
        let output: Vec<u8> = machine.output().parts().flatten().copied().collect();
        machine.wrote();
        if stream.write_all(&output).await.is_err() {
            return;
        }
    }
}
