//! Buffered reads and writes of frames on a byte stream.

use std::cell::Cell;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use polywire_frame::Output;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use super::read_buffer::{ReadBuffer, with_buffer};

/// The size of a read, in bytes.
const READ_SIZE: usize = 64 << 10;

/// The minimum buffer for an incomplete frame, in bytes.
const MIN_READ: usize = 4 << 10;

/// The buffer of an incomplete frame has at most this many times its received length.
const MAX_GROWTH: usize = 16;

thread_local! {
    /// The read buffer that the streams of this thread share.
    static READ: ReadBuffer = const { Cell::new(Vec::new()) };
}

/// The received bytes of a stream that are not processed yet.
#[derive(Debug, Default)]
pub(crate) struct StreamReader {
    /// The beginning of an incomplete frame, or the bytes in front of which the handler stopped.
    rest: BytesMut,
    /// The minimum length of `rest` before it is processed again. 0 if the handler has stopped.
    wants: usize,
    /// The number of all processed bytes.
    consumed: u64,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReadOutcome {
    /// The end of input.
    Ended,
    /// There may be more input.
    More,
    /// There is no more input for now.
    Dry,
}

/// Processes received bytes. A large frame is given as a shared buffer too.
pub(crate) type ReadHandler<'a, E> =
    dyn FnMut(&[u8], Option<&Bytes>) -> Result<ReadProgress, E> + 'a;

/// How many bytes were processed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ReadProgress {
    /// The number of processed bytes.
    pub(crate) bytes: usize,
    /// The minimum number of bytes for the next call. 0 to stop in front of the rest.
    pub(crate) wants: usize,
}

impl StreamReader {
    /// Reads once, and passes the bytes to `take`.
    pub(crate) fn poll_read<S, E>(
        &mut self,
        mut stream: Pin<&mut S>,
        context: &mut Context<'_>,
        take: &mut ReadHandler<'_, E>,
    ) -> Poll<io::Result<Result<ReadOutcome, E>>>
    where
        S: AsyncRead + Unpin,
    {
        if !self.rest.is_empty() {
            return self.poll_rest(stream, context, take);
        }
        with_buffer(&READ, READ_SIZE, |scratch| {
            let mut buffer = ReadBuf::new(scratch);
            match stream.as_mut().poll_read(context, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => {}
            }
            let read = buffer.filled();
            if read.is_empty() {
                return Poll::Ready(Ok(Ok(ReadOutcome::Ended)));
            }
            let full = read.len() == READ_SIZE;
            let progress = match take(read, None) {
                Ok(progress) => progress,
                Err(error) => return Poll::Ready(Ok(Err(error))),
            };
            self.consumed += progress.bytes as u64;
            self.keep(&read[progress.bytes..], progress.wants);
            let more = if full {
                ReadOutcome::More
            } else {
                ReadOutcome::Dry
            };
            Poll::Ready(Ok(Ok(more)))
        })
    }

    /// Passes bytes to `take` that were read before.
    pub(crate) fn begin<E>(&mut self, read: &[u8], take: &mut ReadHandler<'_, E>) -> Result<(), E> {
        let progress = take(read, None)?;
        self.consumed += progress.bytes as u64;
        self.keep(&read[progress.bytes..], progress.wants);
        Ok(())
    }

    /// The number of all processed bytes.
    pub(crate) const fn consumed(&self) -> u64 {
        self.consumed
    }

    /// The number of buffered bytes.
    pub(crate) fn buffered(&self) -> usize {
        self.rest.len()
    }

    /// Whether the buffer has an incomplete frame.
    pub(crate) fn is_partial(&self) -> bool {
        !self.rest.is_empty() && self.wants > 0
    }

    /// Whether the handler has stopped in front of the buffered bytes.
    pub(crate) fn is_stopped(&self) -> bool {
        !self.rest.is_empty() && self.wants == 0
    }

    fn keep(&mut self, rest: &[u8], wants: usize) {
        if !rest.is_empty() {
            self.rest.reserve(rest.len().max(MIN_READ));
            self.rest.extend_from_slice(rest);
        }
        self.wants = wants;
    }

