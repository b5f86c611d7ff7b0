//! Clients and a server over datagrams.

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::net::SocketAddr;
use std::time::Duration;

use polywire_frame::client::{Event, LostCall, Operation, Request, RequestError};
use polywire_frame::server::Fault;
use polywire_frame::{CallId, FaultCode, Reason, Settings, Time};
use polywire_frame_udp::{Client, Server, server};

use crate::chance::{Chance, seeds};
use crate::network::{Agenda, Weather, spoil};

/// A keyed hash with a known key.
#[derive(Clone, Copy, Debug)]
struct Key(u64);

impl BuildHasher for Key {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher
    }
}

/// The index of a call in `World::calls`.
type Number = usize;

/// How a call ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Cancelled,
    Deadline,
    Disconnected,
    Fault { code: FaultCode, unstarted: bool },
    Reply,
}

#[derive(Debug)]
struct Made {
    client: usize,
    /// Payload bytes after the number of the call.
    more: usize,
    within: Option<Duration>,
    tries: u32,
    open: Option<CallId>,
    end: Option<End>,
    /// How often the call was executed.
    done: u32,
}

#[derive(Debug)]
enum What {
    /// Make a call if there is room.
    Make(Number),
    Cancel(Number),
    ToServer(SocketAddr, Vec<u8>),
    ToClient(usize, Vec<u8>),
    /// A handler has finished. Ignored if the server has restarted since.
    Done(u64, server::Call, Number),
    Crash,
    /// Another client takes over an address.
    Follow(usize),
}

struct World {
    chance: Chance,
    weather: Weather,
    now: Time,
    agenda: Agenda<What>,
    server: Server<u16, Number, Key>,
    limits: server::Limits,
    settings: Settings,
    /// How often the server was restarted.
    starts: u64,
    clients: Vec<Client<Number>>,
    /// The times until which the server (index 0) and each client receive nothing.
    stalls: Vec<Time>,
    calls: Vec<Made>,
    /// The share of replies above the datagram limit, in thousandths.
    too_long: u64,
    instant: u64,
    garbage: u64,
    stalling: u64,
    most_stalls: u32,
    one_ways: u64,
    /// Whether every call must end with a reply.
    calm: bool,
}

const OPERATIONS: [&str; 3] = ["Add", "Weather.GetCity", "Nothing"];

fn address(client: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 4_000 + client as u16))
}

/// The payload of a call or of its reply.
fn words(number: Number, more: usize, answer: bool) -> Vec<u8> {
    let mut words = (number as u64).to_le_bytes().to_vec();
    let seed = number as u64 ^ u64::from(answer) << 40;
    words.extend((0..more as u64).map(|at| (seed.wrapping_mul(31) + at) as u8));
    words
}

