//! Subscriptions to one relay.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use polywire_nostr::{Event, Filter, Reason};
use polywire_nostr_client::{
    FetchError, RejectionReason, Relay, SubscribeOptions, SubscriptionItem,
};

use crate::support::{SHORT, TestRelay, next, next_event, note, notes, options, until, within};

const PATIENT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn stored_events_new_events_and_close() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, filters) = peer.req().await;
    assert_eq!(filters, notes());
    let (stored, new) = (note("stored", 1), note("new", 2));
    peer.send_event(&id, &stored).await;
    peer.eose(&id).await;
    peer.eose(&id).await;
    peer.send_event(&id, &new).await;
    assert_eq!(next_event(&mut subscription).await, stored);
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
    assert_eq!(next_event(&mut subscription).await, new);
    drop(subscription);
    assert_eq!(peer.close().await, id);
    // Events after CLOSE are dropped.
    peer.send_event(&id, &note("late", 3)).await;
    until(|| client.stats().unrequested == 1).await;
}

#[tokio::test]
async fn without_filters_no_req_is_sent() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    assert_eq!(
        next(&mut client.subscribe([], SubscribeOptions::new())).await,
        None
    );
    client.shutdown();
    assert_eq!(peer.next().await, None);
}

#[tokio::test]
async fn closed_by_the_relay() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    peer.closed(&id, "unsupported: too broad").await;
    let Some(SubscriptionItem::Closed { relay, refusal }) = next(&mut subscription).await else {
        panic!("no CLOSED");
    };
    assert_eq!(relay, server.url());
    assert_eq!(refusal.to_string(), "unsupported: too broad");
    assert_eq!(next(&mut subscription).await, None);
    drop(subscription);
    // No CLOSE is sent for a subscription that the relay closed.
    client.shutdown();
    assert_eq!(peer.next().await, None);
}

#[tokio::test]
async fn only_valid_and_requested_events_are_delivered() {
    let mut server = TestRelay::start().await;
    let reasons = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reasons);
    let options = options().on_rejection(move |rejection| {
        assert!(rejection.relay.as_str().starts_with("ws://"));
        seen.lock()
            .unwrap()
            .push((rejection.reason, rejection.text.to_owned()));
    });
    let client = Relay::connect_with(&server.url(), options);
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;

    let good = note("good", 1);
    let json = good.as_ref().as_json();
    let forged = Event::parse(&json.replace("good", "evil")).unwrap();
    let sig = good.as_ref().sig().to_string();
    let unsigned = Event::parse(&json.replace(&sig, &"1".repeat(128))).unwrap();
    let other_kind = polywire_nostr::EventBuilder::new(4, "", 1).sign(&crate::support::keys());
    for event in [&forged, &unsigned, &other_kind, &good, &good, &forged] {
        peer.send_event(&id, event).await;
    }
    peer.eose(&id).await;
    assert_eq!(next_event(&mut subscription).await, good);
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );

    let stats = client.stats();
    assert_eq!(stats.events, 6);
    assert_eq!(
        (stats.delivered, stats.invalid, stats.unrequested),
        (1, 2, 1)
    );
    // The second forged event has the id of a delivered event, so it is dropped before
    // verification.
    assert_eq!((stats.duplicates, stats.verifications), (2, 3));
    let reasons = reasons.lock().unwrap();
    let invalid = |at: usize| match reasons[at].0 {
        RejectionReason::Invalid(error) => error.reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (invalid(0), invalid(1)),
        (Reason::IdMismatch, Reason::InvalidSignature)
    );
    assert_eq!(reasons[0].1, forged.as_ref().as_json());
    assert_eq!(reasons[2].0, RejectionReason::Unrequested);
}

#[tokio::test]
async fn malformed_messages_are_ignored_and_counted() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    let malformed = [
        "",
        "hello",
        "{}",
        "[]",
        "[\"SONG\",1]",
        "[\"EVENT\",\"1\",{}]",
        "[\"OK\",\"00\",true,\"\"]",
        "[\"EOSE\"]",
        "[\"EOSE\",\"1\"] x",
    ];
    for text in malformed {
        peer.send_text(text).await;
    }
    peer.binary(vec![1, 2]).await;
    // Well-formed messages without a matching request.
    for text in [
        r#"["EOSE","77"]"#,
        r#"["EOSE","feed"]"#,
        r#"["CLOSED","78",""]"#,
        r#"["COUNT","79",{"count":1}]"#,
        r#"["NEG-MSG","80","61"]"#,
        r#"["NEG-ERR","81","closed: x"]"#,
        r#"["AUTH","challenge"]"#,
        r#"["NOTICE","hello"]"#,
    ] {
        peer.send_text(text).await;
    }
    peer.eose(&id).await;
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
    let stats = client.stats();
    assert_eq!(stats.malformed, malformed.len() as u64 + 1);
    assert_eq!(
        (stats.notices, stats.messages),
        (1, malformed.len() as u64 + 10)
    );
}

