//! What is counted.

use std::sync::atomic::{AtomicU64, Ordering};

use polywire_nostr::{Error, RelayUrl};

/// Defines [`RelayStats`] and its counters as a table.
macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What has been counted for one relay since the client began, or for several together.
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        #[non_exhaustive]
        pub struct RelayStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl RelayStats {
            /// Adds the counts of another relay.
            #[must_use]
            pub fn plus(mut self, other: &Self) -> Self {
                $(self.$name += other.$name;)*
                self
            }
        }

        #[derive(Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        impl Counters {
            pub(crate) fn stats(&self) -> RelayStats {
                RelayStats { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

stats! {
    /// Connections that were made.
    connections,
    /// Messages that were received.
    messages,
    /// Events that were received, before any check but that of their form.
    events,
    /// Events that were passed to a subscription.
    delivered,
    /// Events that their subscription had received before, from any relay. They were dropped before
    /// verification.
    duplicates,
    /// Full verifications of an id and a signature, with whatever result.
    verifications,
    /// Events whose id had been verified before with the same signature: the id alone was computed.
    known,
    /// Events with a wrong id or signature. They were dropped.
    invalid,
    /// Events that match no filter of their subscription, or came for none. They were dropped.
    unrequested,
    /// Messages that could not be read. They were ignored.
    malformed,
    /// NOTICE messages. They are logged at level `info`.
    notices,
}

#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Something that a relay sent and this client dropped: the argument of
/// [`RelayOptions::on_rejection`](crate::RelayOptions::on_rejection).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rejection<'a> {
    /// The relay.
    pub relay: &'a RelayUrl,
    /// Why it was dropped.
    pub reason: RejectionReason,
    /// The JSON text of the event, or of a message that could not be read; empty for a binary one.
    pub text: &'a str,
}

/// Why something was dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RejectionReason {
    /// The message could not be read.
    Malformed(Error),
    /// The message is binary; Nostr has text messages only.
    Binary,
    /// The id or the signature of the event is wrong.
    Invalid(Error),
    /// The event matches no filter of its subscription.
    Unrequested,
}
