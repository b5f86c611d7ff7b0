//! REQ and COUNT (NIP-01, NIP-45).

use polywire_nostr::message::client;
use polywire_nostr::{Event, EventBuilder, Filter, RelayMessage, SubscriptionId, TagLetter};

use crate::support::*;

/// Publishes 60 events of four authors and three kinds with tags, two per second. Returns them newest first.
async fn fill(relay: &TestRelay) -> Vec<Event> {
    let mut client = relay.client().await;
    let start = now() - 1000;
    let mut events = Vec::new();
    for number in 0..60_u64 {
        let event = EventBuilder::new(
            [1, 6, 7][number as usize % 3],
            number.to_string(),
            start + number / 2,
        )
        .tag(["t", ["tea", "coffee"][number as usize % 2]])
        .tag(["t", "drinks"])
        .tag(["word", "ignored"]);
        let event = event.sign(&keys((number % 4) as u8 + 1));
        client.accepted(&event).await;
        events.push(event);
    }
    // For equal times, the lower id first.
    events.sort_by_key(|event| {
        (
            std::cmp::Reverse(event.as_ref().created_at()),
            *event.as_ref().id(),
        )
    });
    events
}

#[tokio::test]
async fn every_index_agrees_with_a_comparison_with_all_events() {
    // Some keys are on disk, others in memory.
    let relay = TestRelay::with(&["--index-keys", "150"]).await;
    let events = fill(&relay).await;
    let mut client = relay.client().await;
    let start = now() - 1000;
    let key = |number| keys(number).public_key();
    let ids = || events.iter().step_by(7).map(|event| *event.as_ref().id());
    let filters = [
        Filter::new(),
        Filter::new().with_limit(7),
        Filter::new().with_limit(0),
        Filter::new().with_ids(ids()),
        Filter::new().with_ids(ids()).with_kinds([1]).with_limit(2),
        Filter::new().with_authors([key(1)]),
        Filter::new()
            .with_authors([key(1), key(3), key(9)])
            .with_limit(11),
        Filter::new()
            .with_authors([key(2), key(3)])
            .with_kinds([1, 7]),
        Filter::new().with_kinds([6]),
        Filter::new()
            .with_kinds([7, 1])
            .with_since(start + 5)
            .with_until(start + 20),
        Filter::new().with_tag(TagLetter::T, ["tea"]).unwrap(),
        Filter::new()
            .with_tag(TagLetter::T, ["coffee", "drinks", "water"])
            .unwrap()
            .with_limit(9),
        Filter::new()
            .with_tag(TagLetter::T, ["tea"])
            .unwrap()
            .with_authors([key(1)])
            .with_kinds([1]),
        Filter::new().with_since(start + 10).with_until(start + 10),
        Filter::new().with_since(start + 11).with_until(start + 10),
        Filter::new().with_authors([]),
        Filter::new()
            .with_tag(TagLetter::E, ["0".repeat(64)])
            .unwrap(),
    ];
    for filter in filters {
        let limit = filter.limit().unwrap_or(1000) as usize;
        let matching = events
            .iter()
            .filter(|event| filter.matches(&event.as_ref()));
        let expected: Vec<_> = matching.take(limit).cloned().collect();
        assert_eq!(
            client.query(filter.clone()).await,
            expected,
            "{}",
            filter.to_json()
        );
    }
}

#[tokio::test]
async fn results_of_several_pages_are_in_order() {
    let relay = TestRelay::with(&["--max-limit", "900"]).await;
    let mut client = relay.client().await;
    let start = now() - 1000;
    let events: Vec<_> = (0..1000)
        .map(|n| note(1, &n.to_string(), start + n / 3))
        .collect();
    for event in &events {
        client.send(published(event)).await;
    }
    for event in &events {
        client.ok(event).await;
    }
    let found = client.query(Filter::new().with_limit(5000)).await;
    assert_eq!(found.len(), 900, "the limit is lowered");
    let order = |event: &Event| {
        (
            std::cmp::Reverse(event.as_ref().created_at()),
            *event.as_ref().id(),
        )
    };
    assert!(found.is_sorted_by_key(order));
}

