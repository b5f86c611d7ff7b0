//! What a server takes of its callers at most.

use std::hash::Hash;
use std::num::NonZeroU32;

use polywire_schema::Limits;

use super::ServerBuilder;
use crate::call::CallHead;
use crate::layers::{Callers, Firewall};
use crate::server::Timeouts;
use crate::server::frames::FrameLimits;

impl ServerBuilder {
    /// Sets what one message may cost.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many bytes of request bodies may be held at once, by all calls
    /// together. A call that would exceed it is answered that the server is
    /// overloaded. The first 64 KiB of each body do not count; what does is
    /// given back when the call ends. 256 MiB, or the limit on one body if that
    /// is more.
    ///
    /// The decoded input of an operation counts too if its body has more than 8 KiB: its estimated size
    /// beyond 64 KiB. Parameters of methods without a model do not count.
    ///
    /// Over frames it bounds two things more, of which one connection may have half: answers of more than 4 KiB
    /// until they have been written, since a client may ask for much and read nothing (a call for whose answer there is
    /// no room is answered that the server is overloaded); and items of streams that wait, beyond 64 KiB of those that
    /// have come on a connection and 4 KiB of those that leave on a stream.
    #[must_use]
    pub fn body_memory(mut self, bytes: usize) -> Self {
        self.body_memory = Some(bytes);
        self
    }

    /// Sets how long a client may take.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets how many connections may be served at once, at all listeners and on all threads of
    /// the server together. 10,000. More wait to be accepted; the first of them at each
    /// listener is accepted, and waits unread for a place.
    /// [`Firewall::connections`] turns away what is too much.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Sets how many requests may be answered at once. One more is answered at once
    /// that the server is overloaded, in the caller's wire: `503` with `Retry-After`.
    /// Without this there are as many as connections bring. Over frames a call with streams, and a subscription,
    /// counts for as long as it is open.
    ///
    /// A `system.multicall` is one: its calls are made one after the other, so that never more
    /// than one of them is in progress. How many it may have is a limit of its own,
    /// [`Limits::with_calls`].
    #[must_use]
    pub const fn calls(mut self, calls: usize) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Sets how much is taken over frames, and when calls are turned away there.
    #[must_use]
    pub fn frame_limits(mut self, limits: FrameLimits) -> Self {
        self.frame_limits = limits;
        self
    }

    /// Puts limits before the server that count by address.
    #[must_use]
    pub fn firewall(mut self, firewall: Firewall) -> Self {
        self.firewall = Some(firewall);
        self
    }

    /// Sets how many requests may come a second from one caller, and how many at once after a pause, where a caller
    /// is what `key` makes of who calls: the user of a process, a certificate, a header or metadata such as
    /// `authorization`. Those for whom it is `None` are not counted. One too many is answered as
    /// [`Firewall::requests_per_address`] has it, on all wires: `429` with `Retry-After` over HTTP, `overloaded` with a time
    /// over frames, before anything of the call is read. Several of these all hold.
    ///
    /// `key` is asked for each request, before any layer: what a header says has not been checked yet. Whoever
    /// may make up keys is not bounded by them. No more than 65,536 callers are remembered, at some 40 bytes.
    /// If more come within a moment, at least half of the entries are removed, those with the lowest recent use. A
    /// removed caller starts with a full allowance.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use polywire_rpc::{Methods, Server};
    ///
    /// let (rate, burst) = (NonZeroU32::new(100).unwrap(), NonZeroU32::new(20).unwrap());
    /// let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    /// let server = Server::methods(methods)
    ///     .frames(true)
    ///     // Each user of this machine.
    ///     .rate_per_caller(rate, burst, |caller| Some(caller.peer().credentials()?.uid))
    ///     // Each key of whoever sends one.
    ///     .rate_per_caller(rate, burst, |caller| caller.headers().get("x-api-key").cloned())
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), polywire_rpc::BuildError>(())
    /// ```
    #[must_use]
    pub fn rate_per_caller<K: Hash>(
        mut self,
        per_second: NonZeroU32,
        burst: NonZeroU32,
        key: impl Fn(&CallHead<'_>) -> Option<K> + Send + Sync + 'static,
    ) -> Self {
        self.callers.push(Callers::new(per_second, burst, key));
        self
    }
}
