//! The clients of nostr-sdk, nostr-tools and `polywire-nostr-client` against the example `relay`.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nostr_sdk::prelude::{
    self as sdk, Client, JsonUtil as _, MemoryDatabase, MemoryDatabaseOptions,
    RelayPoolNotification, SyncDirection, SyncOptions,
};
use polywire_interop::{Case, Folder};
use polywire_nostr::{Event, EventBuilder, EventId, EventRef, Filter, RelayUrl, TagLetter};
use polywire_nostr_client::{
    RelayOptions, SubscribeOptions, Subscription, SubscriptionItem, SyncOptions as OurSyncOptions,
};
use serde_json::{Value, json};

use crate::fixtures::{NOW, TIMEOUT, ids, keys, notes, numbered_notes, records, run, secret_hex};

/// A process of the example relay, with its data in a temporary folder.
struct ExampleRelay {
    child: Child,
    url: String,
    folder: Folder,
}

impl ExampleRelay {
    /// Starts the relay on a free port, and waits until it listens.
    fn start(arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let (child, url) = Self::spawn(&folder, "127.0.0.1:0", arguments);
        Self { child, url, folder }
    }

    /// Kills the relay with SIGKILL.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts the relay again after [`kill`](Self::kill), on the same port and with the same data.
    fn restart(&mut self) {
        let address = self
            .url
            .strip_prefix("ws://")
            .unwrap()
            .trim_end_matches('/');
        let (child, url) = Self::spawn(&self.folder, address, &[]);
        assert_eq!(url, self.url);
        self.child = child;
    }

    fn spawn(folder: &Folder, address: &str, arguments: &[&str]) -> (Child, String) {
        let mut child = Command::new(polywire_interop::relay())
            .args(["--listen", address, "--events-per-second", "0"])
            .args(["--requests-per-second", "0", "--data"])
            .arg(folder.file("relay"))
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The log contains a line with url="ws://127.0.0.1:1".
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = loop {
            let line = lines.next().expect("the relay has exited").unwrap();
            let start = line.find("ws://").map(|at| &line[at..]);
            if let Some(url) = start.and_then(|rest| rest.split('"').next()) {
                break url.to_owned();
            }
        };
        // Drains the log, so that the relay does not block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        (child, url)
    }
}

