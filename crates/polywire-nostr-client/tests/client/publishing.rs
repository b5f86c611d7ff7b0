//! Publishing and counting.

use polywire_nostr::message::{Count, MachineReadablePrefix, relay};
use polywire_nostr_client::{ConnectionState, CountError, PublishError, Relay};

use crate::support::{SHORT, TestRelay, note, notes, options, until, within};

#[tokio::test]
async fn accepted() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let event = note("hello", 1);
    let publishing = tokio::spawn({
        let (client, event) = (client.clone(), event.clone());
        async move { client.publish(&event).await }
    });
    let mut peer = server.accept().await;
    assert_eq!(peer.event().await, event);
    peer.ok(&[9; 32].into(), false, "error: another event")
        .await;
    peer.ok(event.as_ref().id(), true, "stored").await;
    let outcome = within(publishing).await.unwrap().unwrap();
    assert_eq!((outcome.duplicate, &*outcome.message), (false, "stored"));
    assert!(client.state().is_connected());
}

#[tokio::test]
async fn duplicate_is_success_with_true_and_false() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    for accepted in [true, false] {
        let event = note("hello", 1);
        let relay = async {
            let event = peer.event().await;
            peer.ok(event.as_ref().id(), accepted, "duplicate: have it")
                .await;
        };
        let (outcome, ()) = within(async { tokio::join!(client.publish(&event), relay) }).await;
        assert!(outcome.unwrap().duplicate);
    }
}

#[tokio::test]
async fn rejected() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    let event = note("hello", 1);
    for (message, prefix, text) in [
        (
            "pow: 25 of 24 bits",
            Some(MachineReadablePrefix::Pow),
            "25 of 24 bits",
        ),
        ("no", None, "no"),
        (
            "auth-required: who are you?",
            Some(MachineReadablePrefix::AuthRequired),
            "who are you?",
        ),
    ] {
        let relay = async {
            peer.event().await;
            peer.ok(event.as_ref().id(), false, message).await;
        };
        let (outcome, ()) = within(async { tokio::join!(client.publish(&event), relay) }).await;
        let Err(PublishError::Rejected(refusal)) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!((refusal.prefix, &*refusal.text), (prefix, text));
    }
}

#[tokio::test]
async fn concurrent_callers_that_publish_the_same_event_share_a_message() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let event = note("hello", 1);
    let mut peer = server.accept().await;
    let relay = async {
        peer.event().await;
        peer.ok(event.as_ref().id(), true, "").await;
    };
    let both = async { tokio::join!(client.publish(&event), client.publish(&event), relay) };
    let (first, second, ()) = within(both).await;
    assert!(first.is_ok() && second.is_ok());
    client.shutdown();
    assert_eq!(peer.next().await, None);
}

#[tokio::test]
async fn no_answer() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let event = note("hello", 1);
    let mut peer = server.accept().await;
    let answer = client.publish_within(&event, SHORT).await;
    assert!(
        matches!(answer, Err(PublishError::Timeout { .. })),
        "{answer:?}"
    );
    // The event is not sent again after the timeout of the caller.
    drop(peer);
    peer = server.accept().await;
    client.shutdown();
    assert_eq!(peer.next().await, None);
}

#[tokio::test]
async fn no_relay() {
    let server = TestRelay::start().await;
    let url = server.url();
    drop(server);
    let client = Relay::connect_with(&url, options());
    let event = note("hello", 1);
    let mut states = client.watch_state();
    let waiting = states.wait_for(|state| matches!(state, ConnectionState::Waiting { .. }));
    within(waiting).await.unwrap();
    let answer = client.publish_within(&event, SHORT).await;
    assert!(
        matches!(answer, Err(PublishError::Timeout { .. })),
        "{answer:?}"
    );
}

#[tokio::test]
async fn shut_down() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let event = note("hello", 1);
    let mut peer = server.accept().await;
    let shutdown = async {
        peer.event().await;
        client.shutdown();
    };
    let (answer, ()) = within(async { tokio::join!(client.publish(&event), shutdown) }).await;
    assert!(matches!(answer, Err(PublishError::Shutdown)), "{answer:?}");
    assert_eq!(peer.next().await, None);
    until(|| matches!(client.state(), ConnectionState::Closed { .. })).await;
    assert!(matches!(
        client.publish(&event).await,
        Err(PublishError::Shutdown)
    ));
    assert!(!client.wait_connected().await);
}

#[tokio::test]
async fn messages_queued_before_the_last_handle_is_dropped_are_sent() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    assert!(within(client.wait_connected()).await);
    let event = note("hello", 1);
    let _ = client.publish_within(&event, SHORT).await;
    drop(client);
    assert_eq!(peer.event().await, event);
    assert_eq!(peer.next().await, None);
}

#[tokio::test]
async fn counts() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut peer = server.accept().await;
    let relay = async {
        let id = peer.count().await;
        peer.send_with(|out| relay::push_count(out, &id, &Count::new(42)))
            .await;
        let id = peer.count().await;
        peer.closed(&id, "restricted: not for you").await;
    };
    let asked = async { (client.count(notes()).await, client.count(notes()).await) };
    let ((count, refused), ()) = within(async { tokio::join!(asked, relay) }).await;
    assert_eq!(count.unwrap().count, 42);
    let Err(CountError::Refused(refusal)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(refusal.to_string(), "restricted: not for you");
    let impatient = Relay::connect_with(&server.url(), options().request_timeout(SHORT));
    let answer = impatient.count(notes()).await;
    assert!(
        matches!(answer, Err(CountError::Timeout { .. })),
        "{answer:?}"
    );
}
