//! Nostr without I/O: events, filters, messages, keys and encryption.
//!
//! This crate reads and writes what relays and clients exchange. It opens no connections, reads no
//! clock and starts no threads.
#![forbid(unsafe_code)]

mod bytes;
mod error;
mod event;
mod json;
pub mod key;
mod mac;
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

pub use bytes::{EventId, InvalidHex, PublicKey, Signature};
pub use error::{Error, Member, Reason};
pub use event::{
    BinaryEvent, BinaryItem, BinaryTag, BinaryTags, Event, EventBuilder, EventRef, Tag, Tags,
    UnsignedEvent, event_id, push_canonical,
};
pub use key::{KeyPair, SecretKey};
pub use profile::{Limits, Profile};
