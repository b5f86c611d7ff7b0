//! Fingerprints and set differences, by their definitions.

use std::collections::BTreeSet;

use sha2::{Digest as _, Sha256};

use crate::EventId;
use crate::negentropy::{Fingerprint, Record};

/// Returns the fingerprint of the ids: the first 16 bytes of the SHA-256 digest of their sum and
/// number.
#[must_use]
pub fn fingerprint(ids: &[EventId]) -> Fingerprint {
    let mut input = sum(ids).to_vec();
    input.extend(varint(ids.len() as u64));
    let digest = Sha256::digest(&input);
    let mut fingerprint = [0; Fingerprint::LEN];
    fingerprint.copy_from_slice(&digest[..Fingerprint::LEN]);
    Fingerprint::from_bytes(fingerprint)
}

/// Adds ids as little-endian integers modulo 2^256, digit by digit in base 256.
fn sum(ids: &[EventId]) -> [u8; 32] {
    let mut sum = [0_u8; 32];
    for id in ids {
        let mut carry = 0_u16;
        for (sum, digit) in sum.iter_mut().zip(id.as_bytes()) {
            let total = u16::from(*sum) + u16::from(*digit) + carry;
            *sum = (total % 256) as u8;
            carry = total / 256;
        }
        // The last carry is dropped: it is a multiple of 2^256.
    }
    sum
}

/// Encodes a number in base 128, most significant digit first, with 128 added to all digits but the
/// last.
#[must_use]
pub fn varint(value: u64) -> Vec<u8> {
    let last = (value % 128) as u8;
    let mut digits = Vec::new();
    let mut rest = value / 128;
    while rest > 0 {
        digits.insert(0, (rest % 128) as u8 + 128);
        rest /= 128;
    }
    digits.push(last);
    digits
}

/// Returns the ids that are only in `ours`, and the ids that are only in `theirs`.
#[must_use]
pub fn differences(ours: &[Record], theirs: &[Record]) -> (BTreeSet<EventId>, BTreeSet<EventId>) {
    let ids = |records: &[Record]| -> BTreeSet<EventId> {
        records.iter().map(|record| *record.id()).collect()
    };
    let (ours, theirs) = (ids(ours), ids(theirs));
    (&ours - &theirs, &theirs - &ours)
}
