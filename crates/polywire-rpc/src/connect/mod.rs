//! Connections of clients: URLs, the dialer, TLS, proxies, a pool for HTTP, and transport errors.
//!
//! All clients use the same URLs, the same dialer and the same error type:
//!
//! | URL | server |
//! |---|---|
//! | `http://HOST:PORT/PATH`, `https://HOST:PORT/PATH` | HTTP/1.1, with the `s` over TLS |
//! | `http+unix://SOCKET`, `unix://SOCKET` | HTTP/1.1 over a Unix socket |
//! | `scgi://HOST:PORT/PATH`, `scgi+unix://SOCKET` | SCGI, as in rTorrent |
//! | `tcp://HOST:PORT`, `tcp+tls://HOST:PORT`, `unix://SOCKET`, `udp://HOST:PORT`, `inproc://NAME` | frames, for a client of frames |
//! | `ws://HOST:PORT/PATH`, `wss://HOST:PORT/PATH`, `ws+unix://SOCKET` | WebSocket, with the feature `websocket` |
//!
//! The URL of a socket can contain two paths. `http+unix://%2Frun%2Fs.sock/RPC2` has the percent-encoded socket in place
//! of the host. `http+unix:///run/s.sock:/RPC2` has `:/` between them. In `http+unix:///run/s.sock/RPC2` the path of the
//! socket ends with the first segment that ends in `.sock` or `.socket`. Without any of these, the whole path is that of
//! the socket. Only the text decides, never the file system. URLs of frames have no request path.
//!
//! Clients race the addresses of a host (RFC 8305): a new attempt starts after a failure or after 250 ms. Earlier
//! attempts continue.
//!
//! A [`TransportError`] names the URL without secrets, the step that failed, the address, and the reason.

mod dial;
mod error;
mod headers;
mod hosts;
mod proxy;
mod race;
mod scgi;
mod stream;
mod transport;
mod tunnel;
mod url;

pub use error::{Step, TransportError};
pub use proxy::Proxy;
pub use url::{UrlError, socket_path, split};

#[cfg(feature = "tls")]
#[doc(hidden)]
pub use transport::get;

pub(crate) use dial::{ConnectOptions, Dialer};
pub(crate) use error::write_chain;
pub(crate) use headers::guarded;
pub(crate) use hosts::Hosts;
#[cfg(test)]
pub(crate) use race::race;
#[cfg(feature = "websocket")]
pub(crate) use stream::Stream;
pub(crate) use stream::{Layer, Socket};
pub(crate) use transport::{Transport, too_large};
#[cfg(any(feature = "udp", feature = "websocket"))]
pub(crate) use url::Wire;
pub(crate) use url::{
    Address, NO_USER, PROCESS_NAME, ServerUrl, UserInfo, is_process_name, without_secrets,
};
