//! Decryption.

use polywire_text::base64::{STANDARD, STANDARD_UNPADDED};
use polywire_text::utf8;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

use super::cipher::WIDE;
use super::key::MessageKeys;
use super::layout::{decoded_len, max_characters, plaintext_len, prefix_len};
use super::{
    CHUNK, CHUNK_CHARACTERS, ConversationKey, HEAD, HEAD_CHARACTERS, MIN_CHARACTERS, NONCE,
    Nip44Error, TAG, VERSION,
};

impl ConversationKey {
    /// Decrypts a payload. One allocation.
    ///
    /// # Errors
    ///
    /// The first failed check: format, then MAC, then padding and UTF-8.
    pub fn decrypt(&self, payload: &str) -> Result<String, Nip44Error> {
        let mut out = Vec::new();
        self.decrypt_into(payload, &mut out)?;
        utf8::into_string(out).map_err(|(mut bytes, _)| {
            bytes.zeroize();
            Nip44Error::Utf8
        })
    }

    /// Decrypts a payload and appends the plaintext to `out` without a UTF-8 check.
    ///
    /// Reserves up to 3/4 of the payload length.
    ///
    /// # Errors
    ///
    /// As [`decrypt`](Self::decrypt). On error, `out` is unchanged, and decrypted bytes in its
    /// spare capacity are zeroized.
    pub fn decrypt_into(&self, payload: &str, out: &mut Vec<u8>) -> Result<(), Nip44Error> {
        let text = payload.as_bytes();
        if text.first() == Some(&b'#') {
            return Err(Nip44Error::UnknownVersion(None));
        }
        let (len, max) = (text.len(), max_characters(self.max_plaintext));
        if len > max {
            return Err(Nip44Error::TooLong { len, max });
        }
        let Some((head, body)) = text.split_first_chunk().filter(|_| len >= MIN_CHARACTERS) else {
            return Err(Nip44Error::PayloadLength { len });
        };
        let nonce = read_head(head).map_err(|error| locate(error, text))?;
        let ciphertext = decoded_len(text)? - HEAD - TAG;

        let start = out.len();
        // Decoding also appends the MAC, and the cipher works on multiples of `WIDE`.
        out.reserve(ciphertext + TAG.max(WIDE));
        let prefix = self.open(&nonce, body, ciphertext, out);
        // The MAC is verified: the prefix and the padding can be interpreted.
        let len = prefix.and_then(|prefix| {
            let padded = ciphertext - prefix_len(ciphertext);
            plaintext_len(&prefix[..prefix_len(ciphertext)], padded).ok_or(Nip44Error::Padding)
        });
        match len {
            Ok(len) => {
                out.truncate(start + len);
                Ok(())
            }
            Err(error) => {
                out[start..].zeroize();
                out.truncate(start);
                Err(locate(error, text))
            }
        }
    }

    /// Appends the decrypted `body` without the length prefix, with its padding, and verifies the
    /// MAC. Returns the prefix, followed by zeros.
    fn open(
        &self,
        nonce: &[u8; NONCE],
        body: &[u8],
        ciphertext: usize,
        out: &mut Vec<u8>,
    ) -> Result<[u8; 6], Nip44Error> {
        let MessageKeys { mut cipher, mac } = self.message_keys(nonce);
        let mut mac = mac.start();
        mac.update(nonce);
        let mut prefix = [0; 6];
        let mut left = ciphertext;
        let mut rest = body;
        loop {
            let is_last = left <= CHUNK;
            // Only the last characters may have base64 padding.
            let (base64, characters) = match is_last {
                true => (STANDARD, rest),
                false => (STANDARD_UNPADDED, &rest[..CHUNK_CHARACTERS]),
            };
            let start = out.len();
            let decoded = base64.push_decoded(out, characters);
            decoded.map_err(|error| Nip44Error::Base64 {
                offset: HEAD_CHARACTERS + (body.len() - rest.len()) + error.offset,
            })?;
            let mut tag = [0; TAG];
            if is_last {
                let (data, last) = out[start..].split_at(left);
                mac.update(data);
                tag.copy_from_slice(last);
                out.resize(start + left.next_multiple_of(WIDE), 0);
            } else {
                mac.update(&out[start..]);
            }
            cipher.apply(&mut out[start..]);
            if left == ciphertext {
                let len = prefix_len(ciphertext);
                prefix[..len].copy_from_slice(&out[start..start + len]);
                out.copy_within(start + len.., start);
                out.truncate(out.len() - len);
            }
            if is_last {
                return match words(&mac.finish()).ct_eq(&words(&tag)).into() {
                    true => Ok(prefix),
                    false => Err(Nip44Error::Mac),
                };
            }
            rest = &rest[CHUNK_CHARACTERS..];
            left -= CHUNK;
        }
    }
}

/// The words of a MAC, to compare eight bytes at a time in constant time.
fn words(tag: &[u8; TAG]) -> [u64; TAG / 8] {
    let mut words = [0; TAG / 8];
    for (word, bytes) in words.iter_mut().zip(tag.as_chunks().0) {
        *word = u64::from_ne_bytes(*bytes);
    }
    words
}

/// Recomputes the offset of a base64 error for the whole payload: a chunk in the middle rejects
/// padding at an earlier offset than a decoder of the whole payload. For an unknown version,
/// returns a base64 error if the payload is not base64.
#[cold]
fn locate(error: Nip44Error, payload: &[u8]) -> Nip44Error {
    if !matches!(
        error,
        Nip44Error::Base64 { .. } | Nip44Error::UnknownVersion(_)
    ) {
        return error;
    }
    match STANDARD.decode(payload) {
        Err(whole) => Nip44Error::Base64 {
            offset: whole.offset,
        },
        Ok(_) => error,
    }
}

/// Checks the version and returns the nonce.
fn read_head(head: &[u8; HEAD_CHARACTERS]) -> Result<[u8; NONCE], Nip44Error> {
    let mut bytes = [0; HEAD];
    let decoded = STANDARD_UNPADDED.decode_to_slice(head, &mut bytes);
    decoded.map_err(|error| Nip44Error::Base64 {
        offset: error.offset,
    })?;
    let [version, nonce @ ..] = bytes;
    match version {
        VERSION => Ok(nonce),
        other => Err(Nip44Error::UnknownVersion(Some(other))),
    }
}
