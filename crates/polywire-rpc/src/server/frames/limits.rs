//! What a server takes over frames.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::call::capacity::LoadLimit;

/// How much a server takes over frames, and when it turns calls away.
///
/// All of it is on by default. What goes beyond is answered `overloaded` before its handler begins,
/// with a time after which another try makes sense; clients of this crate try again by themselves then.
/// `docs/tuning.md` tells when to touch what.
///
/// ```
/// use std::time::Duration;
/// use polywire_rpc::server::FrameLimits;
/// use polywire_rpc::{Methods, Server};
///
/// let methods = Methods::new().method("Add", |(a, b): (i32, i32)| async move { a + b });
/// let server = Server::methods(methods)
///     .frames(true)
///     .frame_limits(FrameLimits::new().calls(256).at_work(1_000).age(Duration::from_secs(3_600)))
///     .build()?;
/// # let _ = server;
/// # Ok::<(), polywire_rpc::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use = "it is for `ServerBuilder::frame_limits`"]
pub struct FrameLimits {
    pub(super) calls: u32,
    pub(super) bytes: Option<u32>,
    pub(super) at_work: u32,
    pub(super) target: Duration,
    pub(super) interval: Duration,
    pub(super) load: Option<LoadLimit>,
    pub(super) age: Option<Duration>,
    pub(super) idle: Option<Duration>,
    pub(super) ping: Duration,
    pub(super) compress: Option<usize>,
}

impl FrameLimits {
    /// The defaults that the methods tell.
    pub const fn new() -> Self {
        Self {
            calls: 1_024,
            bytes: None,
            at_work: 16_384,
            target: Duration::from_millis(50),
            interval: Duration::from_millis(200),
            load: None,
            age: None,
            idle: None,
            ping: Duration::from_secs(10),
            compress: None,
        }
    }

    /// Sets how many calls one connection may have open, from 1 to 65,535. 1,024. Clients are told, and
    /// keep the others.
    pub const fn calls(mut self, calls: u16) -> Self {
        self.calls = match calls {
            0 => 1,
            calls => calls as u32,
        };
        self
    }

    /// Sets from how many bytes of input in open calls on a connection begins no other, at least 1 MiB.
    /// Twice the limit on one message unless this says other. Clients are told.
    pub const fn bytes(mut self, bytes: u32) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Sets how many handlers may wait for something at once, for all connections together. 16,384. Those
    /// that have their answer at once do not count.
    pub const fn at_work(mut self, calls: u32) -> Self {
        self.at_work = calls;
        self
    }

    /// Sets how long calls may wait for their turn while there is a queue that does not get shorter, and how long it
    /// must have been there. 50 ms and 200 ms. A burst that is worked off sooner is left in peace. Calls that keep a processor
    /// busy, more than 100 µs each, wait apart from others for half as long: how long that will be is known when they come.
    pub const fn queue(mut self, target: Duration, interval: Duration) -> Self {
        self.target = target;
        self.interval = interval;
        self
    }

    /// Sets what tells how busy the system is, and from which number on calls are turned away: such as
    /// the load by processors, and 0.9. It is asked some two hundred times a second while calls come, on a
    /// thread of the runtime, and should not take long. None unless this says other; that the runtime is
    /// late is seen without it.
    pub fn load(mut self, max: f64, measure: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        let measure = Arc::new(measure);
        self.load = Some(LoadLimit { measure, max });
        self
    }

    /// Sets after which time a connection is to end, so that clients spread over the servers that there are
    /// then: what is open is answered, within the server's time to stop, and the client connects anew. It is
    /// up to a tenth more or less, so that connections that began together do not end together. Never, unless this says other.
    pub const fn age(mut self, age: Duration) -> Self {
        self.age = Some(age);
        self
    }

    /// Sets after which time without an open call a connection is ended. Never, unless this says other: one
    /// at rest costs some kilobytes, and whether its client is there is asked.
    pub const fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Sets the least time between two pings of a client, which it is told; whoever pings more often three
    /// times in a row is sent away. 10 seconds.
    pub const fn ping(mut self, least: Duration) -> Self {
        self.ping = least;
        self
    }

    /// Sets from how many bytes on answers and items are compressed, where that makes them shorter and the client reads
    /// it, and that calls may come compressed; what is undone counts in all limits. Neither, unless this says other: it
    /// takes time of the processor, some 300 KiB a connection while it is used, and the length of what is compressed
    /// tells about secrets in it. Not over UDP.
    pub const fn compress(mut self, least: usize) -> Self {
        self.compress = Some(least);
        self
    }
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FrameLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameLimits")
            .field("calls", &self.calls)
            .field("bytes", &self.bytes)
            .field("at_work", &self.at_work)
            .field("target", &self.target)
            .field("interval", &self.interval)
            .field("age", &self.age)
            .field("idle", &self.idle)
            .field("ping", &self.ping)
            .field("compress", &self.compress)
            .finish_non_exhaustive()
    }
}
