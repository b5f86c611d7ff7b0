//! Handling of relay messages other than events.

use polywire_nostr::message::{Count, MachineReadablePrefix};
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
            Ok(message) => self.handle_message(message),
            Err(error) => {
                self.shared.counters.malformed.add();
                self.reject(RejectionReason::Malformed(error), text);
            }
        }
    }

    pub(super) fn reject(&self, reason: RejectionReason, text: &str) {
        let relay = &self.shared.url;
        tracing::debug!(%relay, ?reason, "dropped a message or event");
        if let Some(callback) = &self.shared.options.on_rejection {
            callback(&Rejection {
                relay,
                reason,
                text,
            });
        }
    }

    fn handle_message(&mut self, message: RelayMessage<'_>) {
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
            // Message types of later versions of polywire-nostr.
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
        let duplicate = refusal.prefix == Some(MachineReadablePrefix::Duplicate);
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
        } else if let Some(request) = self.counts.get_mut(&serial) {
            match self.auth.retry(&refusal, request.after_auth) {
                Retry::Now => self.send_count(serial),
                Retry::AfterAuth => request.waits_for_auth = true,
                Retry::Never => self.end_count(serial, refusal),
            }
        } else if self.syncs.contains_key(&serial) {
            // Some relays reject a reconciliation with CLOSED.
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
        if let Some(request) = self.counts.remove(&serial) {
            let _ = request.reply.send(Err(refusal));
        }
    }

    fn counted(&mut self, subscription: &SubscriptionId<'_>, count: Count) {
        let request = serial_of(subscription).and_then(|serial| self.counts.remove(&serial));
        if let Some(request) = request {
            let _ = request.reply.send(Ok(count));
        }
    }

    /// Passes a message to the reconciliation. If the previous message was not yet received, the
    /// relay has sent more than one message per request, and the reconciliation fails.
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
