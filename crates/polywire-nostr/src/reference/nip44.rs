//! NIP-44 version 2, step by step, with a new buffer for each step.

use polywire_text::base64::{Alphabet, Padding};
use polywire_text::reference::base64;

use super::{chacha20, hmac};
use crate::nip44::Nip44Error;

/// Returns the conversation key for the x coordinate of the ECDH point.
#[must_use]
pub fn conversation_key(x: &[u8; 32]) -> [u8; 32] {
    hmac::extract(b"nip44-v2", x)
}

/// Returns the keys of a message: the ChaCha20 key, the ChaCha20 nonce and the HMAC key.
#[must_use]
pub fn message_keys(
    conversation_key: &[u8; 32],
    nonce: &[u8; 32],
) -> ([u8; 32], [u8; 12], [u8; 32]) {
    let bytes = hmac::expand(conversation_key, nonce, 76);
    let byte = |at: usize| bytes[at];
    (
        std::array::from_fn(byte),
        std::array::from_fn(|at| byte(32 + at)),
        std::array::from_fn(|at| byte(44 + at)),
    )
}

/// Returns the padded length of a plaintext of `len` bytes, which must be at least 1.
#[must_use]
pub fn padded_len(len: u64) -> u64 {
    if len <= 32 {
        return 32;
    }
    let mut next_power = 1;
    while next_power < len {
        next_power *= 2;
    }
    let chunk = if next_power <= 256 {
        32
    } else {
        next_power / 8
    };
    chunk * ((len - 1) / chunk + 1)
}

/// Pads a plaintext: the length prefix, the plaintext and zeros.
#[must_use]
pub fn pad(plaintext: &[u8]) -> Vec<u8> {
    let len = plaintext.len() as u64;
    let mut padded = match len < 65_536 {
        true => (len as u16).to_be_bytes().to_vec(),
        false => [&[0, 0][..], &(len as u32).to_be_bytes()].concat(),
    };
    padded.extend(plaintext);
    padded.resize(padded.len() + (padded_len(len) - len) as usize, 0);
    padded
}

/// Reverses [`pad`]. `None` if the padding is invalid.
#[must_use]
pub fn unpad(padded: &[u8]) -> Option<Vec<u8>> {
    let short = u16::from_be_bytes(*padded.first_chunk()?);
    let (len, text) = match short {
        0 => (
            u32::from_be_bytes(*padded[2..].first_chunk()?),
            &padded[6..],
        ),
        short => (u32::from(short), &padded[2..]),
    };
    if short == 0 && len < 65_536 || text.len() as u64 != padded_len(len.into()) {
        return None;
    }
    text.get(..len as usize).map(<[u8]>::to_vec)
}

/// Encrypts a plaintext of at least one byte, which need not be UTF-8.
#[must_use]
pub fn encrypt(conversation_key: &[u8; 32], nonce: &[u8; 32], plaintext: &[u8]) -> String {
    encrypt_padded(conversation_key, nonce, &pad(plaintext))
}

/// Encrypts bytes that are already padded. Tests use it for payloads with a valid MAC and invalid
/// padding.
#[must_use]
pub fn encrypt_padded(conversation_key: &[u8; 32], nonce: &[u8; 32], padded: &[u8]) -> String {
    let (chacha_key, chacha_nonce, hmac_key) = message_keys(conversation_key, nonce);
    let ciphertext = chacha20::apply(&chacha_key, &chacha_nonce, padded);
    let code = hmac::hmac(&hmac_key, &[nonce, &ciphertext[..]].concat());
    let payload = [&[2][..], nonce, &ciphertext, &code].concat();
    base64::encode(&payload, Alphabet::Standard, Padding::Required)
}

/// Decrypts a payload. Has no length limit, and does not require UTF-8.
///
/// # Errors
///
/// Like [`ConversationKey::decrypt`](crate::nip44::ConversationKey::decrypt).
pub fn decrypt(conversation_key: &[u8; 32], payload: &str) -> Result<Vec<u8>, Nip44Error> {
    let len = payload.len();
    if payload.starts_with('#') {
        return Err(Nip44Error::UnknownVersion(None));
    }
    if len < 132 {
        return Err(Nip44Error::PayloadLength { len });
    }
    let bytes = base64::decode(
        payload.as_bytes(),
        Alphabet::Standard,
        Padding::Required,
        false,
    );
    let bytes = bytes.map_err(|error| Nip44Error::Base64 {
        offset: error.offset,
    })?;
    let (version, rest) = bytes.split_first().ok_or(Nip44Error::Padding)?;
    if *version != 2 {
        return Err(Nip44Error::UnknownVersion(Some(*version)));
    }
    let (nonce, rest) = rest.split_first_chunk().ok_or(Nip44Error::Padding)?;
    let (ciphertext, code) = rest.split_last_chunk::<32>().ok_or(Nip44Error::Padding)?;
    let (chacha_key, chacha_nonce, hmac_key) = message_keys(conversation_key, nonce);
    if hmac::hmac(&hmac_key, &[nonce, ciphertext].concat()) != *code {
        return Err(Nip44Error::Mac);
    }
    let padded = chacha20::apply(&chacha_key, &chacha_nonce, ciphertext);
    unpad(&padded).ok_or(Nip44Error::Padding)
}
