//! Encryption.

use polywire_nostr::nip44::ConversationKey;
use polywire_nostr::{KeyPair, SecretKey};

use super::{Directory, keys, nostr, nostr_as_me, nostr_with};

fn peer() -> KeyPair {
    KeyPair::from(SecretKey::from_bytes([8; 32]).unwrap())
}

#[test]
fn messages_go_both_ways() {
    let npub = peer().public_key().to_npub();
    let text = "hello\n\u{1f600}\n";
    let payload = nostr_as_me(&["encrypt", "--peer", &npub], text)
        .expect(0)
        .out;
    let key = ConversationKey::derive(&peer().secret_key(), &keys().public_key()).unwrap();
    assert_eq!(key.decrypt(payload.trim_end()).unwrap(), text);
    // Decrypted by the peer, with message and key in files.
    let directory = Directory::new();
    let secret = directory.write("key", format!("{}\nmore\n", *peer().secret_key().to_nsec()));
    let message = directory.write("message", payload.replace('\n', "\r\n"));
    let hex = keys().public_key().to_string();
    let decrypt = ["decrypt", "--peer", &hex, "--key-file", &secret, &message];
    assert_eq!(nostr(&decrypt, "").expect(0).out, text);
}

#[test]
fn messages_that_are_not_for_us() {
    let npub = peer().public_key().to_npub();
    let payload = nostr_as_me(&["encrypt", "--peer", &npub], "hello")
        .expect(0)
        .out;
    let other = SecretKey::from_bytes([9; 32]).unwrap().to_hex();
    let variables = [("POLYWIRE_NOSTR_KEY", &**other)];
    let output = nostr_with(&["decrypt", "--peer", &npub], &payload, &variables).expect(1);
    assert_eq!(output.out, "");
    for payload in ["", "hello", "#x"] {
        nostr_as_me(&["decrypt", "--peer", &npub], payload).expect(1);
    }
    nostr_as_me(&["encrypt", "--peer", &npub], "").expect(2);
    nostr_as_me(&["encrypt", "--peer", &npub], b"\xff").expect(2);
    nostr_as_me(&["encrypt", "--peer", &npub], vec![b'x'; (1 << 20) + 1]).expect(2);
    nostr_as_me(&["encrypt"], "hello").expect(2);
    nostr_as_me(&["encrypt", "--peer", "bob"], "hello").expect(2);
}

#[test]
fn the_old_encryption_is_asked_for() {
    let npub = peer().public_key().to_npub();
    nostr_as_me(&["encrypt", "--nip04", "--peer", &npub], "hello").expect(2);
    let payload = nostr_as_me(&["encrypt", "--insecure-nip04", "--peer", &npub], "hello").expect(0);
    assert!(payload.out.contains("?iv="));
    let output = nostr_as_me(&["decrypt", "--peer", &npub], &payload.out).expect(1);
    assert!(output.err.contains("--nip04"), "{}", output.err);
    let output = nostr_as_me(&["decrypt", "--nip04", "--peer", &npub], &payload.out).expect(0);
    assert_eq!(output.out, "hello");
}
