//! Limits of a server for frames.

use std::sync::Arc;
use std::time::Duration;

use crate::call::capacity::LoadLimit;

/// Limits of a server for frames, and when it rejects calls.
///
/// A call beyond a limit gets the fault `overloaded` before its handler starts, with a time after which a retry makes
/// sense. Clients of this crate retry by themselves. `docs/tuning.md` describes when to change which limit.
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
#[must_use = "pass it to `ServerBuilder::frame_limits`"]
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
    /// Creates the default limits, which each method documents.
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

    /// Sets the maximum number of open calls of a connection, from 1 to 65,535. Default: 1,024. The limit
    /// is sent to clients, which queue further calls.
    pub const fn calls(mut self, calls: u16) -> Self {
        self.calls = match calls {
            0 => 1,
            calls => calls as u32,
        };
        self
    }

    /// Sets the maximum size of the inputs of the open calls of a connection in bytes, at least 1 MiB. Default: twice the
    /// limit of a message. The limit is sent to clients, which queue calls above it.
    pub const fn bytes(mut self, bytes: u32) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Sets the maximum number of handlers that wait for something, of all connections. Default: 16,384. Handlers that are
    /// ready at once do not count.
    pub const fn at_work(mut self, calls: u32) -> Self {
        self.at_work = calls;
        self
    }

    /// Sets the maximum queueing delay of a standing queue, and the time after which a queue counts as standing. Defaults: 50 ms and
    /// 200 ms. A burst that is processed within that time is not rejected. Calls that use a processor for more than 100 µs
    /// have a run queue, where half of both applies: their delay is known when they arrive.
    pub const fn queue(mut self, target: Duration, interval: Duration) -> Self {
        self.target = target;
        self.interval = interval;
        self
    }

    /// Sets a function that measures the load of the system, and the load above which calls are rejected: for example the
    /// load per processor, and 0.9. The function runs on a thread of the runtime, up to two hundred times a second while calls
    /// arrive, and should be fast. Default: none. Delays of the runtime are measured without it.
    pub fn load(mut self, max: f64, measure: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        let measure = Arc::new(measure);
        self.load = Some(LoadLimit { measure, max });
        self
    }

    /// Sets the age after which a connection ends, so that clients spread over new servers. Open calls are answered within
    /// [`Timeouts::shutdown`](crate::Timeouts::shutdown), and the client reconnects. The age varies by a tenth, so that connections
    /// do not end at the same time. Default: none.
    pub const fn age(mut self, age: Duration) -> Self {
        self.age = Some(age);
        self
    }

    /// Sets the time without open calls after which a connection ends. Default: none. An idle connection takes some
    /// kilobytes, and clients that are gone are detected by pings.
    pub const fn idle(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Sets the minimum time between two pings of a client. It is sent to clients. A connection with three pings in a row
    /// that come earlier is ended. Default: 10 seconds.
    pub const fn ping(mut self, min: Duration) -> Self {
        self.ping = min;
        self
    }

    /// Enables compression: of replies and items of at least this many bytes, if the client supports it and they become
    /// shorter; clients may compress inputs. All limits apply to the decompressed size. Default: disabled, because it takes
    /// processor time and some 300 KiB per connection, and the length of compressed data reveals secrets in it. Not over UDP.
    pub const fn compress(mut self, min_bytes: usize) -> Self {
        self.compress = Some(min_bytes);
        self
    }
}

impl Default for FrameLimits {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(FrameLimits {
    calls,
    bytes,
    at_work,
    target,
    interval,
    age,
    idle,
    ping,
    compress
});
