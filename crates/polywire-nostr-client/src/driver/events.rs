//! The way of an event from the connection to its subscription.

use polywire_nostr::{EventRef, SubscriptionId};

use super::auth::now;
use super::feed::Delivery;
use super::requests::{Requests, serial_of};
use crate::stats::RejectionReason;
use crate::verifier::Validity;

impl Requests {
    /// Checks an event, the cheap checks first, and delivers it.
    pub(super) fn event(&mut self, subscription: &SubscriptionId<'_>, event: &EventRef<'_>) {
        let counters = &self.shared.counters;
        counters.events.add();
        let feed =
            serial_of(subscription).and_then(|serial| Some((serial, self.feeds.get_mut(&serial)?)));
        let Some((serial, feed)) = feed else {
            // Events may still be on their way when a subscription is closed.
            return counters.unrequested.add();
        };
        if !feed.matcher.matches(event) {
            counters.unrequested.add();
            return self.reject(RejectionReason::Unrequested, event.as_json());
        }
        if feed.sink.seen.contains(event.id()) {
            counters.duplicates.add();
            return feed.came(event.created_at(), now());
        }
        match self.verifier.verify(event) {
            Ok(Validity::Verified) => counters.verifications.add(),
            Ok(Validity::Known) => counters.known.add(),
            Err(error) => {
                counters.verifications.add();
                counters.invalid.add();
                return self.reject(RejectionReason::Invalid(error), event.as_json());
            }
        }
        feed.came(event.created_at(), now());
        // Another relay may have delivered it meanwhile.
        if !feed.sink.seen.insert(*event.id()) {
            return counters.duplicates.add();
        }
        counters.delivered.add();
        self.deliver(serial, Delivery::Event(event.to_owned()));
    }
}
