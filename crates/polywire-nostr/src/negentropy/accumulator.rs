//! Sums of ids, and the fingerprints computed from them.

use std::ops::{AddAssign, SubAssign};

use sha2::{Digest as _, Sha256};

use super::wire;
use crate::EventId;

/// The ids of a range: their number, and their sum as little-endian integers modulo 2^256.
///
/// Sums can be added and subtracted. A storage that keeps prefix sums, or sums in the nodes of a
/// tree, can sum a range without visiting each id.
///
/// ```
/// use polywire_nostr::EventId;
/// use polywire_nostr::negentropy::Accumulator;
///
/// let ids = [EventId::from_bytes([0xff; 32]), EventId::from_bytes([1; 32])];
/// let mut both = Accumulator::default();
/// both.add(&ids[0]);
/// both.add(&ids[1]);
/// let mut first = Accumulator::default();
/// first.add(&ids[0]);
/// both -= first;
///
/// let mut second = Accumulator::default();
/// second.add(&ids[1]);
/// assert_eq!(both.fingerprint(), second.fingerprint());
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Accumulator {
    /// The sum in base 2^64, least significant digit first.
    sum: [u64; 4],
    count: u64,
}

impl Accumulator {
    /// Adds one id.
    #[inline]
    pub fn add(&mut self, id: &EventId) {
        let (digits, _) = id.as_bytes().as_chunks::<8>();
        let mut carry = false;
        for (sum, digit) in self.sum.iter_mut().zip(digits) {
            (*sum, carry) = add_digits(*sum, u64::from_le_bytes(*digit), carry);
        }
        self.count = self.count.wrapping_add(1);
    }

    /// Returns the number of ids.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Computes the fingerprint of these ids (Negentropy Protocol V1, "Fingerprint Algorithm").
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        for digit in self.sum {
            hash.update(digit.to_le_bytes());
        }
        let (count, start) = wire::varint(self.count);
        hash.update(&count[start..]);
        let digest = hash.finalize();
        let mut fingerprint = [0; Fingerprint::LEN];
        fingerprint.copy_from_slice(&digest[..Fingerprint::LEN]);
        Fingerprint(fingerprint)
    }
}

/// Adds the ids of another range.
impl AddAssign for Accumulator {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        let mut carry = false;
        for (sum, digit) in self.sum.iter_mut().zip(other.sum) {
            (*sum, carry) = add_digits(*sum, digit, carry);
        }
        self.count = self.count.wrapping_add(other.count);
    }
}

/// Removes the ids of another range, which must have been added before.
impl SubAssign for Accumulator {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        let mut borrow = false;
        for (sum, digit) in self.sum.iter_mut().zip(other.sum) {
            let (difference, first) = sum.overflowing_sub(digit);
            let (difference, second) = difference.overflowing_sub(u64::from(borrow));
            (*sum, borrow) = (difference, first || second);
        }
        self.count = self.count.wrapping_sub(other.count);
    }
}

/// Adds two digits and a carry. Returns the sum and the next carry.
#[inline]
const fn add_digits(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry as u64);
    (sum, first || second)
}

/// The first 16 bytes of the SHA-256 digest of an [`Accumulator`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fingerprint([u8; Self::LEN]);

impl Fingerprint {
    /// The number of bytes.
    pub const LEN: usize = 16;

    /// Creates a fingerprint from its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}
