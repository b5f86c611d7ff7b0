//! Nostr without I/O: events, filters, messages, keys and encryption.
//!
//! This crate reads and writes what relays and clients exchange. It opens no connections, reads no
//! clock and starts no threads.
#![forbid(unsafe_code)]

pub mod auth;
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
