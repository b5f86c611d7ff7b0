//! The published vectors of NIP-44. They are not part of this repository.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::key::SecretKeyError;
use polywire_nostr::nip44::{ConversationKey, Nip44Error};
use polywire_nostr::reference::nip44 as slow;
use polywire_nostr::{PublicKey, SecretKey};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use test_data::{Missing, data};

test_data::tests! {
    conversation_keys,
    message_keys,
    padded_lengths,
    payloads,
    long_payloads,
    lengths_before_the_amendment,
    invalid_keys,
    invalid_payloads,
}

fn vectors() -> Result<Value, Missing> {
    let vectors = std::fs::read(data("bench/nostr/nip44.vectors.json")?).unwrap();
    Ok(serde_json::from_slice::<Value>(&vectors).unwrap()["v2"].take())
}

fn items(value: &Value, count: usize) -> &[Value] {
    let items = value.as_array().unwrap();
    assert_eq!(items.len(), count);
    items
}

fn array<const LEN: usize>(value: &Value) -> [u8; LEN] {
    let digits = value.as_str().unwrap().as_bytes();
    polywire_text::hex::decode_to_array(digits, polywire_text::hex::Case::Lower).unwrap()
}

fn secret(value: &Value) -> SecretKey {
    SecretKey::from_bytes(array(value)).unwrap()
}

fn conversation_key(value: &Value) -> ConversationKey {
    ConversationKey::from_bytes(array(&value["conversation_key"]))
}

fn sha256(text: &str) -> String {
    PublicKey::from_bytes(Sha256::digest(text).into()).to_string()
}

fn conversation_keys() -> Result<(), Missing> {
    let vectors = vectors()?;
    for vector in items(&vectors["valid"]["get_conversation_key"], 35) {
        let public = PublicKey::from_bytes(array(&vector["pub2"]));
        let key = ConversationKey::derive(&secret(&vector["sec1"]), &public).unwrap();
        assert_eq!(key, conversation_key(vector));
    }
    Ok(())
}

/// The vectors check the keys of the reference implementation. Equal payloads show that the keys of
/// the other implementation are equal.
fn message_keys() -> Result<(), Missing> {
    let vectors = vectors()?;
    let vectors = &vectors["valid"]["get_message_keys"];
    let conversation_key: [u8; 32] = array(&vectors["conversation_key"]);
    for vector in items(&vectors["keys"], 32) {
        let nonce = array(&vector["nonce"]);
        let (chacha_key, chacha_nonce, hmac_key) = slow::message_keys(&conversation_key, &nonce);
        assert_eq!(chacha_key, array(&vector["chacha_key"]));
        assert_eq!(chacha_nonce, array(&vector["chacha_nonce"]));
        assert_eq!(hmac_key, array(&vector["hmac_key"]));
        let fast = ConversationKey::from_bytes(conversation_key);
        let payload = fast.encrypt_with_nonce("text", &nonce).unwrap();
        assert_eq!(payload, slow::encrypt(&conversation_key, &nonce, b"text"));
    }
    Ok(())
}

fn padded_lengths() -> Result<(), Missing> {
    let vectors = vectors()?;
    let key = ConversationKey::from_bytes([1; 32]);
    for vector in items(&vectors["valid"]["calc_padded_len"], 24) {
        let [len, padded] = [0, 1].map(|at| vector[at].as_u64().unwrap());
        assert_eq!(slow::padded_len(len), padded);
        let payload = key
            .encrypt_with_nonce(&"x".repeat(len as usize), &[2; 32])
            .unwrap();
        // Version, nonce, prefix, padded text and MAC.
        let prefix = if len < 65_536 { 2 } else { 6 };
        assert_eq!(
            payload.len() as u64,
            (1 + 32 + prefix + padded + 32).div_ceil(3) * 4
        );
    }
    Ok(())
}

fn payloads() -> Result<(), Missing> {
    let vectors = vectors()?;
    for vector in items(&vectors["valid"]["encrypt_decrypt"], 10) {
        let text = vector["plaintext"].as_str().unwrap();
        let payload = vector["payload"].as_str().unwrap();
        let (one, two) = (secret(&vector["sec1"]), secret(&vector["sec2"]));
        for (own, other) in [(&one, &two), (&two, &one)] {
            let key = ConversationKey::derive(own, &other.public_key()).unwrap();
            assert_eq!(key, conversation_key(vector));
            let encrypted = key.encrypt_with_nonce(text, &array(&vector["nonce"]));
            assert_eq!(encrypted.as_deref(), Ok(payload));
            assert_eq!(key.decrypt(payload).as_deref(), Ok(text));
        }
        let key = array(&vector["conversation_key"]);
        assert_eq!(slow::decrypt(&key, payload).as_deref(), Ok(text.as_bytes()));
        assert_eq!(
            slow::encrypt(&key, &array(&vector["nonce"]), text.as_bytes()),
            payload
        );
    }
    Ok(())
}

