//! What is to be sent.

use super::TOKEN;
use crate::{Flags, HEADER, Header, Kind, Output};

/// Datagrams one behind the other in one buffer, each with where it goes.
///
/// Whoever sends them takes them one by one, or in [`runs`](Self::runs) where the system can cut a run
/// into datagrams itself, and [`clear`](Self::clear)s; the buffer is used again.
#[derive(Debug)]
pub struct Datagrams<A = ()> {
    /// Nothing in it is large: it is one piece.
    pub(super) buffer: Output,
    marks: Vec<Mark<A>>,
}

#[derive(Clone, Copy, Debug)]
struct Mark<A> {
    end: usize,
    to: A,
}

/// Neighbours that go to the same place and have the same size, but for the last, which may be
/// shorter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Run<'a, A> {
    /// Where they go.
    pub to: A,
    /// All of them.
    pub bytes: &'a [u8],
    /// Bytes of each but the last.
    pub size: usize,
    /// How many there are.
    pub count: usize,
}

impl<A> Default for Datagrams<A> {
    fn default() -> Self {
        Self {
            buffer: Output::default(),
            marks: Vec::new(),
        }
    }
}

impl<A: Copy + PartialEq> Datagrams<A> {
    /// Whether nothing is to be sent.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// How many datagrams are to be sent.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.marks.len()
    }

    /// Each with where it goes, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (A, &[u8])> {
        let mut from = 0;
        self.marks.iter().map(move |mark| {
            let bytes = &self.buffer.bytes[from..mark.end];
            from = mark.end;
            (mark.to, bytes)
        })
    }

    /// All but the first so many in runs, in their order: of at most so many datagrams, and at most so
    /// many bytes unless one alone is longer.
    pub fn runs(
        &self,
        skip: usize,
        most: usize,
        most_bytes: usize,
    ) -> impl Iterator<Item = Run<'_, A>> {
        let before = skip.checked_sub(1).and_then(|last| self.marks.get(last));
        let (mut at, mut from) = (skip, before.map_or(0, |mark| mark.end));
        std::iter::from_fn(move || {
            let first = self.marks.get(at)?;
            let size = first.end - from;
            let (mut end, mut count, mut last) = (first.end, 1, size);
            // Behind a shorter one there is none.
            while last == size
                && count < most
                && let Some(next) = self.marks.get(at + count)
                && next.to == first.to
                && next.end - end <= size
                && next.end - from <= most_bytes
            {
                last = next.end - end;
                end = next.end;
                count += 1;
            }
            let run = Run {
                to: first.to,
                bytes: &self.buffer.bytes[from..end],
                size,
                count,
            };
            at += count;
            from = end;
            Some(run)
        })
    }

    /// How many bytes they have together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Forgets all, and keeps the room.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.marks.clear();
    }

    /// Gives back room beyond so many bytes, as after a burst.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.buffer.shrink_to(bytes);
        self.marks.shrink_to(bytes / size_of::<Mark<A>>());
    }

    /// Begins a datagram: where it does.
    #[inline]
    pub(super) fn begin(&mut self, token: u64) -> usize {
        let start = self.buffer.bytes.len();
        self.buffer.bytes.extend_from_slice(&token.to_le_bytes());
        start
    }

    /// Ends the datagram that began last: its bytes.
    #[inline]
    pub(super) fn end(&mut self, start: usize, to: A) -> &[u8] {
        let end = self.buffer.bytes.len();
        self.marks.push(Mark { end, to });
        &self.buffer.bytes[start..]
    }

    /// Takes a datagram back that has not ended.
    pub(super) fn undo(&mut self, start: usize) {
        self.buffer.bytes.truncate(start);
    }

    /// An answer that was sent before, and is sent again: to the datagram that was sent so often before, and in
    /// no time.
    #[cold]
    pub(super) fn push_again(&mut self, bytes: &[u8], to: A, again: Flags) {
        let start = self.buffer.bytes.len();
        self.push(bytes, to);
        let frame = &mut self.buffer.bytes[start + TOKEN..];
        if let Some(head) = frame.first_chunk_mut::<HEADER>() {
            let mut header = Header::read(head);
            header.flags = header.flags.beyond(Flags::AGAIN).with(again);
            if header.kind == Kind::REPLY {
                header.value = 0;
            }
            *head = header.bytes();
        }
    }

    /// A datagram that is there already.
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8], to: A) {
        self.buffer.bytes.extend_from_slice(bytes);
        let end = self.buffer.bytes.len();
        self.marks.push(Mark { end, to });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn datagrams(each: &[(&[u8], u8)]) -> Datagrams<u8> {
        let mut datagrams = Datagrams::default();
        for (bytes, to) in each {
            datagrams.push(bytes, *to);
        }
        datagrams
    }

    #[test]
    fn runs_are_of_one_size_and_place() {
        let datagrams = datagrams(&[
            (b"aa", 1),
            (b"bb", 1),
            (b"c", 1),
            (b"d", 1),
            (b"e", 2),
            (b"ff", 2),
        ]);
        let runs: Vec<_> = datagrams.runs(0, 64, 65_000).collect();
        let run = |to, bytes, size, count| Run {
            to,
            bytes,
            size,
            count,
        };
        assert_eq!(
            runs,
            [
                run(1, &b"aabbc"[..], 2, 3),
                run(1, b"d", 1, 1),
                run(2, b"e", 1, 1),
                run(2, b"ff", 2, 1)
            ]
        );
        let rest: Vec<_> = datagrams.runs(4, 64, 65_000).collect();
        assert_eq!(rest, runs[2..]);
        assert_eq!(datagrams.runs(6, 64, 65_000).count(), 0);
        assert_eq!(datagrams.iter().count(), 6);
        assert_eq!(datagrams.iter().nth(2), Some((1, &b"c"[..])));
    }

    #[test]
    fn runs_are_bounded() {
        let datagrams = datagrams(&[(b"aa", 1), (b"bb", 1), (b"cc", 1), (b"dd", 1)]);
        let sizes = |most, bytes| -> Vec<_> {
            datagrams
                .runs(0, most, bytes)
                .map(|run| run.count)
                .collect()
        };
        assert_eq!(sizes(3, 100), [3, 1]);
        assert_eq!(sizes(9, 5), [2, 2]);
        assert_eq!(sizes(9, 1), [1, 1, 1, 1]);
    }
}
