//! NIP-44 beside the nostr crate. Its key is agreed on beforehand on both sides, and its answer is
//! encoded as base64, as ours is.

use std::time::Duration;

use base64_simd::STANDARD;
use nostr::key::{PublicKey, SecretKey};
use nostr::nips::nip44::v2::{self, ConversationKey};
use polywire_gate::Group;
use polywire_gate_nostr::encryption::{LENGTHS, NONCE, pairs, text};

#[expect(clippy::unwrap_used, reason = "a benchmark stops at wrong data")]
pub(crate) fn cases(group: &mut Group) {
    let (alice, bob) = pairs();
    let key = || {
        let secret = SecretKey::from_hex(&alice.secret_key().to_hex()).unwrap();
        let public = PublicKey::from_byte_array(*bob.public_key().as_bytes());
        ConversationKey::derive(&secret, &public).unwrap()
    };
    for (name, len) in LENGTHS {
        let plaintext = text(len);
        let encrypt = |key: &ConversationKey, text: &str| {
            let bytes = v2::encrypt_to_bytes_with_nonce(key, text.as_bytes(), NONCE);
            bytes.map(|bytes| STANDARD.encode_to_string(bytes))
        };
        let payload = encrypt(&key(), &plaintext).unwrap();
        group.extend(&format!("NIP-44: encrypt {name}"), |case| {
            let (key, input, expected) = (key(), plaintext.clone(), payload.clone());
            case.peer(
                "nostr crate",
                move || encrypt(&key, &input).unwrap_or_default(),
                move |payload| *payload == expected,
            );
            target(case, name);
        });
        group.extend(&format!("NIP-44: decrypt {name}"), |case| {
            let (key, expected) = (key(), plaintext.clone());
            case.peer(
                "nostr crate",
                move || {
                    let bytes = STANDARD.decode_to_vec(&payload).unwrap_or_default();
                    v2::decrypt_to_bytes(&key, &bytes).unwrap_or_default()
                },
                move |text| *text == expected.as_bytes(),
            );
            target(case, name);
        });
    }
}

fn target(case: &mut polywire_gate::Case, name: &str) {
    match name {
        "100 B" => _ = case.target_time(Duration::from_micros(1)),
        "64 KB" => _ = case.target_ratio_time("nostr crate", 1.25),
        _ => {}
    }
}
