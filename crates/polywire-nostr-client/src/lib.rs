//! A client of Nostr relays.
//!
//! [`Relay`] is a connection to one relay that is made again when it ends; [`Pool`] is several of them.
//! Both publish events, subscribe to events and fetch stored ones (NIP-01). A relay also counts
//! (NIP-45) and reconciles sets of events (NIP-77). Challenges are answered when there is a [`Signer`]
//! (NIP-42). Events, filters and messages are those of [`polywire_nostr`].
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
//! # What is checked
//!
//! Relays are not trusted. Each message is read strictly, and within limits. An event is delivered only
//! if it passes these checks, in this order:
//!
//! 1. The subscription exists.
//! 2. The event matches one of its filters.
//! 3. The subscription has not delivered the event before. Duplicates are found by id, across the relays
//!    of a subscription, before anything is verified.
//! 4. The id is the digest of the event, and the signature is valid. If the same id with the same
//!    signature was verified before, for another subscription or from another relay of a pool, only the
//!    id is computed.
//!
//! What does not pass is dropped, counted in [`RelayStats`], and shown to
//! [`RelayOptions::on_rejection`].
#![forbid(unsafe_code)]

mod driver;
mod error;
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
pub use options::{RelayOptions, SubscribeOptions};
pub use pool::Pool;
pub use refusal::Refusal;
pub use relay::{PublishOutcome, Relay};
pub use signer::{Signer, SignerError};
pub use state::ConnectionState;
pub use stats::{Rejection, RejectionReason, RelayStats};
pub use subscription::{Fetched, MAX_FETCHED_EVENTS, Subscription, SubscriptionItem};
pub use sync::{Difference, SyncError, SyncOptions};
