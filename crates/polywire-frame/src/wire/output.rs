//! The bytes to be sent.

use bytes::Bytes;

/// Bytes to be sent, in order: small frames in one buffer, and between its parts large payloads that are not copied.
///
/// Write [`parts`](Self::parts), or [`as_slice`](Self::as_slice) if there is only one, then [`clear`](Self::clear).
/// The buffer is reused.
#[derive(Debug, Default)]
pub struct Output {
    pub(crate) bytes: Vec<u8>,
    /// Large payloads in order, each with the number of bytes of `bytes` before it.
    large: Vec<(usize, Bytes)>,
    /// Sum of their lengths.
    large_len: usize,
}

impl Output {
    /// Payloads of at least this many bytes are not copied.
    pub const LARGE: usize = 32 << 10;

    /// Whether there is nothing to send.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.large.is_empty()
    }

    /// The number of bytes to send.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() + self.large_len
    }

    /// All bytes, in non-empty parts.
    pub fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let mut from = 0;
        let ends = self.large.iter().map(|(end, large)| (*end, &large[..]));
        ends.chain([(self.bytes.len(), &[][..])])
            .flat_map(move |(end, large)| {
                let before = &self.bytes[from..end];
                from = end;
                [before, large]
            })
            .filter(|part| !part.is_empty())
    }

    /// All bytes, if they are one part.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&[u8]> {
        self.large.is_empty().then_some(&self.bytes)
    }

    /// Removes all bytes and keeps the capacity.
    #[inline]
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps only the first `bytes`, which must not have a large payload before their end.
    #[inline]
    pub(crate) fn truncate(&mut self, bytes: usize) {
        self.bytes.truncate(bytes);
        self.large.clear();
        self.large_len = 0;
    }

    /// Releases capacity above `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.bytes.shrink_to(bytes);
        self.large.shrink_to(0);
    }

    /// The position among all bytes of a position in the buffer that is behind all large payloads.
    pub(crate) const fn position(&self, start: usize) -> u64 {
        (start + self.large_len) as u64
    }

    pub(super) fn push_large(&mut self, payload: Bytes) {
        self.large_len += payload.len();
        self.large.push((self.bytes.len(), payload));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payloads_keep_their_position() {
        let mut output = Output::default();
        assert!(output.is_empty() && output.parts().next().is_none());
        output.push_large(Bytes::from_static(b"first"));
        output.bytes.extend_from_slice(b"head");
        output.push_large(Bytes::from_static(b"second"));
        output.push_large(Bytes::from_static(b"third"));
        output.bytes.extend_from_slice(b"tail");
        let parts: Vec<_> = output.parts().collect();
        assert_eq!(
            parts,
            [&b"first"[..], b"head", b"second", b"third", b"tail"]
        );
        assert_eq!(output.len(), 24);
        assert_eq!(output.as_slice(), None);
        output.clear();
        assert_eq!(output.as_slice(), Some(&[][..]));
    }
}
