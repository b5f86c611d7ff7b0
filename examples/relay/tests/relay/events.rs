//! Publishing: NIP-01 and NIP-40.

use polywire_nostr::{EventBuilder, Filter};

use crate::support::*;

#[tokio::test]
async fn an_event_is_stored_and_found() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let event = note(1, "hello\n\u{1f30d}", now());
    client.accepted(&event).await;
    let found = client.query(Filter::new()).await;
    assert_eq!(found[0].as_ref().as_json(), event.as_ref().as_json());
    assert_eq!(found.len(), 1);
}

#[tokio::test]
async fn duplicates_are_detected_by_their_id_alone() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let event = note(1, "once", now());
    client.accepted(&event).await;
    let (accepted, reason) = client.publish(&event).await;
    assert!(accepted && reason.starts_with("duplicate: "), "{reason}");
    let cut = format!(r#"["EVENT",{{"id":"{}""#, event.as_ref().id());
    client.send(cut).await;
    assert_eq!(client.ok(&event).await, (true, reason));
    assert_eq!(client.query(Filter::new()).await.len(), 1);
}

#[tokio::test]
async fn invalid_messages_are_rejected_with_a_reason() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let event = note(1, "hello", now());
    let json = event.as_ref().as_json().to_owned();
    let sig = event.as_ref().sig().to_string();
    let cases = [
        (
            json.replace("hello", "jello"),
            "invalid: id: id is not the SHA-256 of the event",
        ),
        (
            json.replace(&sig, &"1".repeat(128)),
            "invalid: sig: signature does not match",
        ),
        (
            json.replace("\"kind\":1", "\"kind\":65536"),
            "invalid: kind: number is too large",
        ),
    ];
    for (json, expected) in cases {
        client.send(format!(r#"["EVENT",{json}]"#)).await;
        let (accepted, reason) = client.ok(&event).await;
        assert!(!accepted && reason.starts_with(expected), "{reason}");
    }
    for (message, expected) in [
        (
            r#"["HELLO"]"#,
            r#"["NOTICE","unsupported: unknown type of message, at byte 1"]"#,
        ),
        (
            "{}",
            r#"["NOTICE","invalid: value of the wrong type, at byte 0"]"#,
        ),
    ] {
        client.send(message).await;
        assert_eq!(client.next().await, expected);
    }
    client.send(vec![1, 2]).await;
    assert_eq!(
        client.next().await,
        r#"["NOTICE","invalid: messages must be text"]"#
    );
    client.accepted(&event).await;
}

#[tokio::test]
async fn the_newest_version_of_a_replaceable_event_is_kept() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let time = now() - 100;
    let profile = |content: &str, time| EventBuilder::new(0, content, time).sign(&keys(1));
    client.accepted(&profile("b", time)).await;
    client.accepted(&profile("c", time + 1)).await;
    let (accepted, reason) = client.publish(&profile("a", time - 1)).await;
    assert!(!accepted && reason.starts_with("duplicate: "), "{reason}");
    client
        .accepted(&EventBuilder::new(0, "other", time).sign(&keys(2)))
        .await;
    let filter = Filter::new().with_kinds([0]);
    assert_eq!(
        contents(&client.query(filter.clone()).await),
        ["c", "other"]
    );

    // For equal times, the lower id wins in any order of arrival.
    let mut pair = [profile("x", time + 9), profile("y", time + 9)];
    pair.sort_by_key(|event| *event.as_ref().id());
    let [low, high] = pair;
    client.accepted(&high).await;
    client.accepted(&low).await;
    assert!(!client.publish(&high).await.0);
    assert_eq!(client.query(filter).await[0], low);
}

#[tokio::test]
async fn addressable_events_are_replaced_by_identifier() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let article = |identifier: &str, content: &str, time| {
        let event = EventBuilder::new(30023, content, time);
        event.tag(["d", identifier]).sign(&keys(1))
    };
    let time = now() - 100;
    client.accepted(&article("a", "a1", time)).await;
    client.accepted(&article("b", "b1", time + 1)).await;
    client.accepted(&article("a", "a2", time + 2)).await;
    let found = client.query(Filter::new().with_kinds([30023])).await;
    assert_eq!(contents(&found), ["a2", "b1"]);
}

#[tokio::test]
async fn ephemeral_events_are_delivered_and_not_stored() {
    let relay = TestRelay::start().await;
    let (mut subscriber, mut publisher) = (relay.client().await, relay.client().await);
    let filter = Filter::new().with_kinds([20001]);
    assert!(
        subscriber
            .subscribe("typing", std::slice::from_ref(&filter))
            .await
            .is_empty()
    );
    let event = EventBuilder::new(20001, "", now()).sign(&keys(1));
    publisher.accepted(&event).await;
    assert_eq!(subscriber.live("typing").await, event);
    assert!(publisher.query(filter).await.is_empty());
}

#[tokio::test]
async fn expired_events_are_neither_accepted_nor_served() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let until = |time: u64| {
        let event = EventBuilder::new(1, "", now());
        event.tag(["expiration", &time.to_string()]).sign(&keys(1))
    };
    let (accepted, reason) = client.publish(&until(now() - 1)).await;
    assert!(
        !accepted && reason == "invalid: the event has expired",
        "{reason}"
    );
    let soon = now() + 2;
    client.accepted(&until(soon)).await;
    client.accepted(&until(soon + 1000)).await;
    while now() < soon {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(client.query(Filter::new()).await.len(), 1);
}

#[tokio::test]
async fn events_of_the_future_are_rejected() {
    let relay = TestRelay::with(&["--max-future", "60"]).await;
    let mut client = relay.client().await;
    let (accepted, reason) = client.publish(&note(1, "", now() + 1000)).await;
    assert!(!accepted, "{reason}");
    assert_eq!(
        reason,
        "invalid: created_at is more than 60 seconds in the future"
    );
}
