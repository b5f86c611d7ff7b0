//! A connection: its messages one after the other.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use polywire_nostr::message::Prefix;
use polywire_nostr::{
    ClientMessage, EventRef, KindClass, Profile, PublicKey, SubscriptionId, auth,
};
use polywire_rpc::websocket::{CloseCode, CloseFrame, Message, WebSocket};

use crate::live::Subscription;
use crate::outbox::Outbox;
use crate::policy::{self, Rejection};
use crate::rate::Allowance;
use crate::reconciliation::Reconciliation;
use crate::relay::Relay;
use crate::store::{EPHEMERAL, Reader, now};

/// The signatures that are verified before other connections of the thread have their turn.
const TURN: u32 = 8;

/// The seconds that a proof of identity may be old.
const MAX_PROOF_AGE: u64 = 600;

/// The keys that one connection may prove.
const MAX_KEYS: usize = 16;

pub(crate) struct Connection<'r> {
    pub(crate) relay: &'r Relay,
    pub(crate) outbox: Outbox,
    challenge: String,
    pub(crate) reader: Arc<RwLock<Reader>>,
    pub(crate) subscriptions: HashMap<SubscriptionId<'static>, Arc<Subscription>>,
    pub(crate) reconciliations: HashMap<SubscriptionId<'static>, Reconciliation>,
    allowance: Arc<Allowance>,
    verified: u32,
}

/// Serves a connection until it or the relay ends.
pub(crate) async fn serve(relay: Arc<Relay>, mut socket: WebSocket) {
    let address = socket.peer().address().map(|address| address.ip());
    let mut connection = Connection {
        relay: &relay,
        outbox: Outbox::new(socket.sender()),
        challenge: uuid::Uuid::new_v4().simple().to_string(),
        reader: Arc::default(),
        subscriptions: HashMap::new(),
        reconciliations: HashMap::new(),
        allowance: relay.rates.of(address),
        verified: 0,
    };
    tracing::debug!(?address, "connected");
    let mut stopped = relay.stop.subscribe();
    let stopping = tokio::select! {
        () = connection.run(&mut socket) => false,
        // Whoever could tell is gone, or has told.
        () = async { drop(stopped.wait_for(|stopped| *stopped).await) } => true,
    };
    if stopping {
        connection.end(&socket).await;
    }
    tracing::debug!(?address, close = ?socket.close_frame(), "disconnected");
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        for subscription in self.subscriptions.values() {
            self.relay.live.remove(subscription);
        }
        let open = i64::try_from(self.subscriptions.len()).unwrap_or(i64::MAX);
        self.relay.metrics.subscriptions(-open);
    }
}

