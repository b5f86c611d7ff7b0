//! The datagrams to be sent.

use polywire_frame::wire::{Compressor, FrameWriter, TooLong};
use polywire_frame::{Features, Flags, HEADER, Header, Kind, Settings};

use crate::TOKEN;

/// Datagrams consecutive in one buffer, each with its destination.
///
/// Send them one by one, or in [`runs`](Self::runs) if the system can split a run into datagrams, then
/// [`clear`](Self::clear). The buffer is reused.
#[derive(Debug)]
pub struct Datagrams<A = ()> {
    buffer: Vec<u8>,
    marks: Vec<Mark<A>>,
}

#[derive(Clone, Copy, Debug)]
struct Mark<A> {
    end: usize,
    to: A,
}

/// Consecutive datagrams to the same destination and of the same size; the last may be shorter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Run<'a, A> {
    /// The destination.
    pub to: A,
    /// All datagrams.
    pub bytes: &'a [u8],
    /// Bytes of each but the last.
    pub size: usize,
    /// The number of datagrams.
    pub count: usize,
}

impl<A> Default for Datagrams<A> {
    fn default() -> Self {
        Self {
            buffer: Vec::new(),
            marks: Vec::new(),
        }
    }
}

impl<A: Copy + PartialEq> Datagrams<A> {
    /// Whether there is nothing to send.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// The number of datagrams to send.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.marks.len()
    }

    /// All datagrams with their destinations, in order.
    pub fn iter(&self) -> impl Iterator<Item = (A, &[u8])> {
        let mut from = 0;
        self.marks.iter().map(move |mark| {
            let bytes = &self.buffer[from..mark.end];
            from = mark.end;
            (mark.to, bytes)
        })
    }

    /// All datagrams but the first `skip` in runs, in order. A run has at most `most` datagrams, and at most `most_bytes`
    /// bytes unless it is a single datagram.
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
            // A shorter datagram ends the run.
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
                bytes: &self.buffer[from..end],
                size,
                count,
            };
            at += count;
            from = end;
            Some(run)
        })
    }

    /// The total number of bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Removes all datagrams and keeps the capacity.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.marks.clear();
    }

    /// Releases capacity above `bytes`.
    pub fn shrink_to(&mut self, bytes: usize) {
        self.buffer.shrink_to(bytes);
        self.marks.shrink_to(bytes / size_of::<Mark<A>>());
    }

    /// Begins a datagram: appends its token, and returns the buffer to write a frame to. The datagram ends with
    /// [`Self::end`] or [`Self::discard`].
    #[inline]
    pub(crate) fn begin(&mut self, token: u64) -> &mut Vec<u8> {
        self.buffer.extend_from_slice(&token.to_le_bytes());
        &mut self.buffer
    }

    /// The buffer, to append the payload of the frame that was begun last.
    #[inline]
    pub(crate) const fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the header of the frame that was begun last. The length of its body.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        frame: &mut FrameWriter,
        most: usize,
        receiver: &Settings,
    ) -> Result<u32, TooLong> {
        let length = self.buffer.len() - (frame.start() - TOKEN);
        let too_long = TooLong { length, most };
        if length > most {
            return Err(too_long);
        }
        // Every receiver accepts 65,536 bytes, which is more than a datagram has.
        let bytes = frame
            .check(&mut self.buffer, receiver, &mut Compressor::off())
            .map_err(|_| too_long)?;
        frame.write_header(&mut self.buffer);
        Ok(bytes)
    }

    /// Ends the datagram with the frame that begins at `frame`. Returns the datagram.
    #[inline]
    pub(crate) fn end(&mut self, frame: usize, to: A) -> &[u8] {
        let end = self.buffer.len();
        self.marks.push(Mark { end, to });
        &self.buffer[frame - TOKEN..]
    }

    /// Removes the datagram with the frame that begins at `frame`.
    pub(crate) fn discard(&mut self, frame: usize) {
        self.buffer.truncate(frame - TOKEN);
    }

    /// Appends a datagram with a frame that has no body.
    pub(crate) fn push_header(&mut self, token: u64, header: &Header, to: A) {
        header.append_to(self.begin(token));
        let end = self.buffer.len();
        self.marks.push(Mark { end, to });
    }

    /// Appends a complete datagram.
    #[inline]
    pub(crate) fn push(&mut self, bytes: &[u8], to: A) {
        self.buffer.extend_from_slice(bytes);
        let end = self.buffer.len();
        self.marks.push(Mark { end, to });
    }

    /// Resends an answer, to the datagram that was sent `again` times before. The time of a `REPLY` becomes 0.
    #[cold]
    pub(crate) fn push_again(&mut self, bytes: &[u8], to: A, again: Flags) {
        let start = self.buffer.len();
        self.push(bytes, to);
        let frame = &mut self.buffer[start + TOKEN..];
        if let Some(head) = frame.first_chunk_mut::<HEADER>() {
            let mut header = Header::read(head);
            header.flags = header.flags.difference(Flags::AGAIN).union(again);
            if header.kind == Kind::REPLY {
                header.value = 0;
            }
            *head = header.bytes();
        }
    }
}

/// Appends the `HELLO` frame of a handshake, padded to at least `least` bytes.
pub(crate) fn write_hello(
    bytes: &mut Vec<u8>,
    settings: &Settings,
    nonce: u64,
    again: Flags,
    least: usize,
) {
    /// A setting that has no meaning.
    const PADDING: [u8; 6] = [0xff, 0xff, 0, 0, 0, 0];
    let start = bytes.len();
    settings.write(bytes);
    while bytes.len() - start < least {
        bytes.extend_from_slice(&PADDING);
    }
    let header = Header {
        length: (bytes.len() - start - HEADER) as u32,
        flags: again,
        value: (nonce >> 32) as u32,
        ..Header::new(Kind::HELLO, nonce as u32)
    };
    bytes[start..start + HEADER].copy_from_slice(&header.bytes());
}

/// The nonce or token in the id and value of a handshake frame.
pub(crate) fn nonce(header: &Header) -> u64 {
    u64::from(header.id) | u64::from(header.value) << 32
}

/// Settings without features that datagrams do not have.
pub(crate) const fn without_deflate(settings: Settings) -> Settings {
    let features = settings.features().0 & !Features::DEFLATE.0;
    settings.with_features(Features(features))
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
    fn runs_have_one_size_and_destination() {
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
