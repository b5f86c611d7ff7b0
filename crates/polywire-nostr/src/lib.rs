//! Nostr without I/O: events, filters, messages, keys and encryption.
//!
//! This crate reads and writes what relays and clients exchange. It opens no connections, reads no
//! clock and starts no threads.
#![forbid(unsafe_code)]

mod bytes;
pub mod negentropy;
#[cfg(feature = "reference")]
pub mod reference;

pub use bytes::{EventId, InvalidHex, PublicKey, Signature};
