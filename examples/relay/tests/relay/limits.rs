//! Limits.

use polywire_nostr::{EventBuilder, Filter};
use polywire_rpc::websocket::{CloseCode, WebSocket};

use crate::support::*;

#[tokio::test]
async fn limits_are_enforced_with_a_reason() {
    let arguments = [
        "--max-subscriptions",
        "2",
        "--max-filters",
        "2",
        "--max-tags",
        "3",
    ];
    let relay = TestRelay::with(&arguments).await;
    let mut client = relay.client().await;
    client.send(r#"["REQ","a",{},{},{}]"#).await;
    let reason = client.stored("a").await.unwrap_err();
    assert!(
        reason.starts_with("invalid: more items than the limit"),
        "{reason}"
    );
    for id in ["a", "b", "a"] {
        client.subscribe(id, &[Filter::new().with_kinds([7])]).await;
    }
    client.send(r#"["REQ","c",{}]"#).await;
    let reason = client.stored("c").await.unwrap_err();
    assert_eq!(reason, "restricted: no more than 2 subscriptions");
    let event = EventBuilder::new(1, "", now())
        .tags([["t", "a"]; 4])
        .sign(&keys(1));
    let (accepted, reason) = client.publish(&event).await;
    assert!(
        !accepted && reason.starts_with("invalid: tags: more tags than the limit"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_message_that_is_too_long_closes_the_connection() {
    let relay = TestRelay::with(&["--max-message", "4096"]).await;
    let mut client = relay.client().await;
    client.accepted(&note(1, &"x".repeat(3000), now())).await;
    client
        .send(published(&note(1, &"x".repeat(5000), now())))
        .await;
    let frame = client.closed().await;
    assert_eq!(frame.code, CloseCode::MESSAGE_TOO_BIG);
}

#[tokio::test]
async fn rates_are_limited_per_address() {
    let relay = TestRelay::with(&["--events-per-second", "1", "--requests-per-second", "1"]).await;
    // The connections of an address share its limit.
    let mut clients = [relay.client().await, relay.client().await];
    let mut rejected = 0;
    for number in 0..40 {
        let event = note(1, &number.to_string(), now());
        let (accepted, reason) = clients[number % 2].publish(&event).await;
        assert_eq!(accepted, reason.is_empty(), "{reason}");
        if !accepted {
            let expected = "rate-limited: too many events from this address: retry after ";
            assert!(reason.starts_with(expected), "{reason}");
            rejected += 1;
        }
    }
    assert!((1..40).contains(&rejected), "{rejected}");
    let [client, _] = &mut clients;
    let mut rejected = 0;
    for _ in 0..40 {
        client.send(r#"["REQ","a",{"limit":0}]"#).await;
        if let Err(reason) = client.stored("a").await {
            assert!(
                reason.starts_with("rate-limited: too many requests "),
                "{reason}"
            );
            rejected += 1;
        }
    }
    assert!((1..40).contains(&rejected), "{rejected}");
}

#[tokio::test]
async fn a_query_that_is_too_broad_is_closed() {
    let relay = TestRelay::with(&["--max-work", "10"]).await;
    let mut client = relay.client().await;
    for number in 0..20 {
        client.accepted(&note(1, &number.to_string(), now())).await;
    }
    assert_eq!(client.query(Filter::new().with_limit(5)).await.len(), 5);
    client
        .send(r##"["REQ","a",{"kinds":[1],"#t":["a"]}]"##)
        .await;
    assert!(
        client.stored("a").await.unwrap().is_empty(),
        "the tag index is used"
    );
    // COUNT ignores `limit`, so that the second request also examines all events.
    for message in [
        r#"["REQ","a",{"kinds":[1],"until":99999999999}]"#,
        r#"["COUNT","a",{"limit":5}]"#,
    ] {
        client.send(message).await;
        let reason = client.stored("a").await.unwrap_err();
        assert!(
            reason.starts_with("restricted: the filter is too broad"),
            "{reason}"
        );
    }
}

#[tokio::test]
async fn a_slow_reader_is_disconnected_and_others_are_served() {
    let relay = TestRelay::with(&["--max-queue", "65536", "--slow-reader", "1"]).await;
    let (mut publisher, mut subscriber) = (relay.client().await, relay.client().await);
    let mut slow = relay.client().await;
    slow.subscribe("all", &[Filter::new()]).await;
    subscriber.subscribe("all", &[Filter::new()]).await;
    // It reads nothing while the relay sends more than the buffers of both sides and the kernel can hold.
    let content = "x".repeat(100_000);
    for number in 0..200 {
        let event = note(1, &format!("{number} {content}"), now());
        publisher.accepted(&event).await;
        assert_eq!(subscriber.live("all").await, event);
    }
    let frame = slow.closed().await;
    assert!(
        [CloseCode::POLICY_VIOLATION, CloseCode::ABNORMAL_CLOSURE].contains(&frame.code),
        "{frame}"
    );
}

#[tokio::test]
async fn new_events_that_wait_for_stored_events_are_bounded() {
    let relay = TestRelay::with(&["--max-queue", "65536", "--slow-reader", "3600"]).await;
    let mut publisher = relay.client().await;
    let content = "x".repeat(100_000);
    let publish = |number: u64| note(1, &format!("{number} {content}"), now());
    // More stored events than the buffers of both sides and the kernel can hold.
    for number in 0..150 {
        publisher.accepted(&publish(number)).await;
    }
    let mut slow = relay.client().await;
    slow.send(r#"["REQ","all",{}]"#).await;
    // The subscription is open when the first event arrives. Its buffer for new events holds 4 MiB.
    slow.next().await;
    for number in 150..200 {
        publisher.accepted(&publish(number)).await;
    }
    let frame = slow.closed().await;
    assert!(
        [CloseCode::POLICY_VIOLATION, CloseCode::ABNORMAL_CLOSURE].contains(&frame.code),
        "{frame}"
    );
}

#[tokio::test]
async fn connections_of_an_address_are_limited() {
    let relay = TestRelay::with(&["--max-connections", "2"]).await;
    let _open = [relay.client().await, relay.client().await];
    assert!(WebSocket::connect(&relay.url()).await.is_err());
}
