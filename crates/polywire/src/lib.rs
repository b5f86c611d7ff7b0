//! One service model, every wire.
//!
//! Polywire serves, calls and translates a service that is described once in
//! Smithy. This crate is what programs depend on: it gathers the floors below
//! it under one name.
//!
//! | module | what it holds |
//! |---|---|
//! | [`text`] | bytes and scalars; the `Text` and `Blob` types |
//! | [`schema`] | schemas, `Value`, `Encode` and `Decode` |
//! | [`codec`] | JSON, CBOR and XML-RPC |
//! | [`model`] | Smithy models: IDL and JSON AST |
//! | [`protocol`] | restJson1, rpcv2Cbor, XML-RPC without I/O |
//! | [`rpc`] | servers and clients |
//! | [`mock`] | answers for any model without any code |
//!
//! ```
//! use polywire::prelude::*;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let service = polywire::load_text("greeter.smithy", r#"
//!     $version: "2"
//!     namespace example
//!     use aws.protocols#restJson1
//!
//!     @restJson1
//!     service Greeter { version: "1", operations: [Greet] }
//!
//!     @readonly
//!     @http(method: "GET", uri: "/greet/{name}")
//!     operation Greet {
//!         input := { @required @httpLabel name: String }
//!         output := { @required text: String }
//!     }
//! "#)?;
//!
//! let server = Server::builder(service.clone())
//!     .operation("Greet", dynamic(|input: Map, _| async move {
//!         let name = input.get("name").and_then(Value::as_str).unwrap_or_default();
//!         Ok(Map::from_iter([("text", format!("Hello, {name}!"))]))
//!     }))
//!     .build()?
//!     .listen("127.0.0.1:0".parse()?)
//!     .await?;
//!
//! let url = format!("http://{}", server.address());
//! let client = Client::builder(service, ProtocolKind::RestJson1).connect(&url)?;
//! let output = client.call("Greet", Map::from_iter([("name", "Ada")])).await?;
//! assert_eq!(output["text"].as_str(), Some("Hello, Ada!"));
//! # server.shutdown().await;
//! # Ok(()) }).map_err(|error: Box<dyn std::error::Error>| error)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

// The Rust in that page is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/performance.md")]
struct Performance;

pub use polywire_codec as codec;
pub use polywire_model as model;
pub use polywire_protocol as protocol;
#[cfg(feature = "rpc")]
pub use polywire_rpc as rpc;
pub use polywire_schema as schema;
pub use polywire_text as text;

/// Makes a module of what `polywire_codegen` generated in the build script:
/// types, client and server of a service. The name of the module is that of the
/// file, which is the service's in `snake_case` unless the build script says
/// other.
///
/// ```ignore
/// polywire::include_service!(pub mod weather);
///
/// let client = weather::client::connect("http://localhost:8080", ProtocolKind::RpcV2Cbor)?;
/// let city = client.get_city().city_id("oslo").send().await?;
/// ```
#[macro_export]
macro_rules! include_service {
    ($(#[$meta:meta])* $visibility:vis mod $name:ident) => {
        $(#[$meta])*
        #[allow(
            dead_code,
            unreachable_pub,
            reason = "a program need not use all of a service"
        )]
        $visibility mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), ".rs"));
        }
    };
}

#[cfg(feature = "rpc")]
mod load;
#[cfg(feature = "rpc")]
pub mod mock;
pub mod prelude;

#[cfg(feature = "rpc")]
pub use load::{LoadError, load_text, service_of};
