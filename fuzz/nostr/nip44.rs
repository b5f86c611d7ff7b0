//! NIP-44: the input as a payload, as decoded payload bytes, as a padded plaintext, and as a
//! plaintext.

use polywire_nostr::nip44::{ConversationKey, Nip44Error};
use polywire_nostr::reference::nip44 as slow;
use polywire_text::base64::STANDARD;

const KEY: [u8; 32] = [0x2c; 32];
const NONCE: [u8; 32] = [0x51; 32];

pub(crate) fn any(data: &[u8]) {
    let key = ConversationKey::from_bytes(KEY);
    if let Ok(text) = str::from_utf8(data) {
        decrypt(&key, text);
        encrypt(&key, text);
    }
    let mut payload = String::new();
    STANDARD.push_str(&mut payload, data);
    decrypt(&key, &payload);
    // A payload with a valid MAC and arbitrary contents.
    decrypt(&key, &slow::encrypt_padded(&KEY, &NONCE, data));
    if !data.is_empty() {
        // A valid payload, except that the plaintext may not be UTF-8; then with one changed byte.
        let payload = slow::encrypt(&KEY, &NONCE, data);
        decrypt(&key, &payload);
        let at = usize::from(data[0]) * 7 % payload.len();
        let mut changed = payload.into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        decrypt(&key, str::from_utf8(&changed).unwrap());
    }
}

/// Checks that both implementations return the same plaintext or the same error.
fn decrypt(key: &ConversationKey, payload: &str) {
    let expected = slow::decrypt(&KEY, payload);
    let mut out = b"before".to_vec();
    let found = key.decrypt_into(payload, &mut out);
    assert_eq!(found.map(|()| out[6..].to_vec()), expected, "{payload}");
    assert_eq!(&out[..6], b"before");
    assert!(found.is_ok() || out.len() == 6);
    let expected =
        expected.and_then(|bytes| String::from_utf8(bytes).map_err(|_| Nip44Error::Utf8));
    assert_eq!(key.decrypt(payload), expected);
    // A smaller limit rejects the payload or returns the same result.
    let small = key.clone().with_max_plaintext(100);
    match small.decrypt(payload) {
        Err(Nip44Error::TooLong { .. }) => assert!(payload.len() > 132),
        other => assert_eq!(other, expected),
    }
}

fn encrypt(key: &ConversationKey, plaintext: &str) {
    let found = key.encrypt_with_nonce(plaintext, &NONCE);
    if plaintext.is_empty() {
        assert_eq!(found, Err(Nip44Error::Empty));
        return;
    }
    let payload = found.unwrap();
    assert_eq!(payload, slow::encrypt(&KEY, &NONCE, plaintext.as_bytes()));
    assert_eq!(key.decrypt(&payload).as_deref(), Ok(plaintext));
    let mut out = String::from("before");
    key.encrypt_into(plaintext, &NONCE, &mut out).unwrap();
    assert_eq!(out.strip_prefix("before"), Some(payload.as_str()));
}
