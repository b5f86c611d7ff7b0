//! Deprecated encryption of direct messages, for reading old messages (NIP-04).
//!
//! A payload is the AES-256-CBC ciphertext in base64, followed by `?iv=` and the initialization
//! vector. The key is the unhashed x coordinate of the ECDH point. There is no MAC: an attacker can
//! modify a payload. Use [`nip44`](crate::nip44) for new messages.

use std::fmt;

use aes::Aes256;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use polywire_text::base64::STANDARD;
use polywire_text::utf8;
use zeroize::{Zeroize as _, Zeroizing};

use crate::key::InvalidPublicKey;
use crate::{PublicKey, SecretKey};

const BLOCK: usize = 16;
const SEPARATOR: &str = "?iv=";
/// The length of an initialization vector in base64.
const VECTOR_CHARACTERS: usize = 24;

/// The maximum length of a payload in characters: 2 MiB. NIP-04 has no limit.
pub const MAX_PAYLOAD: usize = 2 << 20;

/// The error of encryption or decryption.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Nip04Error {
    /// The payload has more than [`MAX_PAYLOAD`] characters.
    TooLong {
        /// The number of characters.
        len: usize,
    },
    /// The payload has no `?iv=`.
    NoVector,
    /// The payload is not strict base64 with padding, not a multiple of 16 bytes, or its
    /// initialization vector does not have 16 bytes.
    Form {
        /// The byte offset of the first invalid character, or of the part that has the wrong
        /// length.
        offset: usize,
    },
    /// The public key is not the x coordinate of a point on the curve.
    PublicKey,
    /// The padding is wrong, or the plaintext is not UTF-8. One variant covers both, to avoid a
    /// padding oracle.
    Decryption,
    /// The operating system returned no random bytes.
    Randomness,
}

impl fmt::Display for Nip04Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NIP-04: ")?;
        match self {
            Self::PublicKey => InvalidPublicKey.fmt(f),
            Self::TooLong { len } => write!(f, "payload of {len} characters exceeds {MAX_PAYLOAD}"),
            Self::NoVector => f.write_str("missing initialization vector"),
            Self::Form { offset } => {
                write!(f, "invalid base64 or wrong length, at byte {offset}")
            }
            Self::Decryption => f.write_str("decryption failed"),
            Self::Randomness => f.write_str("the operating system returned no random bytes"),
        }
    }
}

impl std::error::Error for Nip04Error {}

impl From<InvalidPublicKey> for Nip04Error {
    fn from(_: InvalidPublicKey) -> Self {
        Self::PublicKey
    }
}

/// Decrypts a payload between the owner of `secret` and the owner of `public`.
///
/// ```
/// use polywire_nostr::{SecretKey, nip04};
///
/// let (alice, bob) = (SecretKey::from_bytes([1; 32])?, SecretKey::from_bytes([2; 32])?);
/// let payload = nip04::encrypt_insecure_with_vector(&alice, &bob.public_key(), "hello", &[3; 16])?;
/// assert_eq!(nip04::decrypt(&bob, &alice.public_key(), &payload)?, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The first failed check, in the order of [`Nip04Error`].
pub fn decrypt(
    secret: &SecretKey,
    public: &PublicKey,
    payload: &str,
) -> Result<String, Nip04Error> {
    let len = payload.len();
    if len > MAX_PAYLOAD {
        return Err(Nip04Error::TooLong { len });
    }
    let (text, vector) = payload.split_once(SEPARATOR).ok_or(Nip04Error::NoVector)?;
    let vector_at = text.len() + SEPARATOR.len();
    let mut iv = [0; BLOCK];
    let form = |offset| {
        move |error: polywire_text::Malformed| Nip04Error::Form {
            offset: offset + error.offset,
        }
    };
    let mut bytes = Vec::new();
    let read = STANDARD.push_decoded(&mut bytes, text.as_bytes());
    read.map_err(form(0))?;
    if bytes.is_empty() || !bytes.len().is_multiple_of(BLOCK) {
        return Err(Nip04Error::Form { offset: 0 });
    }
    let read = STANDARD.decode_to_slice(vector.as_bytes(), &mut iv);
    if read.map_err(form(vector_at))?.len() != BLOCK {
        return Err(Nip04Error::Form { offset: vector_at });
    }

    // Last, because key agreement costs more than all other checks.
    let key = secret.agree(public)?;
    let cipher = cbc::Decryptor::<Aes256>::new((&*key).into(), (&iv).into());
    let decrypted = cipher.decrypt_padded::<Pkcs7>(&mut bytes);
    let Ok(len) = decrypted.map(<[u8]>::len) else {
        bytes.zeroize();
        return Err(Nip04Error::Decryption);
    };
    bytes.truncate(len);
    utf8::into_string(bytes).map_err(|(mut bytes, _)| {
        bytes.zeroize();
        Nip04Error::Decryption
    })
}

/// Encrypts `plaintext` with a random initialization vector, for clients that support only NIP-04.
///
/// Insecure: the payload can be modified in transit, and it reveals the plaintext length within 16
/// bytes.
///
/// # Errors
///
/// The public key is invalid, the payload would exceed [`MAX_PAYLOAD`], or the operating system
/// returned no random bytes.
#[cfg(feature = "os-rng")]
pub fn encrypt_insecure(
    secret: &SecretKey,
    public: &PublicKey,
    plaintext: &str,
) -> Result<String, Nip04Error> {
    let mut vector = [0; BLOCK];
    crate::key::fill_random(&mut vector).map_err(|_| Nip04Error::Randomness)?;
    encrypt_insecure_with_vector(secret, public, plaintext, &vector)
}

/// Encrypts `plaintext` with the initialization vector `vector`, like `encrypt_insecure`. The
/// vector must be random and must not be reused.
///
/// # Errors
///
/// The public key is invalid, or the payload would exceed [`MAX_PAYLOAD`].
pub fn encrypt_insecure_with_vector(
    secret: &SecretKey,
    public: &PublicKey,
    plaintext: &str,
    vector: &[u8; BLOCK],
) -> Result<String, Nip04Error> {
    let key = secret.agree(public)?;
    // PKCS #7 adds 1 to 16 bytes.
    let whole = plaintext.len() / BLOCK * BLOCK + BLOCK;
    let len = STANDARD.encoded_len(whole) + SEPARATOR.len() + VECTOR_CHARACTERS;
    if len > MAX_PAYLOAD {
        return Err(Nip04Error::TooLong { len });
    }
    let mut bytes = Zeroizing::new(vec![0; whole]);
    bytes[..plaintext.len()].copy_from_slice(plaintext.as_bytes());
    let cipher = cbc::Encryptor::<Aes256>::new((&*key).into(), vector.into());
    // Cannot fail: the buffer has room for the padding.
    let encrypted = cipher.encrypt_padded::<Pkcs7>(&mut bytes, plaintext.len());
    let mut payload = String::with_capacity(len);
    STANDARD.push_str(&mut payload, encrypted.unwrap_or_default());
    payload.push_str(SEPARATOR);
    STANDARD.push_str(&mut payload, vector);
    Ok(payload)
}
