//! Clients and a server over datagrams.

use std::collections::HashMap;
use std::hash::{BuildHasher, DefaultHasher, Hasher};
use std::net::SocketAddr;
use std::time::Duration;

use polywire_frame::client::{Event, LostCall, Operation, Request, RequestError};
use polywire_frame::server::Fault;
use polywire_frame::{CallId, FaultCode, Reason, Settings, Time};
use polywire_frame_udp::{Client, Server, server};

use crate::network::{NetworkConditions, Schedule, corrupt};
use crate::rng::{Rng, seeds};

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
struct CallState {
    client: usize,
    /// Payload bytes after the number of the call.
    more: usize,
    timeout: Option<Duration>,
    attempts: u32,
    open: Option<CallId>,
    end: Option<End>,
    /// How often the call was executed.
    executions: u32,
}

#[derive(Debug)]
enum Action {
    /// Make a call if there is room.
    StartCall(Number),
    Cancel(Number),
    ToServer(SocketAddr, Vec<u8>),
    ToClient(usize, Vec<u8>),
    /// A handler has finished. Ignored if the server has restarted since.
    HandlerDone(u64, server::Call, Number),
    Crash,
    /// Another client takes over an address.
    ReplaceClient(usize),
}

struct World {
    rng: Rng,
    conditions: NetworkConditions,
    now: Time,
    schedule: Schedule<Action>,
    server: Server<u16, Number, Key>,
    limits: server::Limits,
    settings: Settings,
    /// How often the server was restarted.
    restarts: u64,
    clients: Vec<Client<Number>>,
    /// The times until which the server (index 0) and each client receive nothing.
    stalls: Vec<Time>,
    calls: Vec<CallState>,
    /// The share of replies above the datagram limit, in thousandths.
    too_long: u64,
    instant: u64,
    garbage: u64,
    stalling: u64,
    max_stalls: u32,
    one_ways: u64,
    /// Whether every call must end with a reply.
    reliable: bool,
}

const OPERATIONS: [&str; 3] = ["Add", "Weather.GetCity", "Nothing"];

fn address(client: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 4_000 + client as u16))
}

