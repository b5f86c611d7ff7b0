//! A limit on HTTP/2 control frames.
//!
//! A peer can flood a server with SETTINGS, PING, PRIORITY and other frames, which the server must process (RFC 9113,
//! section 10.5). h2 limits resets, CONTINUATION and empty DATA, but not these. So they are counted when bytes are read:
//!
//! - A connection starts with a budget of [`INITIAL`] frames. The maximum is [`MAX`].
//! - Each frame except HEADERS, DATA and CONTINUATION takes one.
//! - Each HEADERS frame adds [`PER_REQUEST`], also for trailers.
//! - Each [`BYTES_PER_FRAME`] written bytes add one, because the client answers them with WINDOW_UPDATE.
//!
//! A connection without budget fails.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection_stream::ConnectionStream;

/// The initial budget. Browsers send a dozen frames.
const INITIAL: u32 = 1_000;

/// The maximum budget, so that many requests do not allow a flood later.
const MAX: u32 = 10_000;

/// The number of frames that a HEADERS frame adds. Envoy allows as many PRIORITY frames per stream.
const PER_REQUEST: u32 = 100;

/// The number of written bytes that add one frame. Clients send WINDOW_UPDATE for the stream and the connection once per
/// some KiB.
const BYTES_PER_FRAME: usize = 256;

/// The length of a frame header (RFC 9113, section 4.1).
const HEADER_LEN: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;

/// The byte stream of an HTTP/2 connection after its preface.
pub(super) struct FrameBudget {
    stream: ConnectionStream,
    parser: FrameParser,
    /// The remaining budget in frames.
    budget: u32,
    /// Written bytes that have not added a frame yet.
    written: usize,
}

impl FrameBudget {
    pub(super) const fn new(stream: ConnectionStream) -> Self {
        Self {
            stream,
            parser: FrameParser::new(),
            budget: INITIAL,
            written: 0,
        }
    }

    fn read(&mut self, bytes: &[u8]) -> io::Result<()> {
        let budget = &mut self.budget;
        self.parser
            .read(bytes, |kind| {
                match kind {
                    DATA | CONTINUATION => {}
                    HEADERS => *budget = (*budget + PER_REQUEST).min(MAX),
                    _ => *budget = budget.checked_sub(1)?,
                }
                Some(())
            })
            .ok_or_else(too_many)
    }

    fn write(&mut self, count: usize) {
        self.written += count;
        if self.written >= BYTES_PER_FRAME {
            let earned = u32::try_from(self.written / BYTES_PER_FRAME).unwrap_or(MAX);
            self.budget = self.budget.saturating_add(earned).min(MAX);
            self.written %= BYTES_PER_FRAME;
        }
    }
}

#[cold]
fn too_many() -> io::Error {
    io::Error::other("the peer sent too many SETTINGS, PING, PRIORITY or other control frames")
}

/// Finds frame headers in a stream of bytes.
#[derive(Debug)]
struct FrameParser {
    header: [u8; HEADER_LEN],
    /// The number of received bytes of the header.
    len: usize,
    /// The number of bytes of the payload that have not been received.
    payload: usize,
}

impl FrameParser {
    const fn new() -> Self {
        Self {
            header: [0; HEADER_LEN],
            len: 0,
            payload: 0,
        }
    }

    /// Calls `visit` with the type of each frame whose header is complete with these bytes. Stops and returns `None` if
    /// `visit` returns `None`.
    fn read(&mut self, mut bytes: &[u8], mut visit: impl FnMut(u8) -> Option<()>) -> Option<()> {
        loop {
            let skipped = self.payload.min(bytes.len());
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let count = (HEADER_LEN - self.len).min(bytes.len());
            if count == 0 {
                return Some(());
            }
            let (part, rest) = bytes.split_at(count);
            self.header[self.len..self.len + count].copy_from_slice(part);
            self.len += count;
            bytes = rest;
            if self.len == HEADER_LEN {
                let [a, b, c, kind, ..] = self.header;
                self.payload = u32::from_be_bytes([0, a, b, c]) as usize;
                self.len = 0;
                visit(kind)?;
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
        frame.resize(HEADER_LEN + len, 4);
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
            let (mut parser, mut kinds) = (FrameParser::new(), Vec::new());
            for piece in bytes.chunks(size) {
                let result = parser.read(piece, |kind| {
                    kinds.push(kind);
                    Some(())
                });
                assert!(result.is_some());
            }
            assert_eq!(kinds, sent.map(|(kind, _)| kind), "{size}");
        }
    }

    #[tokio::test]
    async fn budget() {
        let (_peer, stream) = tokio::io::duplex(1);
        let mut budget = FrameBudget::new(ConnectionStream::new(stream));
        // The frames have no payload, so that the rejected frame has been read completely.
        let (ping, request) = (frame(6, 0), frame(1, 30));
        assert!(budget.read(&ping.repeat(INITIAL as usize)).is_ok());
        assert!(budget.read(&ping).is_err());
        assert!(budget.read(&request).is_ok());
        assert!(budget.read(&ping.repeat(PER_REQUEST as usize)).is_ok());
        assert!(budget.read(&frame(0x42, 0)).is_err());
        // DATA frames cost nothing. The answer to a PING earns less than the PING costs.
        assert!(budget.read(&frame(0, 100).repeat(10)).is_ok());
        budget.write(17 * 15);
        assert!(budget.read(&ping).is_err());
        budget.write(1 + BYTES_PER_FRAME);
        assert!(budget.read(&ping.repeat(2)).is_ok());
        assert!(budget.read(&ping).is_err());
        assert!(budget.read(&request.repeat(1_000_000)).is_ok());
        budget.write(usize::MAX / 2);
        assert_eq!(budget.budget, MAX);
    }
}
