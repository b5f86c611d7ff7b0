//! Lines of a byte stream, with a limit on their length.

use std::io;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The number of bytes that a read makes room for.
const READ: usize = 8 * 1024;

/// What a [`LineReader`] has read.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Line {
    /// A line without its end.
    Text(Bytes),
    /// A line that exceeds the limit or the free memory. It is discarded.
    TooLong,
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
    /// Whether the rest of a line that is too long is being discarded.
    is_discarding: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(stream: R, limit: usize) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            scanned: 0,
            limit,
            is_discarding: false,
        }
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
                self.clear();
                self.is_discarding = true;
                return Ok(Line::TooLong);
            }
            self.buffer.reserve(READ);
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
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
}
