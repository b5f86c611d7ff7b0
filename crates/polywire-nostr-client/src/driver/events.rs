//! Checking and delivery of received events.

use polywire_nostr::{EventRef, SubscriptionId};

use super::auth::now;
use super::feed::Delivery;
use super::requests::{Requests, serial_of};
use crate::stats::RejectionReason;
use crate::verifier::Validity;

impl Requests {
    /// Checks an event, with cheap checks first, and delivers it.
    pub(super) fn event(&mut self, subscription: &SubscriptionId<'_>, event: &EventRef<'_>) {
        let counters = &self.shared.counters;
        counters.events.add();
        let feed =
            serial_of(subscription).and_then(|serial| Some((serial, self.feeds.get_mut(&serial)?)));
        let Some((serial, feed)) = feed else {
            // Not reported: the relay may have sent the event before it received CLOSE.
            return counters.unrequested.add();
        };
        if !feed.matcher.matches(event) {
            counters.unrequested.add();
            return self.reject(RejectionReason::Unrequested, event.as_json());
        }
        if feed.sink.seen.contains(event.id()) {
            counters.duplicates.add();
            return feed.received(event.created_at(), now());
        }
        match self.verifier.verify(event) {
            Ok(Validity::Verified) => counters.verifications.add(),
            Ok(Validity::Cached) => counters.cached.add(),
            Err(error) => {
                counters.verifications.add();
                counters.invalid.add();
                return self.reject(RejectionReason::Invalid(error), event.as_json());
            }
        }
        feed.received(event.created_at(), now());
        // Another relay may have delivered it during verification.
        if !feed.sink.seen.insert(*event.id()) {
            return counters.duplicates.add();
        }
        counters.delivered.add();
        self.deliver(serial, Delivery::Event(event.to_owned()));
    }
}
