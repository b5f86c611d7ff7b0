//! Reconnecting.

use std::time::Duration;

use polywire_nostr::Filter;
use polywire_nostr_client::{
    ConnectionState, Relay, RelayOptions, SubscribeOptions, SubscriptionItem,
};

use crate::support::{TestRelay, next, next_event, note, notes, within};

#[tokio::test]
async fn a_subscription_resumes_after_the_newest_event() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let asked = Filter::new().with_kinds([1]).with_limit(2);
    let mut subscription = client.subscribe([asked], SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    let (newest, older) = (note("newest", 1_000_000), note("older", 999_990));
    peer.send_event(&id, &newest).await;
    peer.send_event(&id, &older).await;
    peer.eose(&id).await;
    assert_eq!(next_event(&mut subscription).await, newest);
    assert_eq!(next_event(&mut subscription).await, older);
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );

    drop(peer);
    let mut peer = server.accept().await;
    let (id, filters) = peer.req().await;
    assert_eq!(filters, [Filter::new().with_kinds([1]).with_since(999_940)]);
    // A missed event, a known event, and a second EOSE, which is not delivered.
    let missed = note("missed", 1_000_005);
    for event in [&missed, &newest, &older] {
        peer.send_event(&id, event).await;
    }
    peer.eose(&id).await;
    let new = note("new", 1_000_006);
    peer.send_event(&id, &new).await;
    assert_eq!(next_event(&mut subscription).await, missed);
    assert_eq!(next_event(&mut subscription).await, new);
    let stats = client.stats();
    assert_eq!(
        (stats.connections, stats.duplicates, stats.verifications),
        (2, 2, 4)
    );
}

#[tokio::test]
async fn a_subscription_before_eose_restarts() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    let (newest, older) = (note("newest", 1_000_000), note("older", 9));
    peer.send_event(&id, &newest).await;
    assert_eq!(next_event(&mut subscription).await, newest);

    drop(peer);
    let mut peer = server.accept().await;
    let (id, filters) = peer.req().await;
    assert_eq!(filters, notes());
    peer.send_event(&id, &newest).await;
    peer.send_event(&id, &older).await;
    peer.eose(&id).await;
    assert_eq!(next_event(&mut subscription).await, older);
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
}

#[tokio::test]
async fn a_subscription_to_past_events_is_not_sent_again() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let past = Filter::new().with_until(100);
    let mut subscription = client.subscribe([past.clone()], SubscribeOptions::new());
    let overlap = SubscribeOptions::new().with_resume_overlap(Duration::ZERO);
    let other = client.subscribe(notes(), overlap);
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    let _ = peer.req().await;
    peer.send_event(&id, &note("then", 90)).await;
    peer.eose(&id).await;
    next_event(&mut subscription).await;
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
    drop(peer);
    let mut peer = server.accept().await;
    assert_eq!(peer.req().await.1, [past.with_since(30)]);
    assert_eq!(peer.req().await.1, notes());
    drop(other);
}

#[tokio::test]
async fn an_event_without_an_answer_is_sent_again() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let event = note("hello", 1);
    let relay = async {
        for _ in 0..3 {
            let mut peer = server.accept().await;
            assert_eq!(peer.event().await, event);
        }
        let mut peer = server.accept().await;
        peer.event().await;
        peer.ok(event.as_ref().id(), true, "duplicate: have it")
            .await;
        peer
    };
    let (outcome, _peer) = within(async { tokio::join!(client.publish(&event), relay) }).await;
    assert!(outcome.unwrap().duplicate);
    assert_eq!(client.stats().connections, 4);
}

#[tokio::test]
async fn a_count_without_an_answer_is_sent_again() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let relay = async {
        server.accept().await.count().await;
        let mut peer = server.accept().await;
        let id = peer.count().await;
        peer.send_text(format!(r#"["COUNT","{id}",{{"count":3}}]"#))
            .await;
        peer
    };
    let (count, _peer) = within(async { tokio::join!(client.count(notes()), relay) }).await;
    assert_eq!(count.unwrap().count, 3);
}

#[tokio::test]
async fn requests_dropped_while_disconnected_are_not_sent_again() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let dropped = client.subscribe(notes(), SubscribeOptions::new());
    let kept = client.subscribe([Filter::new()], SubscribeOptions::new());
    let mut peer = server.accept().await;
    peer.req().await;
    peer.req().await;
    drop(dropped);
    peer.close().await;
    drop(peer);
    let mut peer = server.accept().await;
    assert_eq!(peer.req().await.1, [Filter::new()]);
    drop(kept);
    peer.close().await;
}

#[tokio::test]
async fn states_can_be_watched() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut states = client.watch_state();
    let peer = server.accept().await;
    within(states.wait_for(ConnectionState::is_connected))
        .await
        .unwrap();
    drop(peer);
    within(states.wait_for(|state| !state.is_connected()))
        .await
        .unwrap();
    let _peer = server.accept().await;
    within(states.wait_for(ConnectionState::is_connected))
        .await
        .unwrap();
    client.shutdown();
    let closed = |state: &ConnectionState| matches!(state, ConnectionState::Closed { .. });
    within(states.wait_for(closed)).await.unwrap();
}

/// Time is paused: tokio advances it when all tasks are idle.
#[tokio::test(start_paused = true)]
async fn the_back_off_doubles_up_to_the_maximum() {
    let server = TestRelay::start().await;
    let url = server.url();
    drop(server);
    let (first, most) = (Duration::from_secs(1), Duration::from_secs(10));
    let client = Relay::connect_with(&url, RelayOptions::new().backoff(first, most));
    let mut states = client.watch_state();
    for failed in 1..=8 {
        let is_next = |state: &ConnectionState| matches!(state, ConnectionState::Waiting { attempt, .. } if *attempt == failed);
        let state = states.wait_for(is_next).await.unwrap().clone();
        let ConnectionState::Waiting { wait, .. } = state else {
            unreachable!()
        };
        let whole = (first * (1 << (failed - 1))).min(most);
        assert!(whole / 2 <= wait && wait <= whole, "{failed}: {wait:?}");
    }
}
