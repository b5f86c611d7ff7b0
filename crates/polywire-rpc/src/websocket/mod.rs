//! WebSocket (RFC 6455) for servers and clients.
//!
//! A server offers an endpoint at a path with [`ServerBuilder::websocket`](crate::ServerBuilder::websocket). The
//! endpoint is available on all HTTP listeners of the server: TCP, TLS and Unix sockets. A client connects with
//! [`WebSocket::connect`]. Both sides use a [`WebSocket`] to send and receive messages. Other tasks can send through
//! a [`WebSocketSender`].
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
//! # Memory
//!
//! The messages of a connection use at most:
//!
//! | data | maximum |
//! |---|---|
//! | messages in the send queue | [`WebSocketLimits::max_queued_bytes`], or one larger message |
//! | messages taken from the queue to be written | 128 KiB and one message |
//! | received messages that the application has not taken | 128 KiB and one message |
//! | the message that is being received | [`WebSocketLimits::max_message_bytes`] |
//!
//! On a server, the send queue, the received messages and the incomplete message count against
//! [`ServerBuilder::body_memory`](crate::ServerBuilder::body_memory). The first 64 KiB of each connection do not
//! count.
//!
//! A received message shares its read buffer. The buffer has 8 KiB, or the size of the message if it is larger. The
//! buffer is freed when the last message in it is dropped. An application that stores a small part of a message for a
//! long time should copy that part.
//!
//! # Frames
//!
//! [`WebSocketEndpoint::polywire_frames`] offers the framed protocol of `docs/frame.md` at a path. Browsers can use
//! it, and it passes through proxies that support only HTTP. The frames are a byte stream in binary messages. Message
//! boundaries have no meaning. The subprotocol is `polywire-frames`. Clients of frames
//! ([`frames::Client`](crate::frames::Client)) connect with `ws://`, `wss://` and `ws+unix://`.
//!
//! # Not supported
//!
//! - Extensions such as `permessage-deflate` (RFC 7692).
//! - WebSocket over HTTP/2 (RFC 8441).

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
pub(crate) use client::{UpgradeRequest, upgrade};
pub(crate) use endpoint::Endpoints;
pub(crate) use serve::{PendingUpgrade, ServeOutcome, Upgradable, serve};
