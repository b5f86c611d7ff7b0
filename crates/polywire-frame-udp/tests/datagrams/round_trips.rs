//! The number of datagrams per call over networks with long delays or low bandwidth.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use polywire_frame::client::{Event, Request};
use polywire_frame::{Settings, Time};
use polywire_frame_udp::server::{self, Call};
use polywire_frame_udp::{Client, Server};

use crate::support::{ADD, Key, address, at};

/// A network with a constant delay, and a server whose handlers take a constant time.
struct Simulation {
    /// The delay in one direction.
    trip: Duration,
    handler: Duration,
    /// The bandwidth to the server in datagrams per second, and the queue length in datagrams.
    bandwidth: Option<(u64, u32)>,
    /// The time at which the link to the server becomes free.
    link_free_at: Time,
    now: Time,
    clients: Vec<Client<()>>,
    server: Server<(), (), Key>,
    schedule: BinaryHeap<Reverse<(Time, u64)>>,
    actions: HashMap<u64, Action>,
    numbers: u64,
    /// The number of call datagrams sent, of answer datagrams sent, and of calls answered.
    sent: u64,
    answers: u64,
    answered: u64,
    started: u64,
}

#[derive(Debug)]
enum Action {
    ToServer(usize, Vec<u8>),
    ToClient(usize, Vec<u8>),
    Done(Call),
}

impl Simulation {
    fn new(clients: usize, trip: u64, handler: u64) -> Self {
        let mut simulation = Self {
            trip: Duration::from_millis(trip) / 2,
            handler: Duration::from_millis(handler),
            bandwidth: None,
            link_free_at: Time::ZERO,
            now: Time::ZERO,
            clients: (0..clients)
                .map(|_| Client::new(Settings::DEFAULT))
                .collect(),
            server: Server::new(Settings::DEFAULT, Key::default()),
            schedule: BinaryHeap::new(),
            actions: HashMap::new(),
            numbers: 0,
            sent: 0,
            answers: 0,
            answered: 0,
            started: 0,
        };
        for client in &mut simulation.clients {
            client.begin(Time::ZERO, 7);
        }
        while !simulation.clients.iter().all(Client::is_open) {
            simulation.step();
        }
        simulation
    }

    fn add(&mut self, at: Time, action: Action) {
        self.numbers += 1;
        self.actions.insert(self.numbers, action);
        self.schedule.push(Reverse((at, self.numbers)));
    }

    fn call(&mut self, client: usize) {
        let call = self.clients[client].call(self.now, &Request::new(ADD));
        call.unwrap().send(()).unwrap();
    }

    /// Sends the output of both sides.
    fn send(&mut self) {
        for index in 0..self.clients.len() {
            let output = self.clients[index].output_mut();
            let sent: Vec<_> = output.iter().map(|(_, sent)| sent.to_vec()).collect();
            output.clear();
            for datagram in sent {
                self.sent += u64::from(datagram[12] == 2);
                let mut at = self.now.after(self.trip);
                if let Some((rate, queue)) = self.bandwidth {
                    let each = Duration::from_secs(1) / u32::try_from(rate).unwrap();
                    self.link_free_at = self.link_free_at.max(self.now);
                    if self.link_free_at.since(self.now) > each * queue {
                        continue;
                    }
                    self.link_free_at = self.link_free_at.after(each);
                    at = self.link_free_at.after(self.trip);
                }
                self.add(at, Action::ToServer(index, datagram));
            }
        }
        let output = self.server.output_mut();
        let sent: Vec<_> = output
            .iter()
            .map(|(to, sent)| (to, sent.to_vec()))
            .collect();
        output.clear();
        for (to, datagram) in sent {
            self.answers += u64::from(datagram[12] != 1);
            let client = usize::from(to.port() - 4_000);
            self.add(
                self.now.after(self.trip),
                Action::ToClient(client, datagram),
            );
        }
    }

