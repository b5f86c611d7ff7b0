//! What is to be sent.

use bytes::Bytes;

/// Bytes to be sent, in their order: small frames in one buffer, and between its parts large payloads
/// that nobody copies.
///
/// Whoever writes to a socket writes [`parts`](Self::parts), or [`as_slice`](Self::as_slice) where that
/// is all, and [`clear`](Self::clear)s when all is written; the buffer is used again.
#[derive(Debug, Default)]
pub struct Output {
    pub(crate) bytes: Vec<u8>,
    /// Payloads by themselves, each with how many of `bytes` stand before it. In order.
    large: Vec<(usize, Bytes)>,
    /// How many bytes those are.
    large_len: usize,
}

impl Output {
    /// Payloads from this size on are not copied.
    pub const LARGE: usize = 32 << 10;

    /// Whether nothing is to be sent.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty() && self.large.is_empty()
    }

    /// How many bytes are to be sent.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() + self.large_len
    }

    /// All of it in pieces, none of which is empty.
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

    /// All of it, if it is one piece.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&[u8]> {
        self.large.is_empty().then_some(&self.bytes)
    }

    /// Forgets all, and keeps the room.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.large.clear();
        self.large_len = 0;
    }

    /// Forgets all but the first bytes, before which no large payload stands.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.bytes.truncate(bytes);
        self.large.clear();
        self.large_len = 0;
    }

    /// Gives back room beyond so many bytes, as after a burst.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.bytes.shrink_to(bytes);
        self.large.shrink_to(0);
    }

    /// Where among all bytes that one of the buffer stands, behind all large payloads.
    pub(crate) const fn position(&self, start: usize) -> u64 {
        (start + self.large_len) as u64
    }

    pub(crate) fn push_large(&mut self, payload: Bytes) {
        self.large_len += payload.len();
        self.large.push((self.bytes.len(), payload));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payloads_stand_where_they_belong() {
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
