//! Frames: however the bytes are cut they mean the same, and no call ends twice.

use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use polywire_frame::client::{self, Operation, Request};
use polywire_frame::server::{self, Fault};
use polywire_frame::{CallId, FaultCode, Features, Output, Settings, Time};

/// Settings with little room, so that bounds are reached.
fn settings() -> Settings {
    Settings::DEFAULT
        .with_frame(65_536)
        .with_calls(64)
        .with_bytes(1 << 20)
        .with_items(1 << 20)
        .with_features(Features::DEFLATE)
}

/// From how many bytes on payloads are compressed: even short ones.
const LEAST: usize = 24;

/// The size of the pieces, and the stream.
fn split(data: &[u8]) -> Option<(usize, &[u8])> {
    let (size, stream) = data.split_first()?;
    Some((usize::from(*size).max(1), stream))
}

fn bytes(output: &Output) -> Vec<u8> {
    output.parts().flatten().copied().collect()
}

/// What a side does with the bytes at the front of what has come.
trait Side {
    /// How many it took; none, if it wants more. An error ends it.
    fn step(&mut self, input: &[u8], told: &mut Vec<String>) -> Result<Option<usize>, String>;
    /// What it has sent.
    fn sent(&mut self) -> Vec<u8>;
}

/// All that a side is told and sends, given a stream in pieces of that size.
fn talk(side: &mut impl Side, stream: &[u8], size: usize) -> (Vec<String>, Vec<u8>) {
    let (mut told, mut sent) = (Vec::new(), side.sent());
    let (mut at, mut end) = (0, 0);
    while end < stream.len() {
        end = (end + size).min(stream.len());
        loop {
            match side.step(&stream[at..end], &mut told) {
                Ok(Some(took)) => at += took,
                Ok(None) => break,
                Err(broken) => {
                    assert!(broken.starts_with("frames: expected "), "{broken}");
                    told.push(broken);
                    sent.extend(side.sent());
                    return (told, sent);
                }
            }
        }
        sent.extend(side.sent());
    }
    (told, sent)
}

/// Both ways find the same.
fn compare<S: Side>(make: impl Fn() -> S, stream: &[u8], size: usize) -> S {
    let mut whole = make();
    let expected = talk(&mut whole, stream, stream.len().max(1));
    let found = talk(&mut make(), stream, size);
    assert_eq!(found, expected, "in pieces of {size}");
    whole
}

/// A server that answers some calls at once and leaves others open.
struct Server(server::Connection<usize, u32>);

impl Side for Server {
    fn step(&mut self, input: &[u8], told: &mut Vec<String>) -> Result<Option<usize>, String> {
        use server::{Event, Step};

        let now = Time::ZERO;
        let mut room = Vec::new();
        let resolve = |name: &str| (name.len() < 9).then_some(name.len());
        let step = self.0.receive(now, input, &mut room, resolve);
        let (took, event) = match step.map_err(|broken| broken.to_string())? {
            Step::Consumed(took, event) => (took, event),
            Step::NeedMore(bytes) => {
                assert!(bytes > input.len(), "more is wanted than is there");
                return Ok(None);
            }
        };
        let Some(event) = event else {
            return Ok(Some(took));
        };
        told.push(format!("{event:?}"));
        match event {
            Event::Call { id, open, .. } if open || id.slot() % 2 == 1 => {
                assert_eq!(self.0.attach(id, 7), Ok(()));
                if let Some(mut item) = self.0.item(id, 0) {
                    item.payload().push(1);
                    let _ = item.send();
                }
            }
            Event::Call { id, payload, .. } | Event::Publish { id, payload, .. } => {
                let sent = self.0.reply(now, id).map(|mut answer| {
                    answer.payload().extend_from_slice(payload);
                    answer.send()
                });
                if sent.is_some_and(|sent| sent.is_err()) {
                    self.0.fault(now, id, Fault::new(FaultCode::TOO_LARGE), b"");
                }
            }
            Event::Subscribe { id, .. } => self.0.accept(id),
            Event::Unsubscribe(id) | Event::End(id) => {
                self.0
                    .fault(now, id, Fault::unstarted(FaultCode::NAMED), b"why");
            }
            Event::Unknown { id, .. } => {
                let unknown = Fault::unstarted(FaultCode::UNKNOWN_OPERATION);
                self.0.fault(now, id, unknown, b"");
            }
            Event::Item { id, cost, .. } => self.0.consumed(id, cost),
            _ => {}
        }
        assert!(self.0.open() <= self.0.settings().calls());
        assert!(room.capacity() <= self.0.settings().frame() as usize);
        Ok(Some(took))
    }

