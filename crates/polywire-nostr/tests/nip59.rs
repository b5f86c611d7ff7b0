//! Gift wraps: the example of NIP-17, and the errors of invalid wraps.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::nip44::{ConversationKey, Nip44Error};
use polywire_nostr::nip59::{self, GIFT_WRAP, Nip59Error, SEAL};
use polywire_nostr::{
    Event, EventBuilder, EventRef, KeyPair, PublicKey, Reason, SecretKey, UnsignedEvent,
};

fn keys(nsec: &str) -> KeyPair {
    KeyPair::from(SecretKey::from_nsec(nsec).unwrap())
}

#[test]
fn example_of_nip_17() {
    let sender = keys("nsec1w8udu59ydjvedgs3yv5qccshcj8k05fh3l60k9x57asjrqdpa00qkmr89m");
    let receiver = keys("nsec12ywtkplvyq5t6twdqwwygavp5lm4fhuang89c943nf2z92eez43szvn4dt");
    let wraps = include_str!("vectors/nip17.jsonl");
    for (wrap, keys) in wraps.lines().zip([&receiver, &sender]) {
        let wrap = EventRef::parse(wrap).unwrap();
        wrap.verify().unwrap();
        let opened = nip59::unwrap_gift(&wrap, keys).unwrap();
        assert_eq!(opened.sender, sender.public_key());
        assert_eq!(opened.rumor.content(), "Hola, que tal?");
        assert_eq!(opened.rumor.kind(), 14);
    }
}

fn pair() -> (KeyPair, KeyPair) {
    let keys = |byte| KeyPair::from(SecretKey::from_bytes([byte; 32]).unwrap());
    (keys(1), keys(2))
}

fn rumor(author: &PublicKey) -> UnsignedEvent {
    EventBuilder::new(14, "text", 1_700_000_000).build(author)
}

/// Creates a gift wrap with any text in place of the seal.
fn wrap_text(text: &str, receiver: &PublicKey) -> Event {
    let once = KeyPair::generate().unwrap();
    let key = ConversationKey::derive(&once.secret_key(), receiver).unwrap();
    EventBuilder::new(GIFT_WRAP, key.encrypt(text).unwrap(), 1_700_000_000).sign(&once)
}

fn open(wrap: &Event, keys: &KeyPair) -> Nip59Error {
    nip59::unwrap_gift(&wrap.as_ref(), keys).unwrap_err()
}

#[test]
fn wrong_kinds() {
    let (alice, bob) = pair();
    let event = EventBuilder::new(1, "text", 0).sign(&alice);
    assert_eq!(open(&event, &bob), Nip59Error::NotGiftWrap(1));
    let wrap = wrap_text(event.as_ref().as_json(), &bob.public_key());
    assert_eq!(open(&wrap, &bob), Nip59Error::NotSeal(1));
}

#[test]
fn wrap_for_another_receiver() {
    let (alice, bob) = pair();
    let wrap = nip59::gift_wrap(&rumor(&alice.public_key()), &alice, &bob.public_key(), 0).unwrap();
    assert_eq!(open(&wrap, &alice), Nip59Error::Wrap(Nip44Error::Mac));
}

#[test]
fn seal_with_an_invalid_signature() {
    let (alice, bob) = pair();
    let rumor = rumor(&alice.public_key());
    // Bob signs a seal with the public key of Alice.
    let key = ConversationKey::derive(&bob.secret_key(), &alice.public_key()).unwrap();
    let seal = EventBuilder::new(SEAL, key.encrypt(rumor.as_json()).unwrap(), 0)
        .build(&alice.public_key());
    let sig = bob.sign(seal.id());
    let seal = seal.with_signature(&sig);
    let wrap = nip59::wrap(&seal, &bob.public_key(), 0).unwrap();
    let Nip59Error::Seal(error) = open(&wrap, &bob) else {
        panic!("another error");
    };
    assert_eq!(error.reason, Reason::InvalidSignature);
}

#[test]
fn rumor_of_another_author() {
    let (alice, bob) = pair();
    let seal = nip59::seal(&rumor(&alice.public_key()), &bob, &bob.public_key(), 0).unwrap();
    let wrap = nip59::wrap(&seal, &bob.public_key(), 0).unwrap();
    assert_eq!(open(&wrap, &bob), Nip59Error::AuthorMismatch);
}

#[test]
fn rumor_with_a_wrong_id() {
    let (alice, bob) = pair();
    let text = rumor(&alice.public_key()).as_json().replace("text", "next");
    let key = ConversationKey::derive(&alice.secret_key(), &bob.public_key()).unwrap();
    let seal = EventBuilder::new(SEAL, key.encrypt(&text).unwrap(), 0).sign(&alice);
    let wrap = nip59::wrap(&seal, &bob.public_key(), 0).unwrap();
    let Nip59Error::Rumor(error) = open(&wrap, &bob) else {
        panic!("another error");
    };
    assert_eq!(error.reason, Reason::IdMismatch);
}

#[test]
fn layers_are_backdated() {
    let (alice, bob) = pair();
    let now = 1_700_000_000;
    let times: Vec<_> = (0..8)
        .map(|_| {
            let rumor = rumor(&alice.public_key());
            let wrap = nip59::gift_wrap(&rumor, &alice, &bob.public_key(), now).unwrap();
            wrap.as_ref().created_at()
        })
        .collect();
    assert!(
        times
            .iter()
            .all(|time| (now - nip59::MAX_BACKDATE..=now).contains(time))
    );
    assert!(times.iter().any(|time| *time != times[0]));
}
