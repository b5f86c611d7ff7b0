//! Our messages over our WebSocket against the relay of `nostr-relay-builder`, in this process.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use nostr_relay_builder::prelude::{
    LocalRelay, RateLimit, RelayBuilder, RelayBuilderNip42, RelayBuilderNip42Mode,
};
use polywire::rpc::websocket::{Message, WebSocket};
use polywire_interop::Case;
use polywire_nostr::message::{ClientMessage, MachineReadablePrefix, RelayMessage};
use polywire_nostr::negentropy::Initiator;
use polywire_nostr::{
    Event, EventBuilder, EventId, Filter, MessageLimits, Profile, SubscriptionId, TagLetter, auth,
};

use crate::fixtures::{NOW, TIMEOUT, ids, keys, notes, numbered_notes, records, run};

/// Starts a relay. Returns it with its URL.
pub(crate) async fn start(builder: RelayBuilder) -> (LocalRelay, String) {
    let limit = RateLimit {
        max_reqs: 1_000,
        notes_per_minute: 100_000,
    };
    let relay = LocalRelay::new(builder.rate_limit(limit));
    relay.run().await.unwrap();
    let url = relay.url().await.to_string();
    (relay, url)
}

async fn relay(builder: RelayBuilder) -> (LocalRelay, Connection) {
    let (relay, url) = start(builder).await;
    let connection = Connection::open(url).await;
    (relay, connection)
}

struct Connection {
    socket: WebSocket,
    url: String,
    /// The number of queries. Each has a distinct id, because the relay can send events after
    /// CLOSE.
    queries: u32,
}

impl Connection {
    async fn open(url: String) -> Self {
        Self {
            socket: WebSocket::connect(&url).await.unwrap(),
            url,
            queries: 0,
        }
    }

    async fn send(&self, message: ClientMessage<'_>) {
        self.socket.send(message.to_json()).await.unwrap();
    }

    async fn receive(&mut self) -> Message {
        let received = tokio::time::timeout(TIMEOUT, self.socket.recv());
        received.await.unwrap().unwrap().unwrap()
    }

    /// Receives the next message that is not an event. The relay can send events of closed
    /// subscriptions that it sent before it received CLOSE.
    async fn answer(&mut self) -> Message {
        loop {
            let received = self.receive().await;
            if !matches!(read(&received), RelayMessage::Event { .. }) {
                return received;
            }
        }
    }

    /// Publishes an event. Returns whether it was accepted, and the text of OK.
    async fn publish(&mut self, event: &Event) -> (bool, String) {
        self.send(ClientMessage::Event(event.as_ref())).await;
        self.accepted(event).await
    }

    async fn accepted(&mut self, event: &Event) -> (bool, String) {
        let received = self.answer().await;
        match read(&received) {
            RelayMessage::Ok {
                id,
                accepted,
                message,
            } => {
                assert_eq!(id, *event.as_ref().id());
                (accepted, message.into_owned())
            }
            other => panic!("{other:?}"),
        }
    }

    /// Returns the stored events for a filter: subscribes until EOSE, and closes the subscription.
    async fn stored(&mut self, filter: Filter) -> Vec<Event> {
        self.queries += 1;
        let id = format!("query:{}", self.queries);
        let stored = self.subscribe(&id, filter).await;
        self.send(ClientMessage::Close(subscription(&id))).await;
        stored
    }

