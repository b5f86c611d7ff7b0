//! What is sent to a client.

use bytes::Bytes;
use polywire_nostr::EventId;
use polywire_nostr::message::{SubscriptionId, relay};
use polywire_rpc::websocket::{
    CloseCode, CloseFrame, Message, TrySendError, Utf8Bytes, WebSocketSender,
};

/// The id of a subscription or reconciliation.
pub(crate) type Name = SubscriptionId<'static>;

/// The messages to a client. Cloning counts up.
#[derive(Clone)]
pub(crate) struct Outbox(WebSocketSender);

impl Outbox {
    pub(crate) const fn new(sender: WebSocketSender) -> Self {
        Self(sender)
    }

    /// Sends a message. A client whose queue is full is disconnected: it would miss events and not know.
    pub(crate) fn push(&self, message: Message) {
        if let Err(TrySendError::Full(_)) = self.0.try_send(message) {
            self.overflow();
        }
    }

    /// Disconnects a client that does not take what it is sent.
    pub(crate) fn overflow(&self) {
        let reason = "a slow reader: its queue is full";
        self.0
            .close(CloseFrame::new(CloseCode::POLICY_VIOLATION, reason));
    }

    /// Sends a message once there is room. Answers whether the client is still there.
    pub(crate) async fn send(&self, message: Message) -> bool {
        self.0.send(message).await.is_ok()
    }

    pub(crate) fn ok(&self, id: &EventId, accepted: bool, reason: &str) {
        self.push(text(|out| relay::push_ok(out, id, accepted, reason)));
    }

    pub(crate) fn closed(&self, id: &SubscriptionId<'_>, reason: &str) {
        self.push(text(|out| relay::push_closed(out, id, reason)));
    }

    pub(crate) fn notice(&self, reason: &str) {
        self.push(text(|out| relay::push_notice(out, reason)));
    }

    pub(crate) fn auth(&self, challenge: &str) {
        self.push(text(|out| relay::push_auth(out, challenge)));
    }

    pub(crate) fn neg_err(&self, id: &SubscriptionId<'_>, reason: &str, most: Option<u64>) {
        self.push(text(|out| relay::push_neg_err(out, id, reason, most)));
    }
}

/// Writes a message.
pub(crate) fn text(write: impl FnOnce(&mut Vec<u8>)) -> Message {
    let mut out = Vec::with_capacity(160);
    write(&mut out);
    // Only text is written.
    Message::Text(Utf8Bytes::try_from(Bytes::from(out)).unwrap_or_default())
}

/// An event for a subscription, as it came from its publisher.
pub(crate) fn event(id: &SubscriptionId<'_>, json: &str) -> Message {
    text(|out| relay::push_event(out, id, json))
}
