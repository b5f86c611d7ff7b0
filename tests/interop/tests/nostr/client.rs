//! `polywire-nostr-client` against the relay of `nostr-relay-builder`, in this process.

use std::collections::BTreeSet;

use nostr_relay_builder::prelude::{
    LocalRelay, RelayBuilder, RelayBuilderNip42, RelayBuilderNip42Mode,
};
use polywire_interop::Case;
use polywire_nostr::message::MachineReadablePrefix;
use polywire_nostr::{Event, EventBuilder, Filter, RelayUrl, TagLetter};
use polywire_nostr_client::{
    Pool, PublishError, Relay, RelayOptions, SubscribeOptions, SubscriptionItem, SyncOptions,
};

use crate::fixtures::{NOW, TIMEOUT, ids, keys, notes, numbered_notes, records, run};
use crate::relays;

async fn start(builder: RelayBuilder) -> (LocalRelay, RelayUrl) {
    let (relay, url) = relays::start(builder).await;
    (relay, RelayUrl::parse(&url).unwrap())
}

#[test]
fn nostr_relay_builder_and_our_client() {
    let _case = Case::begin("nostr_relay_builder_and_our_client");
    run(async {
        let (_running, url) = start(RelayBuilder::default()).await;
        let relay = Relay::connect_with(&url, RelayOptions::new());
        let notes = notes(NOW);
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
        assert_eq!(refusal.prefix, Some(MachineReadablePrefix::Invalid));

        let all = Filter::new().with_kinds([1]);
        let stored = relay.fetch([all.clone()], TIMEOUT).await.unwrap();
        assert!(stored.iter().eq(notes.iter().rev()));
        assert_eq!(
            relay.count([all.clone()]).await.unwrap().count,
            notes.len() as u64
        );
        let one = Filter::new().with_tag(TagLetter::T, ["plain"]).unwrap();
        assert_eq!(relay.fetch([one], TIMEOUT).await.unwrap().len(), 1);

        // New events are delivered.
        let mut live = relay.subscribe([Filter::new().with_kinds([7])], SubscribeOptions::new());
        let item = tokio::time::timeout(TIMEOUT, live.recv()).await.unwrap();
        assert_eq!(item, Some(SubscriptionItem::EndOfStored));
        let other = Relay::connect_with(&url, RelayOptions::new());
        let like = EventBuilder::new(7, "+", NOW).sign(&keys(2));
        other.publish(&like).await.unwrap();
        let item = tokio::time::timeout(TIMEOUT, live.recv()).await.unwrap();
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
        let anonymous = Relay::connect_with(&url, RelayOptions::new());
        let rejected = anonymous.publish(&note).await;
        let Err(PublishError::Rejected(refusal)) = rejected else {
            panic!("{rejected:?}")
        };
        assert_eq!(refusal.prefix, Some(MachineReadablePrefix::AuthRequired));

        // With a signer, the client answers the challenge and retries the request.
        let signing = Relay::connect_with(&url, RelayOptions::new().signer(keys(1)));
        signing.publish(&note).await.unwrap();
        let stored = signing.fetch([Filter::new()], TIMEOUT).await.unwrap();
        assert_eq!(stored, [note]);
    });
}

#[test]
fn nostr_relay_builder_reconciles_with_our_client() {
    let _case = Case::begin("nostr_relay_builder_reconciles_with_our_client");
    run(async {
        let (_running, url) = start(RelayBuilder::default()).await;
        let relay = Relay::connect_with(&url, RelayOptions::new());
        let all = numbered_notes(300, NOW);
        for note in &all[..250] {
            relay.publish(note).await.unwrap();
        }
        let filter = Filter::new().with_kinds([1]);
        let found = relay.sync(filter, records(&all[40..]), SyncOptions::new());
        let found = found.await.unwrap();
        assert_eq!(
            found.have.into_iter().collect::<BTreeSet<_>>(),
            ids(&all[250..])
        );
        let need = found.need.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(need, ids(&all[..40]));
        let filter = Filter::new().with_ids(found.need);
        let fetched = relay.fetch([filter], TIMEOUT).await.unwrap();
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
        let all = numbered_notes(20, NOW);
        // Only the first relay gets the first ten events.
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
        let fetched = pool.fetch([Filter::new()], TIMEOUT).await;
        assert!(fetched.is_complete);
        assert_eq!(fetched.events.len(), all.len());
        assert_eq!(ids(&fetched.events), ids(&all));
        pool.shutdown();
    });
}
