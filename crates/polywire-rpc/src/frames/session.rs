//! A connection of frames over a byte stream, for both sides.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::{ProtocolError, Reason, Time};
use tokio::io::{AsyncRead, AsyncWrite};

use super::alarm::Alarm;
use super::clock::Clock;
use super::side::Side;
use super::wire::{ReadOutcome, ReadProgress, StreamReader, StreamWriter};

/// Write before the next read once this many bytes of output are buffered.
const WRITE_THRESHOLD: usize = 64 << 10;

/// Let other tasks run after this many reads.
const MAX_READS: usize = 16;

/// The peer has one [`Side::patience`] for each piece of this many bytes of a frame.
const PIECE: usize = 1 << 20;

/// How long the peer may take to close the connection after it was told to.
const LINGER: Duration = Duration::from_secs(1);

/// How long the peer may take to send its HELLO.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// A connection over a stream, driven by one task.
pub(crate) struct Session<S, W> {
    stream: S,
    reader: StreamReader,
    writer: StreamWriter,
    side: W,
    clock: Clock,
    alarm: Alarm,
    /// The time of the last read. Precise enough for everything but measurements.
    now: Time,
    /// When input was last received.
    last_read: Time,
    /// When the stream last accepted output.
    last_write: Time,
    /// When a PING was sent, if nothing has been received since.
    pinged: Option<Time>,
    /// Since when a frame is incomplete.
    partial_since: Option<Time>,
    /// When the buffered input was received, if the side has stopped before its end.
    stopped_since: Option<Time>,
    /// Whether the end of input was reached.
    is_input_over: bool,
    /// Until when to wait for input after all output is written.
    linger_until: Option<Time>,
    /// Whether the stream is flushed.
    is_flushed: bool,
    /// Until when to wait for the shutdown of the stream.
    shutdown_until: Option<Time>,
    closing: Option<CloseState>,
}

/// The progress of closing a connection.
struct CloseState {
    /// When to drop the connection at the latest.
    until: Time,
    /// The protocol error that closes it.
    broken: Option<ProtocolError>,
    /// Whether all output is written and the stream is shut down.
    is_shut_down: bool,
}

/// Why a connection has ended early.
#[derive(Debug)]
pub(crate) enum SessionError {
    Broken(ProtocolError),
    Io(io::Error),
}

