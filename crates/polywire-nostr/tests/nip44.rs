//! NIP-44: comparison with the reference implementation, and rejected payloads.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::nip44::{ConversationKey, DEFAULT_MAX_PLAINTEXT, Nip44Error};
use polywire_nostr::reference::nip44 as slow;
use polywire_nostr::{PublicKey, SecretKey};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

const KEY: [u8; 32] = [0x5a; 32];
const NONCE: [u8; 32] = [0xc3; 32];

fn key() -> ConversationKey {
    ConversationKey::from_bytes(KEY)
}

/// Checks that encryption and decryption equal the reference implementation.
fn compare_encryption(text: &str, key: [u8; 32], nonce: [u8; 32]) {
    let fast = ConversationKey::from_bytes(key);
    let payload = fast.encrypt_with_nonce(text, &nonce).unwrap();
    assert_eq!(payload, slow::encrypt(&key, &nonce, text.as_bytes()));
    assert_eq!(payload.len(), payload.capacity(), "one allocation");
    assert_eq!(
        slow::decrypt(&key, &payload).as_deref(),
        Ok(text.as_bytes())
    );
    assert_eq!(fast.decrypt(&payload).as_deref(), Ok(text));

    let mut out = String::from("before");
    fast.encrypt_into(text, &nonce, &mut out).unwrap();
    assert_eq!(out.strip_prefix("before"), Some(&payload[..]));
    let mut out = b"before".to_vec();
    fast.decrypt_into(&payload, &mut out).unwrap();
    assert_eq!(out.strip_prefix(b"before"), Some(text.as_bytes()));
}

/// Lengths around the boundaries of padding, of chunks of 3072 bytes, and of length prefixes.
#[test]
fn boundary_lengths() {
    let edges = [
        1, 32, 64, 96, 128, 160, 192, 224, 256, 320, 512, 1024, 2560, 2816, 3040, 3068, 3070, 3072,
        3584, 4096, 6138, 6140, 6144, 9216, 12288, 65_535, 65_536, 65_537, 81_920,
    ];
    for edge in edges {
        for len in [edge - 1, edge, edge + 1] {
            if len > 0 {
                let text: String = (0..len)
                    .map(|at| char::from(b'a' + (at % 23) as u8))
                    .collect();
                compare_encryption(&text, KEY, NONCE);
            }
        }
    }
}

proptest! {
    #[test]
    fn texts(text in "\\PC{1,300}", key: [u8; 32], nonce: [u8; 32]) {
        compare_encryption(&text, key, nonce);
    }

    /// Payloads with a valid MAC and arbitrary padding: both return the same text or the same
    /// error.
    #[test]
    fn authentic(prefix in proptest::collection::vec(any::<u8>(), 0..8), len in 32_usize..700) {
        let mut padded = prefix;
        padded.resize(len, b'x');
        compare_decryption(&slow::encrypt_padded(&KEY, &NONCE, &padded));
    }

    #[test]
    fn authentic_with_short_lengths(text_len: u8, len in 32_usize..300) {
        let mut padded = vec![0, text_len];
        padded.resize(2 + len, b'x');
        compare_decryption(&slow::encrypt_padded(&KEY, &NONCE, &padded));
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        compare_decryption(&text);
    }

    #[test]
    fn any_base64(bytes in proptest::collection::vec(any::<u8>(), 90..200), version in 0_u8..4) {
        let mut bytes = bytes;
        bytes[0] = version;
        let mut text = String::new();
        polywire_text::base64::STANDARD.push_str(&mut text, &bytes);
        compare_decryption(&text);
    }
}

/// Checks that decryption returns the same result as the reference implementation.
fn compare_decryption(payload: &str) {
    let mut out = b"before".to_vec();
    let fast = key().decrypt_into(payload, &mut out);
    match slow::decrypt(&KEY, payload) {
        Ok(text) => {
            assert_eq!(fast, Ok(()));
            assert_eq!(out[6..], text);
        }
        Err(error) => {
            assert_eq!(out, b"before");
            assert_eq!(fast, Err(error), "{payload}");
        }
    }
}

/// The vectors of NIP-44 around 65,536 bytes, where the length prefix becomes longer.
#[test]
fn extended_prefix() {
    let key: [u8; 32] = {
        let digits = "c41c775356fd92eadc63ff5a0dc1da211b268cbea22316767095b2871ea1412d";
        polywire_text::hex::decode_to_array(digits.as_bytes(), polywire_text::hex::Case::Lower)
            .unwrap()
    };
    let mut nonce = [0; 32];
    nonce[31] = 1;
    let vectors = [
        (
            65_535,
            "6d8c2810d1e870fbaa1f0a0937126cca837a15f9260e27060c331d70a3c0bc84",
        ),
        (
            65_536,
            "b7b4edb36ba92e267d322d56d9aebc22e7fa96ff52e3c12adc07f07a43cbc616",
        ),
        (
            65_537,
            "eeb7c7c5373894ea2c1547cfd3ccb15d5a0b2d619da852e5c79df792dcc9e435",
        ),
    ];
    for (len, expected) in vectors {
        let text = "a".repeat(len);
        let payload = ConversationKey::from_bytes(key)
            .encrypt_with_nonce(&text, &nonce)
            .unwrap();
        let digest: [u8; 32] = Sha256::digest(&payload).into();
        assert_eq!(PublicKey::from_bytes(digest).to_string(), expected, "{len}");
        compare_encryption(&text, key, nonce);
    }
}