    /// Like [`Self::poll_read`], when bytes are buffered.
    fn poll_rest<S, E>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        take: &mut ReadHandler<'_, E>,
    ) -> Poll<io::Result<Result<ReadOutcome, E>>>
    where
        S: AsyncRead + Unpin,
    {
        if self.wants == 0 {
            // The handler has stopped in front of the buffered bytes.
            return Poll::Ready(Ok(self.process(take).map(|()| ReadOutcome::More)));
        }
        let missing = self.wants.saturating_sub(self.rest.len());
        let before = self.rest.len();
        let (read, room) = if self.is_large() {
            self.make_room();
            // Do not read into the next frame, which would have to be copied.
            let room = missing.clamp(1, self.rest.capacity() - before);
            let mut rest = (&mut self.rest).limit(room);
            let read = pin!(stream.get_mut().read_buf(&mut rest)).poll(context);
            (read, room)
        } else {
            let room = missing.max(MIN_READ);
            self.rest.reserve(room);
            let read = pin!(stream.get_mut().read_buf(&mut self.rest)).poll(context);
            (read, room)
        };
        match read {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(0)) => return Poll::Ready(Ok(Ok(ReadOutcome::Ended))),
            Poll::Ready(Ok(_)) => {}
        }
        let full = self.rest.len() - before >= room;
        if self.rest.len() >= self.wants
            && let Err(error) = self.process(take)
        {
            return Poll::Ready(Ok(Err(error)));
        }
        let more = if full {
            ReadOutcome::More
        } else {
            ReadOutcome::Dry
        };
        Poll::Ready(Ok(Ok(more)))
    }

    /// Reserves space for a large frame, but not for the bytes behind it: a payload that is kept keeps the whole buffer.
    fn make_room(&mut self) {
        let (len, room) = (self.rest.len(), self.rest.capacity());
        let wants = self.wants.max(len + 1);
        if len < room && room <= wants {
            return;
        }
        // Do not trust the announced length: the buffer grows with the received bytes. Not with `reserve`, which at least
        // doubles the buffer.
        let most = len.saturating_mul(MAX_GROWTH).max(READ_SIZE);
        let mut rest = BytesMut::with_capacity(most.min(wants));
        rest.extend_from_slice(&self.rest);
        self.rest = rest;
    }

    /// Whether the incomplete frame is large, so that its payload is not copied.
    const fn is_large(&self) -> bool {
        self.wants >= Output::LARGE
    }

    /// Passes the buffered bytes to `take`.
    fn process<E>(&mut self, take: &mut ReadHandler<'_, E>) -> Result<(), E> {
        let progress = if self.is_large() {
            let whole = std::mem::take(&mut self.rest).freeze();
            let progress = take(&whole, Some(&whole))?;
            if progress.bytes < whole.len() {
                self.rest = match whole.try_into_mut() {
                    Ok(mut rest) => {
                        rest.advance(progress.bytes);
                        rest
                    }
                    Err(whole) => BytesMut::from(&whole[progress.bytes..]),
                };
            }
            progress
        } else {
            let progress = take(&self.rest, None)?;
            self.rest.advance(progress.bytes);
            progress
        };
        self.consumed += progress.bytes as u64;
        self.wants = progress.wants;
        self.free_if_empty();
        Ok(())
    }

    /// Frees the buffer if it is empty.
    fn free_if_empty(&mut self) {
        if self.rest.is_empty() {
            self.rest = BytesMut::new();
        }
    }
}

/// The output that is being written to a stream.
#[derive(Debug, Default)]
pub(crate) struct StreamWriter {
    output: Output,
    written: usize,
}

/// A larger output buffer is shrunk after use, in bytes.
const MAX_KEPT: usize = 256 << 10;

/// The maximum number of slices in one vectored write.
const PIECES: usize = 16;

impl StreamWriter {
    /// The number of written bytes of the current output.
    pub(crate) const fn written(&self) -> usize {
        self.written
    }