#[tokio::test]
async fn an_event_that_matches_several_filters_is_sent_once() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    client.accepted(&note(1, "", now())).await;
    let author = keys(1).public_key();
    let filters = [
        Filter::new().with_authors([author]),
        Filter::new().with_kinds([1]),
    ];
    assert_eq!(client.subscribe("a", &filters).await.len(), 1);
    client.accepted(&note(1, "new", now())).await;
}

#[tokio::test]
async fn new_events_are_sent_to_matching_subscriptions() {
    let relay = TestRelay::start().await;
    let mut publisher = relay.client().await;
    let mut subscriber = relay.client().await;
    let event = |number: u8| {
        let event = EventBuilder::new(u16::from(number), "", now()).tag(["t", &number.to_string()]);
        event.sign(&keys(number))
    };
    let events: Vec<_> = (1..=3).map(event).collect();
    let (first, second) = (&events[0], &events[1]);
    let author = *second.as_ref().pubkey();
    let subscriptions = [
        ("id", Filter::new().with_ids([*first.as_ref().id()]), 1),
        ("author", Filter::new().with_authors([author]), 1),
        (
            "tag",
            Filter::new().with_tag(TagLetter::T, ["3", "2"]).unwrap(),
            2,
        ),
        ("kind", Filter::new().with_kinds([1, 2]), 2),
        ("all", Filter::new(), 3),
        (
            "none",
            Filter::new().with_authors([author]).with_kinds([7]),
            0,
        ),
        ("past", Filter::new().with_until(1000), 0),
    ];
    for (id, filter, _) in &subscriptions {
        assert!(
            subscriber
                .subscribe(id, std::slice::from_ref(filter))
                .await
                .is_empty()
        );
    }
    for event in &events {
        publisher.accepted(event).await;
    }
    let mut counts = std::collections::HashMap::new();
    for _ in 0..subscriptions.iter().map(|(.., count)| count).sum() {
        let message = subscriber.next().await;
        let RelayMessage::Event {
            subscription,
            event,
        } = read(&message)
        else {
            panic!("{message}")
        };
        assert!(events.contains(&event.to_owned()));
        *counts.entry(subscription.as_str().to_owned()).or_insert(0) += 1;
    }
    for (id, _, count) in subscriptions {
        assert_eq!(counts.get(id).copied().unwrap_or(0), count, "{id}");
    }
}

