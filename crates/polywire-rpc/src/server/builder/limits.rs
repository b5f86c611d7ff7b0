//! Limits and timeouts of a server.

use std::hash::Hash;
use std::num::NonZeroU32;

use polywire_schema::Limits;

use super::ServerBuilder;
use crate::call::CallHead;
use crate::layers::{Callers, Firewall};
use crate::server::Timeouts;
use crate::server::frames::FrameLimits;

impl ServerBuilder {
    /// Sets the limits on a message.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the maximum number of bytes of all request bodies in memory. A call that would exceed it is rejected as
    /// overloaded. A body counts until its call ends; its first 64 KiB do not count. Default: 256 MiB, or the limit of a
    /// body if that is larger.
    ///
    /// Over frames, an input counts like a body. If its call enters the run queue or waits for authentication, only the
    /// first 4 KiB do not count, because many calls may wait.
    ///
    /// If the body of an operation has more than 8 KiB, the estimated size of its decoded input beyond 64 KiB counts too.
    /// Decoded parameters of methods do not count.
    ///
    /// Over frames, the following counts too, up to half of the maximum per connection:
    ///
    /// - replies of more than 4 KiB until they are written. A call whose reply exceeds the maximum is rejected as
    ///   overloaded.
    /// - buffered items of streams: incoming ones beyond 64 KiB per connection, outgoing ones beyond 4 KiB per stream.
    pub fn body_memory(mut self, bytes: usize) -> Self {
        self.body_memory = Some(bytes);
        self
    }

    /// Sets the maximum number of bytes of a body that the handler reads itself, a blob with `@streaming`. It takes no
    /// memory of [`body_memory`](Self::body_memory), because at most a few pieces are buffered. Default: no limit.
    pub const fn stream_bytes(mut self, bytes: u64) -> Self {
        self.stream_bytes = bytes;
        self
    }

    /// Sets the timeouts.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the maximum number of open connections, of all listeners and threads. Default: 10,000. Further connections
    /// wait in the accept backlog, except one per listener, which is accepted but not read. Use
    /// [`Firewall::connections`] to reject connections instead.
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// Sets the maximum number of calls in flight. Further calls are rejected as overloaded: over HTTP with status 503 and
    /// `Retry-After`. Default: no limit. Over frames, a call with streams or a subscription counts while it is open.
    ///
    /// A `system.multicall` counts as one call, because its calls run one after the other. [`Limits::with_calls`] limits
    /// their number.
    pub const fn calls(mut self, calls: usize) -> Self {
        self.calls = Some(calls);
        self
    }

    /// Sets the limits for frames.
    pub fn frame_limits(mut self, limits: FrameLimits) -> Self {
        self.frame_limits = limits;
        self
    }

    /// Sets limits per address.
    pub fn firewall(mut self, firewall: Firewall) -> Self {
        self.firewall = Some(firewall);
        self
    }

    /// Adds a rate limit per caller: the number of requests per second, and the burst after a pause. `key` identifies the
    /// caller, for example by the user of a process, a certificate, or a header such as `authorization`. Requests with the
    /// key `None` are not limited. All added limits apply.
    ///
    /// A request above the limit is rejected before its body is read: over HTTP with status 429 and `Retry-After`, over
    /// frames with the fault `overloaded` and a retry delay.
    ///
    /// `key` runs before all layers, so headers are not authenticated yet: a client that can invent keys bypasses the limit.
    /// Up to 65,536 callers are stored, at about 40 bytes each. If there are more, at least half of the entries are
    /// removed, those with the lowest recent use. A removed caller starts with a full allowance.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use polywire_rpc::{Methods, Server};
    ///
    /// let (rate, burst) = (NonZeroU32::new(100).unwrap(), NonZeroU32::new(20).unwrap());
    /// let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
    /// let server = Server::methods(methods)
    ///     .frames(true)
    ///     // Per user of this machine.
    ///     .rate_per_caller(rate, burst, |caller| Some(caller.peer().credentials()?.uid))
    ///     // Per API key.
    ///     .rate_per_caller(rate, burst, |caller| caller.headers().get("x-api-key").cloned())
    ///     .build()?;
    /// # let _ = server;
    /// # Ok::<(), polywire_rpc::BuildError>(())
    /// ```
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
