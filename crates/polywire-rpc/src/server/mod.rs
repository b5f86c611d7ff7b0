//! The server.
//!
//! ```text
//! connection -> HTTP layers -> head: mount, protocol, route
//!                              -> head layers -> body, decode
//!                                                -> call layers -> handler
//! ```
//!
//! tower layers can be added in three positions: around the HTTP request, around the head of a call, and around the decoded call.
//!
//! The order of checks, over HTTP: limits of the firewall, rates per caller, pages of other origins, calls in progress,
//! malformed heads, layers around HTTP requests, deadline and authentication, mount and route, layers around heads, body,
//! decoding and constraints, layers around calls, handler.
//!
//! Over frames: limits of the connection, deadline and overload, rates per caller, calls in progress, authentication, memory,
//! decoding and constraints, layers around calls, handler. On all wires layers around methods run before their parameters
//! are decoded.

mod accept;
mod activity;
mod answer;
mod app;
mod authenticate;
mod batch;
mod bind;
mod body;
mod body_filter;
mod builder;
mod cast;
mod connection;
mod connection_fault;
mod connection_stream;
mod first_bytes;
mod frame_budget;
mod frames;
mod gate;
mod http_service;
mod incoming;
mod lines;
mod listener;
mod malformed;
mod mount;
mod pages;
mod response;
mod running;
mod scgi;
mod serve;
mod service;
mod unoffered;

#[cfg(feature = "tls")]
mod tls;
#[cfg(unix)]
mod unix;

use std::time::Duration;

pub use crate::handler::CallService;
pub use crate::peer::{Credentials, Peer};
pub use app::{HeadService, RoutedCall, Server};
pub use bind::{bind, bind_shared};
pub use body_filter::{BodyFilter, FilteredHead, HttpBody};
pub use builder::{BuildError, ServerBuilder, Validation};
pub use connection_fault::ConnectionFault;
#[cfg(feature = "udp")]
pub use frames::UdpSocket;
pub use frames::{FrameLimits, FrameStats, InprocName};
pub use http_service::{HttpRequest, HttpService};
pub use listener::Listener;
pub use mount::{Mount, MountPathError, OriginalUri};
pub use response::{BodyError, HttpResponse, ResponseBody};
pub use running::{BoundAddress, RunningServer, UdpAddress};
#[cfg(feature = "tls")]
pub use tls::{TlsListener, TlsStream};
#[cfg(unix)]
pub use unix::{BoundUnixSocket, UnixSocket};

/// The timeouts of a server.
///
/// ```
/// use std::time::Duration;
/// use polywire_rpc::Timeouts;
///
/// let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_secs(5));
/// assert_eq!(timeouts.handler, Duration::from_secs(5));
/// assert_eq!(timeouts.head, Timeouts::DEFAULT.head);
/// ```
#[must_use]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The time for the head of a request, from the moment at which the connection waits for one. So an idle connection is
    /// closed after this time too, and one whose peer does not read its responses after at most three times this time.
    /// Default: 30 seconds.
    pub head: Duration,
    /// The time for the whole body of a request. Default: 30 seconds.
    pub body: Duration,
    /// The time for the handler. Default: 60 seconds.
    pub handler: Duration,
    /// The time for the handler of a call whose body it reads itself, a blob with `@streaming`. Then
    /// [`body`](Self::body) is the longest time without a byte while the handler waits for one. Default: 1 hour.
    pub stream: Duration,
    /// The time for calls in progress when the server stops. Default: 10 seconds.
    pub shutdown: Duration,
}

impl Timeouts {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        head: Duration::from_secs(30),
        body: Duration::from_secs(30),
        handler: Duration::from_secs(60),
        stream: Duration::from_secs(60 * 60),
        shutdown: Duration::from_secs(10),
    };

    /// Sets the time for the head of a request.
    pub const fn with_head(mut self, head: Duration) -> Self {
        self.head = head;
        self
    }

    /// Sets the time for the whole body.
    pub const fn with_body(mut self, body: Duration) -> Self {
        self.body = body;
        self
    }

    /// Sets the time for the handler.
    pub const fn with_handler(mut self, handler: Duration) -> Self {
        self.handler = handler;
        self
    }

    /// Sets the time for the handler of a call whose body it reads itself.
    pub const fn with_stream(mut self, stream: Duration) -> Self {
        self.stream = stream;
        self
    }

    /// Sets the time for calls in progress when the server stops.
    pub const fn with_shutdown(mut self, shutdown: Duration) -> Self {
        self.shutdown = shutdown;
        self
    }

    /// Limits all times to a year, so that adding them to an instant cannot overflow.
    pub(crate) fn capped(self) -> Self {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
        Self {
            head: self.head.min(YEAR),
            body: self.body.min(YEAR),
            handler: self.handler.min(YEAR),
            stream: self.stream.min(YEAR),
            shutdown: self.shutdown.min(YEAR),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self::DEFAULT
    }
}
