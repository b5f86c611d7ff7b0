//! Messages between clients and relays (NIP-01, NIP-42, NIP-45, NIP-77).
//!
//! Messages are parsed without an intermediate JSON tree, and events borrow their text. Messages
//! are written by appending to a buffer. A relay forwards the original text of an event.
//!
//! ```
//! use polywire_nostr::message::{MachineReadablePrefix, relay};
//! use polywire_nostr::{ClientMessage, MessageLimits, Profile};
//!
//! let text = r#"["REQ","feed",{"kinds":[1],"limit":20}]"#;
//! let message = ClientMessage::parse(text, Profile::STRICT, &MessageLimits::default())?;
//! let ClientMessage::Req { subscription, filters } = message else { panic!() };
//! assert_eq!(filters[0].kinds(), Some(&[1][..]));
//!
//! let reason = MachineReadablePrefix::AuthRequired.with("log in first");
//! let mut out = Vec::new();
//! relay::push_closed(&mut out, &subscription, &reason);
//! assert_eq!(out, br#"["CLOSED","feed","auth-required: log in first"]"#);
//! # Ok::<(), polywire_nostr::Error>(())
//! ```

pub mod client;
mod count;
mod limits;
mod parse;
mod prefix;
pub mod relay;
mod subscription;
mod write;

pub use client::ClientMessage;
pub use count::Count;
pub use limits::MessageLimits;
pub use prefix::MachineReadablePrefix;
pub use relay::RelayMessage;
pub use subscription::SubscriptionId;
