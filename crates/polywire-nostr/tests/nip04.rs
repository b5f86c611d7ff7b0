//! NIP-04: encryption, decryption and errors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::nip04::{self, MAX_PAYLOAD, Nip04Error};
use polywire_nostr::{PublicKey, SecretKey};
use proptest::prelude::*;

const TEXT: &str = "Saturn, bringer of old age";
/// `TEXT`, encrypted by another implementation.
const PAYLOAD: &str = "dJc+WbBgaFCD2/kfg1XCWJParplBDxnZIdJGZ6FCTOg=?iv=M6VxRPkMZu7aIdD+10xPuw==";

fn keys() -> [SecretKey; 2] {
    ["6b", "7b"].map(|first| {
        let rest = "911fd37cdf5c81d4c0adb1ab7fa822ed253ab0ad9aa18d77257c88b29b718e";
        SecretKey::from_hex(format!("{first}{rest}")).unwrap()
    })
}

fn decrypt(payload: &str) -> Result<String, Nip04Error> {
    let [own, other] = keys();
    nip04::decrypt(&own, &other.public_key(), payload)
}

#[test]
fn payload_of_another_implementation() {
    assert_eq!(decrypt(PAYLOAD).as_deref(), Ok(TEXT));
    let [one, two] = keys();
    assert_eq!(
        nip04::decrypt(&two, &one.public_key(), PAYLOAD).as_deref(),
        Ok(TEXT)
    );
    let mut vector = [0; 16];
    let text = PAYLOAD.split_once("?iv=").unwrap().1;
    polywire_text::base64::STANDARD
        .decode_to_slice(text.as_bytes(), &mut vector)
        .unwrap();
    let written = nip04::encrypt_insecure_with_vector(&two, &one.public_key(), TEXT, &vector);
    assert_eq!(written.as_deref(), Ok(PAYLOAD));
}

#[test]
fn rejected_payloads() {
    let form = |offset| Err(Nip04Error::Form { offset });
    assert_eq!(decrypt("nothing"), Err(Nip04Error::NoVector));
    assert_eq!(decrypt(""), Err(Nip04Error::NoVector));
    assert_eq!(decrypt("?iv=M6VxRPkMZu7aIdD+10xPuw=="), form(0));
    assert_eq!(decrypt("badbase64?iv=encode"), form(9));
    assert_eq!(decrypt("bad!?iv=M6VxRPkMZu7aIdD+10xPuw=="), form(3));
    // Valid base64, but not whole blocks.
    assert_eq!(
        decrypt("nseh0cQPEFID5C0CxYdcPwp091NhRQ==?iv=8PHy8/T19vf4+fr7/P3+/w=="),
        form(0)
    );
    // The vector is too short, too long, or not base64.
    assert_eq!(
        decrypt(&PAYLOAD.replace("M6VxRPkMZu7aIdD+10xPuw==", "M6Vx")),
        form(48)
    );
    let longer = PAYLOAD.replace("Puw==", "PuwAA");
    assert!(matches!(
        decrypt(&longer),
        Err(Nip04Error::Form { offset: 48.. })
    ));
    assert_eq!(decrypt(&PAYLOAD.replace("iv=M", "iv=!")), form(48));
    let long = "A".repeat(MAX_PAYLOAD + 1);
    assert_eq!(
        decrypt(&long),
        Err(Nip04Error::TooLong {
            len: MAX_PAYLOAD + 1
        })
    );
    let [own, _] = keys();
    let error = nip04::decrypt(&own, &PublicKey::from_bytes([0; 32]), PAYLOAD);
    assert_eq!(error, Err(Nip04Error::PublicKey));
    let text = "x".repeat(MAX_PAYLOAD);
    let error = nip04::encrypt_insecure(&own, &own.public_key(), &text);
    assert!(matches!(error, Err(Nip04Error::TooLong { .. })));
}

/// Invalid padding and invalid UTF-8 return the same error.
#[test]
fn no_padding_oracle() {
    let mut errors = 0;
    for bit in 0..128 {
        let (text, vector) = PAYLOAD.split_once("?iv=").unwrap();
        let mut bytes = polywire_text::base64::decode(text.as_bytes())
            .unwrap()
            .to_vec();
        // CBC: this garbles the first block, and flips a bit of the second block, which has the
        // padding.
        bytes[bit / 8] ^= 1 << (bit % 8);
        let mut changed = String::new();
        polywire_text::base64::STANDARD.push_str(&mut changed, &bytes);
        if let Err(error) = decrypt(&format!("{changed}?iv={vector}")) {
            assert_eq!(error, Nip04Error::Decryption);
            errors += 1;
        }
    }
    assert!(errors > 100, "{errors}");
    let [own, other] = keys();
    let wrong = SecretKey::from_bytes([9; 32]).unwrap();
    let payload = nip04::encrypt_insecure(&own, &other.public_key(), TEXT).unwrap();
    let outcome = nip04::decrypt(&wrong, &own.public_key(), &payload);
    assert!(outcome != Ok(TEXT.to_owned()));
}

proptest! {
    #[test]
    fn texts(text in "\\PC{0,100}") {
        let [one, two] = keys();
        let payload = nip04::encrypt_insecure(&one, &two.public_key(), &text).unwrap();
        prop_assert_eq!(payload.len(), payload.capacity());
        let decrypted = nip04::decrypt(&two, &one.public_key(), &payload);
        prop_assert_eq!(decrypted, Ok(text));
    }
}
