//! Encryption.

use polywire_text::base64::STANDARD;

use super::cipher::WIDE;
use super::key::MessageKeys;
use super::layout::Layout;
use super::{CHUNK, ConversationKey, HEAD, NONCE, Nip44Error, TAG, VERSION};

/// Whole blocks of the cipher, as many as it likes to have at once.
const SHORT: usize = 2 * WIDE;

impl ConversationKey {
    /// Encrypts `plaintext` with a random nonce of the operating system, and returns the payload in
    /// base64. One allocation.
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
    /// The plaintext is empty or longer than allowed, or the operating system gave no random bytes.
    #[cfg(feature = "os-rng")]
    pub fn encrypt(&self, plaintext: &str) -> Result<String, Nip44Error> {
        let mut nonce = [0; NONCE];
        crate::key::fill_random(&mut nonce).map_err(|_| Nip44Error::Randomness)?;
        self.encrypt_with_nonce(plaintext, &nonce)
    }

    /// Encrypts `plaintext` with this nonce. One allocation.
    ///
    /// Two plaintexts with the same nonce and key give away what differs between them. A nonce must
    /// come from a random generator fit for keys, and be used once.
    ///
    /// # Errors
    ///
    /// The plaintext is empty or longer than allowed.
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

    /// Encrypts `plaintext` with this nonce, as [`encrypt_with_nonce`](Self::encrypt_with_nonce), and
    /// appends the payload to `out`.
    ///
    /// # Errors
    ///
    /// The plaintext is empty or longer than allowed. `out` is as it was then.
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
        // Of a short message, to clear the longer buffer would be a noticeable part.
        match layout.ciphertext <= SHORT {
            true => self.encrypt_in::<{ SHORT + TAG }>(layout, plaintext, nonce, out),
            false => self.encrypt_in::<{ CHUNK + TAG }>(layout, plaintext, nonce, out),
        }
    }

    /// Encrypts by way of a buffer for as much as is encrypted at once, and a code.
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

        // Holds plaintext only until the cipher goes over it.
        let mut chunk = [0; ROOM];
        let prefix = layout.prefix.as_bytes();
        chunk[..prefix.len()].copy_from_slice(prefix);
        // Invariant: the first `filled` bytes of the chunk are the next of the `left` to encrypt.
        let (mut filled, mut rest, mut left) = (prefix.len(), plaintext, layout.ciphertext);
        loop {
            let size = left.min(ROOM - TAG);
            let (text, behind) = rest.split_at(rest.len().min(size - filled));
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
            (filled, rest, left) = (0, behind, left - size);
        }
    }
}
