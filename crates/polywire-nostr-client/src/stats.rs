//! Counters, and reports of dropped messages.

use std::sync::atomic::{AtomicU64, Ordering};

use polywire_nostr::{Error, RelayUrl};

/// Defines [`RelayStats`] and its counters as a table.
macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of one relay since its creation, or their sums for several relays.
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        #[non_exhaustive]
        pub struct RelayStats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl RelayStats {
            /// Adds the counters of another relay.
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
    /// Established connections.
    connections,
    /// Received messages.
    messages,
    /// Received well-formed events, before all other checks.
    events,
    /// Events delivered to a subscription.
    delivered,
    /// Events that their subscription had already received, from any relay. They were dropped,
    /// usually before verification.
    duplicates,
    /// Verifications of an id and a signature, successful or not.
    verifications,
    /// Events whose id and signature were in the cache of valid events. Only the id was checked.
    cached,
    /// Events with an invalid id or signature. They were dropped.
    invalid,
    /// Events that match no filter of their subscription, or have no open subscription. They were
    /// dropped.
    unrequested,
    /// Malformed and binary messages. They were dropped.
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

/// A message or event that the client dropped: the argument of
/// [`RelayOptions::on_rejection`](crate::RelayOptions::on_rejection).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Rejection<'a> {
    /// The relay.
    pub relay: &'a RelayUrl,
    /// The reason.
    pub reason: RejectionReason,
    /// The JSON text of the event or of the malformed message. Empty for a binary message.
    pub text: &'a str,
}

/// The reason of a [`Rejection`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RejectionReason {
    /// The message is malformed.
    Malformed(Error),
    /// The message is binary. Nostr uses only text messages.
    Binary,
    /// The id or the signature of the event is invalid.
    Invalid(Error),
    /// The event matches no filter of its subscription.
    Unrequested,
}
