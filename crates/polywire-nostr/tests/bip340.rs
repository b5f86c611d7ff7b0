//! The test vectors of BIP-340.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::key::{SecretKeyError, SignatureError, verify_batch};
use polywire_nostr::{EventId, KeyPair, PublicKey, SecretKey, Signature};
use polywire_text::hex::{self, Case};

const VECTORS: &str = include_str!("vectors/bip340.csv");

fn array<const LEN: usize>(text: &str) -> [u8; LEN] {
    hex::decode_to_array(text.as_bytes(), Case::Any).unwrap()
}

#[test]
fn vectors() {
    let mut count = 0;
    for line in VECTORS.lines().skip(1) {
        let fields: Vec<_> = line.splitn(8, ',').collect();
        let [
            index,
            secret,
            public,
            aux,
            message,
            signature,
            result,
            comment,
        ] = fields[..]
        else {
            panic!("{line}");
        };
        let public = PublicKey::from_bytes(array(public));
        let message: Vec<u8> = message
            .as_bytes()
            .chunks(2)
            .map(|digits| hex::decode_to_array::<1>(digits, Case::Any).unwrap()[0])
            .collect();
        let signature = Signature::from_bytes(array(signature));
        if !secret.is_empty() {
            let keys = KeyPair::from(SecretKey::from_bytes(array(secret)).unwrap());
            assert_eq!(keys.public_key(), public, "{index} {comment}");
            let signed = keys.sign_message(&message, &array(aux));
            assert_eq!(signed, signature, "{index} {comment}");
            assert_eq!(*keys.secret_key().as_bytes(), array(secret));
        }
        let expected = match (result, comment) {
            ("TRUE", _) => Ok(()),
            (_, comment) if comment.starts_with("public key") => Err(SignatureError::PublicKey),
            _ => Err(SignatureError::Mismatch),
        };
        assert_eq!(
            public.verify_message(&message, &signature),
            expected,
            "{index} {comment}"
        );
        assert_eq!(
            public.check().is_err(),
            expected == Err(SignatureError::PublicKey)
        );
        if let Ok(id) = <[u8; 32]>::try_from(&message[..]) {
            let id = EventId::from_bytes(id);
            assert_eq!(
                public.verify(&id, &signature),
                expected,
                "{index} {comment}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 19);
}

fn keys(byte: u8) -> KeyPair {
    KeyPair::from(SecretKey::from_bytes([byte; 32]).unwrap())
}

/// The results are in order and equal those of single verifications, also if keys alternate.
#[test]
fn batch_results_are_in_order() {
    let (one, two) = (keys(1), keys(2));
    let id = |byte| EventId::from_bytes([byte; 32]);
    let invalid_key = PublicKey::from_bytes([0; 32]);
    let items = [
        (one.public_key(), id(1), one.sign_with_aux(&id(1), &[0; 32])),
        (one.public_key(), id(2), one.sign_with_aux(&id(1), &[0; 32])),
        (two.public_key(), id(2), one.sign_with_aux(&id(2), &[0; 32])),
        (invalid_key, id(2), two.sign_with_aux(&id(2), &[0; 32])),
        (invalid_key, id(3), two.sign_with_aux(&id(3), &[0; 32])),
        (two.public_key(), id(3), two.sign_with_aux(&id(3), &[0; 32])),
        (one.public_key(), id(1), one.sign_with_aux(&id(1), &[9; 32])),
    ];
    let outcomes: Vec<_> = verify_batch(items).collect();
    let (mismatch, key) = (
        Err(SignatureError::Mismatch),
        Err(SignatureError::PublicKey),
    );
    assert_eq!(
        outcomes,
        [Ok(()), mismatch, mismatch, key, key, Ok(()), Ok(())]
    );
    assert_eq!(verify_batch([]).count(), 0);
}

/// A change of any bit of the signature or the id makes the signature invalid.
#[test]
fn changed_bits_are_rejected() {
    let keys = keys(3);
    let id = EventId::from_bytes([7; 32]);
    let signature = keys.sign_with_aux(&id, &[1; 32]);
    assert_eq!(keys.public_key().verify(&id, &signature), Ok(()));
    for bit in 0..512 {
        let mut changed = *signature.as_bytes();
        changed[bit / 8] ^= 1 << (bit % 8);
        let outcome = keys
            .public_key()
            .verify(&id, &Signature::from_bytes(changed));
        assert_eq!(outcome, Err(SignatureError::Mismatch), "{bit}");
    }
    for bit in 0..256 {
        let mut changed = *id.as_bytes();
        changed[bit / 8] ^= 1 << (bit % 8);
        let outcome = keys
            .public_key()
            .verify(&EventId::from_bytes(changed), &signature);
        assert_eq!(outcome, Err(SignatureError::Mismatch), "{bit}");
    }
}

#[test]
fn generated_keys_and_signatures_are_random() {
    let (one, two) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
    assert_ne!(one.public_key(), two.public_key());
    let id = EventId::from_bytes([7; 32]);
    let signatures = [one.sign(&id), one.sign(&id)];
    assert_ne!(signatures[0], signatures[1]);
    for signature in signatures {
        assert_eq!(one.public_key().verify(&id, &signature), Ok(()));
    }
}

#[test]
fn secret_key_range_and_hex_errors() {
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let below = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140";
    let key = SecretKey::from_hex(below).unwrap();
    assert_eq!(key.to_hex().as_str(), below);
    assert_eq!(SecretKey::from_hex(order), Err(SecretKeyError::OutOfRange));
    assert_eq!(
        SecretKey::from_bytes([0; 32]),
        Err(SecretKeyError::OutOfRange)
    );
    assert_eq!(
        SecretKey::from_bytes([0xff; 32]),
        Err(SecretKeyError::OutOfRange)
    );
    let offset = |text: &str| match SecretKey::from_hex(text) {
        Err(SecretKeyError::Hex(error)) => error.offset,
        other => panic!("{other:?}"),
    };
    assert_eq!(offset(&below.to_uppercase()), 0);
    assert_eq!(offset(&below[..63]), 63);
    let mut wrong = below.to_owned();
    wrong.replace_range(33..34, "g");
    assert_eq!(offset(&wrong), 33);
}

#[test]
fn debug_output_contains_no_secrets() {
    let key = SecretKey::from_bytes([0xab; 32]).unwrap();
    let pair = KeyPair::from(&key);
    let debug = format!("{key:?} {key:#?} {pair:?} {pair:#?}").to_lowercase();
    assert!(!debug.contains("abab") && !debug.contains("171"), "{debug}");
    assert!(debug.contains(&pair.public_key().to_string()));
}
