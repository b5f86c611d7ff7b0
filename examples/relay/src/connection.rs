//! A connection: its messages one after the other.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use polywire_nostr::message::Prefix;
use polywire_nostr::{ClientMessage, EventId, EventRef, KindClass, Profile, PublicKey, auth};
use polywire_rpc::server::Peer;
use polywire_rpc::websocket::{CloseCode, CloseFrame, Message, WebSocket};

use crate::live::Subscription;
use crate::outbox::{Name, Outbox};
use crate::policy::{self, Rejection, rejection};
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
    pub(crate) subscriptions: HashMap<Name, Arc<Subscription>>,
    pub(crate) reconciliations: HashMap<Name, Reconciliation>,
    peer: Peer,
    verified: u32,
}

/// Serves a connection until it or the relay ends.
pub(crate) async fn serve(relay: Arc<Relay>, mut socket: WebSocket) {
    let mut connection = Connection {
        relay: &relay,
        outbox: Outbox::new(socket.sender()),
        challenge: uuid::Uuid::new_v4().simple().to_string(),
        reader: Arc::default(),
        subscriptions: HashMap::new(),
        reconciliations: HashMap::new(),
        peer: socket.peer().clone(),
        verified: 0,
    };
    tracing::debug!(peer = ?connection.peer, "connected");
    let mut stopped = relay.stop.subscribe();
    let stopping = tokio::select! {
        () = connection.run(&mut socket) => false,
        // Whoever could tell is gone, or has told.
        () = async { drop(stopped.wait_for(|stopped| *stopped).await) } => true,
    };
    if stopping {
        connection.end(&socket).await;
    }
    tracing::debug!(peer = ?connection.peer, close = ?socket.close_frame(), "disconnected");
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        for subscription in self.subscriptions.values() {
            self.relay.live.remove(subscription);
        }
        self.relay
            .metrics
            .subscriptions(-(self.subscriptions.len() as i64));
    }
}