impl From<io::Error> for SessionError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<S, W> Session<S, W>
where
    S: AsyncRead + AsyncWrite + Unpin,
    W: Side,
{
    pub(crate) fn new(side: W, stream: S, clock: Clock) -> Self {
        let now = clock.now();
        Self {
            stream,
            reader: StreamReader::default(),
            writer: StreamWriter::default(),
            side,
            clock,
            alarm: Alarm::new(),
            now,
            last_read: now,
            last_write: now,
            pinged: None,
            partial_since: None,
            stopped_since: None,
            is_input_over: false,
            linger_until: None,
            is_flushed: true,
            shutdown_until: None,
            closing: None,
        }
    }

    /// The side of the connection.
    pub(crate) const fn side(&mut self) -> &mut W {
        &mut self.side
    }

    /// Processes bytes that were read from the stream before the session was created.
    pub(crate) fn begin(&mut self, bytes: &[u8]) {
        let side = &mut self.side;
        let begun = self.reader.begin(bytes, &mut |bytes, _| {
            side.take(self.last_read, bytes, None)
        });
        self.stopped_since = self.reader.is_stopped().then_some(self.last_read);
        if let Err(broken) = begun {
            self.close(Some(broken));
        }
    }

    /// Reads, writes and waits until the connection has ended.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SessionError>> {
        self.side.begin_turn();
        for _ in 0..MAX_READS {
            self.now = self.clock.now();
            if self.side.is_over() {
                self.close(None);
            }
            if self.closing.is_some() {
                return self.poll_closing(context);
            }
            let unwritten = self.writer.left() + self.side.output_len();
            let is_blocked = unwritten > self.side.most_waiting();
            match is_blocked {
                true => self.side.is_held_up(),
                false => self.side.prepare(self.clock, context),
            }
            let read = match is_blocked || self.is_input_over {
                true => Poll::Pending,
                false => self.poll_read(context)?,
            };
            match read {
                Poll::Ready(ReadOutcome::Ended) => {
                    self.is_input_over = true;
                    match self.side.end_of_input(self.reader.buffered()) {
                        Ok(true) => {}
                        // The output is still written, as far as the peer reads it.
                        Ok(false) => {
                            self.side.input_ended();
                            self.close(None);
                            continue;
                        }
                        Err(broken) => {
                            self.close(Some(broken));
                            continue;
                        }
                    }
                }
                Poll::Ready(_) if self.side.has_given_up() => {
                    self.close(None);
                    continue;
                }
                Poll::Ready(_) if self.side.yields() => break,
                // Answer together what was received together.
                Poll::Ready(ReadOutcome::More) if self.side.output_len() < WRITE_THRESHOLD => {
                    continue;
                }
                _ => {}
            }
            let written = self.poll_write(context)?;
            let mut linger_until = Time::NEVER;
            if written.is_ready() && self.side.is_done() {
                let lingers = self.side.waits_for_the_other() && !self.is_input_over;
                if !lingers {
                    return self.poll_shutdown(context);
                }
                linger_until = *self.linger_until.get_or_insert(self.now.after(LINGER));
                if self.now >= linger_until {
                    return self.poll_shutdown(context);
                }
            }
            let has_work = (is_blocked || self.side.is_stalled()) && written.is_ready();
            if read.is_pending() && !has_work {
                ready!(self.poll_time(linger_until, context));
            }
        }
        // Let other tasks run. Write first, because they may wait for the output.
        let _ = self.poll_write(context)?;
        self.side.timeout(self.clock.now());
        poll_others(context)
    }

    /// Begins to close the connection. The peer has [`LINGER`] to do the same.
    fn close(&mut self, broken: Option<ProtocolError>) {
        self.closing.get_or_insert(CloseState {
            until: self.clock.now().after(LINGER),
            broken,
            is_shut_down: false,
        });
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<Poll<ReadOutcome>, SessionError> {
        let now = self.now;
        let came = self.stopped_since.unwrap_or(now);
        let consumed = self.reader.consumed();
        let side = &mut self.side;
        let polled =
            self.reader
                .poll_read(Pin::new(&mut self.stream), context, &mut |bytes, whole| {
                    side.take(came, bytes, whole)
                });
        self.stopped_since = self.reader.is_stopped().then_some(came);
        Ok(match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(Ok(read))) => {
                self.last_read = now;
                self.pinged = None;
                self.partial_since = match self.reader.is_partial() {
                    // Without a consumed byte it is the same frame as before.
                    true if self.reader.consumed() == consumed => self.partial_since.or(Some(now)),
                    true => Some(now),
                    false => None,
                };
                Poll::Ready(read)
            }
            Poll::Ready(Ok(Err(broken))) => {
                self.close(Some(broken));
                Poll::Ready(ReadOutcome::Dry)
            }
            Poll::Ready(Err(error)) => return Err(error.into()),
        })
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Result<Poll<()>, SessionError> {
        loop {
            if self.writer.is_empty() {
                if self.side.output_len() == 0 {
                    // Some streams buffer output, such as TLS.
                    if !self.is_flushed {
                        let stream = Pin::new(&mut self.stream);
                        let Poll::Ready(flushed) = stream.poll_flush(context) else {
                            return Ok(Poll::Pending);
                        };
                        flushed?;
                        self.is_flushed = true;
                        self.last_write = self.now;
                    }
                    return Ok(Poll::Ready(()));
                }
                self.writer.exchange(|used| self.side.exchange(used));
                self.is_flushed = false;
            }
            let before = self.writer.written();
            let stream = Pin::new(&mut self.stream);
            let written = self.writer.poll_write(stream, context)?;
            if self.writer.written() > before {
                // This is no answer of the peer: a buffer of the system may have accepted the bytes.
                self.last_write = self.now;
            }
            if written.is_pending() {
                return Ok(Poll::Pending);
            }
            self.side.wrote();
        }
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SessionError>> {
        if let Poll::Ready(ended) = Pin::new(&mut self.stream).poll_shutdown(context) {
            return Poll::Ready(ended.map_err(SessionError::from));
        }
        // TLS has to write at shutdown, and the peer may never read that.
        let until = *self
            .shutdown_until
            .get_or_insert(self.clock.now().after(LINGER));
        ready!(self.poll_until(until, context));
        Poll::Ready(Ok(()))
    }

    /// Writes the rest of the output, shuts the stream down, and discards input until the peer closes: TCP resets a
    /// connection that is dropped with unread input, and the peer could lose the last output.
    fn poll_closing(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SessionError>> {
        let polled = self.poll_last_bytes(context);
        let Some(closing) = &mut self.closing else {
            return Poll::Ready(Ok(()));
        };
        let until = closing.until;
        if polled.is_pending() {
            ready!(self.poll_until(until, context));
        }
        let broken = self.closing.take().and_then(|closing| closing.broken);
        Poll::Ready(broken.map_or(Ok(()), |broken| Err(SessionError::Broken(broken))))
    }

    fn poll_last_bytes(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let closing = self.closing.as_ref();
        if !closing.is_some_and(|closing| closing.is_shut_down) {
            match self.poll_write(context) {
                Ok(Poll::Pending) => return Poll::Pending,
                // The peer has closed the connection.
                Err(_) => return Poll::Ready(()),
                Ok(Poll::Ready(())) => {}
            }
            if ready!(Pin::new(&mut self.stream).poll_shutdown(context)).is_err() {
                return Poll::Ready(());
            }
            self.reader = StreamReader::default();
            if let Some(closing) = &mut self.closing {
                closing.is_shut_down = true;
            }
        }
        let mut discard = |bytes: &[u8], _: Option<&Bytes>| {
            Ok::<_, ProtocolError>(ReadProgress {
                bytes: bytes.len(),
                wants: 1,
            })
        };
        for _ in 0..MAX_READS {
            let stream = Pin::new(&mut self.stream);
            match ready!(self.reader.poll_read(stream, context, &mut discard)) {
                Ok(Ok(ReadOutcome::Ended)) | Err(_) => return Poll::Ready(()),
                Ok(_) => {}
            }
        }
        poll_others(context)
    }

    /// Waits for the next timeout. Ready if a timeout was handled, or at `linger_until`, which is [`Time::NEVER`] while
    /// output is unwritten.
    fn poll_time(&mut self, linger_until: Time, context: &mut Context<'_>) -> Poll<()> {
        let now = self.now;
        let next = self.side.next_timeout();
        let next = next.min(self.silence_limit()).min(linger_until);
        if next <= now {
            self.side.timeout(now);
            self.check_silence(now);
            return Poll::Ready(());
        }
        self.alarm.poll(self.clock, next, context)
    }

    fn poll_until(&mut self, until: Time, context: &mut Context<'_>) -> Poll<()> {
        while self.clock.now() < until {
            ready!(self.alarm.poll(self.clock, until, context));
        }
        Poll::Ready(())
    }

    /// Until when the peer may be silent.
    fn silence_limit(&self) -> Time {
        let patience = self.side.patience();
        let last_progress = self.last_read.max(self.last_write);
        let limit = match self.pinged {
            // After the end of input the peer cannot answer a PING, but must accept the output.
            _ if self.is_input_over && self.writer.is_empty() => Time::NEVER,
            _ if self.is_input_over => last_progress.after(patience),
            _ if !self.side.greeted() => self.last_read.after(HANDSHAKE.min(patience)),
            None => last_progress.after(patience),
            // The PING is behind the output that is not written yet.
            Some(pinged) if !self.writer.is_empty() => pinged.max(self.last_write).after(patience),
            Some(pinged) => pinged.after(patience),
        };
        limit.min(self.frame_limit())
    }

    /// Until when an incomplete frame must be complete. It holds memory even if a byte arrives now and then. A large
    /// frame may take longer.
    fn frame_limit(&self) -> Time {
        let pieces = 1 + self.reader.buffered() / PIECE;
        let pieces = u32::try_from(pieces).unwrap_or(u32::MAX);
        self.partial_since.map_or(Time::NEVER, |since| {
            since.after(self.side.patience().saturating_mul(pieces))
        })
    }

    /// Pings a silent peer, or closes the connection if it was pinged before.
    fn check_silence(&mut self, now: Time) {
        if now < self.silence_limit() {
            return;
        }
        let is_frame_late = now >= self.frame_limit();
        if !self.side.greeted() {
            self.side.give_up(Reason::HANDSHAKE);
            self.close(None);
        } else if self.pinged.is_none() && !is_frame_late && !self.is_input_over {
            self.pinged = Some(now);
            self.side.rest();
            self.side.ping();
        } else {
            self.side.give_up(Reason::SILENCE);
            self.close(None);
        }
    }
}

/// Lets other tasks run, and the runtime poll its sockets. A task that only wakes itself goes to the end of the queue.
/// While the queue is not empty, the runtime polls sockets only after some sixty tasks. `yield_now` defers the task until
/// the sockets have been polled.
pub(crate) fn poll_others<T>(context: &mut Context<'_>) -> Poll<T> {
    match pin!(tokio::task::yield_now()).poll(context) {
        Poll::Pending => {}
        Poll::Ready(()) => context.waker().wake_by_ref(),
    }
    Poll::Pending
}