    fn sent(&mut self) -> Vec<u8> {
        let sent = bytes(self.0.output());
        self.0.wrote();
        sent
    }
}

/// What a server reads: the size of the pieces, and the stream of a client.
pub fn server(data: &[u8]) {
    let Some((size, stream)) = split(data) else {
        return;
    };
    let make = || Server(server::Connection::new(settings()).with_compression(LEAST));
    let mut server = compare(make, stream, size);
    let before = server.0.open() as usize;
    let mut ended = 0;
    let cut = server.0.end_of_input(Time::ZERO, 0, |_, _| ended += 1);
    assert!(cut.is_ok(), "{cut:?}");
    let open = server.0.open() as usize;
    assert_eq!(before, open + ended);
    assert!(server.0.close().count() <= open);
}

/// A client with a call of each kind, who knows how often each has ended.
struct Client {
    machine: client::Connection<u32>,
    ended: BTreeMap<u32, u32>,
    item: CallId,
}

impl Client {
    fn new() -> Self {
        let mut machine = client::Connection::new(settings()).with_compression(LEAST);
        let now = Time::ZERO;
        let operation = |number| Operation {
            number,
            name: "Add",
        };
        for context in 0..4 {
            let request = Request::new(operation(1));
            let call = machine.call(now, &request).unwrap();
            call.send(context).unwrap();
        }
        let request = Request::new(operation(0)).with_items();
        let call = machine.call(now, &request).unwrap();
        let item = call.send(4).unwrap();
        let topic = machine.subscribe("news", &[], 5);
        machine.cancel(topic.unwrap());
        let _ = machine.subscribe("sport", &[], 6);
        Self {
            machine,
            ended: BTreeMap::new(),
            item,
        }
    }

    /// Items for as long as there is credit, but for one that is very large.
    fn send_items(&mut self) {
        for _ in 0..20 {
            let Some(mut item) = self.machine.item(self.item) else {
                return;
            };
            item.payload().extend([0; 9_000]);
            if item.send().is_err() {
                return;
            }
        }
    }
}

impl Side for Client {
    fn step(&mut self, input: &[u8], told: &mut Vec<String>) -> Result<Option<usize>, String> {
        use client::{Event, Step};

        let mut room = Vec::new();
        let step = self.machine.receive(input, &mut room);
        let (took, event) = match step.map_err(|broken| broken.to_string())? {
            Step::Consumed(took, event) => (took, event),
            Step::NeedMore(bytes) => {
                assert!(bytes > input.len(), "more is wanted than is there");
                return Ok(None);
            }
        };
        let Some(event) = event else {
            return Ok(Some(took));
        };
        told.push(format!("{event:?}"));
        match event {
            Event::Reply { context, .. } | Event::Fault { context, .. } => {
                *self.ended.entry(context).or_default() += 1;
            }
            Event::Item { id, cost, .. } => self.machine.consumed(id, cost),
            Event::Hello(_) | Event::Writable(_) => self.send_items(),
            _ => {}
        }
        Ok(Some(took))
    }

    fn sent(&mut self) -> Vec<u8> {
        let sent = bytes(self.machine.output());
        self.machine.wrote();
        sent
    }
}

/// What a client reads: the size of the pieces, and the stream of a server.
pub fn client(data: &[u8]) {
    let Some((size, stream)) = split(data) else {
        return;
    };
    let mut client = compare(Client::new, stream, size);
    for lost in client.machine.close(None) {
        *client.ended.entry(lost.context).or_default() += 1;
    }
    let ended: Vec<_> = client.ended.into_iter().collect();
    // All but the one that nobody waited for.
    let once: Vec<_> = [0, 1, 2, 3, 4, 6].map(|context| (context, 1)).into();
    assert_eq!(ended, once, "each call ends once");
}

