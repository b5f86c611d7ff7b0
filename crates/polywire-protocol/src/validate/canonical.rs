//! The canonical form of the items of lists with `@uniqueItems`: equal items have equal bytes. Map
//! entries are sorted, and numbers are written by value.
//!
//! All open lists share one buffer, because the items of an inner list are part of an item of the
//! outer one. Duplicates are found by sorting rather than hashing, so that no input is slow and no
//! random seed is needed.

use polywire_schema::{BigDecimal, Timestamp};
use polywire_text::number::push_i64;

/// The buffer of all open lists.
#[derive(Debug, Default)]
pub(super) struct Canonical {
    bytes: Vec<u8>,
    /// The number of open lists with `@uniqueItems`.
    open: u32,
}

/// The kind of the value that follows.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum Tag {
    Null = b'n',
    Boolean = b'b',
    Number = b'd',
    Float = b'f',
    Text = b's',
    Blob = b'x',
    Timestamp = b't',
    Begin = b'(',
    Member = b'm',
    End = b')',
}

impl Canonical {
    pub(super) const fn is_open(&self) -> bool {
        self.open > 0
    }

    pub(super) const fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn open(&mut self) {
        self.open += 1;
    }

    /// Ends a list whose items start at these offsets. Returns whether two of the items are equal.
    pub(super) fn close(&mut self, starts: &[usize]) -> bool {
        self.open -= 1;
        let mut items = self.pieces(starts);
        items.sort_unstable();
        let has_duplicates = items.windows(2).any(|pair| pair[0] == pair[1]);
        if self.open == 0 {
            self.bytes.clear();
        }
        has_duplicates
    }

    /// Sorts the entries of a map, which start at these offsets.
    pub(super) fn sort(&mut self, starts: &[usize]) {
        let Some(first) = starts.first().copied() else {
            return;
        };
        let mut entries = self.pieces(starts);
        if entries.is_sorted() {
            return;
        }
        entries.sort_unstable();
        let sorted = entries.concat();
        self.bytes.truncate(first);
        self.bytes.extend_from_slice(&sorted);
    }

    fn pieces(&self, starts: &[usize]) -> Vec<&[u8]> {
        let ends = starts.iter().skip(1).copied().chain([self.bytes.len()]);
        let pieces = starts.iter().zip(ends);
        pieces
            .map(|(start, end)| &self.bytes[*start..end])
            .collect()
    }

    pub(super) fn tag(&mut self, tag: Tag) {
        if self.open > 0 {
            self.bytes.push(tag as u8);
        }
    }

    /// Writes bytes after their length, so that no value is a prefix of another.
    pub(super) fn bytes(&mut self, tag: Tag, bytes: &[u8]) {
        if self.open > 0 {
            self.bytes.push(tag as u8);
            self.bytes
                .extend_from_slice(&(bytes.len() as u64).to_be_bytes());
            self.bytes.extend_from_slice(bytes);
        }
    }

    pub(super) fn integer(&mut self, value: i64) {
        if self.open > 0 {
            let mut digits = Vec::with_capacity(20);
            push_i64(&mut digits, value);
            self.bytes(Tag::Number, &digits);
        }
    }

    /// Zeros of both signs are equal, and all NaN values are.
    pub(super) fn double(&mut self, value: f64) {
        let value = if value.is_nan() {
            f64::NAN
        } else {
            value + 0.0
        };
        self.bytes(Tag::Float, &value.to_bits().to_be_bytes());
    }

    pub(super) fn decimal(&mut self, value: &BigDecimal) {
        if self.open > 0 {
            let digits = super::decimal::canonical(value.as_str());
            self.bytes(Tag::Number, &digits);
        }
    }

    pub(super) fn timestamp(&mut self, value: Timestamp) {
        if self.open > 0 {
            let mut text = Vec::with_capacity(32);
            value.push_epoch_seconds(&mut text);
            self.bytes(Tag::Timestamp, &text);
        }
    }

    pub(super) fn ordinal(&mut self, ordinal: u32) {
        self.bytes(Tag::Member, &ordinal.to_be_bytes());
    }
}
