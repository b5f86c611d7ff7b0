//! Client connections. The messages of a connection are handled one after the other.

use std::collections::HashMap;
use std::sync::Arc;

use polywire_nostr::message::MachineReadablePrefix as Prefix;
use polywire_nostr::{ClientMessage, EventId, EventRef, KindClass, Profile, PublicKey, auth};
use polywire_rpc::layers::Firewall;
use polywire_rpc::server::Peer;
use polywire_rpc::websocket::{CloseCode, CloseFrame, Message, WebSocket};
use tokio::sync::watch;

use crate::live::Subscription;
use crate::outbox::{Id, Outbox};
use crate::policy::{self, Rejection, Result, rejection};
use crate::reconciliation::{Reconciliation, TOO_MANY_RECORDS};
use crate::relay::Relay;
use crate::store::{EPHEMERAL, now};

/// After this many signatures, a connection yields to other tasks of its thread.
const YIELD_AFTER: u32 = 8;

/// The maximum age of an AUTH event, in seconds.
const MAX_AUTH_AGE: u64 = 600;

/// The maximum number of public keys that a connection may authenticate.
const MAX_KEYS: usize = 16;

pub(crate) struct Connection<'r> {
    pub(crate) relay: &'r Relay,
    pub(crate) outbox: Outbox,
    /// The public keys that the client has authenticated (NIP-42).
    pub(crate) keys: watch::Sender<Vec<PublicKey>>,
    pub(crate) subscriptions: HashMap<Id, Arc<Subscription>>,
    pub(crate) reconciliations: HashMap<Id, Reconciliation>,
    challenge: String,
    peer: Peer,
    verified: u32,
}

/// The subject of a client message. It determines the answer to a rejected message.
enum Target {
    /// OK
    Event(EventId),
    /// CLOSED
    Subscription(Id),
    /// NEG-ERR
    Reconciliation(Id),
    /// NOTICE
    Connection,
}

/// Serves a connection until it is closed or the relay stops.
pub(crate) async fn serve(relay: Arc<Relay>, mut socket: WebSocket) {
    let mut connection = Connection {
        relay: &relay,
        outbox: Outbox(socket.sender()),
        keys: watch::Sender::default(),
        subscriptions: HashMap::new(),
        reconciliations: HashMap::new(),
        challenge: uuid::Uuid::new_v4().simple().to_string(),
        peer: socket.peer().clone(),
        verified: 0,
    };
    let mut stop = relay.stop.subscribe();
    let stopping = tokio::select! {
        () = connection.run(&mut socket) => false,
        // A dropped sender also means stop.
        _ = stop.wait_for(|stop| *stop) => true,
    };
    if stopping {
        connection.stop(&socket).await;
    }
    tracing::debug!(peer = ?connection.peer, close = ?socket.close_frame(), "disconnected");
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        for subscription in self.subscriptions.values() {
            self.relay.live.remove(subscription);
        }
    }
}

