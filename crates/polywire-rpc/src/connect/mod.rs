//! Connections of clients: URLs, TLS, proxies, a pool, and what went wrong.
//!
//! All clients connect by what is here, so that all of them know the same URLs:
//!
//! | URL | server |
//! |---|---|
//! | `http://HOST:PORT/PATH`, `https://HOST:PORT/PATH` | HTTP/1.1, over TLS with the `s` |
//! | `http+unix://SOCKET`, `unix://SOCKET` | HTTP/1.1 over a Unix socket |
//! | `scgi://HOST:PORT/PATH`, `scgi+unix://SOCKET` | SCGI, as rTorrent has it |
//! | `tcp://HOST:PORT`, `tcp+tls://HOST:PORT`, `unix://SOCKET`, `udp://HOST:PORT` | frames, for a client of frames |
//! | `ws://HOST:PORT/PATH`, `wss://HOST:PORT/PATH`, `ws+unix://SOCKET` | WebSocket, with the feature `websocket` |
//!
//! Two paths stand in the URL of a socket. `http+unix://%2Frun%2Fs.sock/RPC2` has the
//! socket percent-encoded in the host's place; `http+unix:///run/s.sock:/RPC2` has `:/`
//! between them; and in `http+unix:///run/s.sock/RPC2` the socket's path ends with the
//! first segment that ends in `.sock` or `.socket`. Without any of these the whole path
//! is the socket's. The text alone decides, never what is on the disk. Frame URLs have no
//! request path.
//!
//! Clients race the addresses of a host (RFC 8305): a new attempt starts after a failure or
//! after 250 ms. Earlier attempts continue.
//!
//! Connections are kept and used again. A [`TransportError`] names the URL, without
//! secrets, the step that failed, the address, and the reason.

mod dial;
mod error;
mod headers;
mod proxy;
mod race;
mod scgi;
mod stream;
#[cfg(feature = "tls")]
mod tls;
mod transport;
mod url;

pub use error::{Step, TransportError};
pub use proxy::Proxy;
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};
pub use url::{UrlError, socket_path, split};

#[cfg(feature = "tls")]
#[doc(hidden)]
pub use transport::get;

#[cfg(feature = "tls")]
pub(crate) use dial::Secured;
pub(crate) use dial::{Dialer, no_addresses};
pub(crate) use error::write_chain;
pub(crate) use headers::guarded;
pub(crate) use race::race;
#[cfg(feature = "websocket")]
pub(crate) use stream::Stream;
pub(crate) use stream::{Layer, Socket};
pub(crate) use transport::{Deadline, Options, Transport, too_large};
pub(crate) use url::{Credentials, Endpoint, NO_USER, Place, Wire, without_secrets};
