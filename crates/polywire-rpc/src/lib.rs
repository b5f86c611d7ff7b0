//! Servers and clients.
//!
//! A [`Server`] offers one service on several protocols at once; a [`Client`]
//! calls one over a protocol. Both work with schemas: handlers and calls are
//! over [`Value`](polywire_schema::Value)s, or over types that implement the
//! codec traits.
//!
//! ```
//! use std::sync::Arc;
//!
//! use polywire_model::Loader;
//! use polywire_protocol::ProtocolKind;
//! use polywire_rpc::{Client, Server, ServiceHandle, dynamic};
//! use polywire_schema::{Map, Value};
//!
//! let text = r#"
//!     $version: "2"
//!     namespace example
//!     service Greeter { version: "1", operations: [Greet] }
//!     operation Greet { input := { name: String }, output := { text: String } }
//! "#;
//! let model = Loader::new().add_text("greeter.smithy", text).assemble()?.model;
//! let schemas = model.schemas("example#Greeter").unwrap()?;
//! let service = ServiceHandle::new(Arc::new(schemas), 0);
//!
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! runtime.block_on(async {
//!     let server = Server::builder(service.clone())
//!         .protocol(ProtocolKind::XmlRpc)
//!         .protocol(ProtocolKind::RpcV2Cbor)
//!         .operation("Greet", dynamic(|input: Map, _| async move {
//!             let name = input.get("name").and_then(Value::as_str).unwrap_or("nobody");
//!             Ok(Map::from_iter([("text", format!("Hello, {name}!"))]))
//!         }))
//!         .build()?;
//!     let running = server.listen("127.0.0.1:0".parse()?).await?;
//!     let url = format!("http://{}", running.address());
//!
//!     let client = Client::builder(service, ProtocolKind::XmlRpc).connect(&url)?;
//!     let output = client.call("Greet", Map::from_iter([("name", "Ada")])).await?;
//!     assert_eq!(output["text"].as_str(), Some("Hello, Ada!"));
//!     running.shutdown().await;
//!     Ok(())
//! })
//! # .map_err(|error: Box<dyn std::error::Error>| error)
//! # ?; Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// The Rust code in this page is compiled as doctests.
#[cfg(all(doctest, feature = "aws"))]
#[doc = include_str!("../../../docs/aws.md")]
struct AwsGuide;

#[macro_use]
mod macros;

pub mod auth;
#[cfg(feature = "aws")]
pub mod aws;
pub mod blocking;
mod call;
pub mod client;
pub mod connect;
mod context;
mod error;
mod events;
pub mod frames;
#[doc(hidden)]
pub mod generated;
mod handle;
mod handler;
pub mod layers;
mod lines;
pub mod methods;
pub mod payload;
mod peer;
mod prometheus;
#[doc(hidden)]
pub mod random;
pub mod server;
mod sync;
#[cfg(feature = "tls")]
pub mod tls;
pub mod topics;
#[cfg(feature = "websocket")]
pub mod websocket;
pub mod xmlrpc;

pub use client::{Client, ClientBuilder};
pub use context::Context;
pub use error::{CallError, CallErrorKind};
pub use generated::{Items, Paginator};
pub use handle::ServiceHandle;
pub use handler::{
    Call, Handler, HandlerFuture, Input, IntoOutput, Output, dynamic, streaming, typed,
};
pub use methods::{ItemReceiver, ItemSender, Methods, StreamCall};
pub use server::{
    BuildError, RoutedCall, RunningServer, Server, ServerBuilder, Timeouts, Validation,
};
pub use topics::Topics;
