//! Messages between clients and relays (NIP-01, NIP-42, NIP-45, NIP-77).
//!
//! A message is read straight from its text: events are borrowed, and no tree of JSON is made. What
//! writes messages appends to a buffer; a relay forwards the text of an event as it came.
//!
//! ```
//! use polywire_nostr::message::{Prefix, relay};
//! use polywire_nostr::{ClientMessage, MessageLimits, Profile};
//!
//! let text = r#"["REQ","feed",{"kinds":[1],"limit":20}]"#;
//! let message = ClientMessage::parse(text, Profile::STRICT, &MessageLimits::default())?;
//! let ClientMessage::Req { subscription, filters } = message else { panic!() };
//! assert_eq!(filters[0].kinds(), Some(&[1][..]));
//!
//! let mut out = Vec::new();
//! relay::push_closed(&mut out, &subscription, &Prefix::AuthRequired.with("who are you?"));
//! assert_eq!(out, br#"["CLOSED","feed","auth-required: who are you?"]"#);
//! # Ok::<(), polywire_nostr::Error>(())
//! ```

pub mod client;
mod count;
mod limits;
mod parse;
mod prefix;
pub mod relay;
mod subscription;

pub use client::ClientMessage;
pub use count::Count;
pub use limits::MessageLimits;
pub use prefix::Prefix;
pub use relay::RelayMessage;
pub use subscription::SubscriptionId;
