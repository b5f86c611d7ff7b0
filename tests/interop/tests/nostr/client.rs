//! The client `polywire-nostr-client` against the relay of `nostr-relay-builder`, in this process.

use std::collections::BTreeSet;
use std::time::Duration;

use nostr_relay_builder::prelude::{
    LocalRelay, RateLimit, RelayBuilder, RelayBuilderNip42, RelayBuilderNip42Mode,
};
use polywire_interop::Case;
use polywire_nostr::message::Prefix;
use polywire_nostr::negentropy::{Record, Records};
use polywire_nostr::{Event, EventBuilder, EventId, Filter, RelayUrl, TagLetter};
use polywire_nostr_client::{
    Pool, PublishError, Relay, RelayOptions, SubscribeOptions, SubscriptionItem, SyncOptions,
};

use crate::hard::{NOW, events, keys};

const PATIENCE: Duration = Duration::from_secs(30);

fn run(future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(future);
}

async fn start(builder: RelayBuilder) -> (LocalRelay, RelayUrl) {
    let limit = RateLimit {
        max_reqs: 1_000,
        notes_per_minute: 100_000,
    };
    let relay = LocalRelay::new(builder.rate_limit(limit));
    relay.run().await.unwrap();
    let url = RelayUrl::parse(relay.url().await.as_str()).unwrap();
    (relay, url)
}

fn ids<'e>(events: impl IntoIterator<Item = &'e Event>) -> BTreeSet<EventId> {
    let ids = events.into_iter().map(|event| *event.as_ref().id());
    ids.collect()
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
        let builder = EventBuilder::new(1, event.content(), NOW + number as u64);
        builder.tags(tags).sign(&keys(1))
    };
    events.enumerate().map(note).collect()
}

#[test]
fn nostr_relay_builder_and_our_client() {
    let _case = Case::begin("nostr_relay_builder_and_our_client");
    run(async {
        let (_running, url) = start(RelayBuilder::default()).await;
        let relay = Relay::connect_with(&url, RelayOptions::new());
        let notes = notes();
        for note in &notes {
            let outcome = relay.publish(note).await.unwrap();
            assert!(!outcome.duplicate, "{outcome:?}");
        }
        assert!(relay.publish(&notes[0]).await.unwrap().duplicate);
        let json = notes[0]
            .as_ref()
            .as_json()
            .replacen("\"kind\":1", "\"kind\":2", 1);
        let forged = relay.publish(&Event::parse(&json).unwrap()).await;
        let Err(PublishError::Rejected(refusal)) = forged else {
            panic!("{forged:?}")
        };
        assert_eq!(refusal.prefix, Some(Prefix::Invalid));

        let all = Filter::new().with_kinds([1]);
        let stored = relay.fetch([all.clone()], PATIENCE).await.unwrap();
        assert!(stored.iter().eq(notes.iter().rev()));
        assert_eq!(
            relay.count([all.clone()]).await.unwrap().count,
            notes.len() as u64
        );
        let one = Filter::new().with_tag(TagLetter::T, ["plain"]).unwrap();
        assert_eq!(relay.fetch([one], PATIENCE).await.unwrap().len(), 1);

        // Live.
        let mut live = relay.subscribe([Filter::new().with_kinds([7])], SubscribeOptions::new());
        let item = tokio::time::timeout(PATIENCE, live.recv()).await.unwrap();
        assert_eq!(item, Some(SubscriptionItem::EndOfStored));
        let other = Relay::connect_with(&url, RelayOptions::new());
        let like = EventBuilder::new(7, "+", NOW).sign(&keys(2));
        other.publish(&like).await.unwrap();
        let item = tokio::time::timeout(PATIENCE, live.recv()).await.unwrap();
        assert_eq!(item, Some(SubscriptionItem::Event(like)));

        let stats = relay.stats();
        assert_eq!(stats.verifications, notes.len() as u64 + 1, "{stats:?}");
        relay.shutdown();
        other.shutdown();
    });
}

#[test]
fn nostr_relay_builder_authenticates_our_client() {
    let _case = Case::begin("nostr_relay_builder_authenticates_our_client");
    run(async {
        let nip42 = RelayBuilderNip42 {
            mode: RelayBuilderNip42Mode::Both,
        };
        let (_running, url) = start(RelayBuilder::default().nip42(nip42)).await;
        let note = EventBuilder::new(1, "mine", NOW).sign(&keys(1));
        let nobody = Relay::connect_with(&url, RelayOptions::new());
        let refused = nobody.publish(&note).await;
        let Err(PublishError::Rejected(refusal)) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(refusal.prefix, Some(Prefix::AuthRequired));

        // It answers the challenge, and publishes again by itself.
        let somebody = Relay::connect_with(&url, RelayOptions::new().signer(keys(1)));
        somebody.publish(&note).await.unwrap();
        let stored = somebody.fetch([Filter::new()], PATIENCE).await.unwrap();
        assert_eq!(stored, [note]);
    });
}

#[test]
fn nostr_relay_builder_reconciles_with_our_client() {
    let _case = Case::begin("nostr_relay_builder_reconciles_with_our_client");
    run(async {
        let (_running, url) = start(RelayBuilder::default()).await;
        let relay = Relay::connect_with(&url, RelayOptions::new());
        let note =
            |number: u64| EventBuilder::new(1, number.to_string(), NOW + number / 3).sign(&keys(1));
        let all: Vec<Event> = (0..300).map(note).collect();
        for note in &all[..250] {
            relay.publish(note).await.unwrap();
        }
        let record = |event: &Event| {
            let event = event.as_ref();
            Record::new(event.created_at(), *event.id()).unwrap()
        };
        let ours: Records = all[40..].iter().map(record).collect();
        let filter = Filter::new().with_kinds([1]);
        let found = relay.sync(filter, ours, SyncOptions::new()).await.unwrap();
        let set = |ids: Vec<EventId>| ids.into_iter().collect::<BTreeSet<_>>();
        assert_eq!(set(found.have), ids(&all[250..]));
        assert_eq!(set(found.need.clone()), ids(&all[..40]));
        // What is needed can be had.
        let filter = Filter::new().with_ids(found.need);
        let fetched = relay.fetch([filter], PATIENCE).await.unwrap();
        assert_eq!(ids(&fetched), ids(&all[..40]));
    });
}

#[test]
fn nostr_relay_builder_and_our_pool() {
    let _case = Case::begin("nostr_relay_builder_and_our_pool");
    run(async {
        let (_one, first) = start(RelayBuilder::default()).await;
        let (_two, second) = start(RelayBuilder::default()).await;
        let pool = Pool::new(RelayOptions::new());
        let note =
            |number: u64| EventBuilder::new(1, number.to_string(), NOW + number).sign(&keys(1));
        let all: Vec<Event> = (0..20).map(note).collect();
        // One has the first ten alone, both the others.
        let relay = pool.add(&first);
        for note in &all[..10] {
            relay.publish(note).await.unwrap();
        }
        let _ = pool.add(&second);
        for note in &all[10..] {
            let answers = pool.publish(note).await;
            assert_eq!(answers.len(), 2);
            assert!(
                answers.iter().all(|(_, answer)| answer.is_ok()),
                "{answers:?}"
            );
        }
        let fetched = pool.fetch([Filter::new()], PATIENCE).await;
        assert!(fetched.is_complete);
        assert_eq!(fetched.events.len(), all.len());
        assert_eq!(ids(&fetched.events), ids(&all));
        pool.shutdown();
    });
}