    fn step(&mut self) {
        self.send();
        let timers = self.clients.iter().map(Client::next_timeout);
        let timer = timers.min().unwrap();
        let next = self.schedule.peek().map_or(Time::NEVER, |next| next.0.0);
        self.now = self.now.max(next.min(timer));
        if timer < next {
            for client in &mut self.clients {
                client.timeout(self.now, |_, ()| panic!("no call has a deadline"));
            }
            return;
        }
        let Reverse((_, number)) = self.schedule.pop().unwrap();
        match self.actions.remove(&number).unwrap() {
            Action::ToServer(client, datagram) => {
                let from = address(4_000 + client as u16);
                let event = self.server.receive(self.now, from, &datagram, |_| Some(()));
                if let Some(server::Event::Call { id: call, .. }) = event {
                    self.add(self.now.after(self.handler), Action::Done(call));
                }
            }
            Action::ToClient(client, datagram) => {
                let event = self.clients[client].receive(self.now, &datagram);
                self.answered += u64::from(matches!(event, Some(Event::Reply { .. })));
            }
            Action::Done(call) => self.server.reply(self.now, call).unwrap().send().unwrap(),
        }
    }

    /// Makes calls until `count` calls are answered, with at most `open` open calls per client.
    fn calls(&mut self, count: u64, open: u32) {
        while self.answered < count {
            self.fill(count, open);
            self.step();
        }
    }

    /// Makes as many calls as the windows allow, until `end`.
    fn calls_until(&mut self, end: Time) {
        while self.now < end {
            self.fill(u64::MAX, u32::MAX);
            self.step();
        }
    }

    fn fill(&mut self, count: u64, open: u32) {
        for client in 0..self.clients.len() {
            while self.started < count
                && self.clients[client].open() < open
                && self.clients[client].room() > 0
            {
                self.call(client);
                self.started += 1;
            }
        }
    }
}

#[test]
fn once_a_long_round_trip_is_measured_calls_are_not_resent() {
    for trip in [80, 300] {
        for open in [1, 50] {
            let mut simulation = Simulation::new(1, trip, 0);
            simulation.calls(50, open);
            let first = simulation.sent;
            simulation.calls(1_000, open);
            // Before the first measurement some calls are sent twice.
            assert!(first <= 100, "{trip} ms: {first} datagrams for 50 calls");
            let more = simulation.sent - first;
            assert_eq!(more, 950, "{trip} ms, {open} at once");
        }
    }
}

#[test]
fn a_longer_round_trip_causes_few_retransmissions() {
    let mut simulation = Simulation::new(1, 1, 0);
    simulation.calls(100, 10);
    simulation.trip = Duration::from_millis(100);
    simulation.sent = 0;
    simulation.calls(1_100, 10);
    assert!(
        simulation.sent <= 1_100,
        "{} datagrams for 1,000 calls",
        simulation.sent
    );
}

#[test]
fn calls_of_slow_handlers_are_resent_rarely() {
    for handler in [20, 500, 5_000] {
        let mut simulation = Simulation::new(1, 2, handler);
        simulation.calls(100, 1);
        // A call is resent 0, 250, 750, 1,750 and 3,750 ms after the first `ACCEPT`.
        let most = if handler > 500 { 700 } else { 400 };
        assert!(
            simulation.sent <= most,
            "{handler} ms: {} datagrams",
            simulation.sent
        );
        assert!(
            simulation.answers <= simulation.sent,
            "{} answers",
            simulation.answers
        );
    }
    // Confirmed calls do not use the window.
    let mut simulation = Simulation::new(1, 2, 60_000);
    simulation.calls_until(at(10_000));
    assert_eq!(
        (simulation.started, simulation.server.open()),
        (1_024, 1_024)
    );
}

#[test]
fn a_slow_link_is_used_and_not_flooded() {
    for clients in [1, 8] {
        let mut simulation = Simulation::new(clients, 20, 0);
        // With 5,000 datagrams per second and a round trip of 20 ms, 100 datagrams are in flight. The queue holds 100
        // more.
        simulation.bandwidth = Some((5_000, 100));
        simulation.calls_until(at(5_000));
        let (sent, answered) = (simulation.sent, simulation.answered);
        simulation.calls_until(at(15_000));
        let (sent, answered) = (simulation.sent - sent, simulation.answered - answered);
        let rate = answered / 10;
        assert!(
            sent * 100 < answered * 108,
            "{clients} clients: {sent} datagrams for {answered} calls"
        );
        assert!(rate > 4_000, "{clients} clients: {rate} calls a second");
    }
}
