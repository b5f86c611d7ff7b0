//! A client on our state machine and a blocking socket.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use polywire_frame::client::{Connection, Event, Operation, Request, Step};
use polywire_frame::{CallId, FaultCode, Settings, Time};

use crate::served::{FEATURES, LEAST};

/// An event from the server, with its bytes.
#[derive(Debug, PartialEq)]
pub(crate) enum Told {
    Accepted(CallId),
    Ended(Vec<u8>),
    Failed(FaultCode),
    Item(CallId, Vec<u8>),
    Other,
}

pub(crate) struct Caller {
    pub(crate) machine: Connection<()>,
    socket: TcpStream,
    input: Vec<u8>,
    began: Instant,
    names: Vec<&'static str>,
    /// The cost of the last item.
    pub(crate) cost: u32,
    /// Whether items are consumed as soon as they are received.
    pub(crate) reads: bool,
}

impl Caller {
    pub(crate) fn connect(address: &str) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        let patience = Some(Duration::from_secs(20));
        socket.set_read_timeout(patience).unwrap();
        Self {
            machine: Connection::new(Settings::DEFAULT.with_features(FEATURES))
                .with_compression(LEAST),
            socket,
            input: Vec::new(),
            began: Instant::now(),
            names: Vec::new(),
            cost: 0,
            reads: true,
        }
    }

    pub(crate) fn now(&self) -> Time {
        Time::ZERO.after(self.began.elapsed())
    }

    /// Sends a call. If `open`, items follow.
    pub(crate) fn call(&mut self, name: &'static str, payload: &[u8], open: bool) -> CallId {
        let known = self.names.iter().position(|known| *known == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        let request = Request::new(Operation {
            number: index as u16 + 1,
            name,
        });
        let request = if open { request.with_items() } else { request };
        let now = self.now();
        let mut call = self.machine.call(now, &request).unwrap();
        call.payload().extend_from_slice(payload);
        call.send(()).unwrap()
    }

    /// Reports that an item has been consumed.
    pub(crate) fn consumed(&mut self, id: CallId, cost: u32) {
        self.machine.consumed(id, cost);
    }

    /// Sends items as long as there is credit. Returns their number.
    pub(crate) fn items(&mut self, id: CallId, payload: &[u8]) -> usize {
        let mut count = 0;
        while let Some(mut item) = self.machine.item(id) {
            item.payload().extend_from_slice(payload);
            item.send().unwrap();
            count += 1;
        }
        count
    }

    fn flush(&mut self) {
        let parts: Vec<_> = self.machine.output().parts().flatten().copied().collect();
        self.machine.wrote();
        self.socket.write_all(&parts).unwrap();
    }

    /// Sends the output, and half-closes the connection.
    pub(crate) fn end(&mut self) {
        self.flush();
        self.socket.shutdown(Shutdown::Write).unwrap();
    }

    /// Sends the output, and waits until bytes arrive, which are not read.
    pub(crate) fn await_bytes(&mut self) {
        self.flush();
        self.socket.peek(&mut [0]).unwrap();
    }

    /// Sends the output, and waits for the next event.
    pub(crate) fn hear(&mut self) -> Told {
        loop {
            self.flush();
            let mut room = Vec::new();
            if let Step::Consumed(count, event) =
                self.machine.receive(&self.input, &mut room).unwrap()
            {
                if let Some(Event::Item { cost, .. }) = &event {
                    self.cost = *cost;
                }
                let told = event.as_ref().map(told);
                self.input.drain(..count);
                match told {
                    Some(told) => {
                        if let Told::Item(id, _) = &told
                            && self.reads
                        {
                            self.consumed(*id, self.cost);
                        }
                        return told;
                    }
                    None => continue,
                }
            }
            let mut scratch = [0; 4096];
            let count = self.socket.read(&mut scratch).unwrap();
            assert!(count > 0, "the server has closed");
            self.input.extend_from_slice(&scratch[..count]);
        }
    }

    /// Returns the next event other than [`Told::Other`].
    pub(crate) fn next(&mut self) -> Told {
        loop {
            match self.hear() {
                Told::Other => {}
                told => return told,
            }
        }
    }
}

fn told(event: &Event<'_, ()>) -> Told {
    match *event {
        Event::Accepted(id) => Told::Accepted(id),
        Event::Reply { payload, .. } => Told::Ended(payload.to_vec()),
        Event::Fault { code, .. } => Told::Failed(code),
        Event::Item { id, payload, .. } => Told::Item(id, payload.to_vec()),
        _ => Told::Other,
    }
}