type Hasher = BuildHasherDefault<DefaultHasher>;

/// A client and a server of datagrams, and how many calls have ended.
struct Datagrams {
    client: polywire_frame_udp::Client<u32>,
    server: polywire_frame_udp::Server<usize, u32, Hasher>,
    now: Time,
    token: [u8; 8],
    made: u32,
    ended: u32,
}

impl Datagrams {
    /// A datagram for the server, whose answers the client hears, as it learns the token by them.
    fn serve(&mut self, datagram: &[u8]) {
        let before = self.server.peers();
        let from = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
        let resolve = |name: &str| Some(name.len());
        let event = self.server.receive(self.now, from, datagram, resolve);
        if let Some(polywire_frame_udp::server::Event::Call { id, payload, .. }) = event
            && let Some(mut answer) = self.server.reply(self.now, id)
        {
            answer.payload().extend_from_slice(payload);
            let _ = answer.send();
        }
        let output = self.server.output();
        let answers: Vec<Vec<u8>> = output.iter().map(|(_, sent)| sent.to_vec()).collect();
        self.server.output_mut().clear();
        if before == 0 && self.server.peers() == 0 {
            let sent: usize = answers.iter().map(Vec::len).sum();
            assert!(sent <= datagram.len(), "more is answered than was asked");
        }
        for answer in answers {
            if let Some(token) = answer.first_chunk() {
                self.token = *token;
            }
            self.hear(&answer);
        }
    }

    /// A datagram for the client.
    fn hear(&mut self, datagram: &[u8]) {
        use polywire_frame_udp::client::Event;

        let event = self.client.receive(self.now, datagram);
        let ends = matches!(event, Some(Event::Reply { .. } | Event::Fault { .. }));
        self.ended += u32::from(ends);
    }

    /// All that the client has sent goes to the server, and it calls.
    fn exchange(&mut self) {
        let request = Request::new(Operation {
            number: 1,
            name: "Add",
        });
        if let Ok(mut call) = self.client.call(self.now, &request) {
            call.payload().push(5);
            self.made += u32::from(call.send(self.made).is_ok());
        }
        let output = self.client.output();
        let sent: Vec<Vec<u8>> = output.iter().map(|(_, sent)| sent.to_vec()).collect();
        self.client.output_mut().clear();
        for datagram in sent {
            self.serve(&datagram);
        }
    }
}

/// What both sides read: datagrams, each behind a byte with its length and one that says where it
/// goes, with which token, and whether what the client has sent is to go first.
pub fn datagrams(data: &[u8]) {
    let limits = polywire_frame_udp::server::Limits {
        memory: 64 << 10,
        memory_of_one: 4 << 10,
        ..polywire_frame_udp::server::Limits::DEFAULT
    };
    let mut both = Datagrams {
        client: polywire_frame_udp::Client::new(settings()),
        server: polywire_frame_udp::Server::with_limits(settings(), limits, Hasher::default()),
        now: Time::ZERO,
        token: [0; 8],
        made: 0,
        ended: 0,
    };
    both.client.begin(both.now, 7);
    let mut rest = data;
    while let [length, to, behind @ ..] = rest {
        let (frame, behind) = behind.split_at(usize::from(*length).min(behind.len()));
        rest = behind;
        both.now = both
            .now
            .after(Duration::from_millis(u64::from(to >> 3) + 1));
        if to & 4 != 0 {
            both.exchange();
        }
        let token = match to & 2 {
            0 => both.token,
            _ => [*to; 8],
        };
        let datagram = [&token[..], frame].concat();
        match to & 1 {
            0 => both.serve(&datagram),
            _ => both.hear(&datagram),
        }
        assert!(both.server.memory() <= limits.memory);
        both.server.timeout(both.now, |_, _| {});
        let ended = &mut both.ended;
        both.client.timeout(both.now, |_, _| *ended += 1);
    }
    both.ended += both.client.leave().len() as u32;
    assert_eq!(both.ended, both.made, "each call ends once");
}
