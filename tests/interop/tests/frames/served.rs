//! A server with the operations that the scenarios call, on our state machine and blocking sockets,
//! with one thread per connection.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use polywire_frame::server::{Connection, Event, Fault, Step};
use polywire_frame::{CallId, FaultCode, Features, Settings, Time};

/// The operations of the server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Chat,
    Collect,
    Count,
    Echo,
    Fail,
    Hold,
    Note,
    Notes,
    Overload,
    Reverse,
    Sleep,
}

fn operation(name: &str) -> Option<Operation> {
    Some(match name {
        "Chat" => Operation::Chat,
        "Collect" => Operation::Collect,
        "Count" => Operation::Count,
        "Echo" => Operation::Echo,
        "Fail" => Operation::Fail,
        "Hold" => Operation::Hold,
        "Note" => Operation::Note,
        "Notes" => Operation::Notes,
        "Overload" => Operation::Overload,
        "Reverse" => Operation::Reverse,
        "Sleep" => Operation::Sleep,
        _ => return None,
    })
}

/// The notes of all connections.
pub(crate) type Notes = Arc<Mutex<Vec<Vec<u8>>>>;

/// A stream with a read timeout that can be half-closed.
pub(crate) trait Socket: Read + Write + Send + 'static {
    fn read_within(&mut self, time: Duration);
    /// Closes the write half. The peer may have disconnected already.
    fn end(&mut self);
}

impl Socket for std::net::TcpStream {
    fn read_within(&mut self, time: Duration) {
        self.set_read_timeout(Some(time)).unwrap();
    }

