//! Authentication (NIP-42) and access to private events (NIP-04, NIP-17).

use polywire_nostr::{Event, EventBuilder, Filter};

use crate::support::*;

#[tokio::test]
async fn authentication_can_be_required() {
    let relay = TestRelay::with(&["--require-auth"]).await;
    let mut client = relay.client().await;
    let event = note(1, "", now());
    let (accepted, reason) = client.publish(&event).await;
    assert!(
        !accepted && reason.starts_with("auth-required: "),
        "{reason}"
    );
    client.send(r#"["REQ","a",{}]"#).await;
    let reason = client.stored("a").await.unwrap_err();
    assert!(reason.starts_with("auth-required: "), "{reason}");
    assert_eq!(
        client.authenticate(&keys(1), &relay.url()).await,
        (true, String::new())
    );
    client.accepted(&event).await;
    assert_eq!(client.query(Filter::new()).await.len(), 1);
}

#[tokio::test]
async fn an_auth_event_is_for_one_relay_and_one_connection() {
    let relay = TestRelay::with(&["--url", "wss://relay.example.com"]).await;
    let mut client = relay.client().await;
    let (accepted, reason) = client
        .authenticate(&keys(1), "wss://other.example.com")
        .await;
    assert!(
        !accepted && reason.contains("wss://relay.example.com"),
        "{reason}"
    );
    let right = std::mem::replace(&mut client.challenge, "another".into());
    assert!(
        !client
            .authenticate(&keys(1), "wss://relay.example.com")
            .await
            .0
    );
    client.challenge = right;
    assert!(
        client
            .authenticate(&keys(1), "wss://relay.example.com")
            .await
            .0
    );
    // It cannot be published.
    let auth = EventBuilder::new(22242, "", now()).sign(&keys(1));
    assert!(!client.publish(&auth).await.0);
}

fn message(kind: u16, from: u8, to: u8, content: &str) -> Event {
    let recipient = keys(to).public_key().to_string();
    EventBuilder::new(kind, content, now())
        .tag(["p", &recipient])
        .sign(&keys(from))
}

#[tokio::test]
async fn private_events_are_served_to_their_authors_and_recipients() {
    let relay = TestRelay::start().await;
    let mut publisher = relay.client().await;
    let stored = [message(4, 1, 2, "a"), message(1059, 1, 2, "a")];
    for event in &stored {
        publisher.accepted(event).await;
    }
    let private = Filter::new().with_kinds([4, 1059]);
    publisher.send(r#"["REQ","a",{"kinds":[1059]}]"#).await;
    let reason = publisher.stored("a").await.unwrap_err();
    assert!(reason.starts_with("auth-required: "), "{reason}");
    // Without authentication they are left out.
    assert!(publisher.subscribe("b", &[Filter::new()]).await.is_empty());

    let mut clients = Vec::new();
    for (number, count) in [(1, 2), (2, 2), (3, 0)] {
        let mut client = relay.client().await;
        assert!(client.authenticate(&keys(number), &relay.url()).await.0);
        assert_eq!(
            client
                .subscribe("a", std::slice::from_ref(&private))
                .await
                .len(),
            count,
            "{number}"
        );
        clients.push(client);
    }
    // The same for new events: the publisher gets only OK, although it has a subscription.
    let new = message(4, 1, 3, "b");
    publisher.accepted(&new).await;
    assert_eq!(clients[0].live("a").await, new);
    assert_eq!(clients[2].live("a").await, new);
    let newer = message(1059, 1, 2, "b");
    publisher.accepted(&newer).await;
    assert_eq!(clients[1].live("a").await, newer);
}
