//! Authentication (NIP-42).

use std::time::{SystemTime, UNIX_EPOCH};

use polywire_nostr::message::{MachineReadablePrefix, relay};
use polywire_nostr::{PublicKey, Signature, UnsignedEvent, auth};
use polywire_nostr_client::{
    PublishError, Relay, Signer, SignerError, SubscribeOptions, SubscriptionItem,
};

use crate::support::{
    Peer, TestRelay, keys, next, next_event, note, notes, options, until, within,
};

/// Sends a challenge and checks the authentication event.
async fn challenge(server: &TestRelay, peer: &mut Peer, accepted: bool) {
    peer.send_with(|out| relay::push_auth(out, "7f3a")).await;
    let event = peer.auth().await;
    let event = event.as_ref();
    assert_eq!(event.verify(), Ok(()));
    assert_eq!(*event.pubkey(), keys().public_key());
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    assert_eq!(auth::check(&event, "7f3a", &server.url(), now, 600), Ok(()));
    let message = if accepted { "" } else { "restricted: not you" };
    peer.ok(event.id(), accepted, message).await;
}

fn client(server: &TestRelay) -> Relay {
    Relay::connect_with(&server.url(), options().signer(keys()))
}

#[tokio::test]
async fn rejected_requests_are_sent_again() {
    let mut server = TestRelay::start().await;
    let client = client(&server);
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let event = note("hello", 1);
    let mut peer = server.accept().await;
    let relay = async {
        let (id, _) = peer.req().await;
        peer.event().await;
        peer.send_with(|out| relay::push_auth(out, "7f3a")).await;
        peer.closed(&id, "auth-required: who are you?").await;
        peer.ok(event.as_ref().id(), false, "auth-required: who are you?")
            .await;
        let proof = peer.auth().await;
        peer.ok(proof.as_ref().id(), true, "").await;
        let (again, _) = peer.req().await;
        assert_eq!(again, id);
        peer.event().await;
        peer.ok(event.as_ref().id(), true, "").await;
        peer.send_event(&id, &event).await;
    };
    let (outcome, ()) = within(async { tokio::join!(client.publish(&event), relay) }).await;
    outcome.unwrap();
    assert_eq!(next_event(&mut subscription).await, event);
}

#[tokio::test]
async fn a_rejection_sent_before_the_authentication_is_retried_once() {
    let mut server = TestRelay::start().await;
    let client = client(&server);
    let event = note("hello", 1);
    let mut peer = server.accept().await;
    let relay = async {
        peer.event().await;
        challenge(&server, &mut peer, true).await;
        for _ in 0..2 {
            peer.ok(event.as_ref().id(), false, "auth-required: who are you?")
                .await;
            if tokio::time::timeout(crate::support::SHORT, peer.event())
                .await
                .is_err()
            {
                break;
            }
        }
    };
    let (outcome, ()) = within(async { tokio::join!(client.publish(&event), relay) }).await;
    let Err(PublishError::Rejected(refusal)) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(refusal.prefix, Some(MachineReadablePrefix::AuthRequired));
}

#[tokio::test]
async fn a_rejected_authentication_fails_pending_requests() {
    let mut server = TestRelay::start().await;
    let client = client(&server);
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    peer.send_with(|out| relay::push_auth(out, "7f3a")).await;
    peer.closed(&id, "auth-required: who are you?").await;
    let proof = peer.auth().await;
    peer.ok(proof.as_ref().id(), false, "restricted: not you")
        .await;
    let Some(SubscriptionItem::Closed { refusal, .. }) = next(&mut subscription).await else {
        panic!("no CLOSED");
    };
    assert_eq!(refusal.to_string(), "restricted: not you");
    assert_eq!(next(&mut subscription).await, None);
}

#[tokio::test]
async fn each_connection_authenticates() {
    let mut server = TestRelay::start().await;
    let client = client(&server);
    for _ in 0..2 {
        let mut peer = server.accept().await;
        challenge(&server, &mut peer, true).await;
    }
    assert!(client.stats().connections >= 2);
}

#[tokio::test]
async fn without_a_signer_auth_required_is_an_error() {
    let mut server = TestRelay::start().await;
    let client = server.client();
    let mut subscription = client.subscribe(notes(), SubscribeOptions::new());
    let mut peer = server.accept().await;
    let (id, _) = peer.req().await;
    peer.send_with(|out| relay::push_auth(out, "7f3a")).await;
    peer.closed(&id, "auth-required: who are you?").await;
    let item = next(&mut subscription).await;
    assert!(
        matches!(item, Some(SubscriptionItem::Closed { .. })),
        "{item:?}"
    );
}

/// Always fails.
struct Locked;

impl Signer for Locked {
    fn public_key(&self) -> PublicKey {
        keys().public_key()
    }

    fn sign(&self, event: &UnsignedEvent) -> Result<Signature, SignerError> {
        assert_eq!(event.kind(), auth::KIND);
        Err("the device is locked".into())
    }
}

#[tokio::test]
async fn a_signer_can_fail() {
    let mut server = TestRelay::start().await;
    let client = Relay::connect_with(&server.url(), options().signer(Locked));
    let event = note("hello", 1);
    let mut peer = server.accept().await;
    let relay = async {
        peer.send_with(|out| relay::push_auth(out, "7f3a")).await;
        peer.event().await;
        peer.ok(event.as_ref().id(), false, "auth-required: who are you?")
            .await;
    };
    let (outcome, ()) = within(async { tokio::join!(client.publish(&event), relay) }).await;
    assert!(
        matches!(outcome, Err(PublishError::Rejected(_))),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn the_number_of_answered_challenges_is_limited() {
    let mut server = TestRelay::start().await;
    let client = client(&server);
    let mut peer = server.accept().await;
    for at in 0..40 {
        peer.send_text(format!(r#"["AUTH","{at}"]"#)).await;
    }
    let event = note("hello", 1);
    until(|| client.stats().messages == 40).await;
    let relay = async {
        for _ in 0..16 {
            peer.auth().await;
        }
        peer.event().await;
        peer.ok(event.as_ref().id(), true, "").await;
    };
    let (outcome, ()) = within(async { tokio::join!(client.publish(&event), relay) }).await;
    outcome.unwrap();
}
