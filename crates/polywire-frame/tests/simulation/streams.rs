//! A client and a server on a byte stream that is split and cut at random positions.

use std::collections::HashMap;
use std::time::Duration;

use polywire_frame::client::{self, Operation, Request, RequestError};
use polywire_frame::server::{self, Fault};
use polywire_frame::{CallId, FaultCode, Features, Output, Reason, Settings, Time};

use crate::chance::{Chance, seeds};

/// The index of a call in `World::calls`.
type Number = usize;

/// One direction: bytes that are written and not delivered, and bytes that are delivered and not consumed.
#[derive(Debug, Default)]
struct Pipe {
    under_way: Vec<u8>,
    arrived: Vec<u8>,
    /// Whether delivery is suspended.
    stalls: bool,
    /// The writer has closed the pipe.
    ended: bool,
    /// The reader has seen the end of the pipe.
    told: bool,
}

impl Pipe {
    fn write(&mut self, output: &Output) {
        if !self.ended {
            for part in output.parts() {
                self.under_way.extend_from_slice(part);
            }
        }
    }

    /// The writer crashes: only a part of its last bytes is delivered.
    fn cut(&mut self, chance: &mut Chance) {
        let left = chance.within(0..self.under_way.len() as u64 + 1);
        self.under_way.truncate(left as usize);
        self.ended = true;
    }

    /// Delivers a random number of bytes.
    fn deliver(&mut self, chance: &mut Chance) {
        if self.stalls {
            return;
        }
        let most = chance.one(&[1, 7, 40, 5_000]);
        let count = chance.within(0..most + 1).min(self.under_way.len() as u64);
        self.arrived.extend(self.under_way.drain(..count as usize));
    }
}

#[derive(Debug, Default)]
struct Made {
    /// How the call ended.
    end: Option<&'static str>,
    open: Option<CallId>,
    /// The items that the client still has to send, and whether it then ends the stream.
    items: u32,
    ends: bool,
    /// Items that the client has received.
    heard: u32,
    /// How often the server started the call.
    done: u32,
    /// Items that the server has received.
    got: u32,
}

struct World {
    chance: Chance,
    now: Time,
    client: client::Connection<Number>,
    server: server::Connection<u16, Number>,
    to_server: Pipe,
    to_client: Pipe,
    calls: Vec<Made>,
    /// Open calls of the server: their ids, their numbers, and the items that the server still has to send.
    working: Vec<(CallId, Number, u32)>,
    /// The length of an item in bytes.
    item: usize,
    /// Whether the client has stopped, and whether the server has.
    client_over: bool,
    server_over: bool,
    /// Whether bytes were corrupted. If so, only the ends of calls are checked.
    spoilt: bool,
    spoils: u64,
    breaks: u64,
}

fn words(number: Number, more: usize) -> Vec<u8> {
    let mut words = (number as u64).to_le_bytes().to_vec();
    words.extend((0..more).map(|at| (number + at) as u8));
    words
}

fn number(payload: &[u8]) -> Number {
    let number = payload
        .first_chunk::<8>()
        .map(|number| u64::from_le_bytes(*number));
    number.unwrap_or(u64::MAX) as Number
}

