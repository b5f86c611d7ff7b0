//! Decryption.

use polywire_text::base64::{STANDARD, STANDARD_UNPADDED};
use polywire_text::utf8;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

use super::key::MessageKeys;
use super::layout::{decoded_len, max_characters, plaintext_in};
use super::{
    CHUNK_CHARACTERS, ConversationKey, HEAD, HEAD_CHARACTERS, MIN_CHARACTERS, NONCE, Nip44Error,
    TAG, VERSION,
};

impl ConversationKey {
    /// Decrypts a payload. One allocation.
    ///
    /// # Errors
    ///
    /// The first check that fails, in the order of [`Nip44Error`].
    pub fn decrypt(&self, payload: &str) -> Result<String, Nip44Error> {
        let mut out = Vec::new();
        self.decrypt_into(payload, &mut out)?;
        utf8::into_string(out).map_err(|(mut bytes, _)| {
            bytes.zeroize();
            Nip44Error::Utf8
        })
    }

    /// Decrypts a payload and appends the plaintext to `out`. Whether it is UTF-8 is not checked.
    ///
    /// Reserves three quarters of the length of the payload.
    ///
    /// # Errors
    ///
    /// The first check that fails, in the order of [`Nip44Error`]. `out` is as it was then, and what
    /// was decrypted behind its end has been overwritten.
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
        let nonce = read_head(head)?;
        let ciphertext = decoded_len(text)? - HEAD - TAG;

        let start = out.len();
        out.reserve(ciphertext + TAG);
        let opened = self.open(&nonce, body, ciphertext, out);
        let plaintext = opened.and_then(|()| {
            plaintext_in(&out[start..start + ciphertext]).ok_or(Nip44Error::Padding)
        });
        match plaintext {
            Ok(range) => {
                let len = range.len();
                out.copy_within(start + range.start..start + range.end, start);
                // What the move has left behind; from there on all is padding.
                out[start + len..start + range.end].zeroize();
                out.truncate(start + len);
                Ok(())
            }
            Err(error) => {
                out[start..].zeroize();
                out.truncate(start);
                Err(error)
            }
        }
    }

    /// Appends what `body` decrypts to and the code behind it, which it checks.
    fn open(
        &self,
        nonce: &[u8; NONCE],
        body: &[u8],
        ciphertext: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Nip44Error> {
        let MessageKeys { mut cipher, mac } = self.message_keys(nonce);
        let mut mac = mac.start();
        mac.update(nonce);
        let (start, end) = (out.len(), out.len() + ciphertext);
        // Invariant: the cipher has gone over what stands before `done`.
        let mut done = start;
        let mut offset = HEAD_CHARACTERS;
        for characters in body.chunks(CHUNK_CHARACTERS) {
            let is_last = offset + characters.len() == HEAD_CHARACTERS + body.len();
            // Padding is for the last characters alone.
            let base64 = if is_last { STANDARD } else { STANDARD_UNPADDED };
            let decoded = base64.push_decoded(out, characters);
            decoded.map_err(|error| Nip44Error::Base64 {
                offset: offset + error.offset,
            })?;
            let until = out.len().min(end);
            mac.update(&out[done..until]);
            cipher.apply(&mut out[done..until]);
            done = until;
            offset += characters.len();
        }
        let is_authentic = mac.finish().ct_eq(&out[end..]);
        if bool::from(is_authentic) {
            Ok(())
        } else {
            Err(Nip44Error::Mac)
        }
    }
}

/// The nonce, if the version is this one.
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
