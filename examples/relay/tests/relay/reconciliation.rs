//! Set reconciliation (NIP-77).

use std::collections::BTreeSet;

use polywire_nostr::message::client;
use polywire_nostr::negentropy::{Initiator, Record, Records};
use polywire_nostr::{EventId, Filter, RelayMessage, SubscriptionId};

use crate::support::*;

#[tokio::test]
async fn differences_are_found() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let events: Vec<_> = (0..300)
        .map(|n| note(1, &n.to_string(), now() - n))
        .collect();
    // The relay does not have the first 10 events. The client does not have the last 20.
    for event in &events[10..] {
        client.send(published(event)).await;
    }
    for event in &events[10..] {
        client.ok(event).await;
    }
    let record = |event: &polywire_nostr::Event| {
        let event = event.as_ref();
        Record::new(event.created_at(), *event.id()).unwrap()
    };
    let ours: Records = events[..280].iter().map(record).collect();
    let mut initiator = Initiator::new(&ours);
    let id = SubscriptionId::new("n").unwrap();
    let message = initiator.initial_message().unwrap();
    let filter = Filter::new().with_kinds([1]);
    client
        .send(text(|out| {
            client::push_neg_open(out, &id, &filter, &message);
        }))
        .await;
    let (mut have, mut need) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let answer = client.next().await;
        let RelayMessage::NegMsg { message, .. } = read(&answer) else {
            panic!("{answer}")
        };
        let step = initiator.reconcile(&message).unwrap();
        have.extend(step.have);
        need.extend(step.need);
        let Some(next) = step.next_message else { break };
        client
            .send(text(|out| client::push_neg_msg(out, &id, &next)))
            .await;
    }
    let ids = |events: &[polywire_nostr::Event]| -> BTreeSet<EventId> {
        events.iter().map(|event| *event.as_ref().id()).collect()
    };
    assert_eq!(have, ids(&events[..10]));
    assert_eq!(need, ids(&events[280..]));
    client
        .send(text(|out| client::push_neg_close(out, &id)))
        .await;
    client.send(r#"["NEG-MSG","n","61"]"#).await;
    let answer = client.next().await;
    assert!(
        answer.starts_with(r#"["NEG-ERR","n","closed: "#),
        "{answer}"
    );
}

#[tokio::test]
async fn too_many_events_and_malformed_messages_are_rejected() {
    let relay = TestRelay::with(&["--max-records", "3"]).await;
    let mut client = relay.client().await;
    for number in 0..4 {
        client.accepted(&note(1, &number.to_string(), now())).await;
    }
    client.send(r#"["NEG-OPEN","n",{},"6100000200"]"#).await;
    let answer = client.next().await;
    assert!(
        answer.starts_with(r#"["NEG-ERR","n","blocked: "#) && answer.ends_with(",3]"),
        "{answer}"
    );
    client
        .send(r#"["NEG-OPEN","n",{"limit":3},"61000007"]"#)
        .await;
    let answer = client.next().await;
    assert!(
        answer.starts_with(r#"["NEG-ERR","n","invalid: "#),
        "{answer}"
    );
}
