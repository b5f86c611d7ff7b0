//! The server's side over datagrams.

use std::hash::{BuildHasher, Hash};
use std::net::SocketAddr;
use std::time::Duration;

pub use crate::server::Fault;

use super::peer::{Peer, Seen, Slot};
use super::peers::Peers;
use super::token::Made;
use super::{Datagrams, LEAST_HELLO, MOST, TOKEN, TooLong, USUAL};
use crate::draft::Draft;
use crate::frames::Frame;
use crate::header::{From, header};
use crate::{
    CallId, Extension, FaultCode, Flags, Frames, HEADER, Header, Kind, Reason, Settings, Time,
};

/// How much a server keeps, and how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Clients that are known at once; further ones are turned away. 4,096.
    pub peers: usize,
    /// Bytes of all that is kept of clients: answers, and the tables of their slots and numbers. Beyond
    /// it answers are forgotten, the older ones of those who have more than others first; without any
    /// answer left, calls that need a larger table are dropped. 64 MiB.
    pub memory: usize,
    /// Bytes of the answers of one client, beyond which the older half of them is forgotten. 8 MiB.
    pub memory_of_one: usize,
    /// How long a client is known that is not heard. 60 seconds, and not less.
    pub idle: Duration,
    /// Bytes of a datagram that is sent: 1,400, and from 256 to 65,000. What comes is not bounded by it.
    pub datagram: usize,
}

impl Limits {
    /// The defaults that the fields name.
    pub const DEFAULT: Self = Self {
        peers: 4_096,
        memory: 64 << 20,
        memory_of_one: 8 << 20,
        idle: Duration::from_secs(60),
        datagram: USUAL,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A server of many clients over datagrams. `O` is what a name of an operation stands for, `T` what
/// the server keeps of a call while it is open.
///
/// `H` makes the keyed hash that tokens are: nobody may know the key, and no two servers may have the
/// same. `RandomState` of the standard library is such a one. It also spreads the clients in their table.
///
/// `A` is where clients are: an address and a port, and whatever else their datagrams have to be
/// answered by, such as the own address that they were sent to.
///
/// See [`Client`](super::Client) for an example.
#[derive(Debug)]
pub struct Server<O, T, H, A = SocketAddr> {
    limits: Limits,
    settings: Settings,
    peers: Peers<O, T, H, A>,
    output: Datagrams<A>,
    /// The last token that was made.
    made: Made,
    /// Calls that are open.
    open: usize,
    /// No open call has a deadline before this.
    earliest: Time,
    /// Why no more calls are taken, if so.
    stops: Option<Reason>,
}

/// A call of one of the clients.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Call {
    place: u32,
    generation: u32,
    id: CallId,
}

impl Call {
    /// Its id among those of its client.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }
}

/// What a client has said.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a, O, T> {
    /// A call, which is to be answered.
    Call {
        /// The call.
        call: Call,
        /// The operation.
        operation: O,
        /// When its caller waits no more.
        deadline: Time,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// A call was cancelled, and that has been answered. What the server kept of it.
    Cancelled(Call, Option<T>),
    /// A call that nobody wants an answer to. It may come twice.
    OneWay {
        /// The operation.
        operation: O,
        /// When it makes no more sense.
        deadline: Time,
        /// Metadata and trace context.
        extension: Extension<'a>,
        /// The input.
        payload: &'a [u8],
    },
    /// A call of an operation that there is not; to be answered.
    Unknown {
        /// The call.
        call: Call,
        /// The operation's name, unless only a number came, which had none.
        name: Option<&'a str>,
    },
}

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Copy + Eq + Hash,
{
    /// A server with the default limits.
    #[must_use]
    pub fn new(settings: Settings, hasher: H) -> Self {
        Self::with_limits(settings, Limits::DEFAULT, hasher)
    }

    /// A server. Limits that are out of their ranges are taken as the nearest that are not.
    #[must_use]
    pub fn with_limits(settings: Settings, limits: Limits, hasher: H) -> Self {
        Self {
            limits: Limits {
                // Tokens are too old before their clients are forgotten, and clients rely on it.
                idle: limits.idle.max(Limits::DEFAULT.idle),
                datagram: limits.datagram.clamp(256, MOST),
                ..limits
            },
            settings,
            peers: Peers::new(hasher),
            output: Datagrams::default(),
            made: Made::at(Time::ZERO),
            open: 0,
            earliest: Time::NEVER,
            stops: None,
        }
    }

    /// What is to be sent.
    #[inline]
    #[must_use]
    pub const fn output(&self) -> &Datagrams<A> {
        &self.output
    }

    /// The same, to be cleared or exchanged.
    #[inline]
    pub const fn output_mut(&mut self) -> &mut Datagrams<A> {
        &mut self.output
    }

    /// What this side takes.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How many calls are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.open
    }