#[tokio::test]
async fn a_closed_subscription_gets_no_more_events() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    client.subscribe("a", &[Filter::new()]).await;
    client
        .subscribe("b", &[Filter::new().with_kinds([7])])
        .await;
    client.send(r#"["CLOSE","a"]"#).await;
    client.accepted(&note(1, "", now())).await;
    // Replaces the subscription of this id.
    assert_eq!(client.subscribe("b", &[Filter::new()]).await.len(), 1);
    let event = note(1, "b", now());
    client.send(published(&event)).await;
    let mut answers = [client.next().await, client.next().await];
    answers.sort();
    assert!(answers[0].starts_with(r#"["EVENT","b","#), "{answers:?}");
    assert!(answers[1].starts_with(r#"["OK","#), "{answers:?}");
}

#[tokio::test]
async fn no_event_is_missed_or_repeated_between_stored_and_new_events() {
    let relay = TestRelay::start().await;
    let (mut publisher, mut subscriber) = (relay.client().await, relay.client().await);
    let events: Vec<_> = (0..300)
        .map(|n| note(1, &n.to_string(), now() - n))
        .collect();
    for event in &events {
        publisher.send(published(event)).await;
    }
    // While the events are being stored.
    let mut seen = contents(&subscriber.subscribe("all", &[Filter::new()]).await);
    while seen.len() < events.len() {
        seen.push(subscriber.live("all").await.as_ref().content().into_owned());
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), events.len());
    for event in &events {
        publisher.ok(event).await;
    }
}

#[tokio::test]
async fn events_are_counted() {
    let relay = TestRelay::with(&["--max-limit", "10"]).await;
    let events = fill(&relay).await;
    let others = events.iter().filter(|event| event.as_ref().kind() != 1);
    let ids = others.take(2).map(|event| *event.as_ref().id());
    let mut client = relay.client().await;
    let id = SubscriptionId::new("c").unwrap();
    for (filters, expected) in [
        (vec![Filter::new()], 60),
        (
            vec![
                Filter::new().with_kinds([1]),
                Filter::new().with_kinds([1, 6]),
            ],
            40,
        ),
        (
            vec![Filter::new().with_tag(TagLetter::T, ["tea"]).unwrap()],
            30,
        ),
        // A limit does not apply: it would make the number wrong without notice.
        (vec![Filter::new().with_limit(0)], 60),
        (
            vec![
                Filter::new().with_kinds([1]).with_limit(5),
                Filter::new().with_ids(ids).with_limit(1),
            ],
            22,
        ),
    ] {
        client
            .send(text(|out| client::push_count(out, &id, &filters)))
            .await;
        assert_eq!(
            client.next().await,
            format!(r#"["COUNT","c",{{"count":{expected}}}]"#)
        );
    }
}

#[tokio::test]
async fn an_invalid_request_closes_its_subscription() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    client.subscribe("a", &[Filter::new()]).await;
    client
        .send(r#"["REQ","a",{"kinds":[1],"genre":"jazz"}]"#)
        .await;
    let reason = client.stored("a").await.unwrap_err();
    assert!(
        reason.starts_with("unsupported: filter contains an unknown member"),
        "{reason}"
    );
    // There is no EVENT between the answers.
    client.accepted(&note(1, "first", now())).await;
    client.accepted(&note(1, "second", now())).await;
    client.send(r#"["REQ","a",{"search":"jazz"}]"#).await;
    assert_eq!(
        client.stored("a").await.unwrap_err(),
        "unsupported: this relay has no search"
    );
}

#[tokio::test]
async fn a_rejected_count_closes_the_subscription_of_its_id() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    client.subscribe("a", &[Filter::new()]).await;
    // The client cannot tell this CLOSED from that of a subscription.
    client.send(r#"["COUNT","a",{"search":"jazz"}]"#).await;
    assert_eq!(
        client.stored("a").await.unwrap_err(),
        "unsupported: this relay has no search"
    );
    // There is no EVENT between the answers.
    client.accepted(&note(1, "first", now())).await;
    client.accepted(&note(1, "second", now())).await;
}

#[tokio::test]
async fn ids_are_returned_in_pages_and_in_order() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let notes: Vec<_> = (0..600)
        .map(|n| note(1, &format!("note {n}"), 1_700_000_000 + n % 7))
        .collect();
    for note in &notes {
        client.accepted(note).await;
    }
    let ids = notes.iter().map(|note| *note.as_ref().id());
    // Each twice.
    let filter = Filter::new().with_ids(ids.clone().chain(ids));
    let stored = client.query(filter.clone()).await;
    assert_eq!(stored.len(), 600);
    let key = |event: &Event| {
        (
            std::cmp::Reverse(event.as_ref().created_at()),
            *event.as_ref().id(),
        )
    };
    assert!(stored.is_sorted_by_key(key));
    let latest = client.query(filter.with_limit(300)).await;
    assert_eq!(latest, stored[..300]);
}

#[tokio::test]
async fn scans_count_as_work() {
    let relay = TestRelay::with(&["--max-work", "100"]).await;
    let mut client = relay.client().await;
    client.accepted(&note(1, "a note", now())).await;
    let authors = |count: u8| (0..count).map(|n| keys(n + 1).public_key());
    let few = client.query(Filter::new().with_authors(authors(90))).await;
    assert_eq!(few.len(), 1);
    let many = [Filter::new().with_authors(authors(150))];
    let id = SubscriptionId::new("a").unwrap();
    client
        .send(text(|out| client::push_req(out, &id, &many)))
        .await;
    let reason = client.stored("a").await.unwrap_err();
    assert!(
        reason.starts_with("restricted: the filter is too broad"),
        "{reason}"
    );
}
