//! Records, and the bounds between ranges.

use std::fmt;

use crate::EventId;

/// The timestamp of the end of the last range. No record may have it.
pub(super) const INFINITY: u64 = u64::MAX;

/// The timestamp and id of an event. Records are ordered by timestamp, then by the bytes of the id.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Record {
    created_at: u64,
    id: EventId,
}

impl Record {
    /// Creates a record. `created_at` is in seconds since 1970-01-01 UTC.
    ///
    /// # Errors
    ///
    /// `created_at` is `u64::MAX`, which the protocol reserves.
    pub const fn new(created_at: u64, id: EventId) -> Result<Self, ReservedTimestamp> {
        if created_at == INFINITY {
            return Err(ReservedTimestamp);
        }
        Ok(Self { created_at, id })
    }

    /// Returns the timestamp of the event in seconds since 1970-01-01 UTC.
    #[must_use]
    pub const fn created_at(&self) -> u64 {
        self.created_at
    }

    /// Returns the id of the event.
    #[must_use]
    pub const fn id(&self) -> &EventId {
        &self.id
    }
}

/// The error of a record with the timestamp `u64::MAX`, which the protocol reserves for infinity.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReservedTimestamp;

impl fmt::Display for ReservedTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the timestamp {INFINITY} is reserved by negentropy")
    }
}

impl std::error::Error for ReservedTimestamp {}

/// The exclusive upper bound of a range: a timestamp and an id prefix (Negentropy Protocol V1,
/// "Bound").
///
/// Records below `(created_at, id)` belong to the range, where `id` is the prefix padded with
/// zeros.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    created_at: u64,
    /// Zero from `prefix_len` on.
    id: [u8; EventId::LEN],
    /// `<= EventId::LEN`
    prefix_len: usize,
}

impl Bound {
    /// The lower bound of the first range.
    pub(super) const START: Self = Self {
        created_at: 0,
        id: [0; EventId::LEN],
        prefix_len: 0,
    };

    /// The upper bound of the last range, above all records.
    pub const INFINITY: Self = Self {
        created_at: INFINITY,
        id: [0; EventId::LEN],
        prefix_len: 0,
    };

    /// Creates a bound from a timestamp and an id prefix.
    ///
    /// Returns `None` if the prefix is longer than 32 bytes.
    #[must_use]
    pub fn new(created_at: u64, id_prefix: &[u8]) -> Option<Self> {
        let mut id = [0; EventId::LEN];
        id.get_mut(..id_prefix.len())?.copy_from_slice(id_prefix);
        Some(Self {
            created_at,
            id,
            prefix_len: id_prefix.len(),
        })
    }

    /// Returns the bound that excludes `record` and includes all records before it.
    pub(super) const fn at(record: &Record) -> Self {
        Self {
            created_at: record.created_at,
            id: *record.id.as_bytes(),
            prefix_len: EventId::LEN,
        }
    }

    /// Returns the shortest bound between two adjacent records.
    pub(super) fn between(last: &Record, next: &Record) -> Self {
        let prefix_len = if last.created_at == next.created_at {
            let pairs = last.id.as_bytes().iter().zip(next.id.as_bytes());
            let common = pairs.take_while(|(a, b)| a == b).count();
            // A storage with equal records violates its contract; use the whole id then.
            (common + 1).min(EventId::LEN)
        } else {
            0
        };
        let mut bound = Self::at(next);
        bound.id[prefix_len..].fill(0);
        bound.prefix_len = prefix_len;
        bound
    }

    /// Returns the timestamp. `u64::MAX` means infinity.
    #[must_use]
    pub const fn created_at(&self) -> u64 {
        self.created_at
    }

    /// Returns the id prefix, padded with zeros. A database can seek to the first record at or
    /// above this timestamp and id.
    #[must_use]
    pub const fn id(&self) -> EventId {
        EventId::from_bytes(self.id)
    }

    /// Returns the id prefix, without padding.
    #[must_use]
    pub fn id_prefix(&self) -> &[u8] {
        &self.id[..self.prefix_len]
    }

    /// Whether `record` is below this bound.
    #[must_use]
    pub fn is_above(&self, record: &Record) -> bool {
        (record.created_at, record.id.as_bytes()) < self.position()
    }

    /// The key by which bounds are ordered.
    pub(super) const fn position(&self) -> (u64, &[u8; EventId::LEN]) {
        (self.created_at, &self.id)
    }
}
