//! WebSocket (RFC 6455), for servers and clients.
//!
//! A server has an endpoint at a path of its HTTP listeners, over TCP, TLS and Unix sockets alike:
//! [`ServerBuilder::websocket`](crate::ServerBuilder::websocket). A client connects with
//! [`WebSocket::connect`]. Both get a [`WebSocket`]: messages are received from it, and sent through it or
//! through any number of [`WebSocketSender`]s.
//!
//! ```
//! use polywire_rpc::websocket::{Message, WebSocket};
//! use polywire_rpc::{Methods, Server};
//!
//! async fn echo(mut socket: WebSocket) {
//!     while let Some(Ok(message)) = socket.recv().await {
//!         if socket.send(message).await.is_err() {
//!             break;
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::methods(Methods::new()).websocket("/echo", echo).build()?;
//! let running = server.listen("127.0.0.1:0".parse()?).await?;
//!
//! let url = format!("ws://{}/echo", running.address());
//! let mut socket = WebSocket::connect(&url).await?;
//! socket.send("hello").await?;
//! assert_eq!(socket.recv().await, Some(Ok(Message::from("hello"))));
//! drop(socket);
//! running.shutdown().await;
//! # Ok(()) }
//! ```
//!
//! # What is kept in memory
//!
//! For each connection at most: the messages of the send queue ([`WebSocketLimits::queue_bytes`]), 64 KiB and one
//! message that are being written, 64 KiB and one message that were received and not taken, and a message that has
//! not come whole. On a server, what is more than 64 KiB of this counts against
//! [`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory).
//!
//! A message that was received shares the buffer it was read into, of 8 KiB or of the message's own size. Who keeps a
//! few bytes of it for long should copy them.
//!
//! # Frames
//!
//! [`WebSocketEndpoint::frames`] offers the framed protocol of `docs/frame.md` at a path, for browsers and where
//! only HTTP passes: its bytes are those of binary messages, whose boundaries mean nothing. The subprotocol is
//! `polywire-frames`. Clients of frames ([`frames::Client`](crate::frames::Client)) connect with `ws://` and `wss://`.
//!
//! # Not supported
//!
//! Extensions (`permessage-deflate`), and WebSocket over HTTP/2 (RFC 8441).

mod byte_stream;
mod client;
mod codec;
mod driver;
mod endpoint;
mod error;
mod handshake;
mod limits;
mod message;
mod queue;
mod serve;
mod socket;
mod stats;

pub use client::WebSocketBuilder;
pub use endpoint::WebSocketEndpoint;
pub use error::{ConnectError, SendError, TrySendError, WebSocketError};
pub use limits::WebSocketLimits;
pub use message::{CloseCode, CloseFrame, Message, Utf8Bytes};
pub use socket::{WebSocket, WebSocketSender};
pub use stats::WebSocketStats;

pub(crate) use byte_stream::MessageStream;
pub(crate) use client::{Asked, dialer, upgrade};
pub(crate) use endpoint::Endpoints;
pub(crate) use serve::{Accepted, Served, Upgradable, serve};
