//! Private direct messages (NIP-17): chat messages in gift wraps.
//!
//! Needs the feature `os-rng`.
//!
//! ```
//! use polywire_nostr::{KeyPair, nip17::ChatMessage, nip59};
//!
//! let (alice, bob) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
//! let now = 1_709_600_104;
//! let message = ChatMessage::new("hello").to(&bob.public_key());
//! for (receiver, wrap) in message.gift_wraps(&alice, now)? {
//!     // Publish the gift wrap to the relays in the receiver's event of kind 10050.
//!     let keys = if receiver == bob.public_key() { &bob } else { &alice };
//!     let gift = nip59::unwrap_gift(&wrap.as_ref(), keys)?;
//!     assert_eq!(gift.rumor.content(), "hello");
//! }
//! # Ok::<(), nip59::Nip59Error>(())
//! ```

use crate::nip59::{self, Nip59Error};
use crate::{Event, EventBuilder, EventId, KeyPair, PublicKey, UnsignedEvent};

/// The kind of a chat message.
pub const CHAT_MESSAGE: u16 = 14;
/// The kind of a file message.
pub const FILE_MESSAGE: u16 = 15;
/// The kind of the list of relays on which an author receives direct messages.
pub const RELAY_LIST: u16 = 10_050;

/// A chat message to send. The sender and the receivers define the chat room.
#[derive(Clone, Debug, Default)]
pub struct ChatMessage {
    content: String,
    receivers: Vec<PublicKey>,
    subject: Option<String>,
    reply_to: Option<EventId>,
}

impl ChatMessage {
    /// Creates a message of plain text, without receivers.
    #[must_use]
    pub fn new(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }

    /// Adds a receiver, unless it was added before.
    #[must_use]
    pub fn to(mut self, receiver: &PublicKey) -> Self {
        if !self.receivers.contains(receiver) {
            self.receivers.push(*receiver);
        }
        self
    }

    /// Sets the topic of the conversation.
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Makes this message a reply to an earlier one.
    #[must_use]
    pub fn reply_to(mut self, id: &EventId) -> Self {
        self.reply_to = Some(*id);
        self
    }

    /// Returns the message as an unsigned event of kind 14. `now` is in seconds since 1970-01-01
    /// UTC.
    #[must_use]
    pub fn rumor(&self, sender: &PublicKey, now: u64) -> UnsignedEvent {
        let mut builder = EventBuilder::new(CHAT_MESSAGE, &*self.content, now);
        for receiver in &self.receivers {
            builder = builder.tag(["p", &receiver.to_string()]);
        }
        if let Some(id) = &self.reply_to {
            builder = builder.tag(["e", &id.to_string()]);
        }
        if let Some(subject) = &self.subject {
            builder = builder.tag(["subject", subject]);
        }
        builder.build(sender)
    }

    /// Creates one gift wrap per receiver, and one for the sender so that the sender can read its
    /// own message. Returns pairs of receiver and gift wrap. The pair of the sender is last.
    ///
    /// # Errors
    ///
    /// As [`nip59::gift_wrap`].
    pub fn gift_wraps(
        &self,
        sender: &KeyPair,
        now: u64,
    ) -> Result<Vec<(PublicKey, Event)>, Nip59Error> {
        let own = sender.public_key();
        let rumor = self.rumor(&own, now);
        let others = self.receivers.iter().filter(|receiver| **receiver != own);
        others
            .chain([&own])
            .map(|receiver| Ok((*receiver, nip59::gift_wrap(&rumor, sender, receiver, now)?)))
            .collect()
    }
}
