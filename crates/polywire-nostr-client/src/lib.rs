//! A client for Nostr relays.
//!
//! [`Relay`] is a connection to one relay that reconnects automatically. [`Pool`] is a set of
//! relays. Both publish events, subscribe to events and fetch stored events (NIP-01). A [`Relay`]
//! also counts events (NIP-45), reconciles sets of events (NIP-77) and fetches the relay
//! information document (NIP-11). With a [`Signer`], the client answers authentication challenges
//! (NIP-42). The types of events, filters and messages are in [`polywire_nostr`].
//!
//! ```no_run
//! use polywire_nostr::{EventBuilder, Filter, KeyPair};
//! use polywire_nostr_client::{Relay, SubscribeOptions, SubscriptionItem};
//!
//! # async fn talk() -> Result<(), Box<dyn std::error::Error>> {
//! let relay = Relay::connect("wss://relay.example.com")?;
//!
//! let keys = KeyPair::generate()?;
//! let note = EventBuilder::new(1, "good morning", 1_709_600_104).sign(&keys);
//! relay.publish(&note).await?;
//!
//! let notes = Filter::new().with_authors([keys.public_key()]).with_limit(10);
//! let mut subscription = relay.subscribe([notes], SubscribeOptions::new());
//! while let Some(item) = subscription.recv().await {
//!     match item {
//!         SubscriptionItem::Event(event) => println!("{}", event.as_ref().content()),
//!         SubscriptionItem::EndOfStored => println!("-- new ones follow --"),
//!         SubscriptionItem::Closed { refusal, .. } => eprintln!("{refusal}"),
//!         _ => {}
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! # Checks
//!
//! Relays are not trusted. Messages are parsed strictly and within limits. An event is delivered
//! only if it passes these checks, in this order:
//!
//! 1. The subscription exists.
//! 2. The event matches one of its filters.
//! 3. The subscription has not delivered the event before. Duplicates are found by id, across the
//!    relays of a subscription, before verification.
//! 4. The id is the digest of the event, and the signature is valid. If the same id and signature
//!    were verified before, for another subscription or from another relay of a pool, only the id
//!    is checked.
//!
//! Other events are dropped, counted in [`RelayStats`], and passed to
//! [`RelayOptions::on_rejection`].
//!
//! The checks run on the task of the connection. Most of the time is spent on signatures.
//!
//! # A relay in the same process
//!
//! Tests need no network: a [`polywire_rpc`] server can act as the relay.
//!
//! ```
//! use std::time::Duration;
//!
//! use polywire_nostr::{
//!     ClientMessage, CompiledFilters, EventBuilder, Filter, KeyPair, MessageLimits, Profile, RelayMessage,
//! };
//! use polywire_nostr_client::Relay;
//! use polywire_rpc::websocket::WebSocket;
//! use polywire_rpc::{Methods, Server};
//!
//! /// Stores the events of one connection.
//! async fn serve(mut socket: WebSocket) {
//!     let mut stored = Vec::new();
//!     while let Some(Ok(message)) = socket.recv().await {
//!         let mut answers = Vec::new();
//!         match ClientMessage::parse(message.as_bytes(), Profile::STRICT, &MessageLimits::DEFAULT) {
//!             Ok(ClientMessage::Event(event)) => {
//!                 stored.push(event.to_owned());
//!                 let ok = RelayMessage::Ok { id: *event.id(), accepted: true, message: "".into() };
//!                 answers.push(ok.to_json());
//!             }
//!             Ok(ClientMessage::Req { subscription, filters }) => {
//!                 let filters = CompiledFilters::new(&filters);
//!                 for event in stored.iter().filter(|event| filters.matches(&event.as_ref())) {
//!                     let (subscription, event) = (subscription.clone(), event.as_ref());
//!                     answers.push(RelayMessage::Event { subscription, event }.to_json());
//!                 }
//!                 answers.push(RelayMessage::Eose(subscription).to_json());
//!             }
//!             _ => {}
//!         }
//!         for answer in answers {
//!             if socket.send(answer).await.is_err() {
//!                 return;
//!             }
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::methods(Methods::new()).websocket("/", serve).build()?;
//! let running = server.listen("127.0.0.1:0".parse()?).await?;
//!
//! let relay = Relay::connect(&format!("ws://{}", running.address()))?;
//! let note = EventBuilder::new(1, "good morning", 1_709_600_104).sign(&KeyPair::generate()?);
//! relay.publish(&note).await?;
//! let notes = relay.fetch([Filter::new().with_kinds([1])], Duration::from_secs(10)).await?;
//! assert_eq!(notes, [note]);
//! assert_eq!(relay.stats().verifications, 1);
//! relay.shutdown();
//! running.shutdown().await;
//! # Ok(()) }
//! ```
#![forbid(unsafe_code)]

mod driver;
mod error;
#[cfg(feature = "tls")]
mod info;
mod options;
mod pool;
mod refusal;
mod relay;
mod signer;
mod state;
mod stats;
mod subscription;
mod sync;
mod verifier;

pub use error::{CountError, FetchError, PublishError};
#[cfg(feature = "tls")]
pub use info::InfoError;
pub use options::{RelayOptions, SubscribeOptions};
pub use pool::Pool;
pub use refusal::Refusal;
pub use relay::{PublishOutcome, Relay};
pub use signer::{Signer, SignerError};
pub use state::ConnectionState;
pub use stats::{Rejection, RejectionReason, RelayStats};
pub use subscription::{FetchOutcome, MAX_FETCHED_EVENTS, Subscription, SubscriptionItem};
pub use sync::{Difference, SyncError, SyncOptions};
