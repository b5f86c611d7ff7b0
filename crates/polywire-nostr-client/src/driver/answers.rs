//! What a relay answers, but for events.

use polywire_nostr::message::{Count, Prefix};
use polywire_nostr::{EventId, Profile, RelayMessage, SubscriptionId};
use polywire_rpc::websocket::Message;
use tokio::sync::mpsc;

use super::auth::{Auth, Retry};
use super::command::SyncMessage;
use super::feed::Delivery;
use super::requests::{Requests, serial_of};
use crate::Refusal;
use crate::relay::PublishOutcome;
use crate::stats::{Rejection, RejectionReason};

impl Requests {
    pub(super) fn receive(&mut self, message: &Message) {
        self.shared.counters.messages.add();
        let Some(text) = message.as_text() else {
            self.shared.counters.malformed.add();
            return self.reject(RejectionReason::Binary, "");
        };
        let limits = &self.shared.options.messages;
        match RelayMessage::parse(text, Profile::STRICT, limits) {
            Ok(message) => self.answer_to(message),
            Err(error) => {
                self.shared.counters.malformed.add();
                self.reject(RejectionReason::Malformed(error), text);
            }
        }
    }

    pub(super) fn reject(&self, reason: RejectionReason, text: &str) {
        let relay = &self.shared.url;
        tracing::debug!(%relay, ?reason, "dropped what a relay sent");
        if let Some(callback) = &self.shared.options.on_rejection {
            callback(&Rejection {
                relay,
                reason,
                text,
            });
        }
    }

    fn answer_to(&mut self, message: RelayMessage<'_>) {
        match message {
            RelayMessage::Event {
                subscription,
                event,
            } => self.event(&subscription, &event),
            RelayMessage::Ok {
                id,
                accepted,
                message,
            } => self.ok(&id, accepted, &message),
            RelayMessage::Eose(subscription) => {
                let feed = serial_of(&subscription)
                    .and_then(|serial| Some((serial, self.feeds.get_mut(&serial)?)));
                if let Some((serial, feed)) = feed
                    && feed.complete()
                {
                    self.deliver(serial, Delivery::Eose);
                }
            }
            RelayMessage::Closed {
                subscription,
                message,
            } => self.closed(&subscription, &message),
            RelayMessage::Notice(text) => {
                self.shared.counters.notices.add();
                tracing::info!(relay = %self.shared.url, notice = %text.escape_debug(), "notice");
            }
            RelayMessage::Auth { challenge } => self.challenge(&challenge),
            RelayMessage::Count {
                subscription,
                count,
            } => self.counted(&subscription, count),
            RelayMessage::NegMsg {
                subscription,
                message,
            } => self.reconcile(&subscription, SyncMessage::Message(message)),
            RelayMessage::NegErr {
                subscription,
                message,
                max_records,
            } => {
                let refusal = Refusal::new(&message);
                let refused = SyncMessage::Refused {
                    refusal,
                    max_records,
                };
                self.reconcile(&subscription, refused);
            }
            // Messages of later versions of the library.
            _ => {}
        }
    }

    fn ok(&mut self, id: &EventId, accepted: bool, message: &str) {
        let refusal = Refusal::new(message);
        if matches!(&self.auth, Auth::Sent(own) if own == id) {
            return self.authenticated(accepted, &refusal);
        }
        let Some(publication) = self.publications.get_mut(id) else {
            return;
        };
        let duplicate = refusal.prefix == Some(Prefix::Duplicate);
        if accepted || duplicate {
            let message = message.to_owned();
            let outcome = PublishOutcome { duplicate, message };
            return self.end_publication(id, &Ok(outcome));
        }
        match self.auth.retry(&refusal, publication.after_auth) {
            Retry::Now => self.send_publication(*id),
            Retry::AfterAuth => publication.waits_for_auth = true,
            Retry::Never => self.end_publication(id, &Err(refusal)),
        }
    }

    pub(super) fn end_publication(
        &mut self,
        id: &EventId,
        result: &Result<PublishOutcome, Refusal>,
    ) {
        if let Some(publication) = self.publications.remove(id) {
            for (_, reply) in publication.replies {
                // An error means that the receiver was dropped.
                let _ = reply.send(result.clone());
            }
        }
    }

    fn closed(&mut self, subscription: &SubscriptionId<'_>, message: &str) {
        let refusal = Refusal::new(message);
        let Some(serial) = serial_of(subscription) else {
            return;
        };
        if let Some(feed) = self.feeds.get_mut(&serial) {
            match self.auth.retry(&refusal, feed.after_auth) {
                Retry::Now => self.send_feed(serial),
                Retry::AfterAuth => feed.waits_for_auth = true,
                Retry::Never => self.end_feed(serial, refusal),
            }
        } else if let Some(counting) = self.counts.get_mut(&serial) {
            match self.auth.retry(&refusal, counting.after_auth) {
                Retry::Now => self.send_count(serial),
                Retry::AfterAuth => counting.waits_for_auth = true,
                Retry::Never => self.end_count(serial, refusal),
            }
        } else if self.syncs.contains_key(&serial) {
            // Some relays refuse a reconciliation by CLOSED.
            let refused = SyncMessage::Refused {
                refusal,
                max_records: None,
            };
            self.reconcile(subscription, refused);
        }
    }

    pub(super) fn end_feed(&mut self, serial: u64, refusal: Refusal) {
        self.deliver(serial, Delivery::Closed(refusal));
        self.feeds.remove(&serial);
    }

    pub(super) fn end_count(&mut self, serial: u64, refusal: Refusal) {
        if let Some(counting) = self.counts.remove(&serial) {
            let _ = counting.reply.send(Err(refusal));
        }
    }

    fn counted(&mut self, subscription: &SubscriptionId<'_>, count: Count) {
        let counting = serial_of(subscription).and_then(|serial| self.counts.remove(&serial));
        if let Some(counting) = counting {
            let _ = counting.reply.send(Ok(count));
        }
    }

    /// Passes a message on. A relay that sends more than it was asked for ends the reconciliation.
    fn reconcile(&mut self, subscription: &SubscriptionId<'_>, message: SyncMessage) {
        let Some(serial) = serial_of(subscription) else {
            return;
        };
        let Some(replies) = self.syncs.get(&serial) else {
            return;
        };
        let ends = matches!(message, SyncMessage::Refused { .. });
        let failed = matches!(
            replies.try_send(message),
            Err(mpsc::error::TrySendError::Full(_))
        );
        if ends || failed {
            self.syncs.remove(&serial);
        }
    }
}
