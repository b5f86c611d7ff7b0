//! Calls of XML-RPC methods without a model.
//!
//! ```no_run
//! use std::time::Duration;
//! use polywire_rpc::xmlrpc::Client;
//! use polywire_schema::Value;
//!
//! #[derive(serde::Deserialize)]
//! struct Process {
//!     statename: String,
//! }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::builder("http+unix:///run/supervisor.sock/RPC2")?
//!     .basic("user", "secret")
//!     .deadline(Duration::from_secs(10))
//!     .build()?;
//! let process: Process = client.call("supervisor.getProcessInfo", ("web",)).await?;
//! let state: Value = client.call("supervisor.getState", ()).await?;
//!
//! let mut batch = client.batch();
//! let pid = batch.add::<i32>("supervisor.getPID", ())?;
//! let version = batch.add::<String>("supervisor.getSupervisorVersion", ())?;
//! let replies = batch.send().await?;
//! println!("{} {}", replies.get(pid)?, replies.get(version)?);
//! # Ok(()) }
//! ```
//!
//! # When a call fails
//!
//! | [`CallErrorKind`](crate::CallErrorKind) | cause | the server has executed the call |
//! |---|---|---|
//! | `Fault` | the method responded with a [`Fault`]: a code and a text | as the fault says |
//! | `Encode`, `Usage`, `NotSent` | the call was not sent | no |
//! | `Connect`, `Disconnected`, `Deadline` | no response: [`transport`](crate::CallError::transport) has the URL, step, address and reason | no, if [`is_unstarted`](crate::CallError::is_unstarted); else perhaps |
//! | `Protocol` | a proxy or another service responded: [`http_status`](crate::CallError::http_status) | rarely |
//! | `Decode` | the response is not XML-RPC, or not of the expected type | probably |
//!
//! A call is sent once, unless it is [`idempotent`](Method::idempotent). It ends within
//! 60 seconds, unless it is given other [time](ClientBuilder::deadline). Servers that
//! write XML-RPC wrongly are read by [name](ClientBuilder::leniency) of what they do: for
//! supervisord, `Leniency::STRICT.with_control_characters(true).with_bare_multicall(true)`.
//!
//! [`blocking`] has the same for programs without an asynchronous runtime.
//!
//! Which URLs there are says [`connect`](crate::connect). A URL without a path is called
//! at `/RPC2`, as Python's `xmlrpc.client` does it; `http://host/` at `/`.

mod batch;
pub mod blocking;
mod builder;
mod client;
mod error;
mod exchange;
mod gzip;
mod introspection;
mod message;
mod retry;

pub use batch::{Batch, BatchCall, Replies};
pub use builder::{BuildError, Built, ClientBuilder};
pub use client::{Client, Method};
pub use error::{Fault, StatusError};
pub use polywire_codec::xmlrpc::{Duplicates, ForbiddenText, Leniency, Nil, Style};

pub use crate::client::Exchange;
