//! A client and a server on a byte stream that is split and cut at random positions.

use std::collections::HashMap;
use std::time::Duration;

use polywire_frame::client::{self, Operation, Request, RequestError};
use polywire_frame::server::{self, Fault};
use polywire_frame::{CallId, FaultCode, Features, Output, Reason, Settings, Time};

use crate::rng::{Rng, seeds};

/// The index of a call in `World::calls`.
type Number = usize;

/// One direction: bytes that are written and not delivered, and bytes that are delivered and not consumed.
#[derive(Debug, Default)]
struct Pipe {
    in_flight: Vec<u8>,
    arrived: Vec<u8>,
    /// Whether delivery is suspended.
    stalls: bool,
    /// The writer has closed the pipe.
    ended: bool,
    /// The reader has seen the end of the pipe.
    end_seen: bool,
}

impl Pipe {
    fn write(&mut self, output: &Output) {
        if !self.ended {
            for part in output.parts() {
                self.in_flight.extend_from_slice(part);
            }
        }
    }

    /// The writer crashes: only a part of its last bytes is delivered.
    fn cut(&mut self, rng: &mut Rng) {
        let left = rng.in_range(0..self.in_flight.len() as u64 + 1);
        self.in_flight.truncate(left as usize);
        self.ended = true;
    }

    /// Delivers a random number of bytes.
    fn deliver(&mut self, rng: &mut Rng) {
        if self.stalls {
            return;
        }
        let most = rng.choose(&[1, 7, 40, 5_000]);
        let count = rng.in_range(0..most + 1).min(self.in_flight.len() as u64);
        self.arrived.extend(self.in_flight.drain(..count as usize));
    }
}

#[derive(Debug, Default)]
struct CallState {
    /// How the call ended.
    end: Option<&'static str>,
    open: Option<CallId>,
    /// The items that the client still has to send, and whether it then ends the stream.
    items: u32,
    ends: bool,
    /// Items that the client has received.
    client_received: u32,
    /// How often the server started the call.
    executions: u32,
    /// Items that the server has received.
    server_received: u32,
}

struct World {
    rng: Rng,
    now: Time,
    client: client::Connection<Number>,
    server: server::Connection<u16, Number>,
    to_server: Pipe,
    to_client: Pipe,
    calls: Vec<CallState>,
    /// Open calls of the server: their ids, their numbers, and the items that the server still has to send.
    working: Vec<(CallId, Number, u32)>,
    /// The length of an item in bytes.
    item_size: usize,
    /// Whether the client has stopped, and whether the server has.
    client_stopped: bool,
    server_stopped: bool,
    /// Whether bytes were corrupted. If so, only the ends of calls are checked.
    corrupted: bool,
    corruption_rate: u64,
    disconnect_rate: u64,
}

fn payload_of(number: Number, more: usize) -> Vec<u8> {
    let mut bytes = (number as u64).to_le_bytes().to_vec();
    bytes.extend((0..more).map(|at| (number + at) as u8));
    bytes
}