#[tokio::test]
async fn one_verification_for_two_subscriptions() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut first = client.subscribe(notes(), SubscribeOptions::new());
    let mut second = client.subscribe([Filter::new()], SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (first_id, _) = peer.req().await;
    let (second_id, _) = peer.req().await;
    let event = note("hello", 1);
    peer.send_event(&first_id, &event).await;
    peer.send_event(&second_id, &event).await;
    assert_eq!(next_event(&mut first).await, event);
    assert_eq!(next_event(&mut second).await, event);
    let stats = client.stats();
    assert_eq!(
        (stats.verifications, stats.cached, stats.delivered),
        (1, 1, 2)
    );
}

#[tokio::test]
async fn a_slow_receiver_stops_the_relay_without_loss() {
    const EVENTS: u64 = 3000;
    let mut server = TestRelay::start().await;
    let client = server.client();
    let options = SubscribeOptions::new().with_buffer(4);
    let mut subscription = client.subscribe(notes(), options);
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    let content = "x".repeat(1000);
    let sending = tokio::spawn(async move {
        for at in 0..EVENTS {
            peer.send_event(&id, &note(&content, at)).await;
        }
        peer.eose(&id).await;
        peer
    });
    // Four are in the buffer, and one is blocked.
    until(|| client.stats().events == 5).await;
    // The client still sends.
    let _ = client.publish_within(&note("meanwhile", 1), SHORT).await;
    assert_eq!(client.stats().events, 5);
    for at in 0..EVENTS {
        assert_eq!(
            next_event(&mut subscription).await.as_ref().created_at(),
            at
        );
    }
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
    let mut peer = within(sending).await.unwrap();
    assert_eq!(peer.event().await.as_ref().content(), "meanwhile");
}

#[tokio::test]
async fn a_dropped_receiver_blocks_no_other() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let slow = client.subscribe(notes(), SubscribeOptions::new().with_buffer(1));
    let mut other = client.subscribe([Filter::new()], SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (slow_id, _) = peer.req().await;
    let (other_id, _) = peer.req().await;
    for at in 0..10 {
        peer.send_event(&slow_id, &note("", at)).await;
    }
    peer.send_event(&other_id, &note("other", 1)).await;
    until(|| client.stats().events == 2).await;
    drop(slow);
    assert_eq!(next_event(&mut other).await.as_ref().content(), "other");
    assert_eq!(peer.close().await, slow_id);
}

#[tokio::test]
async fn fetches() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    let (first, second) = (note("first", 1), note("second", 2));
    let relay = async {
        let (id, _) = peer.req().await;
        for event in [&second, &first, &second] {
            peer.send_event(&id, event).await;
        }
        peer.eose(&id).await;
        assert_eq!(peer.close().await, id);
        let (id, _) = peer.req().await;
        peer.send_event(&id, &first).await;
        peer.closed(&id, "error: shutting down").await;
        // No answer.
        let (id, _) = peer.req().await;
        assert_eq!(peer.close().await, id);
    };
    let fetching = async {
        let all = client.fetch(notes(), PATIENT).await;
        let part = client.fetch(notes(), PATIENT).await;
        (all, part, client.fetch(notes(), SHORT).await)
    };
    let ((all, part, none), ()) = within(async { tokio::join!(fetching, relay) }).await;
    assert_eq!(all.unwrap(), [second, first.clone()]);
    let error = part.unwrap_err();
    assert!(matches!(error, FetchError::Closed { .. }), "{error:?}");
    assert_eq!(error.into_events(), [first]);
    let error = none.unwrap_err();
    assert!(matches!(error, FetchError::Timeout { .. }), "{error:?}");
    client.shutdown();
    let error = client.fetch(notes(), PATIENT).await.unwrap_err();
    assert!(matches!(error, FetchError::Shutdown), "{error:?}");
}

#[tokio::test]
async fn end_of_stored_is_delivered_after_the_timeout() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let options = SubscribeOptions::new().with_eose_timeout(Some(SHORT));
    let mut subscription = client.subscribe(notes(), options);
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
    let event = note("late", 1);
    peer.send_event(&id, &event).await;
    peer.eose(&id).await;
    assert_eq!(next_event(&mut subscription).await, event);
    client.shutdown();
    assert_eq!(next(&mut subscription).await, None);
}