    fn end(&mut self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

#[cfg(unix)]
impl Socket for std::os::unix::net::UnixStream {
    fn read_within(&mut self, time: Duration) {
        self.set_read_timeout(Some(time)).unwrap();
    }

    fn end(&mut self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

/// The state of an open call.
#[derive(Debug)]
enum Kept {
    Chats,
    Collects(Vec<u8>),
    /// The next number, and the number after the last.
    Counts(u64, u64),
    /// The received bytes, which are not consumed before the stream ends.
    Holds(u32),
    SleepsUntil(Time),
    Subscribes,
}

pub(crate) struct Served<S> {
    machine: Connection<Operation, Kept>,
    socket: S,
    began: Instant,
    /// The open calls that have a state.
    open: Vec<CallId>,
    topics: HashMap<String, Vec<CallId>>,
    notes: Notes,
}

/// The features that this side offers.
pub(crate) const FEATURES: Features = Features::DEFLATE;

/// The minimum length of payloads that are compressed, in bytes. It is low, so that short payloads
/// are compressed too.
pub(crate) const LEAST: usize = 32;

impl<S: Socket> Served<S> {
    pub(crate) fn new(socket: S, settings: Settings, notes: Notes) -> Self {
        Self {
            machine: Connection::new(settings.with_features(FEATURES)).with_compression(LEAST),
            socket,
            began: Instant::now(),
            open: Vec::new(),
            topics: HashMap::new(),
            notes,
        }
    }

    fn now(&self) -> Time {
        Time::ZERO.after(self.began.elapsed())
    }

    /// Serves until the client disconnects.
    pub(crate) fn serve(mut self) {
        let mut input = Vec::new();
        let mut scratch = vec![0; 1 << 16];
        let mut ended = false;
        loop {
            self.go_on();
            let output: Vec<u8> = self.machine.output().parts().flatten().copied().collect();
            self.machine.wrote();
            if self.socket.write_all(&output).is_err() {
                return;
            }
            if self.machine.is_done() {
                // If the socket is closed with unread bytes, the last output can be lost.
                self.socket.end();
                self.socket.read_within(Duration::from_secs(3));
                while self.socket.read(&mut scratch).is_ok_and(|count| count > 0) {}
                return;
            }
            if ended {
                thread::sleep(Duration::from_millis(2));
                continue;
            }
            self.socket.read_within(Duration::from_millis(2));
            match self.socket.read(&mut scratch) {
                Ok(0) => {
                    ended = true;
                    let _ = self
                        .machine
                        .end_of_input(self.now(), input.len(), |_, _| {});
                }
                Ok(count) => input.extend_from_slice(&scratch[..count]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => return,
            }
            let (mut at, mut room) = (0, Vec::new());
            // On a protocol error, the GOAWAY is in the output.
            while let Ok(Step::Consumed(count, event)) =
                self.machine
                    .receive(self.now(), &input[at..], &mut room, operation)
            {
                at += count;
                if let Some(event) = event {
                    self.happens(&event);
                }
            }
            input.drain(..at);
        }
    }

    fn happens(&mut self, event: &Event<'_, Operation, Kept>) {
        let now = self.now();
        match *event {
            Event::Call {
                id,
                operation,
                payload,
                ..
            } => self.call(id, operation, payload),
            Event::OneWay {
                operation: Operation::Note,
                payload,
                ..
            } => self.notes.lock().unwrap().push(payload.to_vec()),
            Event::Unknown { id, .. } => {
                let fault = Fault::unstarted(FaultCode::UNKNOWN_OPERATION);
                self.machine.fault(now, id, fault, b"");
            }
            Event::Item {
                id,
                cost: bytes,
                payload,
                ..
            } => {
                match self.machine.context(id) {
                    Some(Kept::Collects(whole)) => whole.extend_from_slice(payload),
                    Some(Kept::Chats) => {
                        let mut item = self.machine.item(id, 0).expect("a word is small");
                        item.payload().extend(payload.to_ascii_uppercase());
                        item.send().unwrap();
                    }
                    Some(Kept::Holds(held)) => return *held += bytes,
                    kept => panic!("an item for {kept:?}"),
                }
                self.machine.consumed(id, bytes);
            }
            Event::End(id) => {
                let mut held = 0;
                let whole = match self.machine.context(id) {
                    Some(Kept::Collects(whole)) => std::mem::take(whole),
                    Some(Kept::Holds(bytes)) => {
                        held = *bytes;
                        Vec::new()
                    }
                    _ => Vec::new(),
                };
                self.machine.consumed(id, held);
                self.reply(id, &whole);
            }
            Event::Subscribe { id, topic, .. } => {
                self.machine.accept(id);
                self.keep(id, Kept::Subscribes);
                self.topics.entry(topic.to_owned()).or_default().push(id);
            }
            Event::Publish {
                id, topic, payload, ..
            } => {
                let subscribers = self.topics.get(topic).cloned().unwrap_or_default();
                let mut count = 0_u32;
                for subscriber in subscribers {
                    if let Some(mut item) = self.machine.item(subscriber, 0) {
                        item.payload().extend_from_slice(payload);
                        count += u32::from(item.send().is_ok());
                    }
                }
                self.reply(id, &count.to_le_bytes());
            }
            Event::Unsubscribe(id) => {
                self.forget(id);
                self.reply(id, b"");
            }
            Event::Cancelled(id, ref kept) => {
                if let Some(Kept::Holds(held)) = *kept {
                    self.machine.consumed(id, held);
                }
                self.forget(id);
            }
            _ => {}
        }
    }

    fn call(&mut self, id: CallId, operation: Operation, payload: &[u8]) {
        let now = self.now();
        let number = || {
            std::str::from_utf8(payload)
                .unwrap()
                .parse::<u64>()
                .unwrap()
        };
        match operation {
            Operation::Echo => self.reply(id, payload),
            Operation::Reverse => {
                let reversed: Vec<_> = payload.iter().rev().copied().collect();
                self.reply(id, &reversed);
            }
            Operation::Sleep => {
                let until = now.after(Duration::from_millis(number()));
                self.keep(id, Kept::SleepsUntil(until));
            }
            Operation::Fail => {
                let fault = Fault::new(FaultCode::MODELLED);
                self.machine.fault(now, id, fault, b"details");
            }
            Operation::Overload => {
                let fault = Fault {
                    retry_after: 20,
                    ..Fault::unstarted(FaultCode::OVERLOADED)
                };
                self.machine.fault(now, id, fault, b"");
            }
            Operation::Collect => self.keep(id, Kept::Collects(Vec::new())),
            Operation::Count => self.keep(id, Kept::Counts(0, number())),
            Operation::Chat => self.keep(id, Kept::Chats),
            Operation::Hold => self.keep(id, Kept::Holds(0)),
            Operation::Note => self.reply(id, b""),
            Operation::Notes => {
                let notes = self.notes.lock().unwrap().join(&b'\n');
                self.reply(id, &notes);
            }
        }
    }

    fn keep(&mut self, id: CallId, kept: Kept) {
        self.machine.attach(id, kept).expect("it is open");
        self.open.push(id);
    }

    fn forget(&mut self, id: CallId) {
        self.open.retain(|open| *open != id);
        for subscribers in self.topics.values_mut() {
            subscribers.retain(|subscriber| *subscriber != id);
        }
    }

    fn reply(&mut self, id: CallId, payload: &[u8]) {
        let now = self.now();
        self.forget(id);
        if let Some(mut answer) = self.machine.reply(now, id) {
            answer.payload().extend_from_slice(payload);
            answer.send().expect("answers are small");
        }
    }

    /// Handles timeouts, and continues open calls.
    fn go_on(&mut self) {
        let now = self.now();
        let mut late = Vec::new();
        self.machine.timeout(now, |id, _| late.push(id));
        for id in late {
            self.forget(id);
        }
        for id in self.open.clone() {
            match self.machine.context(id) {
                Some(Kept::SleepsUntil(until)) if *until <= now => self.reply(id, b"slept"),
                Some(Kept::Counts(next, end)) => {
                    let (mut next, end) = (*next, *end);
                    while next < end
                        && let Some(mut item) = self.machine.item(id, 0)
                    {
                        item.payload().extend(next.to_string().bytes());
                        item.send().unwrap();
                        next += 1;
                    }
                    if next == end {
                        self.reply(id, b"done");
                    } else if let Some(Kept::Counts(at, _)) = self.machine.context(id) {
                        *at = next;
                    }
                }
                _ => {}
            }
        }
    }
}
