//! The binary format of a message.
//!
//! ```text
//! Message     := <version (Byte)> <Range>*
//! Range       := <upperBound (Bound)> <mode (Varint)> <payload (Skip | Fingerprint | IdList)>
//! Bound       := <encodedTimestamp (Varint)> <length (Varint)> <idPrefix (Byte)>*
//! Fingerprint := Byte{16}
//! IdList      := <length (Varint)> <ids (Id)>*
//! Varint      := <Digit+128>* <Digit>
//! ```
//!
//! The lower bound of a range is the upper bound of the previous range. A timestamp is encoded as 0
//! for infinity, otherwise as 1 plus its difference from the previous timestamp.

use super::accumulator::Fingerprint;
use super::error::{InvalidMessage, Reason};
use super::record::{Bound, INFINITY};
use crate::EventId;

/// The first byte of a message of version 1.
pub(super) const VERSION: u8 = 0x61;

const MODE_SKIP: u64 = 0;
const MODE_FINGERPRINT: u64 = 1;
const MODE_ID_LIST: u64 = 2;

/// The maximum number of base 128 digits of a 64-bit integer.
const VARINT_LEN: usize = 10;

/// Returns an array that ends with the digits of a number, and the index of the first digit.
pub(super) const fn varint(mut value: u64) -> ([u8; VARINT_LEN], usize) {
    let mut digits = [0; VARINT_LEN];
    let mut start = VARINT_LEN - 1;
    digits[start] = (value & 0x7f) as u8;
    value >>= 7;
    while value > 0 {
        start -= 1;
        digits[start] = (value & 0x7f) as u8 | 0x80;
        value >>= 7;
    }
    (digits, start)
}

/// A range of a received message.
pub(super) struct Range<'a> {
    pub(super) upper: Bound,
    pub(super) payload: Payload<'a>,
}

/// The mode and contents of a range.
pub(super) enum Payload<'a> {
    Fingerprint(Fingerprint),
    IdList(&'a [[u8; EventId::LEN]]),
    Skip,
}

/// Parses a message.
pub(super) struct Reader<'a> {
    message: &'a [u8],
    /// `<= message.len()`
    offset: usize,
    /// The upper bound of the previous range.
    bound: Bound,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(message: &'a [u8]) -> Self {
        Self {
            message,
            offset: 0,
            bound: Bound::START,
        }
    }

    /// Reads the first byte.
    pub(super) fn version_byte(&mut self) -> Result<u8, InvalidMessage> {
        let byte = self.byte()?;
        if byte & 0xf0 != 0x60 {
            return Err(error(0, Reason::VersionByte(byte)));
        }
        Ok(byte)
    }

    /// Reads the next range. Returns `None` at the end.
    pub(super) fn range(&mut self) -> Result<Option<Range<'a>>, InvalidMessage> {
        if self.offset == self.message.len() {
            return Ok(None);
        }
        let upper = self.bound()?;
        let mode_offset = self.offset;
        let payload = match self.varint()? {
            MODE_SKIP => Payload::Skip,
            MODE_FINGERPRINT => {
                let (bytes, _) = self.bytes(Fingerprint::LEN)?.as_chunks();
                Payload::Fingerprint(Fingerprint::from_bytes(bytes[0]))
            }
            MODE_ID_LIST => {
                let count = self.varint()?;
                let len = usize::try_from(count)
                    .ok()
                    .and_then(|count| count.checked_mul(EventId::LEN))
                    .ok_or_else(|| self.truncated())?;
                Payload::IdList(self.bytes(len)?.as_chunks().0)
            }
            mode => return Err(error(mode_offset, Reason::Mode(mode))),
        };
        Ok(Some(Range { upper, payload }))
    }

    fn bound(&mut self) -> Result<Bound, InvalidMessage> {
        let start = self.offset;
        let created_at = match self.varint()? {
            0 => INFINITY,
            encoded => self
                .bound
                .created_at()
                .checked_add(encoded - 1)
                .filter(|&created_at| created_at != INFINITY)
                .ok_or_else(|| error(start, Reason::TimestampOverflow))?,
        };
        let len_offset = self.offset;
        let len = self.varint()?;
        if len > EventId::LEN as u64 {
            return Err(error(len_offset, Reason::PrefixLength(len)));
        }
        if created_at == INFINITY && len > 0 {
            return Err(error(len_offset, Reason::InfinityWithId));
        }
        // At most 32, as checked above.
        let prefix = self.bytes(len as usize)?;
        let bound = Bound::new(created_at, prefix)
            // Equal bounds are allowed: the reference implementation sends them after a list that
            // ends at infinity and uses up its frame.
            .filter(|bound| bound.position() >= self.bound.position())
            .ok_or_else(|| error(start, Reason::BoundOrder))?;
        self.bound = bound;
        Ok(bound)
    }

    fn varint(&mut self) -> Result<u64, InvalidMessage> {
        let start = self.offset;
        let mut value = 0_u64;
        loop {
            let byte = self.byte()?;
            if byte == 0x80 && value == 0 {
                return Err(error(start, Reason::VarintPadding));
            }
            if value > u64::MAX >> 7 {
                return Err(error(start, Reason::VarintOverflow));
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if byte < 0x80 {
                return Ok(value);
            }
        }
    }

    fn byte(&mut self) -> Result<u8, InvalidMessage> {
        Ok(self.bytes(1)?[0])
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], InvalidMessage> {
        let bytes = self.message[self.offset..].get(..len);
        let bytes = bytes.ok_or_else(|| self.truncated())?;
        self.offset += len;
        Ok(bytes)
    }

    #[cold]
    const fn truncated(&self) -> InvalidMessage {
        error(self.message.len(), Reason::Truncated)
    }
}

