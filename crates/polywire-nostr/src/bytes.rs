//! Identifiers, keys and signatures: byte arrays with a lower-case hexadecimal text form.

use std::fmt;
use std::str::FromStr;

use polywire_text::hex::{self, Case};

/// The error of parsing hexadecimal text: wrong length, or a character other than `0-9` and `a-f`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidHex {
    /// The expected number of digits.
    pub expected_digits: usize,
    /// The byte offset of the first invalid character. If there is none: the offset of the first
    /// surplus digit, or the length of text that is too short.
    pub offset: usize,
}

impl fmt::Display for InvalidHex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            expected_digits,
            offset,
        } = self;
        write!(
            f,
            "expected {expected_digits} lower-case hexadecimal digits, at byte {offset}"
        )
    }
}

impl std::error::Error for InvalidHex {}

/// Defines a type for `$len` bytes that are written as `2 * $len` lower-case hexadecimal digits.
macro_rules! byte_array {
    ($(#[$doc:meta])* $name:ident, $len:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name([u8; $len]);

        impl $name {
            /// The number of bytes.
            pub const LEN: usize = $len;

            /// Creates a value from its bytes.
            #[inline]
            #[must_use]
            pub const fn from_bytes(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }

            /// Returns the bytes.
            #[inline]
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $len] {
                &self.0
            }

            /// Parses lower-case hexadecimal digits.
            ///
            /// # Errors
            ///
            /// The text does not have twice [`LEN`](Self::LEN) bytes, or contains a byte other than
            /// `0-9` and `a-f`.
            #[inline]
            pub fn from_hex(text: impl AsRef<[u8]>) -> Result<Self, InvalidHex> {
                hex::decode_to_array(text.as_ref(), Case::Lower).map(Self).map_err(|error| InvalidHex {
                    expected_digits: 2 * $len,
                    offset: error.offset,
                })
            }

            /// Returns the lower-case hexadecimal digits.
            #[inline]
            #[must_use]
            pub fn to_hex(&self) -> [u8; 2 * $len] {
                let mut digits = [0; 2 * $len];
                // Cannot fail: the array has the required length.
                let _ = hex::encode_to_slice(&self.0, &mut digits);
                digits
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                // Hexadecimal digits are ASCII.
                f.pad(std::str::from_utf8(&self.to_hex()).unwrap_or_default())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = InvalidHex;

            fn from_str(text: &str) -> Result<Self, InvalidHex> {
                Self::from_hex(text)
            }
        }

        impl From<[u8; $len]> for $name {
            fn from(bytes: [u8; $len]) -> Self {
                Self(bytes)
            }
        }

        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} lower-case hexadecimal digits", 2 * $len)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::from_hex(text).map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Visitor)
            }
        }
    };
}

byte_array! {
    /// The identifier of an event: the SHA-256 digest of its canonical form (NIP-01).
    ///
    /// ```
    /// use polywire_nostr::EventId;
    ///
    /// let id = EventId::from_hex("5c83da77af1dec6d7289834998ad7aafbd9e2191396d75ec3cc27f5a77226f36")?;
    /// assert_eq!(id.as_bytes()[0], 0x5c);
    /// assert_eq!(EventId::from_hex("5C83").unwrap_err().offset, 1);
    /// # Ok::<(), polywire_nostr::InvalidHex>(())
    /// ```
    EventId, 32
}

byte_array! {
    /// The public key of an author: the x coordinate of a point of secp256k1 (BIP-340).
    ///
    /// A value can hold any 32 bytes. Verification and key agreement check that they are the
    /// coordinate of a point, which costs a square root in the field.
    PublicKey, 32
}

byte_array! {
    /// A Schnorr signature of an event's id (BIP-340).
    Signature, 64
}
