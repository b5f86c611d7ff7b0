//! SHA-256 and HMAC-SHA-256 of several parts, and their hexadecimal form.

use hmac::{Hmac, KeyInit as _, Mac as _};
use polywire_text::hex;
use sha2::{Digest as _, Sha256};

/// The SHA-256 of nothing, in hexadecimal.
pub(super) const EMPTY_HASH: &[u8; 64] =
    b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Returns the SHA-256 of `bytes`.
pub(super) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns `digest` as lower-case hexadecimal.
pub(super) fn to_hex(digest: &[u8; 32]) -> [u8; 64] {
    let mut text = [0; 64];
    let written = hex::encode_to_slice(digest, &mut text);
    debug_assert!(written.is_some(), "64 digits for 32 bytes");
    text
}

/// An HMAC key, as the two hash states after its block. Zeroized on drop.
#[derive(Clone)]
pub(super) struct MacKey(Hmac<Sha256>);

impl MacKey {
    /// Creates a key from any number of bytes.
    pub(super) fn new(key: &[u8]) -> Self {
        #[expect(
            clippy::expect_used,
            reason = "HMAC accepts keys of every length, RFC 2104"
        )]
        let mac = Hmac::new_from_slice(key).expect("HMAC accepts keys of every length");
        Self(mac)
    }

    /// Returns the MAC of `message`.
    pub(super) fn mac(&self, message: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(message);
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_of_nothing() {
        assert_eq!(&to_hex(&sha256(b"")), EMPTY_HASH);
    }

    /// RFC 4231, section 4.3.
    #[test]
    fn rfc4231_vector() {
        let code = MacKey::new(b"Jefe").mac(b"what do ya want for nothing?");
        let expected = b"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(&to_hex(&code), expected);
    }
}