impl Drop for ExampleRelay {
    fn drop(&mut self) {
        // Errors mean that the relay has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An event whose content was changed after it was signed.
fn forged() -> String {
    let event = EventBuilder::new(1, "right", NOW).sign(&keys(1));
    event.as_ref().as_json().replacen("right", "wrong", 1)
}

fn theirs(event: &Event) -> sdk::Event {
    sdk::Event::from_json(event.as_ref().as_json()).unwrap()
}

/// Asserts that `found` are the JSON texts of the expected events, in this order.
fn assert_same<'e>(
    found: impl IntoIterator<Item = String>,
    expected: impl IntoIterator<Item = &'e Event>,
) {
    let mut found = found.into_iter();
    for expected in expected {
        let found = found.next().expect("an event is missing");
        assert_eq!(EventRef::parse(&found).unwrap(), expected.as_ref());
    }
    assert_eq!(found.next(), None);
}

async fn client(url: &str, author: u8) -> Client {
    let client = Client::builder()
        .signer(sdk::Keys::parse(&secret_hex(author)).unwrap())
        .database(MemoryDatabase::with_opts(MemoryDatabaseOptions {
            events: true,
            max_events: None,
        }))
        .build();
    client.add_relay(url).await.unwrap();
    client.connect().await;
    client
}

#[test]
fn nostr_sdk_client_and_the_example_relay() {
    let _case = Case::begin("nostr_sdk_client_and_the_example_relay");
    let relay = ExampleRelay::start(&[]);
    run(async {
        let client = client(&relay.url, 1).await;
        let notes = notes(NOW - 100);
        for note in &notes {
            let output = client.send_event(&theirs(note)).await.unwrap();
            assert!(output.failed.is_empty(), "{output:?}");
            assert_eq!(output.val.as_bytes(), note.as_ref().id().as_bytes());
        }
        let kind = sdk::Filter::new().kind(sdk::Kind::TextNote);
        let stored = client.fetch_events(kind.clone(), TIMEOUT).await.unwrap();
        assert_same(
            stored.iter().map(|event| event.as_json()),
            notes.iter().rev(),
        );
        let one = kind.clone().hashtag("plain");
        assert_eq!(client.fetch_events(one, TIMEOUT).await.unwrap().len(), 1);
        let connection = client.relay(&relay.url).await.unwrap();
        let count = connection.count_events(kind, TIMEOUT).await.unwrap();
        assert_eq!(count, notes.len());

        // A forged event is rejected with a reason.
        let forged = sdk::Event::from_json(forged()).unwrap();
        let output = client.send_event(&forged).await;
        let output = format!("{output:?}");
        assert!(output.contains("invalid: "), "{output}");

        // New events.
        let mut notifications = client.notifications();
        let likes = sdk::Filter::new().kind(sdk::Kind::Reaction);
        let subscribed = client.subscribe(likes, None).await.unwrap();
        assert!(subscribed.failed.is_empty());
        let like = EventBuilder::new(7, "+", NOW).sign(&keys(2));
        let other = self::client(&relay.url, 2).await;
        other.send_event(&theirs(&like)).await.unwrap();
        let received = tokio::time::timeout(TIMEOUT, async {
            loop {
                if let RelayPoolNotification::Event { event, .. } =
                    notifications.recv().await.unwrap()
                {
                    return event;
                }
            }
        });
        assert_same([received.await.unwrap().as_json()], [&like]);
        client.shutdown().await;
        other.shutdown().await;
    });
}

#[test]
fn nostr_sdk_client_authenticates_to_the_example_relay() {
    let _case = Case::begin("nostr_sdk_client_authenticates_to_the_example_relay");
    let relay = ExampleRelay::start(&["--require-auth"]);
    run(async {
        let note = EventBuilder::new(1, "mine", NOW).sign(&keys(1));
        // A client without a signer is rejected.
        let anonymous = Client::default();
        anonymous.add_relay(&relay.url).await.unwrap();
        anonymous.connect().await;
        let rejected = format!("{:?}", anonymous.send_event(&theirs(&note)).await);
        assert!(rejected.contains("auth-required"), "{rejected}");
        anonymous.shutdown().await;

        let client = client(&relay.url, 1).await;
        let output = client.send_event(&theirs(&note)).await.unwrap();
        assert!(output.failed.is_empty(), "{output:?}");
        let stored = client.fetch_events(sdk::Filter::new().kind(sdk::Kind::TextNote), TIMEOUT);
        assert_same(
            stored.await.unwrap().iter().map(|event| event.as_json()),
            [&note],
        );
        client.shutdown().await;
    });
}

#[test]
fn nostr_sdk_client_reconciles_with_the_example_relay() {
    let _case = Case::begin("nostr_sdk_client_reconciles_with_the_example_relay");
    let relay = ExampleRelay::start(&[]);
    run(async {
        let all = numbered_notes(300, NOW - 500);
        let publisher = client(&relay.url, 1).await;
        for note in &all[..250] {
            let output = publisher.send_event(&theirs(note)).await.unwrap();
            assert!(output.failed.is_empty(), "{output:?}");
        }
        publisher.shutdown().await;
        // The client lacks the first 40 events, and the relay lacks the last 50.
        let client = client(&relay.url, 2).await;
        for note in &all[40..] {
            client.database().save_event(&theirs(note)).await.unwrap();
        }
        let kind = sdk::Filter::new().kind(sdk::Kind::TextNote);
        let options = SyncOptions::default().direction(SyncDirection::Both);
        let found = client.sync(kind.clone(), &options).await.unwrap();
        assert!(found.failed.is_empty(), "{found:?}");
        let set = |ids: &std::collections::HashSet<sdk::EventId>| -> BTreeSet<EventId> {
            let ids = ids.iter().map(|id| EventId::from_bytes(*id.as_bytes()));
            ids.collect()
        };
        assert_eq!(set(&found.val.local), ids(&all[250..]));
        assert_eq!(set(&found.val.remote), ids(&all[..40]));
        assert_eq!(set(&found.val.received), ids(&all[..40]));
        // Now both have all events.
        assert_eq!(
            client.database().count(kind.clone()).await.unwrap(),
            all.len()
        );
        let connection = client.relay(&relay.url).await.unwrap();
        assert_eq!(
            connection.count_events(kind, TIMEOUT).await.unwrap(),
            all.len()
        );
        client.shutdown().await;
    });
}

fn texts(events: &[Event]) -> Vec<&str> {
    let texts = events.iter().map(|event| event.as_ref().as_json());
    texts.collect()
}

fn strings(value: &Value) -> Vec<String> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn nostr_tools_pool_and_the_example_relay() {
    let case = Case::begin("nostr_tools_pool_and_the_example_relay");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let relay = ExampleRelay::start(&[]);
    let url = &relay.url;
    let notes = notes(NOW - 100);
    let answers = tools.call("publish", &json!({ "url": url, "events": texts(&notes) }));
    assert_eq!(strings(&answers), vec![""; notes.len()]);
    let found = tools.call("query", &json!({ "url": url, "filter": { "kinds": [1] } }));
    assert_same(strings(&found), notes.iter().rev());

    let quoted = notes
        .iter()
        .find(|note| note.as_ref().content() == "\"".repeat(7))
        .unwrap();
    let filters = [
        Filter::new().with_ids([*quoted.as_ref().id()]),
        Filter::new()
            .with_tag(TagLetter::T, ["\"".repeat(7)])
            .unwrap(),
    ];
    for filter in filters {
        let filter: Value = serde_json::from_str(&filter.to_json()).unwrap();
        let found = tools.call("query", &json!({ "url": url, "filter": filter }));
        assert_same(strings(&found), [quoted]);
    }
    // Two filters in one COUNT.
    let filters = json!([{ "kinds": [1, 2] }, { "#t": ["plain"] }]);
    let count = tools.call("count", &json!({ "url": url, "filters": filters }));
    assert_eq!(count, notes.len());

    let like = EventBuilder::new(7, "+", NOW).sign(&keys(2));
    let with = json!({ "url": url, "filter": { "kinds": [7] }, "event": like.as_ref().as_json() });
    let live = tools.call("live", &with);
    assert_eq!(live["received"], json!(["eose", like.as_ref().as_json()]));
    assert_eq!(live["ended"], json!(["received"]));

    // A duplicate is accepted, and a forged event is rejected.
    let with = json!({ "url": url, "events": [like.as_ref().as_json(), forged()] });
    let answers = tools.call("publish", &with);
    assert!(
        answers[0].as_str().unwrap().starts_with("duplicate: "),
        "{answers}"
    );
    let rejected = answers[1]["rejected"].as_str().unwrap();
    assert!(rejected.starts_with("invalid: "), "{answers}");
}

#[test]
fn nostr_tools_pool_authenticates_to_the_example_relay() {
    let case = Case::begin("nostr_tools_pool_authenticates_to_the_example_relay");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let relay = ExampleRelay::start(&["--require-auth"]);
    let note = EventBuilder::new(1, "mine", NOW).sign(&keys(1));
    let mut with = json!({ "url": relay.url, "events": texts(std::slice::from_ref(&note)) });
    let answers = tools.call("publish", &with);
    let rejected = answers[0]["rejected"].as_str().unwrap();
    assert!(rejected.starts_with("auth-required: "), "{answers}");
    with["secret"] = json!(secret_hex(1));
    assert_eq!(tools.call("publish", &with), json!([""]));

    let like = EventBuilder::new(1, "+", NOW + 1).sign(&keys(1));
    let with = json!({
        "url": relay.url, "filter": { "kinds": [1] }, "event": like.as_ref().as_json(),
        "secret": secret_hex(1),
    });
    let live = tools.call("live", &with);
    let received = json!([note.as_ref().as_json(), "eose", like.as_ref().as_json()]);
    assert_eq!(
        (&live["received"], &live["ended"]),
        (&received, &json!(["received"]))
    );
}

#[test]
fn nostr_tools_reconciles_with_the_example_relay() {
    let case = Case::begin("nostr_tools_reconciles_with_the_example_relay");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let relay = ExampleRelay::start(&[]);
    let all = numbered_notes(200, NOW - 500);
    let with = json!({ "url": relay.url, "events": texts(&all[..150]) });
    assert_eq!(strings(&tools.call("publish", &with)), vec![""; 150]);
    let record = |event: &Event| {
        let event = event.as_ref();
        json!([event.created_at(), event.id().to_string()])
    };
    let records: Vec<Value> = all[40..].iter().map(record).collect();
    let with = json!({ "url": relay.url, "filter": { "kinds": [1] }, "records": records });
    let found = tools.call("synchronize", &with);
    assert_eq!(found["reason"], Value::Null);
    let set = |name: &str| {
        let ids = strings(&found[name]).into_iter();
        ids.map(|id| EventId::from_hex(&id).unwrap())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        (set("have"), set("need")),
        (ids(&all[150..]), ids(&all[..40]))
    );
}

/// Receives the next item. Panics if there is none in time.
async fn next(subscription: &mut Subscription) -> SubscriptionItem {
    let item = tokio::time::timeout(TIMEOUT, subscription.recv());
    item.await
        .expect("no item in time")
        .expect("the subscription has ended")
}

#[test]
fn our_client_and_the_example_relay() {
    let _case = Case::begin("our_client_and_the_example_relay");
    let mut server = ExampleRelay::start(&[]);
    run(async {
        let url = RelayUrl::parse(&server.url).unwrap();
        let options = RelayOptions::new()
            .backoff(Duration::from_millis(100), Duration::from_millis(200))
            .request_timeout(TIMEOUT);
        let relay = polywire_nostr_client::Relay::connect_with(&url, options);
        let notes = notes(NOW - 100);
        for note in &notes {
            let outcome = relay.publish(note).await.unwrap();
            assert!(!outcome.duplicate, "{outcome:?}");
        }

        // Stored events, newest first, and a new event.
        let kinds = Filter::new().with_kinds([1, 7]);
        let mut subscription = relay.subscribe([kinds.clone()], SubscribeOptions::new());
        for note in notes.iter().rev() {
            let item = next(&mut subscription).await;
            assert_eq!(item, SubscriptionItem::Event(note.clone()));
        }
        assert_eq!(next(&mut subscription).await, SubscriptionItem::EndOfStored);
        let like = EventBuilder::new(7, "+", NOW + 1).sign(&keys(2));
        relay.publish(&like).await.unwrap();
        assert_eq!(
            next(&mut subscription).await,
            SubscriptionItem::Event(like.clone())
        );

        // NIP-77: the client lacks the first 40 events, and the relay lacks the last 50.
        let all = numbered_notes(300, NOW - 10_000);
        for note in &all[..250] {
            relay.publish(note).await.unwrap();
            // The open subscription delivers them too.
            assert_eq!(
                next(&mut subscription).await,
                SubscriptionItem::Event(note.clone())
            );
        }
        let filter = Filter::new().with_kinds([1]).with_until(NOW - 1_000);
        let difference = relay.sync(filter, records(&all[40..]), OurSyncOptions::new());
        let difference = difference.await.unwrap();
        assert_eq!(
            difference.have.into_iter().collect::<BTreeSet<_>>(),
            ids(&all[250..])
        );
        let need = difference.need.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(need, ids(&all[..40]));
        let missing = Filter::new().with_ids(difference.need);
        let missing = relay.fetch([missing], TIMEOUT).await.unwrap();
        assert_eq!(ids(&missing), ids(&all[..40]));

        // The relay is killed. An event that is published meanwhile is sent after the reconnect.
        server.kill();
        let mut states = relay.watch_state();
        let disconnected = states.wait_for(|state| !state.is_connected());
        tokio::time::timeout(TIMEOUT, disconnected)
            .await
            .unwrap()
            .unwrap();
        let late = EventBuilder::new(1, "published without a connection", NOW + 2).sign(&keys(1));
        let publishing = tokio::spawn({
            let (relay, late) = (relay.clone(), late.clone());
            async move { relay.publish(&late).await }
        });
        server.restart();
        assert!(!publishing.await.unwrap().unwrap().duplicate);
        assert_eq!(relay.stats().connections, 2);

        // The subscription resumes: it delivers the new event, and no event a second time.
        assert_eq!(
            next(&mut subscription).await,
            SubscriptionItem::Event(late.clone())
        );
        let marker = EventBuilder::new(7, "-", NOW + 3).sign(&keys(2));
        relay.publish(&marker).await.unwrap();
        assert_eq!(
            next(&mut subscription).await,
            SubscriptionItem::Event(marker.clone())
        );

        // The relay has kept all events.
        let stored = relay.fetch([kinds], TIMEOUT).await.unwrap();
        let published = notes
            .iter()
            .chain(&all[..250])
            .chain([&like, &late, &marker]);
        assert_eq!(ids(&stored), ids(published));
        relay.shutdown();
    });
}
