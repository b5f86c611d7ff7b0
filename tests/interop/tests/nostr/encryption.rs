//! Encryption: NIP-44 and NIP-04.

use base64_simd::STANDARD;
use nostr::nips::nip44::v2::{self, ConversationKey as TheirKey};
use nostr::nips::{nip04 as their_nip04, nip44 as their_nip44};
use polywire_interop::Case;
use polywire_nostr::nip04;
use polywire_nostr::nip44::{ConversationKey, Nip44Error};
use serde_json::json;

use crate::fixtures::{keys, secret, secret_hex, texts, their_keys};

/// The lengths at which the padding or the length prefix changes.
const LENGTHS: [usize; 22] = [
    1,
    2,
    31,
    32,
    33,
    64,
    65,
    96,
    97,
    224,
    256,
    257,
    320,
    321,
    1_024,
    4_096,
    65_534,
    65_535,
    65_536,
    65_537,
    131_073,
    1 << 20,
];

fn plaintexts() -> Vec<String> {
    let lengths = LENGTHS.iter().map(|length| {
        let text: String = ('!'..='~').cycle().take(*length).collect();
        assert_eq!(text.len(), *length);
        text
    });
    let hard = texts().into_iter().filter(|text| !text.is_empty());
    lengths.chain(hard).collect()
}

fn key() -> ConversationKey {
    ConversationKey::derive(&secret(1), &keys(2).public_key()).unwrap()
}

fn nonce(number: usize) -> [u8; 32] {
    std::array::from_fn(|at| (number * 31 + at * 7 + 1) as u8)
}

#[test]
fn nostr_crate_nip44_both_ways() {
    let _case = Case::begin("nostr_crate_nip44_both_ways");
    let (one, two) = (their_keys(1), their_keys(2));
    let ours = key();
    let theirs = TheirKey::derive(one.secret_key(), &two.public_key()).unwrap();
    assert_eq!(theirs.as_bytes(), ours.as_bytes());
    for (number, text) in plaintexts().iter().enumerate() {
        // The same nonce gives the same payload.
        let payload = ours.encrypt_with_nonce(text, &nonce(number)).unwrap();
        let bytes =
            v2::encrypt_to_bytes_with_nonce(&theirs, text.as_bytes(), nonce(number)).unwrap();
        assert_eq!(
            payload,
            STANDARD.encode_to_string(bytes),
            "{} bytes",
            text.len()
        );
        let read = their_nip44::decrypt(two.secret_key(), &one.public_key(), &payload).unwrap();
        assert!(read == *text, "{} bytes", text.len());
        let version = their_nip44::Version::V2;
        let payload =
            their_nip44::encrypt(two.secret_key(), &one.public_key(), text, version).unwrap();
        assert!(
            ours.decrypt(&payload).unwrap() == *text,
            "{} bytes",
            text.len()
        );
    }
    // An empty plaintext is rejected by both.
    assert_eq!(ours.encrypt(""), Err(Nip44Error::Empty));
    assert!(v2::encrypt_to_bytes_with_nonce(&theirs, b"", nonce(0)).is_err());
}

#[test]
fn nostr_tools_nip44_both_ways() {
    let case = Case::begin("nostr_tools_nip44_both_ways");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let ours = key();
    let pubkey = keys(1).public_key().to_string();
    let theirs = tools.text(
        "conversation_key",
        &json!({ "secret": secret_hex(2), "pubkey": pubkey }),
    );
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    assert_eq!(theirs, hex(ours.as_bytes()));
    for (number, text) in plaintexts().iter().enumerate() {
        let nonce = nonce(number);
        let payload = ours.encrypt_with_nonce(text, &nonce).unwrap();
        let with = json!({ "key": theirs, "nonce": hex(&nonce), "text": text });
        assert!(
            tools.text("encrypt44", &with) == payload,
            "{} bytes",
            text.len()
        );
        let read = tools.text("decrypt44", &json!({ "key": theirs, "payload": payload }));
        // nostr-tools removes a byte order mark at the start.
        let expected = text.strip_prefix('\u{feff}').unwrap_or(text);
        assert!(read == expected, "{} bytes", text.len());
        let payload = tools.text("encrypt44", &json!({ "key": theirs, "text": text }));
        assert!(
            ours.decrypt(&payload).unwrap() == *text,
            "{} bytes",
            text.len()
        );
    }
    let error = tools.try_call("encrypt44", &json!({ "key": theirs, "text": "" }));
    let expected = "invalid plaintext size: must be between 1 and 4294967295 bytes";
    assert_eq!(error.unwrap_err(), expected);
}