impl World {
    fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let compressed = chance.is(150);
        let features = match compressed {
            true => Features::DEFLATE,
            false => Features::NONE,
        };
        let settings = |chance: &mut Chance| {
            Settings::DEFAULT
                .with_features(features)
                .with_calls(chance.one(&[64, 100]) as u32)
                .with_window(65_536)
        };
        let mut client = client::Connection::new(settings(&mut chance));
        let mut server = server::Connection::new(settings(&mut chance));
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
            item: if compressed { 25_000 } else { 400 },
            client_over: false,
            server_over: false,
            spoilt: false,
            spoils: chance.one(&[0, 0, 0, 5]),
            breaks: chance.one(&[0, 0, 3]),
            chance,
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
        if end == "reply" && !self.spoilt {
            assert_eq!(call.done, 1, "call {number}, which was answered");
        }
    }

    fn make(&mut self) {
        if self.client_over || self.calls.len() >= 300 {
            return;
        }
        let number = self.calls.len();
        let chance = &mut self.chance;
        let streams = chance.is(200);
        let deadline = match chance.is(300) {
            true => self.now.after(Duration::from_millis(chance.within(1..60))),
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
        let more = chance.one(&[0, 20, 3_000]);
        let sent = self.client.call(self.now, &request).and_then(|mut call| {
            call.payload().extend(words(number, more));
            call.send(number)
        });
        match sent {
            Ok(id) => self.calls.push(Made {
                open: Some(id),
                items: if streams {
                    chance.within(0..6) as u32
                } else {
                    0
                },
                ends: streams,
                ..Made::default()
            }),
            Err(RequestError::Full | RequestError::Ending) => {}
            Err(refused) => panic!("{refused}"),
        }
    }

    /// A random open call of the client, if any.
    fn some_open(&mut self) -> Option<(Number, CallId)> {
        let open = self.calls.iter().enumerate();
        let open: Vec<_> = open
            .filter_map(|(number, call)| Some((number, call.open?)))
            .collect();
        (!open.is_empty()).then(|| self.chance.one(&open))
    }

    /// The client sends an item of a call, or ends the stream of the call.
    fn stream(&mut self) {
        let Some((number, id)) = self.some_open() else {
            return;
        };
        let call = &mut self.calls[number];
        if call.items > 0 {
            if let Some(mut item) = self.client.item(id) {
                item.payload().extend(words(call.items as usize, self.item));
                item.send().unwrap();
                call.items -= 1;
            }
        } else if std::mem::take(&mut call.ends) {
            self.client.end(id);
        }
    }

    /// A handler sends an item, its reply or a fault.
    fn work(&mut self) {
        if self.working.is_empty() || self.server_over {
            return;
        }
        let index = self.chance.within(0..self.working.len() as u64) as usize;
        let (id, number, items) = self.working[index];
        if items > 0 && self.chance.is(900) {
            if let Some(mut item) = self.server.item(id, 0) {
                item.payload().extend(words(items as usize, self.item));
                item.send().unwrap();
                self.working[index].2 -= 1;
            }
            return;
        }
        self.working.swap_remove(index);
        if self.chance.is(100) {
            return self
                .server
                .fault(self.now, id, Fault::new(FaultCode::NAMED), b"as asked");
        }
        let Some(mut answer) = self.server.reply(self.now, id) else {
            return;
        };
        answer.payload().extend(words(number, number % 50));
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
        while !self.server_over {
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
                    Err(broken) => {
                        assert!(self.spoilt, "{broken}");
                        self.stop_server();
                        break;
                    }
                };
            at += took;
            match event {
                Some(server::Event::Call { id, payload, .. }) => {
                    if self.chance.is(30) {
                        let fault = Fault::unstarted(FaultCode::OVERLOADED);
                        self.server.fault(self.now, id, fault, b"");
                        continue;
                    }
                    let number = number(payload);
                    if let Some(call) = self.calls.get_mut(number) {
                        call.done += 1;
                        assert!(call.done == 1 || self.spoilt, "call {number}");
                    }
                    let items = self.chance.one(&[0, 0, 4]);
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
                        call.got += 1;
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

    fn hear(&mut self) {
        let (mut at, mut room) = (0, Vec::new());
        let bytes = std::mem::take(&mut self.to_client.arrived);
        while !self.client_over {
            let (took, event) = match self.client.receive(&bytes[at..], &mut room) {
                Ok(client::Step::Consumed(took, event)) => (took, event),
                Ok(client::Step::NeedMore(wants)) => {
                    assert!(wants > bytes.len() - at);
                    break;
                }
                Err(broken) => {
                    assert!(self.spoilt, "{broken}");
                    self.stop_client();
                    break;
                }
            };
            at += took;
            match event {
                Some(client::Event::Reply {
                    context, payload, ..
                }) => {
                    if !self.spoilt {
                        assert_eq!(payload, words(context, context % 50));
                    }
                    self.end(context, "reply");
                }
                Some(client::Event::Fault {
                    context,
                    code,
                    unstarted,
                    ..
                }) => {
                    if unstarted && !self.spoilt {
                        assert_eq!(self.calls[context].done, 0);
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
                        self.calls[number].heard += 1;
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
        self.server_over = true;
        self.to_client.ended = true;
        self.working.clear();
        for context in self.server.close() {
            assert!(context < self.calls.len() || self.spoilt);
        }
    }

    fn stop_client(&mut self) {
        self.flush();
        self.client_over = true;
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

    fn time(&mut self) {
        self.now = self
            .now
            .after(Duration::from_micros(self.chance.within(0..5_000)));
        let mut late = Vec::new();
        if !self.client_over && self.client.next_timeout() <= self.now {
            self.client.timeout(self.now, |_, number| late.push(number));
        }
        for number in late {
            self.end(number, "deadline");
        }
        if !self.server_over && self.server.next_timeout() <= self.now {
            self.server.timeout(self.now, |_, _| {});
        }
    }

    /// One random step.
    fn step(&mut self) {
        match self.chance.within(0..100) {
            0..20 => self.make(),
            20..26 => self.stream(),
            26..44 => self.work(),
            44..47 => {
                if let Some((number, id)) = self.some_open()
                    && self.chance.is(300)
                {
                    assert_eq!(self.client.cancel(id), Some(number));
                    self.end(number, "cancelled");
                }
            }
            47..57 => self.flush(),
            57..67 => self.to_server.deliver(&mut self.chance),
            67..77 => self.to_client.deliver(&mut self.chance),
            77..85 => self.serve(),
            85..93 => self.hear(),
            93..98 => self.time(),
            98 => self.misfortune(),
            _ => {
                let pipe = match self.chance.is(500) {
                    true => &mut self.to_server,
                    false => &mut self.to_client,
                };
                pipe.stalls = self.chance.is(500);
            }
        }
        for server in [true, false] {
            self.hear_end(server);
        }
    }

    /// Passes the end of a stream to its reader, which closes. A server first answers the calls that it can answer.
    fn hear_end(&mut self, server: bool) {
        if server && self.to_server.told && !self.server_over && self.server.is_done() {
            self.stop_server();
        }
        let pipe = if server {
            &mut self.to_server
        } else {
            &mut self.to_client
        };
        if !pipe.ended || pipe.told || !pipe.under_way.is_empty() || pipe.stalls {
            return;
        }
        pipe.told = true;
        if server {
            self.serve();
            let rest = self.to_server.arrived.len();
            if !self.server_over
                && let Err(broken) = self.server.end_of_input(self.now, rest, |_, _| {})
            {
                assert!(rest > 0, "{broken}");
                self.stop_server();
            }
        } else {
            self.hear();
            if !self.client_over {
                self.stop_client();
            }
        }
    }

    fn misfortune(&mut self) {
        if self.chance.is(self.spoils * 20) {
            let pipe = match self.chance.is(500) {
                true => &mut self.to_server,
                false => &mut self.to_client,
            };
            self.spoilt = true;
            let at = self.chance.within(0..pipe.under_way.len() as u64 + 1) as usize;
            match pipe.under_way.get_mut(at) {
                Some(byte) => *byte ^= 1 << self.chance.within(0..8),
                None if !pipe.ended => pipe.under_way.extend_from_slice(b"garbage"),
                None => {}
            }
        }
        if self.chance.is(self.breaks * 20) {
            match self.chance.within(0..6) {
                0 => self.client.go_away(),
                1 => self.server.go_away(Reason::STOP, 0, "done"),
                2 if !self.server_over => {
                    self.to_client.cut(&mut self.chance);
                    self.stop_server();
                }
                3 if !self.client_over => {
                    self.to_server.cut(&mut self.chance);
                    self.stop_client();
                }
                // One side half-closes its stream.
                4 => self.to_server.ended = true,
                _ => self.to_client.ended = true,
            }
        }
    }

    fn run(&mut self) {
        let steps = self.chance.one(&[200, 2_000]);
        for _ in 0..steps {
            self.step();
        }
        // Without stalls, every call that can be answered is answered.
        self.to_server.stalls = false;
        self.to_client.stalls = false;
        for _ in 0..20_000 {
            let open = self.calls.iter().any(|call| call.open.is_some());
            let answers = self.to_server.told && !self.server.is_done();
            if !open && !answers {
                break;
            }
            match self.chance.within(0..7) {
                0 => self.work(),
                1 => self.flush(),
                2 => self.to_server.deliver(&mut self.chance),
                3 => self.to_client.deliver(&mut self.chance),
                4 => self.serve(),
                5 => self.hear(),
                _ => {
                    self.stream();
                    self.time();
                }
            }
            self.hear_end(true);
            self.hear_end(false);
        }
        let open = self.calls.iter().filter(|call| call.open.is_some()).count();
        if !self.spoilt && !self.to_server.ended && !self.to_client.ended {
            assert_eq!(open, 0, "calls that nobody answered");
        }
        if self.to_server.told {
            assert!(self.server.is_done(), "calls without an end");
        }
        if !self.client_over {
            self.stop_client();
        }
    }

    fn told(&self) -> Vec<(&'static str, u64)> {
        let mut told = HashMap::new();
        for (number, call) in self.calls.iter().enumerate() {
            let Some(end) = call.end else {
                panic!("call {number} has not ended");
            };
            *told.entry(end).or_default() += 1;
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
        .map(|name| (name, told.get(name).copied().unwrap_or_default()))
        .into()
    }
}

#[test]
fn each_call_ends_once_however_the_bytes_are_cut() {
    seeds("streams", 1_500, |seed| {
        let mut world = World::new(seed);
        world.run();
        world.told()
    });
}
