//! Bodies that leave.

use std::collections::VecDeque;
use std::fs::File;
use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use polywire::schema::{ByteStream, StreamError};
use tokio::task::{JoinHandle, spawn_blocking};

use super::files::Pins;
use super::receive::joined;
use super::record::Segment;
use crate::error::Error;

/// The most bytes of a piece. The next piece is read while one is sent, so a download takes about twice as much memory. Each
/// piece costs two switches between threads.
const PIECE: u64 = 256 * 1024;

/// The segments of a range of bytes.
pub(crate) fn slice(segments: &[Segment], range: &Range<u64>) -> Vec<Segment> {
    let mut start = 0;
    let mut slice = Vec::new();
    for segment in segments {
        let from = range.start.max(start);
        let to = range.end.min(start + segment.len);
        if from < to {
            slice.push(Segment {
                file: segment.file,
                offset: segment.offset + (from - start),
                len: to - from,
            });
        }
        start += segment.len;
    }
    slice
}

/// A stream of the bytes of segments, whose files are pinned. Waits for the first piece, so that it is sent together with
/// the head of the response, and a missing file is an error of the request.
pub(super) async fn stream(segments: &[Segment], pins: Arc<Pins>) -> Result<ByteStream, Error> {
    let len = segments.iter().map(|segment| segment.len).sum();
    let mut reader = Reader::new(segments, pins);
    let reading = spawn_blocking(move || Ok((reader.read()?, reader)));
    let (first, reader) = joined(reading).await?;
    Ok(ByteStream::with_len(
        Pieces {
            first: Some(first).filter(|first| !first.is_empty()),
            reading: None,
            reader: Some(reader),
        },
        len,
    ))
}

/// Reads segments one after the other.
pub(super) struct Reader {
    /// What is left.
    segments: VecDeque<Segment>,
    /// The file of the first segment, at the right position.
    file: Option<File>,
    pins: Arc<Pins>,
}

impl Reader {
    pub(super) fn new(segments: &[Segment], pins: Arc<Pins>) -> Self {
        Self {
            segments: segments.iter().copied().collect(),
            file: None,
            pins,
        }
    }

    /// Reads the next piece. It is empty after the last one.
    pub(super) fn read(&mut self) -> io::Result<Bytes> {
        let Some(segment) = self.segments.front_mut() else {
            return Ok(Bytes::new());
        };
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = self.pins.open(segment.file)?;
                file.seek(SeekFrom::Start(segment.offset))?;
                self.file.insert(file)
            }
        };
        let len = segment.len.min(PIECE);
        // One system call, where `read_to_end` makes five: it begins with 8 KiB.
        let mut piece = vec![0; usize::try_from(len).unwrap_or_default()];
        file.read_exact(&mut piece)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    let reason = format!("data file {:016x} is too short", segment.file);
                    io::Error::new(io::ErrorKind::UnexpectedEof, reason)
                }
                _ => error,
            })?;
        segment.offset += len;
        segment.len -= len;
        if segment.len == 0 {
            self.segments.pop_front();
            self.file = None;
        }
        Ok(piece.into())
    }
}

type Reading = JoinHandle<(Reader, io::Result<Bytes>)>;

struct Pieces {
    /// The piece that was read before the stream was made.
    first: Option<Bytes>,
    /// The piece that is being read.
    reading: Option<Reading>,
    /// `None` while a piece is read, and after the end.
    reader: Option<Reader>,
}

fn start(mut reader: Reader) -> Reading {
    spawn_blocking(move || {
        let piece = reader.read();
        (reader, piece)
    })
}

impl Stream for Pieces {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        if let Some(reader) = self.reader.take() {
            self.reading = (!reader.segments.is_empty()).then(|| start(reader));
        }
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let Some(reading) = &mut self.reading else {
            return Poll::Ready(None);
        };
        let result = ready!(Pin::new(reading).poll(context));
        self.reading = None;
        let (reader, piece) = match result {
            Ok(read) => read,
            Err(error) => return Poll::Ready(Some(Err(io::Error::other(error).into()))),
        };
        match piece {
            Ok(piece) if piece.is_empty() => Poll::Ready(None),
            Ok(piece) => {
                if !reader.segments.is_empty() {
                    self.reading = Some(start(reader));
                }
                Poll::Ready(Some(Ok(piece)))
            }
            Err(error) => Poll::Ready(Some(Err(error.into()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices() {
        let segment = |file, offset, len| Segment { file, offset, len };
        let all = [segment(1, 0, 4), segment(2, 10, 3), segment(3, 0, 5)];
        assert_eq!(slice(&all, &(0..12)), all);
        assert_eq!(slice(&all, &(5..6)), [segment(2, 11, 1)]);
        assert_eq!(
            slice(&all, &(2..8)),
            [segment(1, 2, 2), segment(2, 10, 3), segment(3, 0, 1)]
        );
        assert_eq!(slice(&all, &(4..4)), []);
    }
}
