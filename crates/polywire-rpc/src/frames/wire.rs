//! Bytes in and out of a stream, as frames want them.

use std::cell::Cell;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use polywire_frame::Output;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use super::read_buffer::{ReadBuffer, with_buffer};

/// What is read at once.
const SCRATCH: usize = 64 << 10;

/// The least room for a frame that did not come whole.
const LEAST: usize = 4 << 10;

/// How many times as much room a frame has as has come of it.
const AHEAD: usize = 16;

thread_local! {
    /// What the streams of this thread read into, one after the other.
    static READ: ReadBuffer = const { Cell::new(Vec::new()) };
}

/// The bytes of a stream that have come and are no whole frame yet.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    /// The beginning of a frame.
    rest: BytesMut,
    /// How many bytes of it are wanted at least.
    wants: usize,
    /// How many were consumed, of all that came.
    consumed: u64,
}

/// What has become of a look at a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Read {
    /// It has ended.
    Ended,
    /// There is more, or may be.
    More,
    /// That was all for now.
    Dry,
}

/// Looks at what has come, which can be shared with whoever keeps some of it if it is a large frame.
pub(crate) type Take<'a, E> = dyn FnMut(&[u8], Option<&Bytes>) -> Result<Taken, E> + 'a;

/// What a reader of frames made of bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Taken {
    /// How many it consumed.
    pub(crate) bytes: usize,
    /// How many it wants at least before it is asked again; 0 if it wants to stop.
    pub(crate) wants: usize,
}

impl Reading {
    /// Reads once, and has `take` look at what there is.
    pub(crate) fn poll_read<S, E>(
        &mut self,
        mut stream: Pin<&mut S>,
        context: &mut Context<'_>,
        take: &mut Take<'_, E>,
    ) -> Poll<io::Result<Result<Read, E>>>
    where
        S: AsyncRead + Unpin,
    {
        if !self.rest.is_empty() {
            return self.poll_rest(stream, context, take);
        }
        with_buffer(&READ, SCRATCH, |scratch| {
            let mut buffer = ReadBuf::new(scratch);
            match stream.as_mut().poll_read(context, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => {}
            }
            let read = buffer.filled();
            if read.is_empty() {
                return Poll::Ready(Ok(Ok(Read::Ended)));
            }
            let full = read.len() == SCRATCH;
            let taken = match take(read, None) {
                Ok(taken) => taken,
                Err(error) => return Poll::Ready(Ok(Err(error))),
            };
            self.consumed += taken.bytes as u64;
            self.keep(&read[taken.bytes..], taken.wants);
            let more = if full { Read::More } else { Read::Dry };
            Poll::Ready(Ok(Ok(more)))
        })
    }

    /// Has `take` look at what somebody else has read.
    pub(crate) fn begin<E>(&mut self, read: &[u8], take: &mut Take<'_, E>) -> Result<(), E> {
        let taken = take(read, None)?;
        self.consumed += taken.bytes as u64;
        self.keep(&read[taken.bytes..], taken.wants);
        Ok(())
    }

    /// How many bytes were consumed, of all that came.
    pub(crate) const fn consumed(&self) -> u64 {
        self.consumed
    }

    /// How many bytes are kept.
    pub(crate) fn kept(&self) -> usize {
        self.rest.len()
    }

    /// Whether a frame has begun and not come whole.
    pub(crate) fn is_partial(&self) -> bool {
        !self.rest.is_empty() && self.wants > 0
    }

    /// Whether whoever looks at what comes has stopped in front of some of it.
    pub(crate) fn is_stopped(&self) -> bool {
        !self.rest.is_empty() && self.wants == 0
    }

    fn keep(&mut self, rest: &[u8], wants: usize) {
        if !rest.is_empty() {
            self.rest.reserve(rest.len().max(LEAST));
            self.rest.extend_from_slice(rest);
        }
        self.wants = wants;
    }