    /// Subscribes. Returns the stored events.
    async fn subscribe(&mut self, id: &str, filter: Filter) -> Vec<Event> {
        let subscription = subscription(id);
        self.send(ClientMessage::Req {
            subscription: subscription.clone(),
            filters: vec![filter],
        })
        .await;
        let mut stored = Vec::new();
        loop {
            let received = self.receive().await;
            match read(&received) {
                RelayMessage::Event {
                    subscription: of,
                    event,
                } => {
                    event.verify().unwrap();
                    if of == subscription {
                        stored.push(event.to_owned());
                    }
                }
                RelayMessage::Eose(of) => {
                    assert_eq!(of, subscription);
                    return stored;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

fn read(message: &Message) -> RelayMessage<'_> {
    let text = message.as_text().unwrap();
    let read = RelayMessage::parse(text, Profile::STRICT, &MessageLimits::DEFAULT);
    read.unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn subscription(id: &str) -> SubscriptionId<'static> {
    SubscriptionId::new(id.to_owned()).unwrap()
}

#[test]
fn nostr_relay_builder_stores_our_events() {
    let _case = Case::begin("nostr_relay_builder_stores_our_events");
    run(async {
        let (_relay, mut connection) = relay(RelayBuilder::default()).await;
        let published = notes(NOW);
        assert!(published.len() > 40);
        for event in &published {
            let accepted = connection.publish(event).await;
            assert!(accepted.0, "{}: {event:?}", accepted.1);
        }
        let stored = connection.stored(Filter::new()).await;
        assert_eq!(stored.len(), published.len());
        // Newest first.
        for (stored, published) in stored.iter().zip(published.iter().rev()) {
            assert_eq!(stored.as_ref(), published.as_ref());
        }
        // A repeated event is a duplicate. A forged event is rejected.
        let (accepted, text) = connection.publish(&published[0]).await;
        assert_eq!(
            (accepted, MachineReadablePrefix::split(&text).0),
            (true, Some(MachineReadablePrefix::Duplicate))
        );
        let json = published[1]
            .as_ref()
            .as_json()
            .replacen("\"kind\":1", "\"kind\":2", 1);
        let forged = Event::parse(&json).unwrap();
        let (accepted, text) = connection.publish(&forged).await;
        assert_eq!(
            (accepted, MachineReadablePrefix::split(&text).0),
            (false, Some(MachineReadablePrefix::Invalid))
        );
    });
}

#[test]
fn nostr_relay_builder_answers_our_filters() {
    let _case = Case::begin("nostr_relay_builder_answers_our_filters");
    run(async {
        let (_relay, mut connection) = relay(RelayBuilder::default()).await;
        let mut published = Vec::new();
        for number in 0..60_u64 {
            let author = keys(1 + (number % 3) as u8);
            let topic = ["tea", "coffee", "a\"b\\\u{2028}"][number as usize % 3];
            let event = EventBuilder::new([1, 7][number as usize % 2], "", NOW + number);
            let event = event
                .tag(["t", topic])
                .tag(["p", &author.public_key().to_string()]);
            published.push(event.sign(&author));
            assert!(connection.publish(published.last().unwrap()).await.0);
        }
        let one = keys(1).public_key();
        let filters = [
            Filter::new().with_kinds([7]),
            Filter::new().with_authors([one]),
            Filter::new().with_ids([*published[5].as_ref().id(), EventId::from_bytes([1; 32])]),
            Filter::new()
                .with_tag(TagLetter::T, ["tea", "a\"b\\\u{2028}"])
                .unwrap(),
            Filter::new()
                .with_tag(TagLetter::P, [one.to_string()])
                .unwrap()
                .with_kinds([1]),
            Filter::new().with_since(NOW + 10).with_until(NOW + 20),
            Filter::new().with_tag(TagLetter::T, ["te"]).unwrap(),
        ];
        for filter in filters {
            let matches = |event: &&Event| filter.matches(&event.as_ref());
            let expected: Vec<Event> = published.iter().filter(matches).cloned().collect();
            let stored = connection.stored(filter.clone()).await;
            assert_eq!(ids(&stored), ids(&expected), "{}", filter.to_json());
            // COUNT (NIP-45).
            let count = ClientMessage::Count {
                subscription: subscription("count"),
                filters: vec![filter.clone()],
            };
            connection.send(count).await;
            let received = connection.answer().await;
            let RelayMessage::Count { count, .. } = read(&received) else {
                panic!("{received:?}")
            };
            assert_eq!(count.count, expected.len() as u64, "{}", filter.to_json());
        }
        let newest = connection.stored(Filter::new().with_limit(2)).await;
        assert_eq!(newest[..], [published[59].clone(), published[58].clone()]);

        // New events are sent to a subscription until it is closed.
        let filter = Filter::new().with_kinds([1111]);
        assert_eq!(connection.subscribe("live", filter.clone()).await, []);
        let mut other = Connection::open(connection.url.clone()).await;
        let event = |text| EventBuilder::new(1111, text, NOW).sign(&keys(2));
        let (later, after) = (event("later"), event("after it was closed"));
        assert!(other.publish(&later).await.0);
        loop {
            let received = connection.receive().await;
            let RelayMessage::Event {
                subscription,
                event,
            } = read(&received)
            else {
                panic!("{received:?}")
            };
            if subscription.as_str() == "live" {
                assert_eq!(event, later.as_ref());
                break;
            }
        }
        connection
            .send(ClientMessage::Close(subscription("live")))
            .await;
        // The relay answers this query after it has processed CLOSE.
        assert_eq!(connection.stored(filter.clone()).await, [later]);
        assert!(other.publish(&after).await.0);
        let stored = connection.stored(filter.with_since(NOW)).await;
        assert_eq!(stored.len(), 2);
        let quiet = Duration::from_millis(300);
        while let Ok(received) = tokio::time::timeout(quiet, connection.receive()).await {
            let RelayMessage::Event { subscription, .. } = read(&received) else {
                panic!("{received:?}")
            };
            assert_ne!(subscription.as_str(), "live");
        }
    });
}

#[test]
fn nostr_relay_builder_authenticates_us() {
    let _case = Case::begin("nostr_relay_builder_authenticates_us");
    run(async {
        let nip42 = RelayBuilderNip42 {
            mode: RelayBuilderNip42Mode::Both,
        };
        let (_relay, mut connection) = relay(RelayBuilder::default().nip42(nip42)).await;
        let event = EventBuilder::new(1, "mine", NOW).sign(&keys(1));
        connection.send(ClientMessage::Event(event.as_ref())).await;
        let received = connection.receive().await;
        let RelayMessage::Auth { challenge } = read(&received) else {
            panic!("{received:?}")
        };
        let (accepted, text) = connection.accepted(&event).await;
        assert_eq!(
            (accepted, MachineReadablePrefix::split(&text).0),
            (false, Some(MachineReadablePrefix::AuthRequired))
        );

        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let answer = |challenge: &str| {
            let answer = EventBuilder::new(auth::KIND, "", now);
            let answer = answer
                .tag(["relay", &connection.url])
                .tag(["challenge", challenge]);
            answer.sign(&keys(1))
        };
        let (wrong, right) = (answer("wrong"), answer(&challenge));
        connection.send(ClientMessage::Auth(wrong.as_ref())).await;
        assert!(!connection.accepted(&wrong).await.0);
        connection.send(ClientMessage::Auth(right.as_ref())).await;
        assert_eq!(connection.accepted(&right).await, (true, String::new()));
        assert!(connection.publish(&event).await.0);
        assert_eq!(connection.stored(Filter::new()).await, [event]);
    });
}

#[test]
fn nostr_relay_builder_reconciles_with_us() {
    let _case = Case::begin("nostr_relay_builder_reconciles_with_us");
    run(async {
        let (_relay, mut connection) = relay(RelayBuilder::default()).await;
        let all = numbered_notes(200, NOW);
        for event in &all[..150] {
            assert!(connection.publish(event).await.0);
        }
        // We lack the first 40 events, and the relay lacks the last 50.
        let mut initiator = Initiator::new(records(&all[40..]));
        let open = ClientMessage::NegOpen {
            subscription: subscription("sync"),
            filter: Filter::new().with_kinds([1]),
            message: initiator.initial_message().unwrap(),
        };
        connection.send(open).await;
        let (mut have, mut need) = (BTreeSet::new(), BTreeSet::new());
        loop {
            let received = connection.receive().await;
            let RelayMessage::NegMsg { message, .. } = read(&received) else {
                panic!("{received:?}")
            };
            let step = initiator.reconcile(&message).unwrap();
            have.extend(step.have);
            need.extend(step.need);
            let Some(message) = step.next_message else {
                break;
            };
            let subscription = subscription("sync");
            connection
                .send(ClientMessage::NegMsg {
                    subscription,
                    message,
                })
                .await;
        }
        connection
            .send(ClientMessage::NegClose(subscription("sync")))
            .await;
        assert_eq!((have, need), (ids(&all[150..]), ids(&all[..40])));
    });
}