impl Connection<'_> {
    async fn run(&mut self, socket: &mut WebSocket) {
        self.outbox.auth(&self.challenge);
        while let Some(message) = socket.recv().await {
            match message {
                Ok(Message::Text(text)) => self.message(&text).await,
                Ok(Message::Binary(_)) => {
                    self.relay.metrics.rejected("binary");
                    self.outbox
                        .notice("invalid: binary messages are not understood");
                }
                Err(error) => tracing::debug!(%error, "a connection failed"),
            }
        }
    }

    /// The relay stops: what was published is answered, and subscriptions are closed.
    async fn end(&mut self, socket: &WebSocket) {
        self.relay.store.drain().await;
        let reason = "the relay is stopping";
        for id in self.subscriptions.keys() {
            self.outbox.closed(id, &Prefix::Error.with(reason));
        }
        socket.close(CloseFrame::new(CloseCode::GOING_AWAY, reason));
    }

    async fn message(&mut self, text: &str) {
        let event = ClientMessage::peek_event_id(text);
        if let Some(id) = &event {
            let stored = self
                .admit(true)
                .and_then(|()| Ok(self.relay.store.snapshot().has(id)?));
            match stored {
                Ok(false) => {}
                Ok(true) => {
                    self.relay.metrics.rejected("duplicate");
                    return self
                        .outbox
                        .ok(id, true, "duplicate: the event is stored already");
                }
                Err(rejection) => return self.refuse_event(id, &rejection),
            }
        }
        let message = match ClientMessage::parse(text, Profile::STRICT, &self.relay.limits) {
            Ok(message) => message,
            Err(error) => {
                let rejection = Rejection::from(error);
                return match (event, ClientMessage::peek_subscription(text)) {
                    (Some(id), _) => self.refuse_event(&id, &rejection),
                    (None, Some(id)) => self.refuse(&id.into_owned(), &rejection),
                    (None, None) => {
                        self.relay.metrics.rejected(rejection.code);
                        self.outbox.notice(&rejection.reason);
                    }
                };
            }
        };
        self.answer(message).await;
    }

    async fn answer(&mut self, message: ClientMessage<'_>) {
        use ClientMessage as M;
        match message {
            M::Event(event) => {
                if let Err(rejection) = self.event(&event).await {
                    self.refuse_event(event.id(), &rejection);
                }
            }
            M::Auth(event) => match self.auth(&event) {
                Ok(()) => self.outbox.ok(event.id(), true, ""),
                Err(rejection) => self.refuse_event(event.id(), &rejection),
            },
            M::Req {
                subscription,
                filters,
            } => {
                let id = subscription.into_owned();
                if let Err(rejection) = self.request(&id, filters).await {
                    self.close(&id);
                    self.refuse(&id, &rejection);
                }
            }
            M::Count {
                subscription,
                filters,
            } => {
                let id = subscription.into_owned();
                if let Err(rejection) = self.count(&id, filters).await {
                    self.refuse(&id, &rejection);
                }
            }
            M::Close(id) => self.close(&id),
            M::NegOpen {
                subscription,
                filter,
                message,
            } => {
                let id = subscription.into_owned();
                let opened = self.neg_open(&id, filter, &message).await;
                self.neg_end(&id, opened);
            }
            M::NegMsg {
                subscription,
                message,
            } => {
                let id = subscription.into_owned();
                let answered = self.neg_msg(&id, &message);
                self.neg_end(&id, answered);
            }
            M::NegClose(id) => drop(self.reconciliations.remove(id.as_str())),
            _ => self
                .outbox
                .notice("unsupported: this message is not understood"),
        }
    }

    /// Whether an event, or else a request, is taken from this client at the moment.
    pub(crate) fn admit(&self, event: bool) -> Result<(), Rejection> {
        self.limit(event)?;
        if self.relay.options.require_auth && self.keys().is_empty() {
            let reason = "this relay serves clients that have proven who they are";
            return Err(rejection("auth-required", Prefix::AuthRequired, reason));
        }
        Ok(())
    }

    fn limit(&self, event: bool) -> Result<(), Rejection> {
        let (firewall, what) = match event {
            true => (&self.relay.events, "events"),
            false => (&self.relay.requests, "requests"),
        };
        firewall.request(&self.peer).map_err(|time| {
            let reason = format!("too many {what} from this address: again in {time:.0?}");
            rejection("rate-limited", Prefix::RateLimited, reason)
        })
    }

    fn refuse_event(&self, id: &EventId, rejection: &Rejection) {
        self.relay.metrics.rejected(rejection.code);
        self.outbox.ok(id, false, &rejection.reason);
    }

    fn refuse(&self, id: &Name, rejection: &Rejection) {
        self.relay.metrics.rejected(rejection.code);
        self.outbox.closed(id, &rejection.reason);
    }

    /// The keys that the client has proven to have.
    pub(crate) fn keys(&self) -> Vec<PublicKey> {
        let reader = self.reader.read().unwrap_or_else(PoisonError::into_inner);
        reader.keys.clone()
    }

    async fn event(&mut self, event: &EventRef<'_>) -> Result<(), Rejection> {
        self.verified += 1;
        if self.verified.is_multiple_of(TURN) {
            tokio::task::yield_now().await;
        }
        policy::check(event, &self.relay.options, now())?;
        event.verify()?;
        if KindClass::of(event.kind()) == KindClass::Ephemeral {
            self.relay.metrics.accepted(1);
            self.outbox.ok(event.id(), true, "");
            self.relay
                .broadcast(vec![(EPHEMERAL, event.to_owned())])
                .await;
        } else {
            let outbox = self.outbox.clone();
            self.relay.store.publish(event.to_owned(), outbox).await;
        }
        Ok(())
    }

    fn auth(&self, event: &EventRef<'_>) -> Result<(), Rejection> {
        self.limit(true)?;
        let Some(url) = self.relay.url() else {
            return Err(rejection("auth", Prefix::Error, "the relay is starting"));
        };
        auth::check(event, &self.challenge, url, now(), MAX_PROOF_AGE).map_err(|error| {
            let reason = match error {
                auth::AuthError::Relay => format!("{error}: here it is {url}"),
                _ => error.to_string(),
            };
            Rejection {
                code: "auth",
                reason,
            }
        })?;
        event.verify()?;
        let mut reader = self.reader.write().unwrap_or_else(PoisonError::into_inner);
        reader.keys.retain(|key| key != event.pubkey());
        if reader.keys.len() >= MAX_KEYS {
            return Err(rejection("auth", Prefix::Restricted, "too many keys"));
        }
        reader.keys.push(*event.pubkey());
        Ok(())
    }
}
