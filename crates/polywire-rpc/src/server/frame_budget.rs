//! A limit on the frames of HTTP/2 that cost a peer next to nothing.
//!
//! RFC 9113, section 10.5: a peer can send SETTINGS, PING, PRIORITY and others again and again.
//! The server has to read each of them and answer some. h2 limits resets, CONTINUATION and empty
//! DATA, but not these. So they are counted where the bytes are read:
//!
//! - a connection begins with a budget of [`FIRST`] frames and never has more than [`MOST`];
//! - each frame that is not HEADERS, DATA or CONTINUATION takes one;
//! - each HEADERS frame adds [`PER_REQUEST`], also one that carries trailers;
//! - each [`BYTES`] written add one, since a client that reads them sends WINDOW_UPDATE.
//!
//! This needs no clock: idle connections are closed elsewhere. A connection without budget ends
//! with an error.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::byte_stream::ByteStream;

/// The budget at the beginning. Browsers send a dozen frames.
const FIRST: u32 = 1_000;

/// The largest budget, so that many requests do not pay for a flood later.
const MOST: u32 = 10_000;

/// What a HEADERS frame adds. Envoy allows as many PRIORITY frames for each stream.
const PER_REQUEST: u32 = 100;

/// How many written bytes add one frame. Clients update the windows of stream and connection
/// once for some KiB.
const BYTES: usize = 256;

/// The length of the head of a frame (RFC 9113, section 4.1).
const HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// The byte stream of an HTTP/2 connection after its preface.
pub(super) struct FrameBudget {
    stream: ByteStream,
    frames: Frames,
    /// The budget that is left.
    left: u32,
    /// Written bytes that have not added a frame yet.
    written: usize,
}

impl FrameBudget {
    pub(super) const fn new(stream: ByteStream) -> Self {
        Self {
            stream,
            frames: Frames::new(),
            left: FIRST,
            written: 0,
        }
    }

    fn read(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = &mut self.left;
        self.frames
            .read(bytes, |kind| {
                match kind {
                    DATA | CONTINUATION => {}
                    HEADERS => *left = (*left + PER_REQUEST).min(MOST),
                    _ => *left = left.checked_sub(1)?,
                }
                Some(())
            })
            .ok_or_else(too_many)
    }

    fn write(&mut self, count: usize) {
        self.written += count;
        if self.written >= BYTES {
            let earned = u32::try_from(self.written / BYTES).unwrap_or(MOST);
            self.left = self.left.saturating_add(earned).min(MOST);
            self.written %= BYTES;
        }
    }
}

#[cold]
fn too_many() -> io::Error {
    io::Error::other("the peer sent too many SETTINGS, PING, PRIORITY or other control frames")
}

/// Where frames begin in a stream of bytes.
#[derive(Debug)]
struct Frames {
    head: [u8; HEAD],
    /// How many bytes of the head have arrived.
    len: usize,
    /// How many bytes of the payload have not arrived.
    payload: usize,
}

impl Frames {
    const fn new() -> Self {
        Self {
            head: [0; HEAD],
            len: 0,
            payload: 0,
        }
    }

    /// Calls `tell` with the type of each frame whose head is complete with these bytes. Stops
    /// with `None` if `tell` returns `None`.
    fn read(&mut self, mut bytes: &[u8], mut tell: impl FnMut(u8) -> Option<()>) -> Option<()> {
        loop {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let count = (HEAD - self.len).min(bytes.len());
            if count == 0 {
                return Some(());
            }
            let (part, rest) = bytes.split_at(count);
            self.head[self.len..self.len + count].copy_from_slice(part);
            self.len += count;
            bytes = rest;
            if self.len == HEAD {
                let [a, b, c, kind, ..] = self.head;
                self.payload = u32::from_be_bytes([0, a, b, c]) as usize;
                self.len = 0;
                tell(kind)?;
            }
        }
    }
}

impl AsyncRead for FrameBudget {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut own.stream).poll_read(context, buffer))?;
        Poll::Ready(own.read(&buffer.filled()[before..]))
    }
}

impl AsyncWrite for FrameBudget {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let count = ready!(Pin::new(&mut own.stream).poll_write(context, bytes))?;
        own.write(count);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let count = ready!(Pin::new(&mut own.stream).poll_write_vectored(context, parts))?;
        own.write(count);
        Poll::Ready(Ok(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, len: usize) -> Vec<u8> {
        let mut frame = (len as u32).to_be_bytes()[1..].to_vec();
        frame.extend([kind, 0, 0, 0, 0, 1]);
        frame.resize(HEAD + len, 4);
        frame
    }

    #[test]
    fn frames_are_found_in_pieces_of_any_size() {
        let sent = [(4, 0), (1, 20), (0, 70_000), (6, 8), (9, 1), (0x10, 300)];
        let bytes: Vec<u8> = sent
            .iter()
            .flat_map(|&(kind, len)| frame(kind, len))
            .collect();
        for size in [1, 2, 8, 9, 10, 4096, bytes.len()] {
            let (mut frames, mut kinds) = (Frames::new(), Vec::new());
            for piece in bytes.chunks(size) {
                let told = frames.read(piece, |kind| {
                    kinds.push(kind);
                    Some(())
                });
                assert!(told.is_some());
            }
            assert_eq!(kinds, sent.map(|(kind, _)| kind), "{size}");
        }
    }

    #[tokio::test]
    async fn what_is_earned_and_spent() {
        let (_peer, stream) = tokio::io::duplex(1);
        let mut budget = FrameBudget::new(ByteStream::new(stream));
        // Without payloads, so that the rejected frame has been read to its end.
        let (ping, request) = (frame(6, 0), frame(1, 30));
        assert!(budget.read(&ping.repeat(FIRST as usize)).is_ok());
        assert!(budget.read(&ping).is_err());
        assert!(budget.read(&request).is_ok());
        assert!(budget.read(&ping.repeat(PER_REQUEST as usize)).is_ok());
        assert!(budget.read(&frame(0x42, 0)).is_err());
        // Bodies cost nothing, and the answers to PING earn less than it costs.
        assert!(budget.read(&frame(0, 100).repeat(10)).is_ok());
        budget.write(17 * 15);
        assert!(budget.read(&ping).is_err());
        budget.write(1 + BYTES);
        assert!(budget.read(&ping.repeat(2)).is_ok());
        assert!(budget.read(&ping).is_err());
        assert!(budget.read(&request.repeat(1_000_000)).is_ok());
        budget.write(usize::MAX / 2);
        assert_eq!(budget.left, MOST);
    }
}
