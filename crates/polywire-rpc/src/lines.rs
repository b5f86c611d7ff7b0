//! Lines of a byte stream, with a limit on their length.

use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;

/// The number of bytes that a read makes room for.
const READ: usize = 8 * 1024;

/// The largest buffer that is kept after a line.
const MAX_KEPT: usize = 64 * 1024;

/// What a [`LineReader`] has read.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// A line without its end.
    Text(Bytes),
    /// A line that exceeds the limit or the free memory. It is discarded.
    TooLong,
    /// A line that took longer than the timeout to arrive. It is discarded.
    TooSlow,
    /// The end of the stream.
    End,
}

/// Splits a stream into lines, which end with a line feed. The last one may end with the stream.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    stream: R,
    buffer: BytesMut,
    /// The number of bytes of the buffer that are known to have no line feed.
    scanned: usize,
    limit: usize,
    /// The time for a line, from its first byte.
    timeout: Option<Duration>,
    /// When the incomplete line began.
    started: Option<Instant>,
    /// Whether the rest of a line that is too long or too slow is being discarded.
    is_discarding: bool,
    /// Whether the buffer has had more than [`MAX_KEPT`] bytes.
    is_large: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(stream: R, limit: usize) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            timeout: None,
            started: None,
            is_discarding: false,
            is_large: false,
        }
    }

    /// Limits the time from the first byte of a line to its end.
    pub(crate) const fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Starts the time for an incomplete line again, when the stream has not been read for a while.
    pub(crate) const fn restart_timeout(&mut self) {
        self.started = None;
    }

    /// Reads the next line. `reserve` is asked whether there is memory for an incomplete line of this length. Nothing is
    /// lost if the future is dropped.
    pub(crate) async fn next(
        &mut self,
        mut reserve: impl FnMut(usize) -> bool,
    ) -> io::Result<Line> {
        loop {
            let unread = &self.buffer[self.scanned..];
            let found = unread.iter().position(|byte| *byte == b'\n');
            if let Some(found) = found {
                let len = self.scanned + found;
                self.scanned = 0;
                self.started = None;
                let mut line = self.buffer.split_to(len + 1);
                if std::mem::take(&mut self.is_discarding) {
                    continue;
                }
                if len > self.limit {
                    return Ok(Line::TooLong);
                }
                line.truncate(len);
                return Ok(Line::Text(line.freeze()));
            }
            self.scanned = self.buffer.len();
            if self.is_discarding {
                self.clear();
            } else if self.scanned > self.limit || !reserve(self.scanned) {
                return Ok(self.discard(Line::TooLong));
            }
            self.make_room();
            let count = match self.left() {
                None => self.stream.read_buf(&mut self.buffer).await?,
                Some(left) => {
                    let read = self.stream.read_buf(&mut self.buffer);
                    match tokio::time::timeout(left, read).await {
                        Ok(count) => count?,
                        Err(_) => return Ok(self.discard(Line::TooSlow)),
                    }
                }
            };
            if count == 0 {
                let last = std::mem::take(&mut self.buffer);
                self.scanned = 0;
                let is_line = !last.is_empty() && !std::mem::take(&mut self.is_discarding);
                return Ok(match is_line {
                    true => Line::Text(last.freeze()),
                    false => Line::End,
                });
            }
        }
    }

    /// The time that is left for an incomplete line.
    fn left(&mut self) -> Option<Duration> {
        let timeout = self.timeout.filter(|_| self.scanned > 0)?;
        let started = self.started.get_or_insert_with(Instant::now);
        Some(timeout.saturating_sub(started.elapsed()))
    }

    /// Makes room for a read. A buffer that grew for a large line is replaced after it.
    fn make_room(&mut self) {
        if self.is_large && self.buffer.len() <= MAX_KEPT - READ {
            self.buffer = BytesMut::from(&*self.buffer);
            self.is_large = false;
        }
        self.buffer.reserve(READ);
        self.is_large |= self.buffer.capacity() > MAX_KEPT;
    }

    /// Discards the incomplete line.
    fn discard(&mut self, reason: Line) -> Line {
        self.clear();
        self.started = None;
        self.is_discarding = true;
        reason
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.scanned = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &[u8], limit: usize) -> Vec<String> {
        let mut reader = LineReader::new(text, limit);
        let mut lines = Vec::new();
        loop {
            match reader.next(|len| len <= 100).await.unwrap() {
                Line::Text(line) => lines.push(String::from_utf8(line.to_vec()).unwrap()),
                Line::TooLong => lines.push("too long".to_owned()),
                Line::TooSlow => lines.push("too slow".to_owned()),
                Line::End => return lines,
            }
        }
    }

    #[tokio::test]
    async fn splits_at_line_feeds() {
        assert_eq!(lines(b"", 5).await, [""; 0]);
        assert_eq!(lines(b"\n", 5).await, [""]);
        assert_eq!(lines(b"a\nbc\r\n\nd", 5).await, ["a", "bc\r", "", "d"]);
        assert_eq!(
            lines(b"12345\n123456\n1\n1234567", 5).await,
            ["12345", "too long", "1", "too long"]
        );
        let long = [&[b'x'; 20_000][..], b"\na\n"].concat();
        assert_eq!(lines(&long, 30_000).await, ["too long", "a"]);
    }
    /// One large line does not make the buffer large for ever.
    #[tokio::test]
    async fn the_buffer_shrinks() {
        use tokio::io::AsyncWriteExt as _;

        let (mut own, other) = tokio::io::duplex(1024);
        let mut reader = LineReader::new(other, 10_000_000);
        let writing = tokio::spawn(async move {
            for len in [1, 1_000_000, 5_000] {
                let line = [vec![b'x'; len], b"\n".to_vec()].concat();
                own.write_all(&line).await.unwrap();
            }
        });
        for len in [1, 1_000_000, 5_000] {
            // The line is dropped, so that the buffer could be used again.
            let line = reader.next(|_| true).await.unwrap();
            assert!(matches!(&line, Line::Text(text) if text.len() == len));
            drop(line);
        }
        // The buffer that it was split from is not larger either.
        assert!(!reader.buffer.try_reclaim(MAX_KEPT));
        writing.await.unwrap();
        assert_eq!(reader.next(|_| true).await.unwrap(), Line::End);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_lines() {
        use tokio::io::AsyncWriteExt as _;

        let (mut own, other) = tokio::io::duplex(1024);
        let time = Duration::from_secs(10);
        let mut reader = LineReader::new(other, 100).with_timeout(time);
        let writing = tokio::spawn(async move {
            for piece in ["a", "b\n", "", "c", "d", "e", "f\ng\n", "h", "i\n"] {
                tokio::time::sleep(Duration::from_secs(4)).await;
                own.write_all(piece.as_bytes()).await.unwrap();
            }
        });
        // Between lines any time may pass.
        for expected in ["ab", "too slow", "g", "hi"] {
            // Nothing is lost if the future is dropped.
            let line = loop {
                let next = reader.next(|_| true);
                if let Ok(line) = tokio::time::timeout(Duration::from_secs(1), next).await {
                    break line.unwrap();
                }
            };
            match line {
                Line::Text(text) => assert_eq!(text, expected),
                other => assert_eq!((other, expected), (Line::TooSlow, "too slow")),
            }
        }
        writing.await.unwrap();
    }
}