    /// As [`Self::poll_read`], behind what is there.
    fn poll_rest<S, E>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        take: &mut Take<'_, E>,
    ) -> Poll<io::Result<Result<Read, E>>>
    where
        S: AsyncRead + Unpin,
    {
        if self.wants == 0 {
            // It had stopped in front of what is there.
            return Poll::Ready(Ok(self.look(take).map(|()| Read::More)));
        }
        let missing = self.wants.saturating_sub(self.rest.len());
        let before = self.rest.len();
        let (read, room) = if self.is_large() {
            self.make_room();
            // And nothing of the next, which would have to be copied.
            let room = missing.clamp(1, self.rest.capacity() - before);
            let mut rest = (&mut self.rest).limit(room);
            let read = pin!(stream.get_mut().read_buf(&mut rest)).poll(context);
            (read, room)
        } else {
            let room = missing.max(LEAST);
            self.rest.reserve(room);
            let read = pin!(stream.get_mut().read_buf(&mut self.rest)).poll(context);
            (read, room)
        };
        match read {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(0)) => return Poll::Ready(Ok(Ok(Read::Ended))),
            Poll::Ready(Ok(_)) => {}
        }
        let full = self.rest.len() - before >= room;
        if self.rest.len() >= self.wants
            && let Err(error) = self.look(take)
        {
            return Poll::Ready(Ok(Err(error)));
        }
        let more = if full { Read::More } else { Read::Dry };
        Poll::Ready(Ok(Ok(more)))
    }

    /// Makes room for more of a large frame, and none for what is behind it: whoever keeps a part of the frame keeps
    /// the whole room.
    fn make_room(&mut self) {
        let (len, room) = (self.rest.len(), self.rest.capacity());
        let wants = self.wants.max(len + 1);
        if len < room && room <= wants {
            return;
        }
        // A length is only a promise: room grows with what has come. By hand, since `reserve` takes at least twice what
        // there was.
        let most = len.saturating_mul(AHEAD).max(SCRATCH);
        let mut rest = BytesMut::with_capacity(most.min(wants));
        rest.extend_from_slice(&self.rest);
        self.rest = rest;
    }

    /// Whether what is coming is a frame that is not copied.
    const fn is_large(&self) -> bool {
        self.wants >= Output::LARGE
    }

    /// Has `take` look at what is there.
    fn look<E>(&mut self, take: &mut Take<'_, E>) -> Result<(), E> {
        let taken = if self.is_large() {
            let whole = std::mem::take(&mut self.rest).freeze();
            let taken = take(&whole, Some(&whole))?;
            if taken.bytes < whole.len() {
                self.rest = match whole.try_into_mut() {
                    Ok(mut rest) => {
                        rest.advance(taken.bytes);
                        rest
                    }
                    Err(whole) => BytesMut::from(&whole[taken.bytes..]),
                };
            }
            taken
        } else {
            let taken = take(&self.rest, None)?;
            self.rest.advance(taken.bytes);
            taken
        };
        self.consumed += taken.bytes as u64;
        self.wants = taken.wants;
        self.let_go();
        Ok(())
    }

    /// Gives the room back, if nothing is in it.
    fn let_go(&mut self) {
        if self.rest.is_empty() {
            self.rest = BytesMut::new();
        }
    }
}

/// What is being written to a stream.
#[derive(Debug, Default)]
pub(crate) struct Writing {
    output: Output,
    written: usize,
}

/// Room for what is written that is kept for the next.
const MOST_KEPT: usize = 256 << 10;

/// The most pieces that one system call takes.
const PIECES: usize = 16;

impl Writing {
    /// How many bytes have been written of what is there.
    pub(crate) const fn written(&self) -> usize {
        self.written
    }

    /// Whether all has been written.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.written == self.output.len()
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> usize {
        self.output.len() - self.written
    }

    /// The output that was written, to be filled again, for one that is to be written. Only when
    /// all has been written.
    #[inline]
    pub(crate) fn exchange(&mut self, exchange: impl FnOnce(Output) -> Output) {
        let mut used = std::mem::take(&mut self.output);
        used.clear();
        if self.written > MOST_KEPT {
            used.shrink_to(MOST_KEPT);
        }
        self.output = exchange(used);
        self.written = 0;
    }

    /// Writes until all is written.
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

