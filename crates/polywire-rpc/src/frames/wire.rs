//! Bytes in and out of a stream, as frames want them.

use std::cell::RefCell;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::BytesMut;
use polywire_frame::Output;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// What is read at once.
const SCRATCH: usize = 64 << 10;

/// The least room for a frame that did not come whole.
const LEAST: usize = 4 << 10;

thread_local! {
    /// What the streams of this thread read into, one after the other: a connection that waits
    /// has no buffer of its own.
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; SCRATCH].into());
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
        take: &mut dyn FnMut(&[u8]) -> Result<Taken, E>,
    ) -> Poll<io::Result<Result<Read, E>>>
    where
        S: AsyncRead + Unpin,
    {
        if !self.rest.is_empty() {
            return self.poll_rest(stream, context, take);
        }
        READ.with_borrow_mut(|scratch| {
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
            let taken = match take(read) {
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
    pub(crate) fn begin<E>(
        &mut self,
        read: &[u8],
        take: &mut dyn FnMut(&[u8]) -> Result<Taken, E>,
    ) -> Result<(), E> {
        let taken = take(read)?;
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
        take: &mut dyn FnMut(&[u8]) -> Result<Taken, E>,
    ) -> Poll<io::Result<Result<Read, E>>>
    where
        S: AsyncRead + Unpin,
    {
        if self.wants == 0 {
            // It had stopped in front of what is there.
            let taken = match take(&self.rest) {
                Ok(taken) => taken,
                Err(error) => return Poll::Ready(Ok(Err(error))),
            };
            let _ = self.rest.split_to(taken.bytes);
            self.consumed += taken.bytes as u64;
            self.wants = taken.wants;
            self.let_go();
            return Poll::Ready(Ok(Ok(Read::More)));
        }
        // A length is only a promise: room grows with what has come.
        let missing = self.wants.saturating_sub(self.rest.len());
        let room = missing.clamp(LEAST, self.rest.len().max(SCRATCH));
        self.rest.reserve(room);
        let before = self.rest.len();
        let read = pin!(stream.get_mut().read_buf(&mut self.rest)).poll(context);
        match read {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Ready(Ok(0)) => return Poll::Ready(Ok(Ok(Read::Ended))),
            Poll::Ready(Ok(_)) => {}
        }
        let full = self.rest.len() - before >= room;
        if self.rest.len() >= self.wants {
            let taken = match take(&self.rest) {
                Ok(taken) => taken,
                Err(error) => return Poll::Ready(Ok(Err(error))),
            };
            let _ = self.rest.split_to(taken.bytes);
            self.consumed += taken.bytes as u64;
            self.wants = taken.wants;
            self.let_go();
        }
        let more = if full { Read::More } else { Read::Dry };
        Poll::Ready(Ok(Ok(more)))
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
