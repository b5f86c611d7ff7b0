//! The clients of `nostr-sdk` and of nostr-tools against the example `relay`.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nostr_sdk::prelude::{
    self as sdk, Client, JsonUtil as _, MemoryDatabase, MemoryDatabaseOptions,
    RelayPoolNotification, SyncDirection, SyncOptions,
};
use polywire_interop::{Case, Folder};
use polywire_nostr::{Event, EventBuilder, EventRef, Filter, TagLetter};
use serde_json::{Value, json};

use crate::hard::{NOW, events, keys, secret_hex};

const PATIENCE: Duration = Duration::from_secs(30);

fn run(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future);
}

/// The example on a free port, with its data in a folder of its own.
struct Relay {
    child: Child,
    url: String,
    _folder: Folder,
}

impl Relay {
    fn start(arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let mut child = Command::new(polywire_interop::relay())
            .args(["--listen", "127.0.0.1:0", "--events-per-second", "0"])
            .args(["--requests-per-second", "0", "--data"])
            .arg(folder.file("relay"))
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // ... url="ws://127.0.0.1:1" ...
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut url = None;
        while url.is_none() {
            let line = lines.next().expect("it has ended").unwrap();
            let start = line.find("ws://").map(|at| &line[at..]);
            url = start.and_then(|rest| rest.split('"').next().map(str::to_owned));
        }
        // It would wait for somebody to read the rest.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            child,
            url: url.unwrap(),
            _folder: folder,
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Events of kind 1 with hard text, one a second.
fn notes() -> Vec<Event> {
    let events = events(&keys(1));
    let events = events
        .iter()
        .filter(|event| event.as_ref().as_json().len() < 60_000);
    let note = |(number, event): (usize, &Event)| {
        let event = event.as_ref();
        let tags = event.tags().map(|tag| tag.items());
        let builder = EventBuilder::new(1, event.content(), NOW - 100 + number as u64);
        builder.tags(tags).sign(&keys(1))
    };
    events.enumerate().map(note).collect()
}

/// An event that the relay has not seen, with other content than was signed.
fn forged() -> String {
    let event = EventBuilder::new(1, "right", NOW).sign(&keys(1));
    event.as_ref().as_json().replacen("right", "wrong", 1)
}

fn ids(events: &[Event]) -> BTreeSet<String> {
    let ids = events.iter().map(|event| event.as_ref().id().to_string());
    ids.collect()
}

fn theirs(event: &Event) -> sdk::Event {
    sdk::Event::from_json(event.as_ref().as_json()).unwrap()
}

/// Events of theirs are the same as ours: each once, in this order.
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
    let relay = Relay::start(&[]);
    run(async {
        let client = client(&relay.url, 1).await;
        let notes = notes();
        for note in &notes {
            let output = client.send_event(&theirs(note)).await.unwrap();
            assert!(output.failed.is_empty(), "{output:?}");
            assert_eq!(output.val.as_bytes(), note.as_ref().id().as_bytes());
        }
        let kind = sdk::Filter::new().kind(sdk::Kind::TextNote);
        let stored = client.fetch_events(kind.clone(), PATIENCE).await.unwrap();
        assert_same(
            stored.iter().map(|event| event.as_json()),
            notes.iter().rev(),
        );
        let one = kind.clone().hashtag("plain");
        assert_eq!(client.fetch_events(one, PATIENCE).await.unwrap().len(), 1);
        let connection = client.relay(&relay.url).await.unwrap();
        let count = connection.count_events(kind, PATIENCE).await.unwrap();
        assert_eq!(count, notes.len());

        // A forged one is refused, and the relay says why.
        let forged = sdk::Event::from_json(forged()).unwrap();
        let output = client.send_event(&forged).await;
        let said = format!("{output:?}");
        assert!(said.contains("invalid: "), "{said}");

        // Live.
        let mut notifications = client.notifications();
        let likes = sdk::Filter::new().kind(sdk::Kind::Reaction);
        let subscribed = client.subscribe(likes, None).await.unwrap();
        assert!(subscribed.failed.is_empty());
        let like = EventBuilder::new(7, "+", NOW).sign(&keys(2));
        let other = self::client(&relay.url, 2).await;
        other.send_event(&theirs(&like)).await.unwrap();
        let heard = tokio::time::timeout(PATIENCE, async {
            loop {
                if let RelayPoolNotification::Event { event, .. } =
                    notifications.recv().await.unwrap()
                {
                    return event;
                }
            }
        });
        assert_same([heard.await.unwrap().as_json()], [&like]);
        client.shutdown().await;
        other.shutdown().await;
    });
}

#[test]
fn nostr_sdk_client_authenticates_to_the_example_relay() {
    let _case = Case::begin("nostr_sdk_client_authenticates_to_the_example_relay");
    let relay = Relay::start(&["--require-auth"]);
    run(async {
        let note = EventBuilder::new(1, "mine", NOW).sign(&keys(1));
        // Whoever cannot sign is refused.
        let nobody = Client::default();
        nobody.add_relay(&relay.url).await.unwrap();
        nobody.connect().await;
        let refused = format!("{:?}", nobody.send_event(&theirs(&note)).await);
        assert!(refused.contains("auth-required"), "{refused}");
        nobody.shutdown().await;

        let client = client(&relay.url, 1).await;
        let output = client.send_event(&theirs(&note)).await.unwrap();
        assert!(output.failed.is_empty(), "{output:?}");
        let stored = client.fetch_events(sdk::Filter::new().kind(sdk::Kind::TextNote), PATIENCE);
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
    let relay = Relay::start(&[]);
    run(async {
        let note = |number: u64| {
            EventBuilder::new(1, number.to_string(), NOW - 500 + number / 3).sign(&keys(1))
        };
        let all: Vec<Event> = (0..300).map(note).collect();
        let publisher = client(&relay.url, 1).await;
        for note in &all[..250] {
            let output = publisher.send_event(&theirs(note)).await.unwrap();
            assert!(output.failed.is_empty(), "{output:?}");
        }
        publisher.shutdown().await;
        // It lacks the first 40, and the relay the last 50.
        let client = client(&relay.url, 2).await;
        for note in &all[40..] {
            client.database().save_event(&theirs(note)).await.unwrap();
        }
        let kind = sdk::Filter::new().kind(sdk::Kind::TextNote);
        let options = SyncOptions::default().direction(SyncDirection::Both);
        let found = client.sync(kind.clone(), &options).await.unwrap();
        assert!(found.failed.is_empty(), "{found:?}");
        let set = |ids: &std::collections::HashSet<sdk::EventId>| -> BTreeSet<String> {
            ids.iter().map(sdk::EventId::to_hex).collect()
        };
        assert_eq!(set(&found.val.local), ids(&all[250..]));
        assert_eq!(set(&found.val.remote), ids(&all[..40]));
        assert_eq!(set(&found.val.received), ids(&all[..40]));
        // Both have all now.
        assert_eq!(
            client.database().count(kind.clone()).await.unwrap(),
            all.len()
        );
        let connection = client.relay(&relay.url).await.unwrap();
        assert_eq!(
            connection.count_events(kind, PATIENCE).await.unwrap(),
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
    let relay = Relay::start(&[]);
    let url = &relay.url;
    let notes = notes();
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
    // Both filters together.
    let filters = json!([{ "kinds": [1, 2] }, { "#t": ["plain"] }]);
    let count = tools.call("count", &json!({ "url": url, "filters": filters }));
    assert_eq!(count, notes.len());

    let like = EventBuilder::new(7, "+", NOW).sign(&keys(2));
    let with = json!({ "url": url, "filter": { "kinds": [7] }, "event": like.as_ref().as_json() });
    let live = tools.call("live", &with);
    assert_eq!(live["heard"], json!(["eose", like.as_ref().as_json()]));
    assert_eq!(live["ended"], json!(["heard"]));

    // A duplicate is fine, a forged one is not.
    let with = json!({ "url": url, "events": [like.as_ref().as_json(), forged()] });
    let answers = tools.call("publish", &with);
    assert!(
        answers[0].as_str().unwrap().starts_with("duplicate: "),
        "{answers}"
    );
    let refused = answers[1]["refused"].as_str().unwrap();
    assert!(refused.starts_with("invalid: "), "{answers}");
}

#[test]
fn nostr_tools_pool_authenticates_to_the_example_relay() {
    let case = Case::begin("nostr_tools_pool_authenticates_to_the_example_relay");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let relay = Relay::start(&["--require-auth"]);
    let note = EventBuilder::new(1, "mine", NOW).sign(&keys(1));
    let mut with = json!({ "url": relay.url, "events": texts(std::slice::from_ref(&note)) });
    let answers = tools.call("publish", &with);
    let refused = answers[0]["refused"].as_str().unwrap();
    assert!(refused.starts_with("auth-required: "), "{answers}");
    with["secret"] = json!(secret_hex(1));
    assert_eq!(tools.call("publish", &with), json!([""]));

    let like = EventBuilder::new(1, "+", NOW + 1).sign(&keys(1));
    let with = json!({
        "url": relay.url, "filter": { "kinds": [1] }, "event": like.as_ref().as_json(),
        "secret": secret_hex(1),
    });
    let live = tools.call("live", &with);
    let heard = json!([note.as_ref().as_json(), "eose", like.as_ref().as_json()]);
    assert_eq!(
        (&live["heard"], &live["ended"]),
        (&heard, &json!(["heard"]))
    );
}

#[test]
fn nostr_tools_reconciles_with_the_example_relay() {
    let case = Case::begin("nostr_tools_reconciles_with_the_example_relay");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let relay = Relay::start(&[]);
    let note = |number: u64| {
        EventBuilder::new(1, number.to_string(), NOW - 500 + number / 3).sign(&keys(1))
    };
    let all: Vec<Event> = (0..200).map(note).collect();
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
    let set = |name: &str| strings(&found[name]).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(
        (set("have"), set("need")),
        (ids(&all[150..]), ids(&all[..40]))
    );
}
