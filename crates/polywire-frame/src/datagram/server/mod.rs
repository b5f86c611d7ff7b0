//! The server's side over datagrams.

mod answer;
mod event;
mod handshake;
mod limits;
mod receive;

use std::hash::BuildHasher;
use std::net::SocketAddr;

use super::peer::Entry;
use super::peers::Peers;
use super::token::Mint;
use super::{Address, Datagrams, MOST};
use crate::header::header;
use crate::{CallId, FaultCode, Header, Kind, Reason, Settings, Tally, Time};

pub use crate::server::Fault;
pub use answer::Answer;
pub use event::{Call, Event};
pub use limits::Limits;

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
pub struct Server<O, T, H, A: Address = SocketAddr> {
    limits: Limits,
    settings: Settings,
    peers: Peers<O, T, H, A>,
    output: Datagrams<A>,
    mint: Mint,
    /// Calls that are open.
    open: usize,
    /// Calls that one client may have open.
    most_calls: u32,
    /// No open call has a deadline before this.
    earliest: Time,
    /// Why no more calls are taken, if so.
    stops: Option<Reason>,
    tally: Tally,
    /// Clients that have become known since the owner last asked.
    joined: u64,
}

impl<O, T, H, A> Server<O, T, H, A>
where
    O: Copy + Eq,
    H: BuildHasher,
    A: Address,
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
            most_calls: settings.calls(),
            settings: settings.for_datagrams(),
            peers: Peers::new(hasher),
            output: Datagrams::default(),
            mint: Mint::new(),
            open: 0,
            earliest: Time::NEVER,
            stops: None,
            tally: Tally::default(),
            joined: 0,
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

    /// How many calls the client of a call has open, that one among them; none if it is not known any more.
    #[must_use]
    pub fn open_of(&mut self, call: Call) -> u32 {
        let peer = self.peers.of(call.place, call.generation);
        peer.map_or(0, |peer| peer.open)
    }

    /// Sets how many calls each client may have open, from 1 to the setting, which is what holds unless this says other.
    /// New clients are told behind the hello, and all of them again with each call that is answered as overloaded and
    /// unstarted, since datagrams may be lost. To answer calls so that go beyond is for whoever has the server:
    /// [`open_of`](Self::open_of) tells which.
    pub fn limit_calls(&mut self, calls: u32) {
        self.most_calls = calls.clamp(1, self.settings.calls());
    }

    /// Tells a client how many calls it may have open, if that is less than the setting.
    fn tell_limit(&mut self, token: u64, to: A) {
        if self.most_calls < self.settings.calls() {
            let start = self.output.begin(token);
            let credit = Header {
                code: 1,
                value: self.most_calls,
                ..header(Kind::CREDIT, CallId::NONE)
            };
            self.output.buffer.bytes.extend_from_slice(&credit.bytes());
            self.output.end(start, to);
        }
    }

    /// Whether clients are known that have not said that they leave.
    pub fn is_wanted(&mut self) -> bool {
        self.peers.each().any(|(.., peer)| !peer.left)
    }

    /// What has become of calls since the owner last cleared it.
    #[must_use]
    pub const fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    /// How many clients have become known since this was last called; one that has begun anew counts again.
    pub const fn take_joined(&mut self) -> u64 {
        std::mem::replace(&mut self.joined, 0)
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

    /// Keeps something of an open call, which comes back if it is cancelled or its time is over, and is
    /// dropped if the client begins anew or uses the slot for another call.
    ///
    /// # Errors
    ///
    /// The call has ended.
    pub fn attach(&mut self, call: Call, context: T) -> Result<(), T> {
        match self.entry(call) {
            Some(entry) => {
                entry.context = Some(context);
                Ok(())
            }
            None => Err(context),
        }
    }

    /// What is kept of an open call.
    pub fn context(&mut self, call: Call) -> Option<&mut T> {
        self.entry(call)?.context.as_mut()
    }

    #[inline]
    fn entry(&mut self, call: Call) -> Option<&mut Entry<T>> {
        self.peers
            .of(call.place, call.generation)?
            .open_mut(call.id)
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
                let context = self.entry(call).and_then(|entry| entry.context.take());
                self.fault(now, call, Fault::new(FaultCode::DEADLINE), b"");
                expired(call, context);
            }
        }
        if now >= self.peers.expiry() {
            self.expire(now);
        }
    }
}