/// Payloads with a valid MAC and invalid padding.
#[test]
fn wrong_padding() {
    let padded = |prefix: &[u8], len: usize| {
        let mut padded = prefix.to_vec();
        padded.resize(prefix.len() + len, 0);
        slow::encrypt_padded(&KEY, &NONCE, &padded)
    };
    let wrong = [
        // No plaintext.
        padded(&[0, 0], 32),
        padded(&[0, 0, 0, 0, 0, 0], 32),
        padded(&[0, 0, 0, 0, 0, 0], 65_536),
        // A prefix of six bytes where two are sufficient.
        padded(&[0, 0, 0, 0, 0, 5], 32),
        padded(&[0, 0, 0, 0, 0xff, 0xff], 65_536),
        // The length exceeds the payload.
        padded(&[0, 33], 32),
        padded(&[0xff, 0xff], 32),
        padded(&[0, 0, 0xff, 0xff, 0xff, 0xff], 65_536),
        padded(&[0, 0, 0, 1, 0, 1], 65_536),
        // Too much padding.
        padded(&[0, 5], 64),
        padded(&[0, 5], 33),
        padded(&[0xff, 0xff], 65_537),
        padded(&[0xff, 0xff], 65_540),
        padded(&[0, 0, 0, 1, 0, 0], 65_537),
        // Truncated.
        padded(&[0, 0, 0], 31),
        padded(&[0, 5], 31),
    ];
    for payload in wrong {
        assert_eq!(key().decrypt(&payload), Err(Nip44Error::Padding));
        let mut out = b"before".to_vec();
        assert_eq!(
            key().decrypt_into(&payload, &mut out),
            Err(Nip44Error::Padding)
        );
        assert_eq!(out, b"before");
    }
    assert_eq!(
        key().decrypt(&padded(&[0, 5], 32)).as_deref(),
        Ok("\0\0\0\0\0")
    );
    // NIP-44 does not define the padding bytes.
    let payload = slow::encrypt_padded(&KEY, &NONCE, &[&[0, 1][..], &[b'x'; 32]].concat());
    assert_eq!(key().decrypt(&payload).as_deref(), Ok("x"));
}

#[test]
fn utf8() {
    let payload = slow::encrypt(&KEY, &NONCE, b"ab\xff");
    assert_eq!(key().decrypt(&payload), Err(Nip44Error::Utf8));
    let mut out = Vec::new();
    key().decrypt_into(&payload, &mut out).unwrap();
    assert_eq!(out, b"ab\xff");
}

/// Every truncated payload, and every payload with trailing characters, is rejected.
#[test]
fn truncated_and_extended() {
    for len in [5, 100, 400] {
        let payload = key().encrypt_with_nonce(&"y".repeat(len), &NONCE).unwrap();
        for end in 0..payload.len() {
            let error = key().decrypt(&payload[..end]).unwrap_err();
            let expected = match end {
                0..132 => Nip44Error::PayloadLength { len: end },
                _ if end % 4 == 0 => Nip44Error::Mac,
                // The last group of base64 is incomplete.
                _ => {
                    let Nip44Error::Base64 { offset } = error else {
                        panic!("{end} {error:?}");
                    };
                    assert!(end.abs_diff(offset) <= 1, "{end} {offset}");
                    continue;
                }
            };
            assert_eq!(error, expected, "{end}");
        }
        for more in ["A", "AA", "AAA", "=", "\n"] {
            let error = key().decrypt(&format!("{payload}{more}")).unwrap_err();
            assert!(
                matches!(error, Nip44Error::Base64 { .. }),
                "{more:?} {error:?}"
            );
        }
        if !payload.ends_with('=') {
            assert_eq!(
                key().decrypt(&format!("{payload}AAAA")),
                Err(Nip44Error::Mac)
            );
        }
    }
}

