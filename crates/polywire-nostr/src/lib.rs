//! Nostr without I/O: events, filters, messages, keys and encryption.
//!
//! This crate reads and writes what relays and clients exchange. It opens no connections, reads no
//! clock and starts no threads. The guide is `docs/nostr.md`.
//!
//! | module or type | contents | NIP |
//! |---|---|---|
//! | [`EventRef`], [`Event`], [`EventBuilder`] | events as JSON text: read, checked, hashed, written, made | 01 |
//! | [`BinaryEvent`] | the binary storage form | |
//! | [`Profile`], [`Limits`] | what is accepted, and what an event may cost | |
//! | [`Filter`], [`CompiledFilters`] | which events a subscription wants | 01 |
//! | [`message`] | what clients and relays send each other | 01, 42, 45, 77 |
//! | [`key`] | secret keys, signatures and their check | 01 |
//! | [`nip19`], [`nip21`] | names of keys and events as text | 19, 21 |
//! | [`nip44`], [`nip04`] | encryption | 44, 04 |
//! | [`nip59`], [`nip17`] | gift wraps and private messages | 59, 17 |
//! | [`nip13`] | proof of work | 13 |
//! | [`negentropy`] | comparing sets of events | 77 |
//! | [`auth`], [`RelayInfo`], [`KindClass`], [`Deletion`] | what relays ask of events and say of themselves | 42, 11, 01, 09 |
//!
//! # Features
//!
//! | feature | what it brings |
//! |---|---|
//! | `os-rng` (default) | random keys and nonces from the operating system, [`nip59`] and [`nip17`] |
//! | `serde` | `Serialize` and `Deserialize` for events, filters and identifiers |
//! | `reference` | slow and readable implementations, for tests |
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