fn number(payload: &[u8]) -> Number {
    let number = payload
        .first_chunk::<8>()
        .map(|number| u64::from_le_bytes(*number));
    number.unwrap_or(u64::MAX) as Number
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let compressed = rng.chance(150);
        let features = match compressed {
            true => Features::DEFLATE,
            false => Features::NONE,
        };
        let settings = |rng: &mut Rng| {
            Settings::DEFAULT
                .with_features(features)
                .with_calls(rng.choose(&[64, 100]) as u32)
                .with_window(65_536)
        };
        let mut client = client::Connection::new(settings(&mut rng));
        let mut server = server::Connection::new(settings(&mut rng));
        if compressed {
            client = client.with_compression(40);
            server = server.with_compression(40);
        }
        Self {
            now: Time::ZERO,
            client,
            server,
            to_server: Pipe::default(),
            to_client: Pipe::default(),
            calls: Vec::new(),
            working: Vec::new(),
            // With compression, a few items use all credit.
            item_size: if compressed { 25_000 } else { 400 },
            client_stopped: false,
            server_stopped: false,
            corrupted: false,
            corruption_rate: rng.choose(&[0, 0, 0, 5]),
            disconnect_rate: rng.choose(&[0, 0, 3]),
            rng,
        }
    }

    fn end(&mut self, number: Number, end: &'static str) {
        let call = &mut self.calls[number];
        assert_eq!(
            call.end, None,
            "call {number} has ended, and again by {end}"
        );
        call.end = Some(end);
        call.open = None;
        if end == "reply" && !self.corrupted {
            assert_eq!(call.executions, 1, "call {number}, which was answered");
        }
    }

    fn start_call(&mut self) {
        if self.client_stopped || self.calls.len() >= 300 {
            return;
        }
        let number = self.calls.len();
        let rng = &mut self.rng;
        let streams = rng.chance(200);
        let deadline = match rng.chance(300) {
            true => self.now.after(Duration::from_millis(rng.in_range(1..60))),
            false => Time::NEVER,
        };
        let mut request = Request::new(Operation {
            number: (number % 4) as u16,
            name: ["Add", "Length", "Get", "Gone"][number % 4],
        })
        .with_deadline(deadline);
        if streams {
            request = request.with_items();
        }
        let more = rng.choose(&[0, 20, 3_000]);
        let sent = self.client.call(self.now, &request).and_then(|mut call| {
            call.payload().extend(payload_of(number, more));
            call.send(number)
        });
        match sent {
            Ok(id) => self.calls.push(CallState {
                open: Some(id),
                items: if streams {
                    rng.in_range(0..6) as u32
                } else {
                    0
                },
                ends: streams,
                ..CallState::default()
            }),
            Err(RequestError::Full | RequestError::Ending) => {}
            Err(refused) => panic!("{refused}"),
        }
    }

    /// A random open call of the client, if any.
    fn random_open_call(&mut self) -> Option<(Number, CallId)> {
        let open = self.calls.iter().enumerate();
        let open: Vec<_> = open
            .filter_map(|(number, call)| Some((number, call.open?)))
            .collect();
        (!open.is_empty()).then(|| self.rng.choose(&open))
    }

    /// The client sends an item of a call, or ends the stream of the call.
    fn stream(&mut self) {
        let Some((number, id)) = self.random_open_call() else {
            return;
        };
        let call = &mut self.calls[number];
        if call.items > 0 {
            if let Some(mut item) = self.client.item(id) {
                item.payload()
                    .extend(payload_of(call.items as usize, self.item_size));
                item.send().unwrap();
                call.items -= 1;
            }
        } else if std::mem::take(&mut call.ends) {
            self.client.end(id);
        }
    }

    /// A handler sends an item, its reply or a fault.
    fn work(&mut self) {
        if self.working.is_empty() || self.server_stopped {
            return;
        }
        let index = self.rng.in_range(0..self.working.len() as u64) as usize;
        let (id, number, items) = self.working[index];
        if items > 0 && self.rng.chance(900) {
            if let Some(mut item) = self.server.item(id, 0) {
                item.payload()
                    .extend(payload_of(items as usize, self.item_size));
                item.send().unwrap();
                self.working[index].2 -= 1;
            }
            return;
        }
        self.working.swap_remove(index);
        if self.rng.chance(100) {
            return self
                .server
                .fault(self.now, id, Fault::new(FaultCode::NAMED), b"as asked");
        }
        let Some(mut answer) = self.server.reply(self.now, id) else {
            return;
        };
        answer.payload().extend(payload_of(number, number % 50));
        answer.send().unwrap();
    }

    fn serve(&mut self) {
        let names = ["Add", "Length", "Get"];
        let resolve = |name: &str| {
            names
                .iter()
                .position(|known| *known == name)
                .map(|at| at as u16)
        };
        let (mut at, mut room) = (0, Vec::new());
        let bytes = std::mem::take(&mut self.to_server.arrived);
        while !self.server_stopped {
            let (took, event) =
                match self
                    .server
                    .receive(self.now, &bytes[at..], &mut room, resolve)
                {
                    Ok(server::Step::Consumed(took, event)) => (took, event),
                    Ok(server::Step::NeedMore(wants)) => {
                        assert!(wants > bytes.len() - at);
                        break;
                    }
                    Err(error) => {
                        assert!(self.corrupted, "{error}");
                        self.stop_server();
                        break;
                    }
                };
            at += took;
            match event {
                Some(server::Event::Call { id, payload, .. }) => {
                    if self.rng.chance(30) {
                        let fault = Fault::unstarted(FaultCode::OVERLOADED);
                        self.server.fault(self.now, id, fault, b"");
                        continue;
                    }
                    let number = number(payload);
                    if let Some(call) = self.calls.get_mut(number) {
                        call.executions += 1;
                        assert!(call.executions == 1 || self.corrupted, "call {number}");
                    }
                    let items = self.rng.choose(&[0, 0, 4]);
                    self.server.attach(id, number).unwrap();
                    self.working.push((id, number, items));
                }
                Some(server::Event::Unknown { id, .. }) => {
                    let fault = Fault::unstarted(FaultCode::UNKNOWN_OPERATION);
                    self.server.fault(self.now, id, fault, b"");
                }
                Some(server::Event::Item { id, cost, .. }) => {
                    let number = self.server.context(id).copied();
                    if let Some(call) = number.and_then(|number| self.calls.get_mut(number)) {
                        call.server_received += 1;
                    }
                    self.server.consumed(id, cost);
                }
                Some(server::Event::Subscribe { id, .. } | server::Event::Publish { id, .. }) => {
                    let fault = Fault::unstarted(FaultCode::UNSUPPORTED);
                    self.server.fault(self.now, id, fault, b"");
                }
                _ => {}
            }
        }
        self.to_server.arrived = bytes[at..].to_vec();
    }

    fn client_receive(&mut self) {
        let (mut at, mut room) = (0, Vec::new());
        let bytes = std::mem::take(&mut self.to_client.arrived);
        while !self.client_stopped {
            let (took, event) = match self.client.receive(&bytes[at..], &mut room) {
                Ok(client::Step::Consumed(took, event)) => (took, event),
                Ok(client::Step::NeedMore(wants)) => {
                    assert!(wants > bytes.len() - at);
                    break;
                }
                Err(error) => {
                    assert!(self.corrupted, "{error}");
                    self.stop_client();
                    break;
                }
            };
            at += took;
            match event {
                Some(client::Event::Reply {
                    context, payload, ..
                }) => {
                    if !self.corrupted {
                        assert_eq!(payload, payload_of(context, context % 50));
                    }
                    self.end(context, "reply");
                }
                Some(client::Event::Fault {
                    context,
                    code,
                    unstarted,
                    ..
                }) => {
                    if unstarted && !self.corrupted {
                        assert_eq!(self.calls[context].executions, 0);
                    }
                    let end = match code {
                        FaultCode::DEADLINE => "deadline",
                        FaultCode::OVERLOADED => "overloaded",
                        _ => "fault",
                    };
                    self.end(context, end);
                }
                Some(client::Event::Item { id, cost, .. }) => {
                    if let Some(number) = self.client.context(id).copied() {
                        self.calls[number].client_received += 1;
                    }
                    self.client.consumed(id, cost);
                }
                _ => {}
            }
        }
        self.to_client.arrived = bytes[at..].to_vec();
    }

    /// Writes the server's output, then closes the server.
    fn stop_server(&mut self) {
        self.flush();
        self.server_stopped = true;
        self.to_client.ended = true;
        self.working.clear();
        for context in self.server.close() {
            assert!(context < self.calls.len() || self.corrupted);
        }
    }

    fn stop_client(&mut self) {
        self.flush();
        self.client_stopped = true;
        self.to_server.ended = true;
        let lost: Vec<_> = self.client.close(None).collect();
        for lost in lost {
            self.end(lost.context, "disconnected");
        }
    }

    /// Writes the output of both sides.
    fn flush(&mut self) {
        self.to_server.write(self.client.output());
        self.client.wrote();
        self.to_client.write(self.server.output());
        self.server.wrote();
    }

    fn advance_time(&mut self) {
        self.now = self
            .now
            .after(Duration::from_micros(self.rng.in_range(0..5_000)));
        let mut late = Vec::new();
        if !self.client_stopped && self.client.next_timeout() <= self.now {
            self.client.timeout(self.now, |_, number| late.push(number));
        }
        for number in late {
            self.end(number, "deadline");
        }
        if !self.server_stopped && self.server.next_timeout() <= self.now {
            self.server.timeout(self.now, |_, _| {});
        }
    }

    /// One random step.
    fn step(&mut self) {
        match self.rng.in_range(0..100) {
            0..20 => self.start_call(),
            20..26 => self.stream(),
            26..44 => self.work(),
            44..47 => {
                if let Some((number, id)) = self.random_open_call()
                    && self.rng.chance(300)
                {
                    assert_eq!(self.client.cancel(id), Some(number));
                    self.end(number, "cancelled");
                }
            }
            47..57 => self.flush(),
            57..67 => self.to_server.deliver(&mut self.rng),
            67..77 => self.to_client.deliver(&mut self.rng),
            77..85 => self.serve(),
            85..93 => self.client_receive(),
            93..98 => self.advance_time(),
            98 => self.inject_fault(),
            _ => {
                let pipe = match self.rng.chance(500) {
                    true => &mut self.to_server,
                    false => &mut self.to_client,
                };
                pipe.stalls = self.rng.chance(500);
            }
        }
        for server in [true, false] {
            self.receive_end(server);
        }
    }

    /// Passes the end of a stream to its reader, which closes. A server first answers the calls that it can answer.
    fn receive_end(&mut self, server: bool) {
        if server && self.to_server.end_seen && !self.server_stopped && self.server.is_done() {
            self.stop_server();
        }
        let pipe = if server {
            &mut self.to_server
        } else {
            &mut self.to_client
        };
        if !pipe.ended || pipe.end_seen || !pipe.in_flight.is_empty() || pipe.stalls {
            return;
        }
        pipe.end_seen = true;
        if server {
            self.serve();
            let rest = self.to_server.arrived.len();
            if !self.server_stopped
                && let Err(error) = self.server.end_of_input(self.now, rest, |_, _| {})
            {
                assert!(rest > 0, "{error}");
                self.stop_server();
            }
        } else {
            self.client_receive();
            if !self.client_stopped {
                self.stop_client();
            }
        }
    }

    fn inject_fault(&mut self) {
        if self.rng.chance(self.corruption_rate * 20) {
            let pipe = match self.rng.chance(500) {
                true => &mut self.to_server,
                false => &mut self.to_client,
            };
            self.corrupted = true;
            let at = self.rng.in_range(0..pipe.in_flight.len() as u64 + 1) as usize;
            match pipe.in_flight.get_mut(at) {
                Some(byte) => *byte ^= 1 << self.rng.in_range(0..8),
                None if !pipe.ended => pipe.in_flight.extend_from_slice(b"garbage"),
                None => {}
            }
        }
        if self.rng.chance(self.disconnect_rate * 20) {
            match self.rng.in_range(0..6) {
                0 => self.client.go_away(),
                1 => self.server.go_away(Reason::STOP, 0, "done"),
                2 if !self.server_stopped => {
                    self.to_client.cut(&mut self.rng);
                    self.stop_server();
                }
                3 if !self.client_stopped => {
                    self.to_server.cut(&mut self.rng);
                    self.stop_client();
                }
                // One side half-closes its stream.
                4 => self.to_server.ended = true,
                _ => self.to_client.ended = true,
            }
        }
    }

    fn run(&mut self) {
        let steps = self.rng.choose(&[200, 2_000]);
        for _ in 0..steps {
            self.step();
        }
        // Without stalls, every call that can be answered is answered.
        self.to_server.stalls = false;
        self.to_client.stalls = false;
        for _ in 0..20_000 {
            let open = self.calls.iter().any(|call| call.open.is_some());
            let answers = self.to_server.end_seen && !self.server.is_done();
            if !open && !answers {
                break;
            }
            match self.rng.in_range(0..7) {
                0 => self.work(),
                1 => self.flush(),
                2 => self.to_server.deliver(&mut self.rng),
                3 => self.to_client.deliver(&mut self.rng),
                4 => self.serve(),
                5 => self.client_receive(),
                _ => {
                    self.stream();
                    self.advance_time();
                }
            }
            self.receive_end(true);
            self.receive_end(false);
        }
        let open = self.calls.iter().filter(|call| call.open.is_some()).count();
        if !self.corrupted && !self.to_server.ended && !self.to_client.ended {
            assert_eq!(open, 0, "calls that nobody answered");
        }
        if self.to_server.end_seen {
            assert!(self.server.is_done(), "calls without an end");
        }
        if !self.client_stopped {
            self.stop_client();
        }
    }

    fn outcomes(&self) -> Vec<(&'static str, u64)> {
        let mut outcomes = HashMap::new();
        for (number, call) in self.calls.iter().enumerate() {
            let Some(end) = call.end else {
                panic!("call {number} has not ended");
            };
            *outcomes.entry(end).or_default() += 1;
        }
        // In a fixed order.
        [
            "reply",
            "fault",
            "deadline",
            "cancelled",
            "overloaded",
            "disconnected",
        ]
        .map(|name| (name, outcomes.get(name).copied().unwrap_or_default()))
        .into()
    }
}

#[test]
fn each_call_ends_once_however_the_bytes_are_split() {
    seeds("streams", 1_500, |seed| {
        let mut world = World::new(seed);
        world.run();
        world.outcomes()
    });
}