fn long_payloads() -> Result<(), Missing> {
    let vectors = vectors()?;
    for vector in items(&vectors["valid"]["encrypt_decrypt_long_msg"], 3) {
        let repeat = vector["repeat"].as_u64().unwrap() as usize;
        let text = vector["pattern"].as_str().unwrap().repeat(repeat);
        assert_eq!(sha256(&text), vector["plaintext_sha256"]);
        let key = conversation_key(vector);
        let payload = key
            .encrypt_with_nonce(&text, &array(&vector["nonce"]))
            .unwrap();
        assert_eq!(sha256(&payload), vector["payload_sha256"]);
        assert_eq!(key.decrypt(&payload).unwrap(), text);
    }
    Ok(())
}

/// The file is older than the amendment of 2026-06-28, which allows longer plaintexts. Of the
/// invalid lengths in the file, 0 is still invalid, 65,536 and 100,000 are valid, and 10,000,000 is
/// valid for keys with a greater `max_plaintext`.
fn lengths_before_the_amendment() -> Result<(), Missing> {
    let vectors = vectors()?;
    let lengths = items(&vectors["invalid"]["encrypt_msg_lengths"], 4);
    let lengths: Vec<_> = lengths
        .iter()
        .map(|len| len.as_u64().unwrap() as usize)
        .collect();
    assert_eq!(lengths, [0, 65_536, 100_000, 10_000_000]);
    let key = ConversationKey::from_bytes([1; 32]);
    for len in lengths {
        let text = "x".repeat(len);
        let payload = key.encrypt_with_nonce(&text, &[2; 32]);
        match len {
            0 => assert_eq!(payload, Err(Nip44Error::Empty)),
            10_000_000 => {
                let error = Nip44Error::TooLong { len, max: 1 << 20 };
                assert_eq!(payload, Err(error));
                let wider = key.clone().with_max_plaintext(10_000_000);
                let payload = wider.encrypt_with_nonce(&text, &[2; 32]).unwrap();
                assert_eq!(wider.decrypt(&payload).unwrap(), text);
            }
            _ => assert_eq!(key.decrypt(&payload.unwrap()).unwrap(), text),
        }
    }
    Ok(())
}

fn invalid_keys() -> Result<(), Missing> {
    let vectors = vectors()?;
    for vector in items(&vectors["invalid"]["get_conversation_key"], 8) {
        let note = vector["note"].as_str().unwrap();
        let secret = SecretKey::from_bytes(array(&vector["sec1"]));
        if note.starts_with("sec1") {
            assert_eq!(secret, Err(SecretKeyError::OutOfRange), "{note}");
        } else {
            let public = PublicKey::from_bytes(array(&vector["pub2"]));
            assert!(
                ConversationKey::derive(&secret.unwrap(), &public).is_err(),
                "{note}"
            );
            assert!(public.check().is_err(), "{note}");
        }
    }
    Ok(())
}

fn invalid_payloads() -> Result<(), Missing> {
    let vectors = vectors()?;
    for vector in items(&vectors["invalid"]["decrypt"], 12) {
        let note = vector["note"].as_str().unwrap();
        let payload = vector["payload"].as_str().unwrap();
        let expected = match note {
            "unknown encryption version" => Nip44Error::UnknownVersion(None),
            "unknown encryption version 0" => Nip44Error::UnknownVersion(Some(0)),
            "invalid base64" => Nip44Error::Base64 { offset: 2 },
            "invalid MAC" => Nip44Error::Mac,
            "invalid padding" => Nip44Error::Padding,
            note => {
                let len = note.strip_prefix("invalid payload length: ").unwrap();
                let len = len.parse().unwrap();
                Nip44Error::PayloadLength { len }
            }
        };
        let key = conversation_key(vector);
        assert_eq!(key.decrypt(payload), Err(expected), "{note}");
        let error = slow::decrypt(key.as_bytes(), payload).unwrap_err();
        assert_eq!(error, expected, "{note}");
    }
    Ok(())
}
