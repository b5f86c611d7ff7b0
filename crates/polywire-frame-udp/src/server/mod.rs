//! The server's side over datagrams.

mod answer;
mod event;
mod handshake;
mod limits;
mod peer;
mod peers;
mod receive;

use std::hash::BuildHasher;
use std::net::SocketAddr;

use polywire_frame::{
    CallCounts, CallId, FaultCode, FrameReader, Header, Kind, Reason, Settings, Time,
};

use crate::datagrams::without_deflate;
use crate::token::TokenMint;
use crate::{Address, Datagrams, MAX_DATAGRAM};
use peer::Entry;
use peers::Peers;

pub use answer::Answer;
pub use event::{Call, Event};
pub use limits::Limits;
pub use polywire_frame::server::Fault;

/// A server of many clients over datagrams. `O` is what a name of an operation stands for, `T` what is stored with a
/// call while it is open.
///
/// `H` is the keyed hash of tokens, and of the table of clients. Its key must be secret and different for each server,
/// as that of `RandomState`.
///
/// `A` is the address of a client: IP address and port, and what else is needed to answer its datagrams, such as the
/// local address that they were sent to.
///
/// See [`Client`](super::Client) for an example.
#[derive(Debug)]
pub struct Server<O, T, H, A: Address = SocketAddr> {
    limits: Limits,
    /// What this side accepts.
    settings: Settings,
    reader: FrameReader,
    peers: Peers<O, T, H, A>,
    output: Datagrams<A>,
    mint: TokenMint,
    /// The number of open calls.
    open: usize,
    /// The most open calls of a client.
    most_calls: u32,
    /// No open call has a deadline before this.
    earliest: Time,
    /// Why no more calls are taken, if so.
    stop_reason: Option<Reason>,
    counts: CallCounts,
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

    /// A server with these limits, which are clamped to their ranges.
    #[must_use]
    pub fn with_limits(settings: Settings, limits: Limits, hasher: H) -> Self {
        let settings = without_deflate(settings);
        Self {
            limits: Limits {
                // Tokens must expire before their clients are forgotten, and clients rely on the default.
                idle: limits.idle.max(Limits::DEFAULT.idle),
                datagram: limits.datagram.clamp(256, MAX_DATAGRAM),
                ..limits
            },
            most_calls: settings.calls(),
            settings,
            reader: FrameReader::of_client(&settings).for_datagrams(),
            peers: Peers::new(hasher),
            output: Datagrams::default(),
            mint: TokenMint::new(),
            open: 0,
            earliest: Time::NEVER,
            stop_reason: None,
            counts: CallCounts::default(),
            joined: 0,
        }
    }

    /// The datagrams to send.
    #[inline]
    #[must_use]
    pub const fn output(&self) -> &Datagrams<A> {
        &self.output
    }

    /// The datagrams to send, to be cleared or exchanged.
    #[inline]
    pub const fn output_mut(&mut self) -> &mut Datagrams<A> {
        &mut self.output
    }

    /// What this side accepts.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The number of open calls.
    #[must_use]
    pub fn open(&self) -> usize {
        self.open
    }

    /// The number of open calls of the client of this call; 0 if the client is not known any more.
    #[must_use]
    pub fn open_of(&mut self, call: Call) -> u32 {
        let peer = self.peers.of(call.peer, call.generation);
        peer.map_or(0, |peer| peer.open)
    }

    /// Sets how many calls each client may have open: from 1 to the setting, which is the default. The limit is sent
    /// after `HELLO`, and again with each call that is answered as overloaded and unstarted, since datagrams may be lost.
    /// The owner enforces it, by [`open_of`](Self::open_of).
    pub fn limit_calls(&mut self, calls: u32) {
        self.most_calls = calls.clamp(1, self.settings.calls());
    }

    /// Sends the limit of open calls to a client, if it is below the setting.
    fn send_limit(&mut self, token: u64, to: A) {
        if self.most_calls < self.settings.calls() {
            let credit = Header {
                code: 1,
                value: self.most_calls,
                ..Header::new(Kind::CREDIT, CallId::NONE)
            };
            self.output.push_header(token, &credit, to);
        }
    }

    /// Whether there are clients that have not sent `GOAWAY`.
    pub fn has_clients(&mut self) -> bool {
        self.peers.each().any(|(.., peer)| !peer.is_going_away)
    }

    /// Counts of calls and their ends. The owner clears them.
    #[must_use]
    pub const fn counts(&mut self) -> &mut CallCounts {
        &mut self.counts
    }

    /// The number of connections that have begun since this was last called.
    pub const fn take_joined(&mut self) -> u64 {
        std::mem::replace(&mut self.joined, 0)
    }

    /// The number of known clients.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// Bytes of what is stored of clients.
    #[must_use]
    pub const fn memory(&self) -> usize {
        self.peers.memory()
    }

    fn remove(&mut self, index: u32) {
        if let Some((_, peer)) = self.peers.at(index) {
            self.open -= peer.open as usize;
            self.peers.remove(index);
        }
    }

    fn expire(&mut self, now: Time) {
        self.peers.expire(now, &self.limits);
        self.open = self.peers.each().map(|(.., peer)| peer.open as usize).sum();
    }

    /// Stores `context` with an open call. It is returned if the call is cancelled or its deadline passes, and dropped if
    /// the client begins a new connection or uses the slot for another call.
    ///
    /// # Errors
    ///
    /// Returns `context` if the call has ended.
    pub fn attach(&mut self, call: Call, context: T) -> Result<(), T> {
        match self.entry(call) {
            Some(entry) => {
                entry.context = Some(context);
                Ok(())
            }
            None => Err(context),
        }
    }

    /// What is stored with an open call.
    pub fn context(&mut self, call: Call) -> Option<&mut T> {
        self.entry(call)?.context.as_mut()
    }

    #[inline]
    fn entry(&mut self, call: Call) -> Option<&mut Entry<T>> {
        self.peers.of(call.peer, call.generation)?.open_mut(call.id)
    }

    /// Announces once, to all clients, that no more calls are taken. Later calls are answered with a fault, open calls are
    /// answered. `within`: the milliseconds after which nothing is answered.
    pub fn go_away(&mut self, reason: Reason, within: u32) {
        if self.stop_reason.replace(reason).is_some() {
            return;
        }
        let header = Header {
            code: reason.0,
            value: within,
            ..Header::new(Kind::GOAWAY, 0)
        };
        for (.., peer) in self.peers.each() {
            if !peer.is_going_away {
                self.output.push_header(peer.token, &header, peer.address);
            }
        }
    }

    /// The time at which [`timeout`](Self::timeout) must be called.
    #[inline]
    #[must_use]
    pub fn next_timeout(&self) -> Time {
        self.earliest.min(self.peers.expiry())
    }

    /// Answers the calls whose deadline has passed with a fault, and returns what was stored with them. Forgets clients
    /// that have been silent for too long.
    pub fn timeout(&mut self, now: Time, mut expired: impl FnMut(Call, Option<T>)) {
        if now >= self.earliest {
            let mut late = Vec::new();
            let mut ids = Vec::new();
            let mut earliest = Time::NEVER;
            for (index, generation, peer) in self.peers.each() {
                peer.expired(now, &mut ids);
                late.extend(ids.drain(..).map(|id| Call {
                    peer: index,
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