    /// Whether clients are known that have not said that they leave.
    pub fn is_wanted(&mut self) -> bool {
        self.peers.each().any(|(.., peer)| !peer.left)
    }

    /// How many clients are known.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Bytes of what is kept of clients.
    #[must_use]
    pub const fn memory(&self) -> usize {
        self.peers.memory()
    }

    /// What a datagram from that address means, if anything: what is an error on a stream means
    /// nothing here. `resolve` says what the name of an operation stands for.
    #[inline]
    pub fn receive<'a>(
        &mut self,
        now: Time,
        from: A,
        datagram: &'a [u8],
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let (token, bytes) = datagram.split_first_chunk::<TOKEN>()?;
        let token = u64::from_le_bytes(*token);
        // Of all frames, so that the answer to none is longer than it.
        let head = Header::read(bytes.first_chunk::<HEADER>()?);
        let known = self.peers.find(from);
        let place = known.filter(|place| {
            let peer = self.peers.at(*place);
            token != 0 && peer.is_some_and(|(_, peer)| peer.token == token)
        });
        let place = match place {
            Some(place) => place,
            None if token == 0 => {
                self.greet(now, from, datagram.len(), bytes);
                return None;
            }
            None => self.join(now, from, token, head.kind, known)?,
        };
        let frame = Frames::whole(From::Client, &self.settings, true, bytes)?;
        let (_, peer) = self.peers.at(place)?;
        peer.heard = now;
        if peer.left {
            return None;
        }
        self.take(now, place, &frame, resolve)
    }

    /// Answers a greeting, and keeps nothing of it.
    #[cold]
    fn greet(&mut self, now: Time, from: A, length: usize, bytes: &[u8]) {
        if length < LEAST_HELLO {
            return;
        }
        let Some(frame) = Frames::whole(From::Client, &self.settings, false, bytes) else {
            return;
        };
        if frame.header.kind != Kind::HELLO {
            return;
        }
        let nonce = u64::from(frame.header.id) | u64::from(frame.header.value) << 32;
        let full = self.peers.len() >= self.limits.peers && self.peers.find(from).is_none();
        if let Some(reason) = self.stops.or(full.then_some(Reason::LIMIT)) {
            return self.refuse(from, reason, nonce);
        }
        // Each is another, whoever shared the address and the moment with somebody.
        self.made = self.made.next(now);
        let token = self.made.token(from, self.peers.hasher());
        let start = self.output.begin(token);
        let settings = self.settings;
        settings.write_datagram(&mut self.output.buffer, nonce, 0);
        self.output.end(start, from);
    }

    /// Tells whoever sent a token or a nonce that it is worth nothing, with as few bytes as a frame has.
    fn refuse(&mut self, to: A, reason: Reason, seen: u64) {
        let start = self.output.begin(0);
        let header = Header {
            code: reason.0,
            value: (seen >> 32) as u32,
            ..header(Kind::GOAWAY, seen as u32)
        };
        self.output.buffer.bytes.extend_from_slice(&header.bytes());
        self.output.end(start, to);
    }

    /// A token of no client that is known. The place of the client, if it is one now.
    #[cold]
    fn join(
        &mut self,
        now: Time,
        from: A,
        token: u64,
        kind: Kind,
        known: Option<u32>,
    ) -> Option<u32> {
        // What is answered is what no server sends: two of them would never end.
        let calls = [Kind::CALL, Kind::ONEWAY, Kind::CANCEL, Kind::PING].contains(&kind);
        let made = Made::of(token, now, self.made, from, self.peers.hasher());
        let before = known.and_then(|place| Some(self.peers.at(place)?.1.made));
        let Some(made) = made.filter(|made| before.is_none_or(|before| before < *made)) else {
            if calls {
                self.refuse(from, Reason::TOKEN, token);
            }
            return None;
        };
        if !calls {
            return None;
        }
        match known {
            // It has begun anew.
            Some(place) => self.remove(place),
            None if self.peers.len() < self.limits.peers => {}
            None => {
                self.expire(now);
                if self.peers.len() >= self.limits.peers {
                    return None;
                }
            }
        }
        let peer = Peer::new(from, token, made, now);
        Some(self.peers.insert(peer, now.after(self.limits.idle)))
    }

    fn remove(&mut self, place: u32) {
        if let Some((_, peer)) = self.peers.at(place) {
            self.open -= peer.open as usize;
            self.peers.remove(place);
        }
    }

    fn expire(&mut self, now: Time) {
        self.peers.expire(now, &self.limits);
        self.open = self.peers.each().map(|(.., peer)| peer.open as usize).sum();
    }

    /// What a frame of a client means.
    #[inline]
    fn take<'a>(
        &mut self,
        now: Time,
        place: u32,
        frame: &Frame<'a>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let Header {
            kind, id, value, ..
        } = frame.header;
        match kind {
            Kind::CALL => self.take_call(now, place, frame, resolve),
            Kind::ONEWAY => {
                if self.stops.is_some() {
                    return None;
                }
                let operation = self.operation(place, frame, resolve)??;
                Some(Event::OneWay {
                    operation,
                    deadline: now.after_millis(value),
                    extension: frame.fields(),
                    payload: frame.payload,
                })
            }
            Kind::CANCEL => self.take_cancel(now, place, CallId::from(id)),
            Kind::PING => {
                let (_, peer) = self.peers.at(place)?;
                let start = self.output.begin(peer.token);
                let pong = Header {
                    value,
                    ..header(Kind::PONG, id)
                };
                self.output.buffer.bytes.extend_from_slice(&pong.bytes());
                self.output.end(start, peer.address);
                None
            }
            Kind::GOAWAY => {
                let (_, peer) = self.peers.at(place)?;
                self.open -= peer.open as usize;
                self.peers.change(place, Peer::leave);
                None
            }
            _ => None,
        }
    }

    /// What the operation of a call is: nothing if the call means nothing, and nothing inside if there
    /// is no such operation.
    #[inline]
    fn operation(
        &mut self,
        place: u32,
        frame: &Frame<'_>,
        mut resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Option<O>> {
        let number = frame.header.code;
        let named = self.peers.at(place)?.1.named(number);
        let Some(name) = frame.fields().operation else {
            return (number != 0).then_some(named);
        };
        if u32::from(number) > self.settings.names() {
            return None;
        }
        let resolved = resolve(name);
        match (named, resolved) {
            (Some(named), _) if resolved != Some(named) => return None,
            (None, Some(operation)) if number != 0 => {
                self.peers
                    .change(place, |peer| peer.name(number, operation));
            }
            _ => {}
        }
        Some(resolved)
    }

    #[inline]
    fn take_call<'a>(
        &mut self,
        now: Time,
        place: u32,
        frame: &Frame<'a>,
        resolve: impl FnMut(&str) -> Option<O>,
    ) -> Option<Event<'a, O, T>> {
        let id = CallId::from(frame.header.id);
        if u32::from(id.slot()) >= self.settings.calls() {
            return None;
        }
        let (generation, peer) = self.peers.at(place)?;
        let call = Call {
            place,
            generation,
            id,
        };
        match peer.seen(id) {
            Seen::New => {}
            Seen::Open | Seen::Old => return None,
            Seen::Answered(answer) => {
                self.output.push(answer, peer.address);
                return None;
            }
            Seen::Forgotten => {
                let (token, to) = (peer.token, peer.address);
                self.forgotten(token, to, id);
                return None;
            }
        }
        let full = peer.open_bytes >= self.settings.bytes().into();
        let operation = self.operation(place, frame, resolve)?;
        let deadline = now.after_millis(frame.header.value);
        if !self.begin(now, call, deadline, frame.header.length) {
            return None;
        }
        let fault = if self.stops.is_some() {
            FaultCode::UNAVAILABLE
        } else if frame.header.flags.has(Flags::OPEN) {
            FaultCode::UNSUPPORTED
        } else if full {
            FaultCode::OVERLOADED
        } else {
            return Some(match operation {
                Some(operation) => Event::Call {
                    call,
                    operation,
                    deadline,
                    extension: frame.fields(),
                    payload: frame.payload,
                },
                None => Event::Unknown {
                    call,
                    name: frame.fields().operation,
                },
            });
        };
        self.fault(now, call, Fault::unstarted(fault), b"");
        None
    }

    /// Takes the slot of a call that is new; false if there is no room for it.
    #[inline]
    fn begin(&mut self, now: Time, call: Call, deadline: Time, bytes: u32) -> bool {
        let (limits, before) = (self.limits, self.peers.memory());
        let slot = usize::from(call.id.slot());
        let begun = self.peers.change(call.place, |peer| {
            let needs = peer.needs(slot);
            if needs > 0 && before + needs > limits.memory && peer.kept == 0 {
                return None;
            }
            let open = peer.open;
            peer.begin(now, call.id, deadline, bytes);
            Some(peer.open - open)
        });
        let Some(Some(more)) = begun else {
            return false;
        };
        self.open += more as usize;
        self.earliest = self.earliest.min(deadline);
        self.peers.fit(call.place, &limits);
        true
    }

    /// The answer to a call whose answer is not there any more.
    #[cold]
    fn forgotten(&mut self, token: u64, to: A, id: CallId) {
        let start = self.output.begin(token);
        let fault = Header {
            code: FaultCode::INTERNAL.0,
            ..header(Kind::FAULT, id.into())
        };
        self.output.buffer.bytes.extend_from_slice(&fault.bytes());
        self.output.end(start, to);
    }

    /// Ends a call that is open, or that has not come yet: then it will not be begun.
    #[cold]
    fn take_cancel<'a>(&mut self, now: Time, place: u32, id: CallId) -> Option<Event<'a, O, T>> {
        if u32::from(id.slot()) >= self.settings.calls() {
            return None;
        }
        let (generation, peer) = self.peers.at(place)?;
        let call = Call {
            place,
            generation,
            id,
        };
        let cancelled = Fault::new(FaultCode::CANCELLED);
        match peer.seen(id) {
            Seen::Open => {
                let context = peer.open_mut(id).and_then(|slot| slot.context.take());
                self.fault(now, call, cancelled, b"");
                Some(Event::Cancelled(call, context))
            }
            Seen::New => {
                if self.begin(now, call, Time::NEVER, 0) {
                    let unstarted = Fault::unstarted(FaultCode::CANCELLED);
                    self.fault(now, call, unstarted, b"");
                }
                None
            }
            Seen::Answered(answer) => {
                self.output.push(answer, peer.address);
                None
            }
            Seen::Forgotten => {
                let (token, to) = (peer.token, peer.address);
                self.forgotten(token, to, id);
                None
            }
            Seen::Old => None,
        }
    }

    /// Keeps something of an open call, which comes back if it is cancelled or its time is over, and is
    /// dropped if the client begins anew or uses the slot for another call.
    ///
    /// # Errors
    ///
    /// The call has ended.
    pub fn attach(&mut self, call: Call, context: T) -> Result<(), T> {
        match self.slot(call) {
            Some(slot) => {
                slot.context = Some(context);
                Ok(())
            }
            None => Err(context),
        }
    }

    #[inline]
    fn slot(&mut self, call: Call) -> Option<&mut Slot<T>> {
        self.peers
            .of(call.place, call.generation)?
            .open_mut(call.id)
    }

    /// Begins the answer to a call. Nothing, if the call has ended.
    #[inline]
    pub fn reply(&mut self, now: Time, call: Call) -> Option<Answer<'_, O, T, H, A>> {
        let took = now.since(self.slot(call)?.arrived).as_micros();
        let header = Header {
            value: u32::try_from(took).unwrap_or(u32::MAX),
            ..header(Kind::REPLY, call.id.into())
        };
        self.answer(now, call, header)
    }

    /// Answers a call with a fault and its details. Nothing is sent if the call has ended, and
    /// details that are too long for a datagram are left out.
    pub fn fault(&mut self, now: Time, call: Call, fault: Fault, details: &[u8]) {
        let header = Header {
            flags: match fault.unstarted {
                true => Flags::UNSTARTED,
                false => Flags::NONE,
            },
            code: fault.code.0,
            value: fault.retry_after,
            ..header(Kind::FAULT, call.id.into())
        };
        for details in [details, b""] {
            let Some(mut answer) = self.answer(now, call, header) else {
                return;
            };
            answer.payload().extend_from_slice(details);
            if answer.send().is_ok() {
                return;
            }
        }
    }

    #[inline]
    fn answer(&mut self, now: Time, call: Call, header: Header) -> Option<Answer<'_, O, T, H, A>> {
        let peer = self.peers.of(call.place, call.generation)?;
        peer.open_mut(call.id)?;
        let (token, to) = (peer.token, peer.address);
        let start = self.output.begin(token);
        let draft = Draft::new(&mut self.output.buffer, header);
        Some(Answer {
            server: self,
            start,
            draft,
            now,
            call,
            to,
            sent: false,
        })
    }

    /// Takes no more calls, and says so once to all who are known: calls that still arrive are turned
    /// away, those that are open are answered. `within` is the time in milliseconds after which nothing
    /// is answered any more.
    pub fn go_away(&mut self, reason: Reason, within: u32) {
        if self.stops.replace(reason).is_some() {
            return;
        }
        let header = Header {
            code: reason.0,
            value: within,
            ..header(Kind::GOAWAY, 0)
        };
        for (.., peer) in self.peers.each() {
            if !peer.left {
                let start = self.output.begin(peer.token);
                self.output.buffer.bytes.extend_from_slice(&header.bytes());
                self.output.end(start, peer.address);
            }
        }
    }

    /// When [`timeout`](Self::timeout) wants to be called.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Time {
        self.earliest.min(self.peers.expiry())
    }

    /// Ends the calls whose time is over, and hands over what was kept of them; their callers are told.
    /// Forgets clients that have been silent for too long.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(Call, Option<T>)) {
        if now >= self.earliest {
            let mut late = Vec::new();
            let mut ids = Vec::new();
            let mut earliest = Time::NEVER;
            for (place, generation, peer) in self.peers.each() {
                peer.late(now, &mut ids);
                late.extend(ids.drain(..).map(|id| Call {
                    place,
                    generation,
                    id,
                }));
                earliest = earliest.min(peer.earliest);
            }
            self.earliest = earliest;
            for call in late {
                let context = self.slot(call).and_then(|slot| slot.context.take());
                self.fault(now, call, Fault::new(FaultCode::DEADLINE), b"");
                expired(call, context);
            }
        }
        if now >= self.peers.expiry() {
            self.expire(now);
        }
    }
}

