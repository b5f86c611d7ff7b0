//! The key pair of Version 4A.

use p256::ecdsa::signature::{Signer as _, Verifier as _};
use p256::ecdsa::{Signature as EcdsaSignature, SigningKey as PrivateKey, VerifyingKey};
use polywire_text::hex;
use zeroize::Zeroizing;

use super::hash::MacKey;
use super::{Algorithm, Credentials, Signature};

/// A key pair that is derived from credentials. The private key is zeroized on drop.
pub(super) struct EcdsaKey {
    private: PrivateKey,
    public: VerifyingKey,
}

impl EcdsaKey {
    /// Derives the pair, by the key derivation function in counter mode of NIST SP 800-108 and the
    /// method of FIPS 186-5, appendix A.2.2: the first result that is at most `n - 2`, plus one,
    /// where `n` is the order of the curve.
    ///
    /// ```text
    /// HMAC("AWS4A" + secret, 00000001 + algorithm + 00 + access key id + counter + 00000100)
    /// ```
    pub(super) fn derive(credentials: &Credentials) -> Self {
        let mut secret = Zeroizing::new(Vec::with_capacity(64));
        secret.extend_from_slice(b"AWS4A");
        secret.extend_from_slice(credentials.secret_access_key().as_bytes());
        let mac = MacKey::new(&secret);
        let mut counter = 1_u8;
        loop {
            let mut input = Vec::with_capacity(64);
            input.extend_from_slice(&1_u32.to_be_bytes());
            input.extend_from_slice(Algorithm::V4a.name().as_bytes());
            input.push(0);
            input.extend_from_slice(credentials.access_key_id().as_bytes());
            input.push(counter);
            input.extend_from_slice(&256_u32.to_be_bytes());
            let mut scalar = Zeroizing::new(mac.mac(&input));
            // `from_slice` accepts 1 to `n - 1`, so it also checks the range. A sum that overflows is
            // zero, which it rejects.
            increment(&mut scalar);
            if let Ok(private) = PrivateKey::from_slice(&scalar[..]) {
                let public = *private.verifying_key();
                return Self { private, public };
            }
            // The probability of a rejection is 2^-32, so the counter cannot wrap in practice. A
            // counter that wraps would repeat all inputs.
            counter = counter.wrapping_add(1);
        }
    }

    /// The coordinates X and Y.
    pub(super) fn public_key(&self) -> ([u8; 32], [u8; 32]) {
        let point = self.public.to_sec1_point(false);
        let coordinate = |bytes: Option<&_>| {
            let mut coordinate = [0; 32];
            if let Some(bytes) = bytes {
                let bytes: &p256::FieldBytes = bytes;
                coordinate.copy_from_slice(bytes);
            }
            coordinate
        };
        (coordinate(point.x()), coordinate(point.y()))
    }

    /// Signs with the deterministic nonce of RFC 6979.
    pub(super) fn sign(&self, message: &[u8]) -> Signature {
        let signature: EcdsaSignature = self.private.sign(message);
        let mut digits = Vec::new();
        hex::push(&mut digits, signature.to_der().as_bytes());
        Signature::from_digits(&digits)
    }

    pub(super) fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        let Ok(der) = hex::decode(signature.as_bytes(), hex::Case::Lower) else {
            return false;
        };
        EcdsaSignature::from_der(&der)
            .is_ok_and(|signature| self.public.verify(message, &signature).is_ok())
    }
}

/// Adds one to a big-endian number.
fn increment(number: &mut [u8; 32]) {
    for byte in number.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            break;
        }
    }
}
