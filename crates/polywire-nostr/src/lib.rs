//! Nostr without I/O: events, filters, messages, keys and encryption.
//!
//! This crate parses and writes the events and messages that relays and clients exchange. It opens
//! no connections, reads no clock and starts no threads. The guide is `docs/nostr.md`.
//!
//! | module or type | contents | NIP |
//! |---|---|---|
//! | [`EventRef`], [`Event`], [`EventBuilder`] | events as JSON: parsing, checking, hashing, writing, building | 01 |
//! | [`BinaryEvent`] | the binary storage form | |
//! | [`Profile`], [`Limits`] | parser leniencies and limits | |
//! | [`Filter`], [`CompiledFilters`] | filters of subscriptions | 01, 50 |
//! | [`message`] | messages of clients and relays | 01, 42, 45, 77 |
//! | [`key`] | secret keys, signing and verification | 01 |
//! | [`nip19`], [`nip21`] | bech32 entities and `nostr:` URIs | 19, 21 |
//! | [`nip44`], [`nip04`] | encryption | 44, 04 |
//! | [`nip59`], [`nip17`] | gift wraps and private messages | 59, 17 |
//! | [`nip13`] | proof of work | 13 |
//! | [`negentropy`] | reconciliation of sets of events | 77 |
//! | [`auth`] | authentication | 42 |
//! | [`RelayInfo`] | the relay information document | 11 |
//! | [`KindClass`], [`Deletion`] | storage and deletion of events | 01, 09 |
//!
//! # Features
//!
//! | feature | contents |
//! |---|---|
//! | `os-rng` (default) | random keys and nonces from the operating system, [`nip59`] and [`nip17`] |
//! | `serde` | `Serialize` and `Deserialize` for events, filters and identifiers |
//! | `reference` | slow reference implementations, for tests |
#![forbid(unsafe_code)]

pub mod auth;
// The Rust code in the page below is compiled and run as doctests.
#[cfg(all(doctest, feature = "os-rng"))]
#[doc = include_str!("../../../docs/nostr.md")]
struct Page;

mod bytes;
mod deletion;
mod error;
mod event;
mod expiration;
mod filter;
mod json;
pub mod key;
mod kind;
mod mac;
pub mod message;
pub mod negentropy;
pub mod nip04;
pub mod nip13;
#[cfg(feature = "os-rng")]
pub mod nip17;
pub mod nip19;
pub mod nip21;
pub mod nip44;
#[cfg(feature = "os-rng")]
pub mod nip59;
mod profile;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod relay_info;
mod relay_url;
mod sha256;

pub use bytes::{EventId, InvalidHex, PublicKey, Signature};
pub use deletion::Deletion;
pub use error::{Error, Member, Reason};
pub use event::{
    BinaryEvent, BinaryItem, BinaryTag, BinaryTags, Event, EventBuilder, EventRef, Tag, Tags,
    UnsignedEvent, event_id, push_canonical,
};
pub use filter::{CompiledFilter, CompiledFilters, Filter, FilterLimits, TagCondition, TagLetter};
pub use key::{KeyPair, SecretKey};
pub use kind::KindClass;
pub use message::{ClientMessage, MessageLimits, RelayMessage, SubscriptionId};
pub use profile::{Limits, Profile};
pub use relay_info::{Limitation, RelayInfo};
pub use relay_url::{InvalidRelayUrl, RelayUrl};
