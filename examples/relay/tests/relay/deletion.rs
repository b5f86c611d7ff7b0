//! Deletion (NIP-09).

use polywire_nostr::{Event, EventBuilder, Filter};

use crate::support::*;

fn deletion(author: u8, name: &str, target: &str) -> Event {
    EventBuilder::new(5, "", now())
        .tag([name, target])
        .sign(&keys(author))
}

#[tokio::test]
async fn deleted_events_stay_deleted() {
    let mut relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let (own, other) = (note(1, "own", now() - 1), note(2, "other", now() - 2));
    client.accepted(&own).await;
    client.accepted(&other).await;
    for event in [&own, &other] {
        let target = event.as_ref().id().to_string();
        client.accepted(&deletion(1, "e", &target)).await;
    }
    let notes = Filter::new().with_kinds([1]);
    assert_eq!(contents(&client.query(notes.clone()).await), ["other"]);
    for _ in 0..2 {
        let mut client = relay.client().await;
        let (accepted, reason) = client.publish(&own).await;
        assert!(!accepted && reason.starts_with("blocked: "), "{reason}");
        assert_eq!(contents(&client.query(notes.clone()).await), ["other"]);
        // The deletion requests are kept.
        assert_eq!(client.query(Filter::new().with_kinds([5])).await.len(), 2);
        drop(client);
        relay.restart().await;
    }
}

#[tokio::test]
async fn a_deletion_request_applies_to_later_events() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let event = note(1, "late", now());
    let target = event.as_ref().id().to_string();
    client.accepted(&deletion(1, "e", &target)).await;
    assert!(!client.publish(&event).await.0);
    // A request of another author has no effect.
    let event = note(1, "later", now());
    client
        .accepted(&deletion(2, "e", &event.as_ref().id().to_string()))
        .await;
    client.accepted(&event).await;
}

#[tokio::test]
async fn versions_up_to_the_time_of_the_request_are_deleted() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let article = |time| {
        EventBuilder::new(30023, "", time)
            .tag(["d", "x"])
            .sign(&keys(1))
    };
    client.accepted(&article(now() - 10)).await;
    let address = format!("30023:{}:x", keys(1).public_key());
    client.accepted(&deletion(1, "a", &address)).await;
    let articles = Filter::new().with_kinds([30023]);
    assert!(client.query(articles.clone()).await.is_empty());
    assert!(!client.publish(&article(now() - 5)).await.0);
    client.accepted(&article(now() + 100)).await;
    assert_eq!(client.query(articles).await.len(), 1);
}

#[tokio::test]
async fn a_deletion_request_cannot_be_deleted() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let first = deletion(1, "e", &"0".repeat(64));
    client.accepted(&first).await;
    client
        .accepted(&deletion(1, "e", &first.as_ref().id().to_string()))
        .await;
    assert_eq!(client.query(Filter::new().with_kinds([5])).await.len(), 2);
}
