//! Sets of byte strings that do not change.
//!
//! Each value has a 64-bit key, computed from its last eight bytes: the first bytes of ids may be
//! zeros from proof of work (NIP-13). Values are sorted by key, then by bytes. In larger sets, the
//! upper bits of the key select a bucket with one value on average. A lookup touches one table
//! entry, one key, and one value if the key is equal.
//!
//! The key is not secret. An attacker can choose values that share a bucket; binary search keeps a
//! lookup logarithmic.

use std::ops::Range;

/// A set of byte strings.
#[derive(Clone, Debug)]
pub(super) struct Set<T> {
    /// The keys of `values`, ascending.
    keys: Box<[u64]>,
    /// Without duplicates; `values.len() == keys.len()`.
    values: Box<[T]>,
    /// The index of the first value of each bucket, then the number of values. Empty for small
    /// sets.
    starts: Box<[u32]>,
    /// `key >> shift` is the number of the bucket of a key.
    shift: u32,
    /// One bit for the upper six bits of each key. It rejects most absent values of a small set
    /// without another memory access.
    bits: u64,
}

impl<T: AsRef<[u8]>> Set<T> {
    /// Up to this size, keys are compared one by one.
    const SMALL: usize = 8;

    /// Creates a set. Limits keep sets below 2^32 values; further values are dropped.
    pub(super) fn new(values: impl IntoIterator<Item = T>) -> Self {
        let mut entries: Vec<(u64, T)> = values
            .into_iter()
            .take(u32::MAX as usize)
            .map(|value| (key(value.as_ref()), value))
            .collect();
        entries.sort_unstable_by(|(a_key, a), (b_key, b)| {
            (a_key, a.as_ref()).cmp(&(b_key, b.as_ref()))
        });
        entries.dedup_by(|(_, a), (_, b)| (*a).as_ref() == (*b).as_ref());
        let keys: Box<[u64]> = entries.iter().map(|(key, _)| *key).collect();
        let values = entries.into_iter().map(|(_, value)| value).collect();
        let (starts, shift) = starts(&keys);
        Self {
            bits: keys.iter().fold(0, |bits, key| bits | bit(*key)),
            keys,
            values,
            starts,
            shift,
        }
    }

    /// Returns the values in unspecified order.
    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// Whether a value is in the set.
    #[inline]
    pub(super) fn contains(&self, value: &[u8]) -> bool {
        let key = key(value);
        if self.bits & bit(key) == 0 {
            return false;
        }
        let bucket = self.bucket(key);
        if bucket.len() > Self::SMALL {
            return self.search(bucket, key, value);
        }
        let start = bucket.start;
        let keys = self.keys[bucket].iter().enumerate();
        let mut equal = keys.filter(|(_, other)| **other == key);
        equal.any(|(at, _)| self.values[start + at].as_ref() == value)
    }

    /// Returns the indices of the bucket of a key.
    #[inline]
    fn bucket(&self, key: u64) -> Range<usize> {
        if self.starts.is_empty() {
            return 0..self.keys.len();
        }
        let at = (key >> self.shift) as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// Binary search in a bucket.
    #[inline(never)]
    fn search(&self, bucket: Range<usize>, key: u64, value: &[u8]) -> bool {
        let (mut low, mut high) = (bucket.start, bucket.end);
        while low < high {
            let middle = low.midpoint(high);
            let other = (self.keys[middle], self.values[middle].as_ref());
            match other.cmp(&(key, value)) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }
}

/// The key of a value.
#[inline]
fn key(value: &[u8]) -> u64 {
    let last = match value.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => {
            let mut padded = [0; 8];
            padded[..value.len()].copy_from_slice(value);
            u64::from_le_bytes(padded)
        }
    };
    // Fibonacci hashing: multiplication by 2^64 divided by the golden ratio spreads all bits to the
    // upper ones.
    last.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The bit of a key in `Set::bits`.
#[inline]
fn bit(key: u64) -> u64 {
    1 << (key >> 58)
}

/// Returns `starts` and `shift` for sorted keys.
fn starts(keys: &[u64]) -> (Box<[u32]>, u32) {
    if keys.len() <= Set::<Vec<u8>>::SMALL {
        return (Box::default(), 0);
    }
    let bits = keys.len().ilog2();
    let shift = 64 - bits;
    let mut starts = Vec::with_capacity((1 << bits) + 1);
    for (at, key) in keys.iter().enumerate() {
        let bucket = (key >> shift) as usize;
        while starts.len() <= bucket {
            starts.push(at as u32);
        }
    }
    starts.resize((1 << bits) + 1, keys.len() as u32);
    (starts.into(), shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contains_its_values_only() {
        for len in [0_u32, 1, 7, 8, 9, 10, 100, 3000] {
            let value = |n: u32| format!("{n:064x}");
            let set = Set::new((0..len).map(value));
            for n in 0..2 * len + 2 {
                assert_eq!(set.contains(value(n).as_bytes()), n < len, "{n} of {len}");
            }
            assert!(!set.contains(b""));
        }
    }

    #[test]
    fn contains_values_with_equal_keys() {
        let value = |n: u32| format!("{n}-equal-end");
        let set = Set::new((0..1000).map(value));
        for n in 0..2000 {
            assert_eq!(set.contains(value(n).as_bytes()), n < 1000, "{n}");
        }
    }

    #[test]
    fn distinguishes_short_values() {
        let set = Set::new(["", "a", "a\0", "12345678"]);
        for value in ["", "a", "a\0", "12345678"] {
            assert!(set.contains(value.as_bytes()), "{value:?}");
        }
        for value in ["\0", "b", "a\0\0", "1234567", "012345678"] {
            assert!(!set.contains(value.as_bytes()), "{value:?}");
        }
    }

    #[test]
    fn removes_duplicates() {
        let set = Set::new(["x", "y", "x"]);
        assert_eq!(set.values().len(), 2);
    }
}
