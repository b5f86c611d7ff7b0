//! NIP-44 and NIP-04 with plaintexts of several lengths.

use polywire_nostr::nip44::ConversationKey;
use polywire_nostr::{KeyPair, SecretKey, nip04};

use polywire_gate::Group;

/// The lengths of plaintexts in bytes, and their names in cases.
pub const LENGTHS: [(&str, usize); 4] = [
    ("100 B", 100),
    ("1 KB", 1024),
    ("8 KB", 8 * 1024),
    ("64 KB", 64 * 1024 - 1),
];

/// Returns two key pairs.
#[must_use]
pub fn pairs() -> (KeyPair, KeyPair) {
    #[expect(clippy::unwrap_used, reason = "a constant that is in range")]
    let keys = |byte| KeyPair::from(SecretKey::from_bytes([byte; 32]).unwrap());
    (keys(1), keys(2))
}

/// The nonce of all messages.
pub const NONCE: [u8; 32] = [3; 32];

/// Returns text of this length in bytes.
#[must_use]
pub fn text(len: usize) -> String {
    "the quick brown fox ".chars().cycle().take(len).collect()
}

pub(super) fn cases(group: &mut Group) {
    let (alice, bob) = pairs();
    #[expect(clippy::unwrap_used, reason = "a public key that was computed")]
    let key = || ConversationKey::derive(&alice.secret_key(), &bob.public_key()).unwrap();
    for (name, len) in LENGTHS {
        let plaintext = text(len);
        #[expect(clippy::unwrap_used, reason = "the lengths are allowed")]
        let payload = key().encrypt_with_nonce(&plaintext, &NONCE).unwrap();
        let (expected, encrypting, input) = (payload.clone(), key(), plaintext.clone());
        group
            .case(format!("NIP-44: encrypt {name}"))
            .bytes(len)
            .polywire(
                move || encrypting.encrypt_with_nonce(&input, &NONCE),
                move |payload| payload.as_ref().is_ok_and(|payload| *payload == expected),
            )
            .target_allocations(2);
        let (decrypting, expected) = (key(), plaintext.clone());
        group
            .case(format!("NIP-44: decrypt {name}"))
            .bytes(len)
            .polywire(
                move || decrypting.decrypt(&payload),
                move |plaintext| plaintext.as_ref().is_ok_and(|text| *text == expected),
            )
            .target_allocations(2);
        let round = key();
        let expected = plaintext.clone();
        group
            .case(format!("NIP-44: there and back, {name}"))
            .bytes(len)
            .polywire(
                move || {
                    let payload = round.encrypt_with_nonce(&plaintext, &NONCE)?;
                    round.decrypt(&payload)
                },
                move |plaintext| plaintext.as_ref().is_ok_and(|text| *text == expected),
            )
            .target_allocations(4);
    }
    nip04_cases(group);
}

fn nip04_cases(group: &mut Group) {
    for (name, len) in [LENGTHS[0], LENGTHS[2]] {
        let (alice, bob) = pairs();
        let (secret, public) = (alice.secret_key(), bob.public_key());
        let plaintext = text(len);
        let vector = [9; 16];
        #[expect(clippy::unwrap_used, reason = "keys that were computed")]
        let payload =
            nip04::encrypt_insecure_with_vector(&secret, &public, &plaintext, &vector).unwrap();
        let expected = payload.clone();
        let input = plaintext.clone();
        group
            .case(format!(
                "NIP-04: encrypt {name}, with the agreement on a key"
            ))
            .bytes(len)
            .polywire(
                move || nip04::encrypt_insecure_with_vector(&secret, &public, &input, &vector),
                move |payload| payload.as_ref().is_ok_and(|payload| *payload == expected),
            );
        let (secret, public) = (bob.secret_key(), alice.public_key());
        group
            .case(format!(
                "NIP-04: decrypt {name}, with the agreement on a key"
            ))
            .bytes(len)
            .polywire(
                move || nip04::decrypt(&secret, &public, &payload),
                move |text| text.as_ref().is_ok_and(|text| *text == plaintext),
            );
    }
}