impl Connection<'_> {
    async fn run(&mut self, socket: &mut WebSocket) {
        self.outbox.auth(&self.challenge);
        while let Some(message) = socket.recv().await {
            match message {
                Ok(Message::Text(text)) => self.message(&text).await,
                Ok(Message::Binary(_)) => {
                    let rejection = rejection("binary", Prefix::Invalid, "messages must be text");
                    self.reject(Target::Connection, &rejection);
                }
                Err(error) => tracing::debug!(%error, "a connection failed"),
            }
        }
    }

    /// Answers publications and closes subscriptions before the relay stops.
    async fn stop(&mut self, socket: &WebSocket) {
        self.relay.store.drain().await;
        let reason = "the relay is stopping";
        for id in self.subscriptions.keys() {
            self.outbox.closed(id, &Prefix::Error.with(reason));
        }
        socket.close(CloseFrame::new(CloseCode::GOING_AWAY, reason));
    }

    async fn message(&mut self, text: &str) {
        let event = ClientMessage::peek_event_id(text);
        if let Some(id) = event
            && let Err(rejection) = self.check_id(&id)
        {
            return self.reject(Target::Event(id), &rejection);
        }
        match ClientMessage::parse(text, Profile::STRICT, &self.relay.limits) {
            Ok(message) => self.handle(message).await,
            Err(error) => {
                let subscription = ClientMessage::peek_subscription(text);
                let subscription = subscription.map(|id| Target::Subscription(id.into_owned()));
                let target = event.map(Target::Event).or(subscription);
                self.reject(target.unwrap_or(Target::Connection), &error.into());
            }
        }
    }

    async fn handle(&mut self, message: ClientMessage<'_>) {
        use ClientMessage as M;
        let (target, result) = match message {
            M::Event(event) => {
                let result = self.event(&event).await;
                (Target::Event(*event.id()), result)
            }
            M::Auth(event) => (Target::Event(*event.id()), self.auth(&event)),
            M::Req {
                subscription,
                filters,
            } => {
                let id = subscription.into_owned();
                let result = self.request(&id, filters).await;
                (Target::Subscription(id), result)
            }
            M::Count {
                subscription,
                filters,
            } => {
                let id = subscription.into_owned();
                let result = self.count(&id, filters).await;
                (Target::Subscription(id), result)
            }
            M::Close(id) => return self.close(&id),
            M::NegOpen {
                subscription,
                filter,
                message,
            } => {
                let id = subscription.into_owned();
                let result = self.neg_open(&id, filter, &message).await;
                (Target::Reconciliation(id), result)
            }
            M::NegMsg {
                subscription,
                message,
            } => {
                let id = subscription.into_owned();
                let result = self.neg_msg(&id, &message);
                (Target::Reconciliation(id), result)
            }
            M::NegClose(id) => return drop(self.reconciliations.remove(id.as_str())),
            _ => {
                let reason = "this type of message is not supported";
                let rejection = rejection("unsupported", Prefix::Unsupported, reason);
                (Target::Connection, Err(rejection))
            }
        };
        if let Err(rejection) = result {
            self.reject(target, &rejection);
        }
    }

    /// Answers a rejected message, and closes its subscription or reconciliation.
    fn reject(&mut self, target: Target, rejection: &Rejection) {
        self.relay.metrics.rejected(rejection.code);
        let reason = &rejection.reason;
        match target {
            Target::Event(id) => self.outbox.ok(&id, Some(rejection)),
            Target::Subscription(id) => {
                self.close(&id);
                self.outbox.closed(&id, reason);
            }
            Target::Reconciliation(id) => {
                self.reconciliations.remove(&id);
                let max = self.relay.options.max_records;
                let max = (rejection.code == TOO_MANY_RECORDS).then_some(max);
                self.outbox.neg_err(&id, reason, max);
            }
            Target::Connection => self.outbox.notice(reason),
        }
    }

    /// Checks the rate limit and the authentication for a request.
    pub(crate) fn admit_request(&self) -> Result<()> {
        self.limit(&self.relay.request_rate, "requests")?;
        self.check_auth()
    }

    /// Checks what does not need the content of an event: the rate limit, the authentication, and duplicates.
    fn check_id(&self, id: &EventId) -> Result<()> {
        self.limit(&self.relay.event_rate, "events")?;
        self.check_auth()?;
        match self.relay.store.snapshot().contains(id)? {
            true => Err(policy::duplicate()),
            false => Ok(()),
        }
    }

    fn limit(&self, firewall: &Firewall, what: &str) -> Result<()> {
        firewall.request(&self.peer).map_err(|time| {
            let reason = format!("too many {what} from this address: retry after {time:.0?}");
            rejection("rate-limited", Prefix::RateLimited, reason)
        })
    }

    fn check_auth(&self) -> Result<()> {
        if self.relay.options.require_auth && self.keys.borrow().is_empty() {
            let reason = "this relay requires authentication";
            return Err(rejection("auth-required", Prefix::AuthRequired, reason));
        }
        Ok(())
    }

    async fn event(&mut self, event: &EventRef<'_>) -> Result<()> {
        self.verified += 1;
        if self.verified.is_multiple_of(YIELD_AFTER) {
            tokio::task::yield_now().await;
        }
        policy::check(event, &self.relay.options, now())?;
        event.verify()?;
        if KindClass::of(event.kind()) == KindClass::Ephemeral {
            self.relay.metrics.accepted(1);
            self.outbox.ok(event.id(), None);
            let (events, event) = (self.relay.events.clone(), event.to_owned());
            let send = move || events.send(vec![(EPHEMERAL, event)]);
            // A full queue blocks. The receiver lives as long as the relay.
            let _ = tokio::task::spawn_blocking(send).await;
            return Ok(());
        }
        let outbox = self.outbox.clone();
        self.relay.store.publish(event.to_owned(), outbox).await
    }

    /// Authenticates a public key (NIP-42).
    fn auth(&self, event: &EventRef<'_>) -> Result<()> {
        self.limit(&self.relay.event_rate, "events")?;
        let url = &self.relay.url;
        auth::check(event, &self.challenge, url, now(), MAX_AUTH_AGE).map_err(|error| {
            let reason = match error {
                auth::AuthError::Relay => format!("{error}: the URL of this relay is {url}"),
                _ => error.to_string(),
            };
            let code = "auth";
            Rejection { code, reason }
        })?;
        event.verify()?;
        let mut keys = self.keys.borrow().clone();
        keys.retain(|key| key != event.pubkey());
        if keys.len() >= MAX_KEYS {
            return Err(rejection("auth", Prefix::Restricted, "too many keys"));
        }
        keys.push(*event.pubkey());
        self.keys.send_replace(keys);
        self.outbox.ok(event.id(), None);
        Ok(())
    }
}