impl Connection<'_> {
    async fn run(&mut self, socket: &mut WebSocket) {
        self.outbox.auth(&self.challenge);
        loop {
            match socket.recv().await {
                Some(Ok(Message::Text(text))) => self.message(&text).await,
                Some(Ok(Message::Binary(_))) => {
                    self.relay.metrics.rejected("binary");
                    self.outbox
                        .notice(&Prefix::Invalid.with("binary messages are not understood"));
                }
                Some(Err(error)) => {
                    tracing::debug!(%error, "a connection failed");
                    return;
                }
                None => return,
            }
        }
    }

    /// The relay stops: what was published is answered, and subscriptions are closed.
    async fn end(&mut self, socket: &WebSocket) {
        self.relay.store.drain().await;
        let reason = Prefix::Error.with("the relay is stopping");
        for id in self.subscriptions.keys() {
            self.outbox.closed(id, &reason);
        }
        socket.close(CloseFrame::new(
            CloseCode::GOING_AWAY,
            "the relay is stopping",
        ));
    }

    async fn message(&mut self, text: &str) {
        let id = ClientMessage::peek_event_id(text);
        if let Some(id) = &id {
            let checked = self.admit().and_then(|()| self.new_only(id));
            match checked {
                Ok(true) => {}
                Ok(false) => {
                    self.relay.metrics.rejected("duplicate");
                    return self
                        .outbox
                        .ok(id, true, "duplicate: the event is stored already");
                }
                Err(rejection) => {
                    self.relay.metrics.rejected(rejection.code);
                    return self.outbox.ok(id, false, &rejection.reason);
                }
            }
        }
        let message = ClientMessage::parse(text, Profile::STRICT, &self.relay.limits);
        let message = match message {
            Ok(message) => message,
            Err(error) => {
                self.relay.metrics.rejected(error.reason.code());
                let reason = error.to_string();
                return match (id, ClientMessage::peek_subscription(text)) {
                    (Some(id), _) => self.outbox.ok(&id, false, &reason),
                    (None, Some(id)) => self.outbox.closed(&id, &reason),
                    (None, None) => self.outbox.notice(&reason),
                };
            }
        };
        match message {
            ClientMessage::Event(event) => self.event(&event).await,
            ClientMessage::Auth(event) => self.auth(&event),
            ClientMessage::Req {
                subscription,
                filters,
            } => {
                self.request(subscription.into_owned(), filters).await;
            }
            ClientMessage::Count {
                subscription,
                filters,
            } => self.count(&subscription, filters).await,
            ClientMessage::Close(subscription) => self.close(&subscription),
            ClientMessage::NegOpen {
                subscription,
                filter,
                message,
            } => {
                self.neg_open(subscription.into_owned(), filter, &message)
                    .await;
            }
            ClientMessage::NegMsg {
                subscription,
                message,
            } => self.neg_msg(&subscription, &message),
            ClientMessage::NegClose(subscription) => {
                self.reconciliations.remove(subscription.as_str());
            }
            _ => self
                .outbox
                .notice(&Prefix::Unsupported.with("this message is not understood")),
        }
    }

    /// Whether events are taken from this client at the moment.
    fn admit(&self) -> Result<(), Rejection> {
        if !self.allowance.events.take() {
            let most = self.relay.options.events_per_second;
            let reason = format!("no more than {most} events a second");
            return Err(Rejection::new("rate-limited", Prefix::RateLimited, &reason));
        }
        self.known()
    }

    /// Whether the client has proven who it is, if it must.
    fn known(&self) -> Result<(), Rejection> {
        match self.relay.options.require_auth && self.keys().is_empty() {
            true => Err(Rejection::new(
                "auth-required",
                Prefix::AuthRequired,
                "this relay serves clients that have proven who they are",
            )),
            false => Ok(()),
        }
    }

    /// Whether a request is taken from this client at the moment.
    pub(crate) fn admit_request(&self) -> Result<(), Rejection> {
        if !self.allowance.requests.take() {
            let most = self.relay.options.requests_per_second;
            let reason = format!("no more than {most} requests a second");
            return Err(Rejection::new("rate-limited", Prefix::RateLimited, &reason));
        }
        self.known()
    }

    fn new_only(&self, id: &polywire_nostr::EventId) -> Result<bool, Rejection> {
        let known = self.relay.store.snapshot().has(id);
        known.map(|known| !known).map_err(|error| {
            tracing::error!(%error, "the database could not be read");
            Rejection::new("storage", Prefix::Error, &error.to_string())
        })
    }

    pub(crate) fn keys(&self) -> Vec<PublicKey> {
        let reader = self.reader.read().unwrap_or_else(PoisonError::into_inner);
        reader.keys.clone()
    }

    async fn event(&mut self, event: &EventRef<'_>) {
        self.verified += 1;
        if self.verified % TURN == 0 {
            tokio::task::yield_now().await;
        }
        let checked = policy::check(event, &self.relay.options, now());
        if let Err(rejection) = checked.and_then(|()| policy::verify(event)) {
            self.relay.metrics.rejected(rejection.code);
            return self.outbox.ok(event.id(), false, &rejection.reason);
        }
        if KindClass::of(event.kind()) == KindClass::Ephemeral {
            self.relay.metrics.accepted(1);
            self.outbox.ok(event.id(), true, "");
            return self
                .relay
                .broadcast(vec![(EPHEMERAL, event.to_owned())])
                .await;
        }
        let outbox = self.outbox.clone();
        self.relay.store.publish(event.to_owned(), outbox).await;
    }

    fn auth(&self, event: &EventRef<'_>) {
        let reject = |code, reason: &str| {
            self.relay.metrics.rejected(code);
            self.outbox.ok(event.id(), false, reason);
        };
        if !self.allowance.events.take() {
            return reject("rate-limited", "rate-limited: too many proofs");
        }
        let url = self.relay.url();
        if let Err(error) = auth::check(event, &self.challenge, url, now(), MAX_PROOF_AGE) {
            let reason = match error {
                auth::AuthError::Relay => format!("{error}: here it is {url}"),
                _ => error.to_string(),
            };
            return reject("auth", &reason);
        }
        if let Err(rejection) = policy::verify(event) {
            return reject(rejection.code, &rejection.reason);
        }
        let mut reader = self.reader.write().unwrap_or_else(PoisonError::into_inner);
        if !reader.keys.contains(event.pubkey()) {
            if reader.keys.len() >= MAX_KEYS {
                return reject("auth", "restricted: too many keys");
            }
            reader.keys.push(*event.pubkey());
        }
        self.outbox.ok(event.id(), true, "");
    }
}