/// The payload of a call or of its reply.
fn payload_of(number: Number, more: usize, answer: bool) -> Vec<u8> {
    let mut bytes = (number as u64).to_le_bytes().to_vec();
    let seed = number as u64 ^ u64::from(answer) << 40;
    bytes.extend((0..more as u64).map(|at| (seed.wrapping_mul(31) + at) as u8));
    bytes
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let conditions = NetworkConditions::new(&mut rng);
        let reliable = rng.chance(400);
        let small = !reliable && rng.chance(200);
        let limits = server::Limits {
            peers: if small { 2 } else { 4_096 },
            memory: if small { 40_000 } else { 64 << 20 },
            memory_of_one: if small { 10_000 } else { 8 << 20 },
            ..server::Limits::DEFAULT
        };
        let settings = Settings::DEFAULT.with_calls(rng.choose(&[64, 256]));
        let clients = rng.in_range(1..4) as usize;
        let mut world = Self {
            server: Server::with_limits(settings, limits, Key(rng.next())),
            clients: (0..clients)
                .map(|_| Client::new(Settings::DEFAULT))
                .collect(),
            stalls: vec![Time::ZERO; clients + 1],
            conditions,
            now: Time::ZERO,
            schedule: Schedule::new(),
            limits,
            settings,
            restarts: 0,
            calls: Vec::new(),
            too_long: if reliable { 0 } else { rng.choose(&[0, 50]) },
            instant: rng.choose(&[0, 500, 1_000]),
            garbage: rng.choose(&[0, 0, 50]),
            stalling: rng.choose(&[0, 0, 3]),
            max_stalls: 8,
            one_ways: rng.choose(&[0, 50]),
            reliable,
            rng,
        };
        let count = world.rng.choose(&[5, 40, 150]);
        let span = world.rng.choose(&[1_000, 300_000, 20_000_000]);
        for number in 0..count as Number {
            let rng = &mut world.rng;
            let timeout = match reliable {
                false if rng.chance(500) => {
                    Some(Duration::from_millis(rng.choose(&[1, 50, 1_000, 30_000])))
                }
                _ => None,
            };
            let call = CallState {
                client: rng.in_range(0..clients as u64) as usize,
                more: if rng.chance(30) {
                    2_000
                } else {
                    rng.in_range(0..200) as usize
                },
                timeout,
                attempts: 0,
                open: None,
                end: None,
                executions: 0,
            };
            let at = Time::ZERO.after(Duration::from_micros(rng.in_range(0..span)));
            world.schedule.add(at, Action::StartCall(number));
            if !reliable && world.rng.chance(150) {
                let later = Duration::from_micros(world.rng.in_range(0..2_000_000));
                world.schedule.add(at.after(later), Action::Cancel(number));
            }
            world.calls.push(call);
        }
        if !reliable {
            for _ in 0..world.rng.choose(&[0, 0, 1, 3]) {
                let at = Time::ZERO.after(Duration::from_micros(world.rng.in_range(0..span * 2)));
                world.schedule.add(at, Action::Crash);
            }
            for _ in 0..world.rng.choose(&[0, 0, 2, 10]) {
                let at = Time::ZERO.after(Duration::from_micros(world.rng.in_range(0..span * 2)));
                let client = world.rng.in_range(0..clients as u64) as usize;
                world.schedule.add(at, Action::ReplaceClient(client));
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
            assert_eq!(call.executions, 1, "call {number}, which was answered");
        }
    }

    fn end_lost_calls(&mut self, lost: Vec<LostCall<Number>>) {
        for lost in lost {
            self.end(lost.context, End::Disconnected);
        }
    }

    /// Makes a call, or retries soon.
    fn start_call(&mut self, number: Number) {
        if self.calls[number].end.is_some() {
            return;
        }
        let (index, now) = (self.calls[number].client, self.now);
        if self.clients[index].wants_to_begin(now) {
            let nonce = self.rng.next();
            let lost = self.clients[index].begin(now, nonce);
            self.end_lost_calls(lost);
        }
        let call = &mut self.calls[number];
        call.attempts += 1;
        let client = &mut self.clients[index];
        let deadline = call
            .timeout
            .map_or(Time::NEVER, |timeout| now.after(timeout));
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
            outgoing
                .payload()
                .extend(payload_of(number, call.more, false));
            outgoing.send(number)
        });
        match sent {
            Ok(id) => call.open = Some(id),
            Err(RequestError::TooLong(_)) => {
                assert!(call.more > 1_300);
                call.more = 7;
                self.schedule.add(now, Action::StartCall(number));
            }
            Err(RequestError::Full | RequestError::Ending)
                if self.reliable || call.attempts < 300 =>
            {
                let soon = Duration::from_micros(self.rng.in_range(100..200_000));
                self.schedule
                    .add(now.after(soon), Action::StartCall(number));
            }
            // The call was never sent.
            Err(RequestError::Full | RequestError::Ending) => self.end(number, End::Disconnected),
            Err(refused) => panic!("{refused}"),
        }
        if self.rng.chance(self.one_ways)
            && let Ok(mut message) = self.clients[index].one_way(now, &request)
        {
            message.payload().extend(payload_of(usize::MAX, 9, false));
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
                assert_eq!(payload, payload_of(number, more.len(), false));
                assert!([1, 2].contains(&operation));
                if !self.reliable && self.rng.chance(30) {
                    let fault = Fault::unstarted(FaultCode::OVERLOADED);
                    return self.server.fault(now, call, fault, b"");
                }
                self.calls[number].executions += 1;
                assert_eq!(self.calls[number].executions, 1, "call {number}");
                if self.rng.chance(self.instant) {
                    self.answer(call, number);
                    return;
                }
                self.server.attach(call, number).unwrap();
                let takes = Duration::from_micros(self.rng.in_range(0..1_500_000));
                let action = Action::HandlerDone(self.restarts, call, number);
                self.schedule.add(now.after(takes), action);
            }
            Some(server::Event::Cancelled(_, number)) => {
                // Only running calls cause this event.
                assert!(number.is_some());
            }
            Some(server::Event::OneWay { payload, .. }) => {
                assert_eq!(payload, payload_of(usize::MAX, 9, false));
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
        let more = match self.rng.chance(self.too_long) {
            true => 2_000,
            false => number % 300,
        };
        let fails = !self.reliable && number.is_multiple_of(17);
        if fails {
            let fault = Fault::new(FaultCode::NAMED);
            return self.server.fault(self.now, call, fault, b"as asked");
        }
        let Some(mut answer) = self.server.reply(self.now, call) else {
            return;
        };
        answer.payload().extend(payload_of(number, more, true));
        if answer.send().is_err() {
            assert!(more > 1_300);
            let fault = Fault::new(FaultCode::TOO_LARGE);
            self.server.fault(self.now, call, fault, b"");
        }
    }

    fn client_receive(&mut self, client: usize, datagram: &[u8]) {
        match self.clients[client].receive(self.now, datagram) {
            Some(Event::Reply {
                context, payload, ..
            }) => {
                let more = payload.len() - 8;
                assert_eq!(payload, payload_of(context, more, true));
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
                    assert!(!self.reliable, "the server forgot client {client}");
                    let nonce = self.rng.next();
                    let lost = self.clients[client].begin(self.now, nonce);
                    self.end_lost_calls(lost);
                }
            }
            Some(Event::Hello(_)) | None => {}
            Some(event) => panic!("{event:?}"),
        }
    }

    fn run_action(&mut self, action: Action) {
        match action {
            Action::StartCall(number) => self.start_call(number),
            Action::Cancel(number) => {
                let call = &self.calls[number];
                if let Some(id) = call.open {
                    let context = self.clients[call.client].cancel(self.now, id);
                    assert_eq!(context, Some(number));
                    self.end(number, End::Cancelled);
                }
            }
            Action::ToServer(from, datagram) => {
                let until = self.stalls[0];
                if until > self.now {
                    return self.schedule.add(until, Action::ToServer(from, datagram));
                }
                self.serve(from, &datagram);
            }
            Action::ToClient(client, datagram) => {
                let until = self.stalls[client + 1];
                if until > self.now {
                    return self.schedule.add(until, Action::ToClient(client, datagram));
                }
                self.client_receive(client, &datagram);
            }
            Action::HandlerDone(restarts, call, number) => {
                if restarts == self.restarts {
                    self.answer(call, number);
                }
            }
            Action::ReplaceClient(client) => {
                let next = Client::new(Settings::DEFAULT);
                let mut client = std::mem::replace(&mut self.clients[client], next);
                let lost = client.leave();
                self.end_lost_calls(lost);
                if self.rng.chance(500) {
                    // The `HELLO`s of both arrive at the same time.
                    let time = Duration::from_micros(self.rng.in_range(0..300_000));
                    self.stalls[0] = self.stalls[0].max(self.now.after(time));
                }
            }
            Action::Crash => {
                self.restarts += 1;
                let key = Key(self.rng.next());
                self.server = Server::with_limits(self.settings, self.limits, key);
                // The server is down for a while.
                let back = Duration::from_micros(self.rng.in_range(0..3_000_000));
                self.stalls[0] = self.now.after(back);
            }
        }
        if self.max_stalls > 0 && self.rng.chance(self.stalling) {
            self.max_stalls -= 1;
            let side = self.rng.in_range(0..self.stalls.len() as u64) as usize;
            let time = Duration::from_micros(self.rng.in_range(0..4_000_000));
            self.stalls[side] = self.now.after(time);
        }
    }

    /// Sends the output of both sides.
    fn send(&mut self) {
        let (conditions, now, schedule) = (self.conditions, self.now, &mut self.schedule);
        let rng = &mut self.rng;
        for (index, client) in self.clients.iter_mut().enumerate() {
            for ((), datagram) in client.output().iter() {
                assert!(datagram.len() <= 1_400);
                conditions.send(rng, now, datagram, |at, datagram| {
                    schedule.add(at, Action::ToServer(address(index), datagram));
                });
                if rng.chance(self.garbage) {
                    // An attacker that has seen part of the datagram sends corrupted copies. The client receives none
                    // of a datagram with token 0, because an attacker that sees `HELLO` could answer it.
                    let is_hello = datagram.starts_with(&[0; 8]);
                    let mut datagram = datagram.to_vec();
                    corrupt(rng, &mut datagram);
                    schedule.add(now, Action::ToServer(address(index), datagram.clone()));
                    schedule.add(now, Action::ToServer(address(77), datagram.clone()));
                    if !is_hello {
                        schedule.add(now, Action::ToClient(index, datagram));
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
                conditions.send(rng, now, datagram, |at, datagram| {
                    schedule.add(at, Action::ToClient(index, datagram));
                });
            }
        }
        self.server.output_mut().clear();
    }

    /// The time of the next event or timeout. For a timeout, also the side: 0 is the server.
    fn next(&self) -> (Time, Option<usize>) {
        let stalled = |side: usize, time: Time| time.max(self.stalls[side]);
        let mut next = (self.schedule.next(), None);
        let timers = std::iter::once(self.server.next_timeout());
        let clients = self.clients.iter().map(Client::next_timeout);
        for (side, time) in timers.chain(clients).enumerate() {
            let time = if time == Time::NEVER {
                time
            } else {
                stalled(side, time)
            };
            if time < next.0 {
                next = (time, Some(side));
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
            let (at, side) = self.next();
            assert_ne!(at, Time::NEVER, "nothing will happen any more");
            self.now = self.now.max(at);
            match side {
                None => {
                    let action = self.schedule.pop().unwrap();
                    self.run_action(action);
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

    fn outcomes(&self) -> Vec<(&'static str, u64)> {
        let mut outcomes = HashMap::new();
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
                !self.reliable || name == "reply",
                "call {number} of a reliable world: {name}"
            );
            if let End::Fault {
                unstarted: true, ..
            } = call.end.unwrap()
            {
                assert_eq!(call.executions, 0, "call {number}, which never began");
            }
            *outcomes.entry(name).or_default() += 1;
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

fn sent_to(server: &Server<u16, Number, Key>, to: SocketAddr) -> usize {
    let sent = server.output().iter().filter(|(address, _)| *address == to);
    sent.map(|(_, datagram)| datagram.len()).sum()
}

#[test]
fn each_call_ends_once_and_is_executed_once() {
    seeds("datagrams", 2_000, |seed| {
        let mut world = World::new(seed);
        world.run();
        world.outcomes()
    });
}