/// Every change of one character is detected.
#[test]
fn changed_characters() {
    for len in [1, 33, 150] {
        let payload = key().encrypt_with_nonce(&"z".repeat(len), &NONCE).unwrap();
        let others = b"ABQgwz0129+/=-_# \n\x7f";
        for at in 0..payload.len() {
            for other in others {
                let mut changed = payload.clone().into_bytes();
                if changed[at] == *other {
                    continue;
                }
                changed[at] = *other;
                let changed = String::from_utf8(changed).unwrap();
                let error = key().decrypt(&changed).unwrap_err();
                let is_base64 = other.is_ascii_alphanumeric() || b"+/".contains(other);
                match error {
                    Nip44Error::UnknownVersion(None) => assert_eq!((at, *other), (0, b'#')),
                    Nip44Error::UnknownVersion(Some(version)) => {
                        assert!(at < 2 && version != 2);
                    }
                    // Only the last character before padding has unused bits.
                    Nip44Error::Base64 { offset } => {
                        let is_last = payload.trim_end_matches('=').len() <= at + 1;
                        assert!(!is_base64 || is_last, "{at} {other}");
                        assert!(offset.abs_diff(at) <= 2, "{at} {offset}");
                    }
                    Nip44Error::Mac => assert!(is_base64 && at > 0, "{at} {other}"),
                    error => panic!("{at} {other} {error:?}"),
                }
            }
        }
    }
}

/// Errors in later chunks have the offset in the payload, and leave the output unchanged.
#[test]
fn errors_in_later_chunks() {
    let payload = key()
        .encrypt_with_nonce(&"z".repeat(20_000), &NONCE)
        .unwrap();
    for at in [44, 4139, 4140, 4141, 9000, 20_000, payload.len() - 50] {
        let mut changed = payload.clone();
        changed.replace_range(at..=at, "=");
        let mut out = b"before".to_vec();
        let error = key().decrypt_into(&changed, &mut out);
        // The error may be a missing second `=`.
        let Err(Nip44Error::Base64 { offset }) = error else {
            panic!("{at} {error:?}");
        };
        assert!([at, at + 1].contains(&offset), "{at} {offset}");
        assert_eq!(out, b"before");
        let other = if &payload[at..=at] == "A" { "B" } else { "A" };
        changed.replace_range(at..=at, other);
        assert_eq!(key().decrypt_into(&changed, &mut out), Err(Nip44Error::Mac));
        assert_eq!(out, b"before");
    }
}

/// Base64 is checked before the version.
#[test]
fn base64_is_checked_before_the_version() {
    let payload = key().encrypt_with_nonce("text", &NONCE).unwrap();
    let other = format!("l{}", &payload[1..]);
    compare_decryption(&other);
    assert_eq!(
        key().decrypt(&other),
        Err(Nip44Error::UnknownVersion(Some(0x96)))
    );
    for more in ["A", "AAA", "!AAA", "===="] {
        let wrong = format!("{other}{more}");
        compare_decryption(&wrong);
        let error = key().decrypt(&wrong).unwrap_err();
        assert!(matches!(error, Nip44Error::Base64 { .. }), "{error}");
    }
}

#[test]
fn limits() {
    let max = DEFAULT_MAX_PLAINTEXT as usize;
    let longest = "m".repeat(max);
    let payload = key().encrypt_with_nonce(&longest, &NONCE).unwrap();
    assert_eq!(key().decrypt(&payload).unwrap(), longest);
    let error = key().encrypt_with_nonce(&"m".repeat(max + 1), &NONCE);
    assert_eq!(error, Err(Nip44Error::TooLong { len: max + 1, max }));
    let mut out = String::from("before");
    let error = key().encrypt_into(&"m".repeat(max + 1), &NONCE, &mut out);
    assert_eq!((error.is_err(), out.as_str()), (true, "before"));
    assert_eq!(key().encrypt_with_nonce("", &NONCE), Err(Nip44Error::Empty));

    let wider = key().with_max_plaintext(DEFAULT_MAX_PLAINTEXT + 1);
    let longer = wider
        .encrypt_with_nonce(&"m".repeat(max + 1), &NONCE)
        .unwrap();
    assert_eq!(wider.decrypt(&longer).map(|text| text.len()), Ok(max + 1));
    let error = Nip44Error::TooLong {
        len: longer.len(),
        max: payload.len(),
    };
    assert_eq!(key().decrypt(&longer), Err(error));
    // The length is checked before decoding.
    let junk = "?".repeat(payload.len() + 1);
    assert!(matches!(
        key().decrypt(&junk),
        Err(Nip44Error::TooLong { .. })
    ));
}

#[test]
fn random_nonces_differ() {
    let one = key().encrypt("same").unwrap();
    let two = key().encrypt("same").unwrap();
    assert_ne!(one[..44], two[..44]);
    assert_eq!(key().decrypt(&one), key().decrypt(&two));
}

/// Both sides derive the same key, for both y coordinates. Other pairs derive other keys.
#[test]
fn key_agreement() {
    let secret = |byte| SecretKey::from_bytes([byte; 32]).unwrap();
    let derive = |one, two| {
        let key = ConversationKey::derive(&secret(one), &secret(two).public_key());
        *key.unwrap().as_bytes()
    };
    for (one, two) in [(1, 2), (3, 4), (5, 6), (7, 7)] {
        assert_eq!(derive(one, two), derive(two, one));
    }
    assert_ne!(derive(1, 2), derive(1, 3));
    assert!(ConversationKey::derive(&secret(1), &PublicKey::from_bytes([0; 32])).is_err());
    assert_eq!(format!("{:?}", key()), "ConversationKey(..)");
}