/// Invalid payloads, authentic or not, which all implementations reject.
#[test]
fn nostr_peers_reject_invalid_nip44() {
    let case = Case::begin("nostr_peers_reject_invalid_nip44");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let ours = key();
    let (one, two) = (their_keys(1), their_keys(2));
    let hex: String = ours
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let payload = ours
        .encrypt_with_nonce("a secret of 20 bytes", &nonce(1))
        .unwrap();
    let bytes = STANDARD.decode_to_vec(&payload).unwrap();
    let mut wrong: Vec<String> = Vec::new();
    // A flipped bit in the version, the nonce, the ciphertext and the MAC.
    for at in [0, 1, 32, 33, 40, 66, 67, 98] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x40;
        wrong.push(STANDARD.encode_to_string(bytes));
    }
    wrong.extend([
        payload[..128].to_owned(),
        format!("{payload}AAAA"),
        format!("#{}", &payload[1..]),
        payload.replacen('A', "!", 1),
        payload.replacen('A', " ", 1),
        String::new(),
    ]);
    for payload in wrong {
        ours.decrypt(&payload).unwrap_err();
        let theirs = their_nip44::decrypt(two.secret_key(), &one.public_key(), &payload);
        assert!(theirs.is_err(), "nostr: {payload}");
        let with = json!({ "key": hex, "payload": payload });
        assert!(
            tools.try_call("decrypt44", &with).is_err(),
            "nostr-tools: {payload}"
        );
    }
}

#[test]
fn nostr_crate_nip04_both_ways() {
    let _case = Case::begin("nostr_crate_nip04_both_ways");
    let (one, two) = (their_keys(1), their_keys(2));
    let mut all = texts();
    all.extend((0..50).map(|length| "x".repeat(length)));
    for text in all {
        let payload = nip04::encrypt_insecure(&secret(1), &keys(2).public_key(), &text).unwrap();
        let read = their_nip04::decrypt(two.secret_key(), &one.public_key(), &payload).unwrap();
        assert!(read == text, "{} bytes", text.len());
        let payload = their_nip04::encrypt(two.secret_key(), &one.public_key(), &text).unwrap();
        let read = nip04::decrypt(&secret(1), &keys(2).public_key(), &payload).unwrap();
        assert!(read == text, "{} bytes", text.len());
        let vector = [number(&text); 16];
        let ours =
            nip04::encrypt_insecure_with_vector(&secret(1), &keys(2).public_key(), &text, &vector);
        let theirs =
            their_nip04::encrypt_with_iv(one.secret_key(), &two.public_key(), &text, vector);
        assert_eq!(ours.unwrap(), theirs.unwrap());
    }
}

fn number(text: &str) -> u8 {
    text.len() as u8
}

#[test]
fn nostr_tools_nip04_both_ways() {
    let case = Case::begin("nostr_tools_nip04_both_ways");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let (secret_of_two, pubkey) = (secret_hex(2), keys(1).public_key().to_string());
    for text in texts() {
        let payload = nip04::encrypt_insecure(&secret(1), &keys(2).public_key(), &text).unwrap();
        let with = json!({ "secret": secret_of_two, "pubkey": pubkey, "payload": payload });
        let read = tools.text("decrypt04", &with);
        let expected = text.strip_prefix('\u{feff}').unwrap_or(&text);
        assert!(read == expected, "{} bytes", text.len());
        let with = json!({ "secret": secret_of_two, "pubkey": pubkey, "text": text });
        let payload = tools.text("encrypt04", &with);
        let read = nip04::decrypt(&secret(1), &keys(2).public_key(), &payload).unwrap();
        assert!(read == text, "{} bytes", text.len());
    }
}