/// An answer that is being written. One that is dropped is not sent, and its call is as it was.
#[derive(Debug)]
pub struct Answer<'a, O, T, H, A> {
    server: &'a mut Server<O, T, H, A>,
    start: usize,
    draft: Draft,
    now: Time,
    call: Call,
    to: A,
    sent: bool,
}

impl<O, T, H, A> Answer<'_, O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Copy + Eq + Hash,
{
    /// Where the payload is appended; nothing that is there may be changed.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.server.output.buffer.bytes
    }

    /// Sends it, and keeps it for the case that it is lost. It ends the call; what was kept of that
    /// is dropped.
    ///
    /// # Errors
    ///
    /// It is longer than a datagram may be. The call is still open.
    #[inline]
    pub fn send(mut self) -> Result<(), TooLong> {
        let Self {
            start,
            now,
            call,
            to,
            ..
        } = self;
        let server = &mut *self.server;
        let output = &mut server.output.buffer;
        let (length, most) = (output.bytes.len() - start, server.limits.datagram);
        let too_long = TooLong { length, most };
        if length > most {
            return Err(too_long);
        }
        // All take 65,536 bytes, which is more than a datagram has.
        let checked = self.draft.check(output, &Settings::INITIAL, false);
        checked.map_err(|_| too_long)?;
        self.draft.finish(output);
        self.sent = true;
        let datagram = server.output.end(start, to);
        server
            .peers
            .change(call.place, |peer| peer.answer(now, call.id, datagram));
        server.open -= 1;
        server.peers.fit(call.place, &server.limits);
        Ok(())
    }
}

impl<O, T, H, A> Drop for Answer<'_, O, T, H, A> {
    #[inline]
    fn drop(&mut self) {
        if !self.sent {
            let Datagrams { buffer, .. } = &mut self.server.output;
            buffer.bytes.truncate(self.start);
        }
    }
}
