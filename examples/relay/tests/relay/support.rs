//! A relay and clients for tests.

use std::time::Duration;

use clap::Parser;
use polywire_nostr::message::client;
use polywire_nostr::{
    Event, EventBuilder, Filter, KeyPair, MessageLimits, Profile, RelayMessage, SubscriptionId,
};
use polywire_rpc::websocket::{CloseFrame, Message, WebSocket, WebSocketLimits};
use relay::{Options, RunningRelay};
use tempfile::TempDir;

/// A relay in this process with its own data directory.
pub(crate) struct TestRelay {
    running: Option<RunningRelay>,
    directory: TempDir,
    arguments: Vec<String>,
}

impl TestRelay {
    pub(crate) async fn start() -> Self {
        Self::with(&[]).await
    }

    pub(crate) async fn with(arguments: &[&str]) -> Self {
        let mut relay = Self {
            running: None,
            directory: TempDir::new().unwrap(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
        };
        relay.run().await;
        relay
    }

    async fn run(&mut self) {
        let directory = self.directory.path().display().to_string();
        let defaults = [
            "relay",
            "--listen",
            "127.0.0.1:0",
            "--cache",
            "8",
            "--data",
            &directory,
        ];
        let unlimited = ["--events-per-second", "0", "--requests-per-second", "0"];
        let mut all: Vec<_> = defaults.iter().map(ToString::to_string).collect();
        for option in unlimited.chunks(2) {
            if !self.arguments.contains(&option[0].to_owned()) {
                all.extend(option.iter().map(ToString::to_string));
            }
        }
        all.extend(self.arguments.iter().cloned());
        let options = Options::parse_from(all);
        self.running = Some(relay::start(options).await.unwrap());
    }

    pub(crate) async fn stop(&mut self) {
        self.running.take().unwrap().shutdown().await;
    }

    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.run().await;
    }

    pub(crate) fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    pub(crate) fn address(&self) -> String {
        self.running.as_ref().unwrap().address().to_string()
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://{}", self.address())
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(&self.url()).await
    }
}

/// A Nostr client.
pub(crate) struct Client {
    pub(crate) socket: WebSocket,
    pub(crate) challenge: String,
}

/// The time limit for an answer. It only ends tests that fail.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Client {
    pub(crate) async fn connect(url: &str) -> Self {
        let limits = WebSocketLimits::DEFAULT.with_max_message_bytes(16 << 20);
        let socket = WebSocket::builder(url).limits(limits).connect().await;
        let mut client = Self {
            socket: socket.unwrap(),
            challenge: String::new(),
        };
        let first = client.next().await;
        let RelayMessage::Auth { challenge } = read(&first) else {
            panic!("{first}")
        };
        client.challenge = challenge.into_owned();
        client
    }

    pub(crate) async fn send(&self, text: impl Into<Message>) {
        self.socket.send(text).await.unwrap();
    }

    /// Returns the next message.
    pub(crate) async fn next(&mut self) -> String {
        let next = tokio::time::timeout(TIMEOUT, self.socket.recv()).await;
        let message = next.expect("timeout").expect("closed").unwrap();
        message.as_text().unwrap().to_owned()
    }

    /// Skips messages until the connection is closed. Returns the close frame.
    pub(crate) async fn closed(&mut self) -> CloseFrame {
        let ended = async { while let Some(Ok(_)) = self.socket.recv().await {} };
        tokio::time::timeout(TIMEOUT, ended).await.expect("open");
        self.socket.close_frame().unwrap()
    }

    /// Publishes an event. Returns the answer.
    pub(crate) async fn publish(&mut self, event: &Event) -> (bool, String) {
        self.send(published(event)).await;
        self.ok(event).await
    }

    /// Returns the answer to EVENT or AUTH.
    pub(crate) async fn ok(&mut self, event: &Event) -> (bool, String) {
        let answer = self.next().await;
        match read(&answer) {
            RelayMessage::Ok {
                id,
                accepted,
                message,
            } => {
                assert_eq!(id, *event.as_ref().id());
                (accepted, message.into_owned())
            }
            _ => panic!("{answer}"),
        }
    }

    /// Publishes an event, which must be accepted.
    pub(crate) async fn accepted(&mut self, event: &Event) {
        assert_eq!(self.publish(event).await, (true, String::new()));
    }

    /// Subscribes. Returns the stored events.
    pub(crate) async fn subscribe(&mut self, id: &str, filters: &[Filter]) -> Vec<Event> {
        let subscription = SubscriptionId::new(id).unwrap();
        self.send(text(|out| client::push_req(out, &subscription, filters)))
            .await;
        self.stored(id)
            .await
            .unwrap_or_else(|reason| panic!("closed: {reason}"))
    }

    /// Returns the stored events of a subscription, or the reason of CLOSED.
    pub(crate) async fn stored(&mut self, id: &str) -> Result<Vec<Event>, String> {
        let mut events = Vec::new();
        loop {
            let answer = self.next().await;
            match read(&answer) {
                RelayMessage::Event {
                    subscription,
                    event,
                } if subscription.as_str() == id => {
                    events.push(event.to_owned());
                }
                RelayMessage::Eose(subscription) if subscription.as_str() == id => {
                    return Ok(events);
                }
                RelayMessage::Closed {
                    subscription,
                    message,
                } if subscription.as_str() == id => {
                    return Err(message.into_owned());
                }
                _ => panic!("{answer}"),
            }
        }
    }

    /// Returns the stored events that match a filter. Closes the subscription.
    pub(crate) async fn query(&mut self, filter: Filter) -> Vec<Event> {
        let events = self.subscribe("query", &[filter]).await;
        self.send(r#"["CLOSE","query"]"#).await;
        events
    }

    /// Returns the next event of a subscription.
    pub(crate) async fn live(&mut self, id: &str) -> Event {
        let answer = self.next().await;
        match read(&answer) {
            RelayMessage::Event {
                subscription,
                event,
            } if subscription.as_str() == id => event.to_owned(),
            _ => panic!("{answer}"),
        }
    }

    /// Authenticates (NIP-42). Returns the answer.
    pub(crate) async fn authenticate(&mut self, keys: &KeyPair, url: &str) -> (bool, String) {
        let event = EventBuilder::new(22242, "", now())
            .tag(["relay", url])
            .tag(["challenge", &self.challenge])
            .sign(keys);
        let auth = text(|out| client::push_auth(out, event.as_ref().as_json()));
        self.send(auth).await;
        self.ok(&event).await
    }
}

pub(crate) fn read(text: &str) -> RelayMessage<'_> {
    RelayMessage::parse(text, Profile::STRICT, &MessageLimits::default()).unwrap()
}

pub(crate) fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

pub(crate) fn published(event: &Event) -> String {
    text(|out| client::push_event(out, event.as_ref().as_json()))
}

pub(crate) fn now() -> u64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()
}

pub(crate) fn keys(number: u8) -> KeyPair {
    polywire_nostr::SecretKey::from_bytes([number; 32])
        .unwrap()
        .into()
}

/// Returns a signed note.
pub(crate) fn note(author: u8, content: &str, created_at: u64) -> Event {
    EventBuilder::new(1, content, created_at).sign(&keys(author))
}

/// Returns the contents of events.
pub(crate) fn contents(events: &[Event]) -> Vec<String> {
    let contents = events
        .iter()
        .map(|event| event.as_ref().content().into_owned());
    contents.collect()
}