    /// Whether all output is written.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.written == self.output.len()
    }

    /// The number of unwritten bytes.
    pub(crate) fn left(&self) -> usize {
        self.output.len() - self.written
    }

    /// Exchanges the written output, whose buffer is reused, for a new one. Call this only if [`Self::is_empty`].
    #[inline]
    pub(crate) fn exchange(&mut self, exchange: impl FnOnce(Output) -> Output) {
        let mut used = std::mem::take(&mut self.output);
        used.clear();
        if self.written > MAX_KEPT {
            used.shrink_to(MAX_KEPT);
        }
        self.output = exchange(used);
        self.written = 0;
    }

    /// Writes all output.
    pub(crate) fn poll_write<S: AsyncWrite>(
        &mut self,
        mut stream: Pin<&mut S>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while self.written < self.output.len() {
            let polled = match self.output.as_slice() {
                Some(all) => stream.as_mut().poll_write(context, &all[self.written..]),
                None => self.poll_write_pieces(stream.as_mut(), context),
            };
            match polled {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_pieces<S: AsyncWrite>(
        &self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let mut pieces = [IoSlice::new(&[]); PIECES];
        let (mut skip, mut count) = (self.written, 0);
        for part in self.output.parts() {
            let part = match part.get(skip..) {
                Some(part) if !part.is_empty() => part,
                _ => {
                    skip -= part.len();
                    continue;
                }
            };
            skip = 0;
            pieces[count] = IoSlice::new(part);
            count += 1;
            if count == PIECES {
                break;
            }
        }
        stream.poll_write_vectored(context, &pieces[..count])
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    /// Reads until there is no more input.
    async fn read(
        reader: &mut StreamReader,
        stream: &mut (impl AsyncRead + Unpin),
        take: &mut ReadHandler<'_, ()>,
    ) {
        loop {
            let polled = poll_fn(|context| {
                let stream = Pin::new(&mut *stream);
                Poll::Ready(match reader.poll_read(stream, context, take) {
                    Poll::Pending => None,
                    Poll::Ready(read) => Some(read.unwrap().unwrap()),
                })
            });
            if polled.await.is_none() {
                return;
            }
        }
    }

    #[tokio::test]
    async fn a_large_frame_is_shared_and_exact() {
        let (mut writer, mut stream) = duplex(1 << 20);
        let frame: Vec<u8> = (0..200_000_u32).map(|at| at as u8).collect();
        let mut reader = StreamReader::default();
        let mut frames = Vec::new();
        let mut take = |bytes: &[u8], whole: Option<&Bytes>| {
            if bytes.len() < frame.len() {
                let wants = frame.len();
                return Ok(ReadProgress { bytes: 0, wants });
            }
            let whole = whole.unwrap();
            assert_eq!(whole.as_ptr_range(), bytes.as_ptr_range());
            frames.push(whole.clone());
            let bytes = frame.len();
            Ok(ReadProgress { bytes, wants: 1 })
        };
        // The input arrives in pieces that end within frames.
        for piece in frame.repeat(3).chunks(150_000) {
            writer.write_all(piece).await.unwrap();
            read(&mut reader, &mut stream, &mut take).await;
        }
        assert!(frames.iter().all(|read| *read == frame));
        assert_eq!((frames.len(), reader.buffered()), (3, 0));
    }

    /// A handler may stop before the end of a shared buffer, and may keep the buffer.
    #[tokio::test]
    async fn the_rest_of_a_shared_buffer_is_not_lost() {
        for keeps in [false, true] {
            let (mut writer, mut stream) = duplex(1 << 20);
            let sent: Vec<u8> = (0..100_000_u32).map(|at| at as u8).collect();
            writer.write_all(&sent[..10]).await.unwrap();
            let mut reader = StreamReader::default();
            let mut kept = Vec::new();
            let mut seen = Vec::new();
            let mut take = |bytes: &[u8], whole: Option<&Bytes>| {
                if seen.is_empty() && bytes.len() < 100_000 {
                    let wants = 100_000;
                    return Ok(ReadProgress { bytes: 0, wants });
                }
                kept.extend(whole.filter(|_| keeps).cloned());
                let most = bytes.len().min(60_000);
                seen.extend_from_slice(&bytes[..most]);
                let wants = usize::from(most == bytes.len());
                Ok(ReadProgress { bytes: most, wants })
            };
            read(&mut reader, &mut stream, &mut take).await;
            writer.write_all(&sent[10..]).await.unwrap();
            read(&mut reader, &mut stream, &mut take).await;
            assert!(seen == sent, "keeps: {keeps}");
            assert_eq!(reader.consumed(), 100_000);
        }
    }

    /// The buffer grows with the received bytes, not with the announced length.
    #[tokio::test]
    async fn the_buffer_grows_with_the_received_bytes() {
        let (mut writer, mut stream) = duplex(1 << 20);
        let mut reader = StreamReader::default();
        let mut came = 0;
        let mut take = |_: &[u8], _: Option<&Bytes>| {
            let wants = 1 << 30;
            Ok(ReadProgress { bytes: 0, wants })
        };
        let lens = [1, 15].into_iter().chain([1_440; 200]).chain([300_000; 3]);
        // At the end, single bytes arrive while the buffer is large.
        for len in lens.chain([1; 3]) {
            writer.write_all(&vec![7; len]).await.unwrap();
            came += len;
            read(&mut reader, &mut stream, &mut take).await;
            assert_eq!(reader.buffered(), came);
            let room = reader.rest.capacity();
            assert!(
                room <= READ_SIZE.max(MAX_GROWTH * came),
                "{room} for {came}"
            );
        }
    }

    /// A shared buffer may be kept for long, so that it has no spare capacity.
    #[tokio::test]
    async fn shared_buffers_have_no_spare_capacity() {
        for len in [Output::LARGE, 50_000, 70_000, 1_100_000, 3_000_000] {
            let (mut writer, mut stream) = duplex(1 << 22);
            let mut reader = StreamReader::default();
            let mut shared = None;
            let mut take = |bytes: &[u8], whole: Option<&Bytes>| {
                let bytes = match bytes.len() == len {
                    true => len,
                    false => 0,
                };
                shared = whole.filter(|_| bytes > 0).cloned();
                Ok(ReadProgress { bytes, wants: len })
            };
            for piece in vec![7; len].chunks(30_000) {
                writer.write_all(piece).await.unwrap();
                read(&mut reader, &mut stream, &mut take).await;
            }
            let shared = shared.unwrap().try_into_mut().unwrap();
            assert_eq!((shared.len(), shared.capacity()), (len, len));
        }
    }
}