    /// Reads until nothing is there, with a reader that wants so many bytes and has them then.
    async fn read(
        reading: &mut Reading,
        stream: &mut (impl AsyncRead + Unpin),
        take: &mut Take<'_, ()>,
    ) {
        loop {
            let polled = poll_fn(|context| {
                let stream = Pin::new(&mut *stream);
                Poll::Ready(match reading.poll_read(stream, context, take) {
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
    async fn a_large_frame_is_shared_and_ends_where_it_ends() {
        let (mut writer, mut stream) = duplex(1 << 20);
        let frame: Vec<u8> = (0..200_000_u32).map(|at| at as u8).collect();
        let mut reading = Reading::default();
        let mut frames = Vec::new();
        let mut take = |bytes: &[u8], whole: Option<&Bytes>| {
            if bytes.len() < frame.len() {
                let wants = frame.len();
                return Ok(Taken { bytes: 0, wants });
            }
            let whole = whole.unwrap();
            assert_eq!(whole.as_ptr_range(), bytes.as_ptr_range());
            frames.push(whole.clone());
            let bytes = frame.len();
            Ok(Taken { bytes, wants: 1 })
        };
        // In pieces that end in the middle of them.
        for piece in frame.repeat(3).chunks(150_000) {
            writer.write_all(piece).await.unwrap();
            read(&mut reading, &mut stream, &mut take).await;
        }
        assert!(frames.iter().all(|read| *read == frame));
        assert_eq!((frames.len(), reading.kept()), (3, 0));
    }

    /// A reader may stop before the end of the bytes, and may keep the part that it has read.
    #[tokio::test]
    async fn what_is_left_of_what_was_shared_is_there() {
        for keeps in [false, true] {
            let (mut writer, mut stream) = duplex(1 << 20);
            let sent: Vec<u8> = (0..100_000_u32).map(|at| at as u8).collect();
            writer.write_all(&sent[..10]).await.unwrap();
            let mut reading = Reading::default();
            let mut kept = Vec::new();
            let mut seen = Vec::new();
            let mut take = |bytes: &[u8], whole: Option<&Bytes>| {
                if seen.is_empty() && bytes.len() < 100_000 {
                    let wants = 100_000;
                    return Ok(Taken { bytes: 0, wants });
                }
                kept.extend(whole.filter(|_| keeps).cloned());
                let most = bytes.len().min(60_000);
                seen.extend_from_slice(&bytes[..most]);
                let wants = usize::from(most == bytes.len());
                Ok(Taken { bytes: most, wants })
            };
            read(&mut reading, &mut stream, &mut take).await;
            writer.write_all(&sent[10..]).await.unwrap();
            read(&mut reading, &mut stream, &mut take).await;
            assert!(seen == sent, "keeps: {keeps}");
            assert_eq!(reading.consumed(), 100_000);
        }
    }

    /// A length is only a promise, however slowly what it promises comes.
    #[tokio::test]
    async fn room_is_taken_for_what_has_come() {
        let (mut writer, mut stream) = duplex(1 << 20);
        let mut reading = Reading::default();
        let mut came = 0;
        let mut take = |_: &[u8], _: Option<&Bytes>| {
            let wants = 1 << 30;
            Ok(Taken { bytes: 0, wants })
        };
        let lens = [1, 15].into_iter().chain([1_440; 200]).chain([300_000; 3]);
        // By the byte too, once much has come.
        for len in lens.chain([1; 3]) {
            writer.write_all(&vec![7; len]).await.unwrap();
            came += len;
            read(&mut reading, &mut stream, &mut take).await;
            assert_eq!(reading.kept(), came);
            let room = reading.rest.capacity();
            assert!(room <= SCRATCH.max(AHEAD * came), "{room} for {came}");
        }
    }

    /// What is shared is kept for as long as anybody wants a part of it, and has no room for more.
    #[tokio::test]
    async fn what_is_shared_has_no_room_to_spare() {
        for len in [Output::LARGE, 50_000, 70_000, 1_100_000, 3_000_000] {
            let (mut writer, mut stream) = duplex(1 << 22);
            let mut reading = Reading::default();
            let mut shared = None;
            let mut take = |bytes: &[u8], whole: Option<&Bytes>| {
                let bytes = match bytes.len() == len {
                    true => len,
                    false => 0,
                };
                shared = whole.filter(|_| bytes > 0).cloned();
                Ok(Taken { bytes, wants: len })
            };
            for piece in vec![7; len].chunks(30_000) {
                writer.write_all(piece).await.unwrap();
                read(&mut reading, &mut stream, &mut take).await;
            }
            let shared = shared.unwrap().try_into_mut().unwrap();
            assert_eq!((shared.len(), shared.capacity()), (len, len));
        }
    }
}
