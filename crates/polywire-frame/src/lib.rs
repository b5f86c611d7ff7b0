//! Polywire's framed protocol: small calls, many at once, over one connection.
//!
//! This crate does no I/O. A connection is a state machine, [`client::Connection`] or
//! [`server::Connection`]: bytes and the time go in, bytes and events come out, and
//! payloads are opaque to it. `polywire-rpc` puts it on sockets. The protocol itself is
//! defined in `docs/frame.md`, and the names here are those of that page.
//!
//! Both machines are driven alike:
//!
//! - `receive` is given all bytes that have come and not been consumed. It takes one frame off
//!   their front and says what it meant, or how many bytes it wants to see first. So the events
//!   are the same however the bytes were cut, and payloads are borrowed from them.
//! - What is to be sent is appended to an [`Output`], which is written whenever it suits.
//! - `next_timeout` says when `timeout` wants to be called.
//!
//! An error ends a connection: [`Broken`] says at which byte of the stream what was expected
//! and what came, and the farewell that tells the other side is in the output.

#![forbid(unsafe_code)]

mod broken;
pub mod client;
mod code;
pub mod datagram;
mod deflate;
mod draft;
mod extension;
pub mod flow;
mod frames;
mod header;
mod id;
mod output;
pub mod server;
mod settings;
mod slots;
mod stream;
mod tally;
mod time;
mod trace;

pub use broken::Broken;
pub use code::{FaultCode, Reason};
pub use draft::TooLarge;
pub use extension::{Extension, MAX_EXTENSION, Trace};
pub use frames::{Frame, Frames, Next, PREFACE};
pub use header::{Flags, HEADER, Header, Kind};
pub use id::CallId;
pub use output::Output;
pub use settings::{Features, Settings};
pub use tally::Tally;
pub use time::Time;
pub use trace::NotTrace;