#[cold]
const fn error(offset: usize, reason: Reason) -> InvalidMessage {
    InvalidMessage { offset, reason }
}

/// Writes a message.
pub(super) struct Writer {
    message: Vec<u8>,
    /// The timestamp of the previous bound.
    created_at: u64,
}

impl Writer {
    /// Starts a message with the version byte.
    pub(super) fn new() -> Self {
        Self {
            message: vec![VERSION],
            created_at: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.message.len()
    }

    pub(super) fn into_message(self) -> Vec<u8> {
        self.message
    }

    /// Truncates the message to `len` bytes, and appends the fingerprint of the remaining range.
    /// Its upper bound is infinity, whose encoding does not depend on the previous timestamp.
    pub(super) fn end_with(mut self, len: usize, rest: &Fingerprint) -> Vec<u8> {
        self.message.truncate(len);
        self.fingerprint(&Bound::INFINITY, rest);
        self.message
    }

    pub(super) fn skip(&mut self, upper: &Bound) {
        self.bound(upper);
        self.varint(MODE_SKIP);
    }

    pub(super) fn fingerprint(&mut self, upper: &Bound, fingerprint: &Fingerprint) {
        self.bound(upper);
        self.varint(MODE_FINGERPRINT);
        self.message.extend_from_slice(fingerprint.as_bytes());
    }

    /// Starts a list. The caller must then call [`id`](Self::id) `count` times.
    pub(super) fn id_list(&mut self, upper: &Bound, count: usize) {
        self.bound(upper);
        self.varint(MODE_ID_LIST);
        self.varint(count as u64);
        self.message.reserve(count * EventId::LEN);
    }

    pub(super) fn id(&mut self, id: &EventId) {
        self.message.extend_from_slice(id.as_bytes());
    }

    fn bound(&mut self, bound: &Bound) {
        if bound.created_at() == INFINITY {
            self.varint(0);
        } else {
            self.varint(bound.created_at().saturating_sub(self.created_at) + 1);
        }
        self.created_at = bound.created_at();
        self.varint(bound.id_prefix().len() as u64);
        self.message.extend_from_slice(bound.id_prefix());
    }

    fn varint(&mut self, value: u64) {
        let (digits, start) = varint(value);
        self.message.extend_from_slice(&digits[start..]);
    }
}
