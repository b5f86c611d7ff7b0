//! Messages to a client.

use bytes::Bytes;
use polywire_nostr::EventId;
use polywire_nostr::message::{SubscriptionId, relay};
use polywire_rpc::websocket::{
    CloseCode, CloseFrame, Message, TrySendError, Utf8Bytes, WebSocketSender,
};

use crate::policy::{DUPLICATE, Rejection};

/// The id of a subscription, count or reconciliation.
pub(crate) type Id = SubscriptionId<'static>;

/// The send queue of a connection. Clones share the queue.
#[derive(Clone)]
pub(crate) struct Outbox(pub(crate) WebSocketSender);

impl Outbox {
    /// Queues a message. If the queue is full, disconnects the client: it would miss events without notice.
    pub(crate) fn push(&self, message: Message) {
        if let Err(TrySendError::Full(_)) = self.0.try_send(message) {
            self.overflow();
        }
    }

    /// Disconnects a client that reads too slowly.
    pub(crate) fn overflow(&self) {
        let reason = "a slow reader: its queue is full";
        self.0
            .close(CloseFrame::new(CloseCode::POLICY_VIOLATION, reason));
    }

    /// Queues a message, and waits for space if necessary. Returns whether the connection is open.
    pub(crate) async fn send(&self, message: Message) -> bool {
        self.0.send(message).await.is_ok()
    }

    /// Answers EVENT and AUTH.
    pub(crate) fn ok(&self, id: &EventId, rejection: Option<&Rejection>) {
        let accepted = rejection.is_none_or(|rejection| rejection.code == DUPLICATE);
        let reason = rejection.map_or("", |rejection| &rejection.reason);
        self.push(text(|out| relay::push_ok(out, id, accepted, reason)));
    }

    pub(crate) fn closed(&self, id: &Id, reason: &str) {
        self.push(text(|out| relay::push_closed(out, id, reason)));
    }

    pub(crate) fn notice(&self, reason: &str) {
        self.push(text(|out| relay::push_notice(out, reason)));
    }

    pub(crate) fn auth(&self, challenge: &str) {
        self.push(text(|out| relay::push_auth(out, challenge)));
    }

    pub(crate) fn neg_err(&self, id: &Id, reason: &str, max_records: Option<u64>) {
        self.push(text(|out| {
            relay::push_neg_err(out, id, reason, max_records);
        }));
    }
}

/// Builds a text message.
pub(crate) fn text(write: impl FnOnce(&mut Vec<u8>)) -> Message {
    let mut out = Vec::with_capacity(160);
    write(&mut out);
    // The writers produce UTF-8 only.
    Message::Text(Utf8Bytes::try_from(Bytes::from(out)).unwrap_or_default())
}

/// Builds an EVENT message with the JSON of the publisher.
pub(crate) fn event(id: &Id, json: &str) -> Message {
    text(|out| relay::push_event(out, id, json))
}
