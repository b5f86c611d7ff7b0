//! A relay in this process that tests script message by message.

use std::net::SocketAddr;
use std::time::Duration;

use polywire_nostr::message::{client, relay};
use polywire_nostr::{
    ClientMessage, Event, EventBuilder, EventId, Filter, KeyPair, MessageLimits, Profile, RelayUrl,
    SecretKey, SubscriptionId,
};
use polywire_nostr_client::{Relay, RelayOptions, Subscription, SubscriptionItem};
use polywire_rpc::websocket::{WebSocket, WebSocketEndpoint};
use polywire_rpc::{Methods, RunningServer, Server};
use tokio::sync::mpsc;

/// The timeout of operations that must finish, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The timeout of operations that must not finish.
pub(crate) const SHORT: Duration = Duration::from_millis(50);

/// Awaits a future that must finish.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    match tokio::time::timeout(TIMEOUT, future).await {
        Ok(output) => output,
        Err(_) => panic!("still waiting after {TIMEOUT:?}"),
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    within(async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

pub(crate) struct TestRelay {
    running: RunningServer,
    sockets: mpsc::UnboundedReceiver<WebSocket>,
}

impl TestRelay {
    pub(crate) async fn start() -> Self {
        let (sender, sockets) = mpsc::unbounded_channel();
        let endpoint = WebSocketEndpoint::new(move |socket| {
            let sender = sender.clone();
            async move { drop(sender.send(socket)) }
        });
        let server = Server::methods(Methods::new()).websocket("/", endpoint);
        let server = server.build().unwrap();
        let address: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let running = server.listen(address).await.unwrap();
        Self { running, sockets }
    }

    pub(crate) fn url(&self) -> RelayUrl {
        RelayUrl::parse(&format!("ws://{}", self.running.address())).unwrap()
    }

    pub(crate) fn client(&self) -> Relay {
        Relay::connect_with(&self.url(), options())
    }

    /// Returns the next connection of a client.
    pub(crate) async fn accept(&mut self) -> Peer {
        Peer(within(self.sockets.recv()).await.unwrap())
    }
}

/// The relay's side of a connection.
pub(crate) struct Peer(WebSocket);

impl Peer {
    /// Returns the next message of the client, or `None` at the end of the connection.
    pub(crate) async fn next(&mut self) -> Option<String> {
        let message = within(self.0.recv()).await?.ok()?;
        Some(message.as_text().unwrap().to_owned())
    }

    pub(crate) async fn expect<T>(&mut self, read: impl Fn(ClientMessage<'_>) -> Option<T>) -> T {
        let text = self.next().await.expect("a message");
        let limits = MessageLimits::DEFAULT;
        let message = ClientMessage::parse(&text, Profile::STRICT, &limits).unwrap();
        read(message).unwrap_or_else(|| panic!("another message: {text}"))
    }

    pub(crate) async fn event(&mut self) -> Event {
        let read = |message: ClientMessage<'_>| match message {
            ClientMessage::Event(event) => Some(event.to_owned()),
            _ => None,
        };
        self.expect(read).await
    }

    pub(crate) async fn auth(&mut self) -> Event {
        let read = |message: ClientMessage<'_>| match message {
            ClientMessage::Auth(event) => Some(event.to_owned()),
            _ => None,
        };
        self.expect(read).await
    }

    pub(crate) async fn req(&mut self) -> (SubscriptionId<'static>, Vec<Filter>) {
        let read = |message: ClientMessage<'_>| match message {
            ClientMessage::Req {
                subscription,
                filters,
            } => Some((subscription.into_owned(), filters)),
            _ => None,
        };
        self.expect(read).await
    }

    pub(crate) async fn count(&mut self) -> SubscriptionId<'static> {
        let read = |message: ClientMessage<'_>| match message {
            ClientMessage::Count { subscription, .. } => Some(subscription.into_owned()),
            _ => None,
        };
        self.expect(read).await
    }

    pub(crate) async fn close(&mut self) -> SubscriptionId<'static> {
        let read = |message: ClientMessage<'_>| match message {
            ClientMessage::Close(subscription) => Some(subscription.into_owned()),
            _ => None,
        };
        self.expect(read).await
    }

    pub(crate) async fn send_text(&self, text: impl Into<String>) {
        within(self.0.send(text.into())).await.unwrap();
    }

    pub(crate) async fn send_with(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut out);
        self.send_text(String::from_utf8(out).unwrap()).await;
    }

    pub(crate) async fn binary(&self, bytes: Vec<u8>) {
        self.0.send(bytes).await.unwrap();
    }

    pub(crate) async fn ok(&self, id: &EventId, accepted: bool, message: &str) {
        self.send_with(|out| relay::push_ok(out, id, accepted, message))
            .await;
    }

    pub(crate) async fn send_event(&self, id: &SubscriptionId<'_>, event: &Event) {
        let json = event.as_ref();
        self.send_with(|out| relay::push_event(out, id, json.as_json()))
            .await;
    }

    pub(crate) async fn eose(&self, id: &SubscriptionId<'_>) {
        self.send_with(|out| relay::push_eose(out, id)).await;
    }

    pub(crate) async fn closed(&self, id: &SubscriptionId<'_>, message: &str) {
        self.send_with(|out| relay::push_closed(out, id, message))
            .await;
    }

    pub(crate) async fn neg_msg(&self, id: &SubscriptionId<'_>, message: &[u8]) {
        self.send_with(|out| client::push_neg_msg(out, id, message))
            .await;
    }
}

/// Options for a client that reconnects almost immediately.
pub(crate) fn options() -> RelayOptions {
    RelayOptions::new()
        .backoff(Duration::from_millis(1), Duration::from_millis(10))
        .request_timeout(TIMEOUT)
}

pub(crate) fn keys() -> KeyPair {
    KeyPair::from(SecretKey::from_bytes([7; 32]).unwrap())
}

/// A note with this `created_at`.
pub(crate) fn note(content: &str, created_at: u64) -> Event {
    EventBuilder::new(1, content, created_at).sign(&keys())
}

pub(crate) fn notes() -> [Filter; 1] {
    [Filter::new().with_kinds([1])]
}

pub(crate) async fn next(subscription: &mut Subscription) -> Option<SubscriptionItem> {
    within(subscription.recv()).await
}

pub(crate) async fn next_event(subscription: &mut Subscription) -> Event {
    match next(subscription).await {
        Some(SubscriptionItem::Event(event)) => event,
        other => panic!("{other:?}"),
    }
}
