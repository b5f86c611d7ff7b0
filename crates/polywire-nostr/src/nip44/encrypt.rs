//! Encryption.

use polywire_text::base64::STANDARD;

use super::cipher::WIDE;
use super::key::MessageKeys;
use super::layout::Layout;
use super::{CHUNK, ConversationKey, HEAD, NONCE, Nip44Error, TAG, VERSION};

/// The longest ciphertext in bytes for which the short buffer is used.
const SHORT: usize = 2 * WIDE;

impl ConversationKey {
    /// Encrypts `plaintext` with a random nonce from the operating system, and returns the payload
    /// in base64. Allocates once.
    ///
    /// ```
    /// use polywire_nostr::nip44::ConversationKey;
    ///
    /// let key = ConversationKey::from_bytes([1; 32]);
    /// let payload = key.encrypt("hello")?;
    /// assert_eq!(payload.len(), 132);
    /// assert_eq!(key.decrypt(&payload)?, "hello");
    /// # Ok::<(), polywire_nostr::nip44::Nip44Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The plaintext is empty or too long, or the operating system returned no random bytes.
    #[cfg(feature = "os-rng")]
    pub fn encrypt(&self, plaintext: &str) -> Result<String, Nip44Error> {
        let mut nonce = [0; NONCE];
        crate::key::fill_random(&mut nonce).map_err(|_| Nip44Error::Randomness)?;
        self.encrypt_with_nonce(plaintext, &nonce)
    }

    /// Encrypts `plaintext` with this nonce. Allocates once.
    ///
    /// Never use a nonce twice with the same key: the XOR of the two payloads is the XOR of the
    /// plaintexts. A nonce must come from a cryptographically secure random generator.
    ///
    /// # Errors
    ///
    /// The plaintext is empty or too long.
    pub fn encrypt_with_nonce(
        &self,
        plaintext: &str,
        nonce: &[u8; NONCE],
    ) -> Result<String, Nip44Error> {
        let layout = Layout::new(plaintext.len(), self.max_plaintext)?;
        let mut out = String::with_capacity(layout.characters);
        self.encrypt_as(&layout, plaintext.as_bytes(), nonce, &mut out);
        Ok(out)
    }

    /// As [`encrypt_with_nonce`](Self::encrypt_with_nonce), but appends the payload to `out`.
    ///
    /// # Errors
    ///
    /// The plaintext is empty or too long. `out` is then unchanged.
    pub fn encrypt_into(
        &self,
        plaintext: &str,
        nonce: &[u8; NONCE],
        out: &mut String,
    ) -> Result<(), Nip44Error> {
        let layout = Layout::new(plaintext.len(), self.max_plaintext)?;
        out.reserve(layout.characters);
        self.encrypt_as(&layout, plaintext.as_bytes(), nonce, out);
        Ok(())
    }

    fn encrypt_as(&self, layout: &Layout, plaintext: &[u8], nonce: &[u8; NONCE], out: &mut String) {
        // For a short message, clearing the longer buffer would take a noticeable part of the time.
        match layout.ciphertext <= SHORT {
            true => self.encrypt_in::<{ SHORT + TAG }>(layout, plaintext, nonce, out),
            false => self.encrypt_in::<{ CHUNK + TAG }>(layout, plaintext, nonce, out),
        }
    }

    /// Encrypts with a buffer of `ROOM` bytes, which holds a chunk of ciphertext and the MAC.
    fn encrypt_in<const ROOM: usize>(
        &self,
        layout: &Layout,
        plaintext: &[u8],
        nonce: &[u8; NONCE],
        out: &mut String,
    ) {
        let MessageKeys { mut cipher, mac } = self.message_keys(nonce);
        let mut mac = mac.start();
        mac.update(nonce);
        let mut head = [VERSION; HEAD];
        head[1..].copy_from_slice(nonce);
        STANDARD.push_str(out, &head);

        // The cipher overwrites all plaintext in this buffer, so it is not zeroized.
        let mut chunk = [0; ROOM];
        let prefix = layout.prefix.as_bytes();
        chunk[..prefix.len()].copy_from_slice(prefix);
        // Invariant: `left` bytes remain to be encrypted, and the chunk holds the first `filled` of
        // them.
        let (mut filled, mut rest, mut left) = (prefix.len(), plaintext, layout.ciphertext);
        loop {
            let size = left.min(ROOM - TAG);
            let (text, after) = rest.split_at(rest.len().min(size - filled));
            let end = filled + text.len();
            chunk[filled..end].copy_from_slice(text);
            let wide = size.next_multiple_of(WIDE);
            chunk[end..wide].fill(0);
            cipher.apply(&mut chunk[..wide]);
            mac.update(&chunk[..size]);
            if left == size {
                chunk[size..size + TAG].copy_from_slice(&mac.finish());
                STANDARD.push_str(out, &chunk[..size + TAG]);
                return;
            }
            STANDARD.push_str(out, &chunk[..size]);
            (filled, rest, left) = (0, after, left - size);
        }
    }
}