impl World {
    fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let weather = Weather::new(&mut chance);
        let calm = chance.is(400);
        let small = !calm && chance.is(200);
        let limits = server::Limits {
            peers: if small { 2 } else { 4_096 },
            memory: if small { 40_000 } else { 64 << 20 },
            memory_of_one: if small { 10_000 } else { 8 << 20 },
            ..server::Limits::DEFAULT
        };
        let settings = Settings::DEFAULT.with_calls(chance.one(&[64, 256]));
        let clients = chance.within(1..4) as usize;
        let mut world = Self {
            server: Server::with_limits(settings, limits, Key(chance.next())),
            clients: (0..clients)
                .map(|_| Client::new(Settings::DEFAULT))
                .collect(),
            stalls: vec![Time::ZERO; clients + 1],
            weather,
            now: Time::ZERO,
            agenda: Agenda::new(),
            limits,
            settings,
            starts: 0,
            calls: Vec::new(),
            too_long: if calm { 0 } else { chance.one(&[0, 50]) },
            instant: chance.one(&[0, 500, 1_000]),
            garbage: chance.one(&[0, 0, 50]),
            stalling: chance.one(&[0, 0, 3]),
            most_stalls: 8,
            one_ways: chance.one(&[0, 50]),
            calm,
            chance,
        };
        let count = world.chance.one(&[5, 40, 150]);
        let span = world.chance.one(&[1_000, 300_000, 20_000_000]);
        for number in 0..count as Number {
            let chance = &mut world.chance;
            let within = match calm {
                false if chance.is(500) => {
                    Some(Duration::from_millis(chance.one(&[1, 50, 1_000, 30_000])))
                }
                _ => None,
            };
            let made = Made {
                client: chance.within(0..clients as u64) as usize,
                more: if chance.is(30) {
                    2_000
                } else {
                    chance.within(0..200) as usize
                },
                within,
                tries: 0,
                open: None,
                end: None,
                done: 0,
            };
            let at = Time::ZERO.after(Duration::from_micros(chance.within(0..span)));
            world.agenda.add(at, What::Make(number));
            if !calm && world.chance.is(150) {
                let later = Duration::from_micros(world.chance.within(0..2_000_000));
                world.agenda.add(at.after(later), What::Cancel(number));
            }
            world.calls.push(made);
        }
        if !calm {
            for _ in 0..world.chance.one(&[0, 0, 1, 3]) {
                let at = Time::ZERO.after(Duration::from_micros(world.chance.within(0..span * 2)));
                world.agenda.add(at, What::Crash);
            }
            for _ in 0..world.chance.one(&[0, 0, 2, 10]) {
                let at = Time::ZERO.after(Duration::from_micros(world.chance.within(0..span * 2)));
                let client = world.chance.within(0..clients as u64) as usize;
                world.agenda.add(at, What::Follow(client));
            }
        }
        world
    }

    fn end(&mut self, number: Number, end: End) {
        let call = &mut self.calls[number];
        assert_eq!(
            call.end, None,
            "call {number} has ended, and again in {end:?}"
        );
        call.end = Some(end);
        call.open = None;
        if end == End::Reply {
            assert_eq!(call.done, 1, "call {number}, which was answered");
        }
    }

    fn lose(&mut self, lost: Vec<LostCall<Number>>) {
        for lost in lost {
            self.end(lost.context, End::Disconnected);
        }
    }

    /// Makes a call, or retries soon.
    fn make(&mut self, number: Number) {
        if self.calls[number].end.is_some() {
            return;
        }
        let (index, now) = (self.calls[number].client, self.now);
        if self.clients[index].wants_to_begin(now) {
            let nonce = self.chance.next();
            let lost = self.clients[index].begin(now, nonce);
            self.lose(lost);
        }
        let call = &mut self.calls[number];
        call.tries += 1;
        let client = &mut self.clients[index];
        let deadline = call.within.map_or(Time::NEVER, |within| now.after(within));
        let operation = Operation {
            number: (number % 3) as u16,
            name: OPERATIONS[number % 2],
        };
        // An operation number always has the same name.
        let operation = match number % 3 {
            0 => operation,
            number => Operation {
                name: OPERATIONS[number % 2],
                ..operation
            },
        };
        let request = Request::new(operation).with_deadline(deadline);
        let sent = client.call(now, &request).and_then(|mut outgoing| {
            outgoing.payload().extend(words(number, call.more, false));
            outgoing.send(number)
        });
        match sent {
            Ok(id) => call.open = Some(id),
            Err(RequestError::TooLong(_)) => {
                assert!(call.more > 1_300);
                call.more = 7;
                self.agenda.add(now, What::Make(number));
            }
            Err(RequestError::Full | RequestError::Ending) if self.calm || call.tries < 300 => {
                let soon = Duration::from_micros(self.chance.within(100..200_000));
                self.agenda.add(now.after(soon), What::Make(number));
            }
            // The call was never sent.
            Err(RequestError::Full | RequestError::Ending) => self.end(number, End::Disconnected),
            Err(refused) => panic!("{refused}"),
        }
        if self.chance.is(self.one_ways)
            && let Ok(mut message) = self.clients[index].one_way(now, &request)
        {
            message.payload().extend(words(usize::MAX, 9, false));
            message.send().unwrap();
        }
    }

    fn serve(&mut self, from: SocketAddr, datagram: &[u8]) {
        let now = self.now;
        let before = sent_to(&self.server, from);
        let token = datagram
            .first_chunk::<8>()
            .map(|token| u64::from_le_bytes(*token));
        let resolve = |name: &str| match name {
            "Add" => Some(1),
            "Weather.GetCity" => Some(2),
            _ => None,
        };
        let event = self.server.receive(now, from, datagram, resolve);
        if token.is_none_or(|token| token == 0) {
            let answered = sent_to(&self.server, from) - before;
            assert!(
                answered <= datagram.len(),
                "{answered} for {}",
                datagram.len()
            );
        }
        match event {
            Some(server::Event::Call {
                id: call,
                payload,
                operation,
                ..
            }) => {
                let (number, more) = payload.split_first_chunk::<8>().unwrap();
                let number = u64::from_le_bytes(*number) as Number;
                assert_eq!(payload, words(number, more.len(), false));
                assert!([1, 2].contains(&operation));
                if !self.calm && self.chance.is(30) {
                    let fault = Fault::unstarted(FaultCode::OVERLOADED);
                    return self.server.fault(now, call, fault, b"");
                }
                self.calls[number].done += 1;
                assert_eq!(self.calls[number].done, 1, "call {number}");
                if self.chance.is(self.instant) {
                    self.answer(call, number);
                    return;
                }
                self.server.attach(call, number).unwrap();
                let takes = Duration::from_micros(self.chance.within(0..1_500_000));
                let what = What::Done(self.starts, call, number);
                self.agenda.add(now.after(takes), what);
            }
            Some(server::Event::Cancelled(_, number)) => {
                // Only running calls cause this event.
                assert!(number.is_some());
            }
            Some(server::Event::OneWay { payload, .. }) => {
                assert_eq!(payload, words(usize::MAX, 9, false));
            }
            Some(server::Event::Unknown { .. }) => panic!("an operation that is known"),
            Some(_) => panic!("an event of tomorrow"),
            None => {}
        }
        assert!(
            self.server.memory() <= self.limits.memory,
            "{}",
            self.server.memory()
        );
    }

    fn answer(&mut self, call: server::Call, number: Number) {
        let more = match self.chance.is(self.too_long) {
            true => 2_000,
            false => number % 300,
        };
        let fails = !self.calm && number.is_multiple_of(17);
        if fails {
            let fault = Fault::new(FaultCode::NAMED);
            return self.server.fault(self.now, call, fault, b"as asked");
        }
        let Some(mut answer) = self.server.reply(self.now, call) else {
            return;
        };
        answer.payload().extend(words(number, more, true));
        if answer.send().is_err() {
            assert!(more > 1_300);
            let fault = Fault::new(FaultCode::TOO_LARGE);
            self.server.fault(self.now, call, fault, b"");
        }
    }

    fn hear(&mut self, client: usize, datagram: &[u8]) {
        match self.clients[client].receive(self.now, datagram) {
            Some(Event::Reply {
                context, payload, ..
            }) => {
                let more = payload.len() - 8;
                assert_eq!(payload, words(context, more, true));
                self.end(context, End::Reply);
            }
            Some(Event::Fault {
                context,
                code,
                unstarted,
                ..
            }) => {
                self.end(context, End::Fault { code, unstarted });
            }
            Some(Event::GoAway { reason, .. }) => {
                assert!([Reason::TOKEN, Reason::FULL].contains(&reason), "{reason}");
                if reason == Reason::TOKEN {
                    assert!(!self.calm, "the server forgot client {client}");
                    let nonce = self.chance.next();
                    let lost = self.clients[client].begin(self.now, nonce);
                    self.lose(lost);
                }
            }
            Some(Event::Hello(_)) | None => {}
            Some(event) => panic!("{event:?}"),
        }
    }

    fn happens(&mut self, what: What) {
        match what {
            What::Make(number) => self.make(number),
            What::Cancel(number) => {
                let call = &self.calls[number];
                if let Some(id) = call.open {
                    let context = self.clients[call.client].cancel(self.now, id);
                    assert_eq!(context, Some(number));
                    self.end(number, End::Cancelled);
                }
            }
            What::ToServer(from, datagram) => {
                let until = self.stalls[0];
                if until > self.now {
                    return self.agenda.add(until, What::ToServer(from, datagram));
                }
                self.serve(from, &datagram);
            }
            What::ToClient(client, datagram) => {
                let until = self.stalls[client + 1];
                if until > self.now {
                    return self.agenda.add(until, What::ToClient(client, datagram));
                }
                self.hear(client, &datagram);
            }
            What::Done(starts, call, number) => {
                if starts == self.starts {
                    self.answer(call, number);
                }
            }
            What::Follow(client) => {
                let next = Client::new(Settings::DEFAULT);
                let mut client = std::mem::replace(&mut self.clients[client], next);
                let lost = client.leave();
                self.lose(lost);
                if self.chance.is(500) {
                    // The `HELLO`s of both arrive at the same time.
                    let time = Duration::from_micros(self.chance.within(0..300_000));
                    self.stalls[0] = self.stalls[0].max(self.now.after(time));
                }
            }
            What::Crash => {
                self.starts += 1;
                let key = Key(self.chance.next());
                self.server = Server::with_limits(self.settings, self.limits, key);
                // The server is down for a while.
                let back = Duration::from_micros(self.chance.within(0..3_000_000));
                self.stalls[0] = self.now.after(back);
            }
        }
        if self.most_stalls > 0 && self.chance.is(self.stalling) {
            self.most_stalls -= 1;
            let who = self.chance.within(0..self.stalls.len() as u64) as usize;
            let time = Duration::from_micros(self.chance.within(0..4_000_000));
            self.stalls[who] = self.now.after(time);
        }
    }

    /// Sends the output of both sides.
    fn send(&mut self) {
        let (weather, now, agenda) = (self.weather, self.now, &mut self.agenda);
        let chance = &mut self.chance;
        for (index, client) in self.clients.iter_mut().enumerate() {
            for ((), datagram) in client.output().iter() {
                assert!(datagram.len() <= 1_400);
                weather.send(chance, now, datagram, |at, datagram| {
                    agenda.add(at, What::ToServer(address(index), datagram));
                });
                if chance.is(self.garbage) {
                    // An attacker that has seen part of the datagram sends corrupted copies. The client receives none
                    // of a datagram with token 0, because an attacker that sees `HELLO` could answer it.
                    let greeting = datagram.starts_with(&[0; 8]);
                    let mut datagram = datagram.to_vec();
                    spoil(chance, &mut datagram);
                    agenda.add(now, What::ToServer(address(index), datagram.clone()));
                    agenda.add(now, What::ToServer(address(77), datagram.clone()));
                    if !greeting {
                        agenda.add(now, What::ToClient(index, datagram));
                    }
                }
            }
            client.output_mut().clear();
        }
        let count = self.clients.len();
        for (to, datagram) in self.server.output().iter() {
            assert!(datagram.len() <= 1_400);
            let index = usize::from(to.port() - 4_000);
            if index < count {
                weather.send(chance, now, datagram, |at, datagram| {
                    agenda.add(at, What::ToClient(index, datagram));
                });
            }
        }
        self.server.output_mut().clear();
    }

    /// The time of the next event or timeout. For a timeout, also the side: 0 is the server.
    fn next(&self) -> (Time, Option<usize>) {
        let stalled = |who: usize, time: Time| time.max(self.stalls[who]);
        let mut next = (self.agenda.next(), None);
        let timers = std::iter::once(self.server.next_timeout());
        let clients = self.clients.iter().map(Client::next_timeout);
        for (who, time) in timers.chain(clients).enumerate() {
            let time = if time == Time::NEVER {
                time
            } else {
                stalled(who, time)
            };
            if time < next.0 {
                next = (time, Some(who));
            }
        }
        next
    }

    fn is_over(&self) -> bool {
        self.calls.iter().all(|call| call.end.is_some()) && self.server.open() == 0
    }

    fn run(&mut self) {
        let mut steps = 0_u32;
        while !self.is_over() {
            let (at, who) = self.next();
            assert_ne!(at, Time::NEVER, "nothing will happen any more");
            self.now = self.now.max(at);
            match who {
                None => {
                    let what = self.agenda.pop().unwrap();
                    self.happens(what);
                }
                Some(0) => self.server.timeout(self.now, |_, _| {}),
                Some(client) => {
                    let mut late = Vec::new();
                    self.clients[client - 1].timeout(self.now, |_, number| late.push(number));
                    for number in late {
                        self.end(number, End::Deadline);
                    }
                }
            }
            self.send();
            steps += 1;
            assert!(steps < 300_000, "it never ends, at {:?}", self.now);
        }
    }

    fn told(&self) -> Vec<(&'static str, u64)> {
        let mut told = HashMap::new();
        for (number, call) in self.calls.iter().enumerate() {
            let name = match call.end.unwrap() {
                End::Cancelled => "cancelled",
                End::Deadline => "deadline",
                End::Disconnected => "disconnected",
                End::Fault {
                    code: FaultCode::OVERLOADED,
                    ..
                } => "overloaded",
                End::Fault {
                    code: FaultCode::DEADLINE,
                    ..
                } => "deadline",
                End::Fault { .. } => "fault",
                End::Reply => "reply",
            };
            assert!(
                !self.calm || name == "reply",
                "call {number} of a calm world: {name}"
            );
            if let End::Fault {
                unstarted: true, ..
            } = call.end.unwrap()
            {
                assert_eq!(call.done, 0, "call {number}, which never began");
            }
            *told.entry(name).or_default() += 1;
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

fn sent_to(server: &Server<u16, Number, Key>, to: SocketAddr) -> usize {
    let sent = server.output().iter().filter(|(address, _)| *address == to);
    sent.map(|(_, datagram)| datagram.len()).sum()
}

#[test]
fn each_call_ends_once_and_is_carried_out_once() {
    seeds("datagrams", 2_000, |seed| {
        let mut world = World::new(seed);
        world.run();
        world.told()
    });
}
