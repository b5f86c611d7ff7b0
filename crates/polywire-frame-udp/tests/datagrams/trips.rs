//! How many datagrams calls cost over networks that are far, slow or narrow.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use polywire_frame::client::{Event, Request};
use polywire_frame::{Settings, Time};
use polywire_frame_udp::server::{self, Call};
use polywire_frame_udp::{Client, Server};

use crate::support::{ADD, Key, address, at};

/// A network whose datagrams all take the same time, and a server whose handlers do.
struct Far {
    /// One way.
    trip: Duration,
    handler: Duration,
    /// Datagrams a second that the way to the server lets through, and how many may wait for that.
    narrow: Option<(u64, u32)>,
    /// When the way to the server is free.
    free: Time,
    now: Time,
    clients: Vec<Client<()>>,
    server: Server<(), (), Key>,
    agenda: BinaryHeap<Reverse<(Time, u64)>>,
    whats: HashMap<u64, What>,
    numbers: u64,
    /// Datagrams with calls that were sent, answers that were sent, and calls that were answered.
    sent: u64,
    answers: u64,
    answered: u64,
    made: u64,
}

#[derive(Debug)]
enum What {
    ToServer(usize, Vec<u8>),
    ToClient(usize, Vec<u8>),
    Done(Call),
}

impl Far {
    fn new(clients: usize, trip: u64, handler: u64) -> Self {
        let mut far = Self {
            trip: Duration::from_millis(trip) / 2,
            handler: Duration::from_millis(handler),
            narrow: None,
            free: Time::ZERO,
            now: Time::ZERO,
            clients: (0..clients)
                .map(|_| Client::new(Settings::DEFAULT))
                .collect(),
            server: Server::new(Settings::DEFAULT, Key::default()),
            agenda: BinaryHeap::new(),
            whats: HashMap::new(),
            numbers: 0,
            sent: 0,
            answers: 0,
            answered: 0,
            made: 0,
        };
        for client in &mut far.clients {
            client.begin(Time::ZERO, 7);
        }
        while !far.clients.iter().all(Client::is_open) {
            far.step();
        }
        far
    }

    fn add(&mut self, at: Time, what: What) {
        self.numbers += 1;
        self.whats.insert(self.numbers, what);
        self.agenda.push(Reverse((at, self.numbers)));
    }

    fn call(&mut self, client: usize) {
        let call = self.clients[client].call(self.now, &Request::new(ADD));
        call.unwrap().send(()).unwrap();
    }

    /// Puts on the network what was said.
    fn send(&mut self) {
        for index in 0..self.clients.len() {
            let output = self.clients[index].output_mut();
            let sent: Vec<_> = output.iter().map(|(_, sent)| sent.to_vec()).collect();
            output.clear();
            for datagram in sent {
                self.sent += u64::from(datagram[12] == 2);
                let mut at = self.now.after(self.trip);
                if let Some((rate, queue)) = self.narrow {
                    let each = Duration::from_secs(1) / u32::try_from(rate).unwrap();
                    self.free = self.free.max(self.now);
                    if self.free.since(self.now) > each * queue {
                        continue;
                    }
                    self.free = self.free.after(each);
                    at = self.free.after(self.trip);
                }
                self.add(at, What::ToServer(index, datagram));
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
            self.add(self.now.after(self.trip), What::ToClient(client, datagram));
        }
    }

    fn step(&mut self) {
        self.send();
        let timers = self.clients.iter().map(Client::next_timeout);
        let timer = timers.min().unwrap();
        let next = self.agenda.peek().map_or(Time::NEVER, |next| next.0.0);
        self.now = self.now.max(next.min(timer));
        if timer < next {
            for client in &mut self.clients {
                client.timeout(self.now, |_, ()| panic!("no call has a deadline"));
            }
            return;
        }
        let Reverse((_, number)) = self.agenda.pop().unwrap();
        match self.whats.remove(&number).unwrap() {
            What::ToServer(client, datagram) => {
                let from = address(4_000 + client as u16);
                let event = self.server.receive(self.now, from, &datagram, |_| Some(()));
                if let Some(server::Event::Call { id: call, .. }) = event {
                    self.add(self.now.after(self.handler), What::Done(call));
                }
            }
            What::ToClient(client, datagram) => {
                let event = self.clients[client].receive(self.now, &datagram);
                self.answered += u64::from(matches!(event, Some(Event::Reply { .. })));
            }
            What::Done(call) => self.server.reply(self.now, call).unwrap().send().unwrap(),
        }
    }

    /// So many calls from the beginning on, each client with so many open at once.
    fn calls(&mut self, count: u64, open: u32) {
        while self.answered < count {
            self.fill(count, open);
            self.step();
        }
    }

    /// As many as there is room for, until then.
    fn calls_until(&mut self, end: Time) {
        while self.now < end {
            self.fill(u64::MAX, u32::MAX);
            self.step();
        }
    }

    fn fill(&mut self, count: u64, open: u32) {
        for client in 0..self.clients.len() {
            while self.made < count
                && self.clients[client].open() < open
                && self.clients[client].room() > 0
            {
                self.call(client);
                self.made += 1;
            }
        }
    }
}

#[test]
fn far_servers_get_each_call_once() {
    for trip in [80, 300] {
        for open in [1, 50] {
            let mut far = Far::new(1, trip, 0);
            far.calls(50, open);
            let first = far.sent;
            far.calls(1_000, open);
            // Until the round trip is known some are sent twice.
            assert!(first <= 100, "{trip} ms: {first} datagrams for 50 calls");
            let more = far.sent - first;
            assert_eq!(more, 950, "{trip} ms, {open} at once");
        }
    }
}

#[test]
fn a_round_trip_that_grows_is_found_out() {
    let mut far = Far::new(1, 1, 0);
    far.calls(100, 10);
    far.trip = Duration::from_millis(100);
    far.sent = 0;
    far.calls(1_100, 10);
    assert!(far.sent <= 1_100, "{} datagrams for 1,000 calls", far.sent);
}

#[test]
fn slow_handlers_are_not_asked_all_the_time() {
    for handler in [20, 500, 5_000] {
        let mut far = Far::new(1, 2, handler);
        far.calls(100, 1);
        // 0, 250, 750, 1,750 and 3,750 ms behind the first acceptance.
        let most = if handler > 500 { 700 } else { 400 };
        assert!(far.sent <= most, "{handler} ms: {} datagrams", far.sent);
        assert!(far.answers <= far.sent, "{} answers", far.answers);
    }
    // Those at work take no room of others on their way.
    let mut far = Far::new(1, 2, 60_000);
    far.calls_until(at(10_000));
    assert_eq!((far.made, far.server.open()), (1_024, 1_024));
}

#[test]
fn a_narrow_way_is_used_and_not_flooded() {
    for clients in [1, 8] {
        let mut far = Far::new(clients, 20, 0);
        // A hundred datagrams are on their way together, and as many may wait.
        far.narrow = Some((5_000, 100));
        far.calls_until(at(5_000));
        let (sent, answered) = (far.sent, far.answered);
        far.calls_until(at(15_000));
        let (sent, answered) = (far.sent - sent, far.answered - answered);
        let rate = answered / 10;
        assert!(
            sent * 100 < answered * 108,
            "{clients} clients: {sent} datagrams for {answered} calls"
        );
        assert!(rate > 4_000, "{clients} clients: {rate} calls a second");
    }
}
