//! A connection of frames on a stream of bytes, for either side.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use polywire_frame::{Output, ProtocolError, Reason, Time};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Sleep;

use super::clock::Clock;
use super::wire::{Read, Reading, Taken, Writing};

/// Bytes that are written before all that has come is read.
const ENOUGH: usize = 64 << 10;

/// Reads after which other tasks of the thread have their turn.
const MOST_READS: usize = 16;

/// Bytes of a frame for each of which the other side has its time to send them.
const PIECE: usize = 1 << 20;

/// How long the other side may take to close, once it was told that the connection ends.
const LINGER: Duration = Duration::from_secs(1);

/// How long the other side may take to say hello.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// One side of a connection, but for its bytes: the state machine, and who uses it.
pub(crate) trait Side {
    /// The connection has its turn, which lasts until others have theirs, however often it reads.
    fn begin_turn(&mut self) {}

    /// Nothing more is looked at until what is there was written: the other side does not read.
    fn is_held_up(&mut self) {}

    /// Hands over what others have left for it. Afterwards the task is woken when there is more.
    fn prepare(&mut self, clock: Clock, context: &mut Context<'_>);

    /// Looks at what has come, and when it has. A large frame comes as `whole`, too, to be kept without copying it.
    fn take(
        &mut self,
        came: Time,
        bytes: &[u8],
        whole: Option<&Bytes>,
    ) -> Result<Taken, ProtocolError>;

    /// How many bytes are to be written.
    fn output_len(&self) -> usize;

    /// Exchanges what is to be written for an output without anything in it.
    fn exchange(&mut self, empty: Output) -> Output;

    /// All that was exchanged has been written.
    fn wrote(&mut self) {}

    /// Whether there will be more to write once what is there has been written.
    fn is_stalled(&self) -> bool {
        false
    }

    /// Whether others are to have their turn before it looks at the rest of what has come.
    fn yields(&self) -> bool {
        false
    }

    /// Whether nothing is left to do, once the output is written.
    fn is_done(&self) -> bool;

    /// Whether its time is over, whatever is left to do and however slowly the other side reads.
    fn is_over(&self) -> bool {
        false
    }

    /// When [`Self::timeout`] is to be called.
    fn next_timeout(&self) -> Time;

    /// Ends the calls whose time is over.
    fn timeout(&mut self, now: Time);

    /// Whether the other side has said hello.
    fn greeted(&self) -> bool;

    /// How long the other side may be silent before it is asked whether it is there, and then again.
    fn patience(&self) -> Duration;

    /// Asks whether anybody is there.
    fn ping(&mut self);

    /// Says that the connection ends.
    fn give_up(&mut self, reason: Reason);

    /// Bytes that may wait to be written before no more is read.
    fn most_waiting(&self) -> usize;

    /// The other side sends no more, behind so many bytes of a frame that has not come whole. Whether calls are
    /// answered all the same.
    fn end_of_input(&mut self, rest: usize) -> Result<bool, ProtocolError>;

    /// The other side sends no more, and this one does not outlive that.
    fn input_ended(&mut self) {}

    /// Whether this side has given the other up.
    fn has_given_up(&self) -> bool {
        false
    }

    /// Whether the other side may have sent something before it heard of the end.
    fn waits_for_the_other(&self) -> bool;

    /// Nothing has happened for a while: gives back room.
    fn rest(&mut self);
}

/// A connection on a stream, driven by one task.
pub(crate) struct Session<S, W> {
    stream: S,
    reading: Reading,
    writing: Writing,
    work: W,
    clock: Clock,
    timer: Option<Pin<Box<Sleep>>>,
    /// When the timer rings.
    rings: Time,
    /// When it last began to read: near enough to now for all that is not measured.
    now: Time,
    /// When something last came.
    heard: Time,
    /// When something was last taken by the other side, or by what is between.
    progressed: Time,
    /// When the other side was asked whether it is there, and has said nothing since.
    asked: Option<Time>,
    /// Since when a frame has been coming.
    partial: Option<Time>,
    /// When that came in front of which this side stopped looking: it waits since then.
    stopped: Option<Time>,
    /// The other side sends no more.
    ended: bool,
    /// Until when something of the other side is waited for, although all is done and written.
    lingers: Option<Time>,
    /// Nothing was written since the stream was flushed.
    flushed: bool,
    /// Until when the stream may take to be shut down.
    shuts: Option<Time>,
    closing: Option<Closing>,
}

/// A connection that is being closed.
struct Closing {
    /// When it ends at the latest.
    until: Time,
    /// Why, if not in order.
    broken: Option<ProtocolError>,
    /// Whether nothing more will be written.
    said: bool,
}

/// Why a connection has ended before its time.
#[derive(Debug)]
pub(crate) enum Ended {
    Broken(ProtocolError),
    Io(io::Error),
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<S, W> Session<S, W>
where
    S: AsyncRead + AsyncWrite + Unpin,
    W: Side,
{
    pub(crate) fn new(work: W, stream: S, clock: Clock) -> Self {
        Self {
            stream,
            reading: Reading::default(),
            writing: Writing::default(),
            work,
            clock,
            timer: None,
            rings: Time::NEVER,
            now: clock.now(),
            heard: clock.now(),
            progressed: clock.now(),
            asked: None,
            partial: None,
            stopped: None,
            ended: false,
            lingers: None,
            flushed: true,
            shuts: None,
            closing: None,
        }
    }

    /// The side of the connection.
    pub(crate) const fn side(&mut self) -> &mut W {
        &mut self.work
    }

    /// Begins with what somebody else has read.
    pub(crate) fn begin(&mut self, said: &[u8]) {
        let work = &mut self.work;
        let begun = self
            .reading
            .begin(said, &mut |bytes, _| work.take(self.heard, bytes, None));
        self.stopped = self.reading.is_stopped().then_some(self.heard);
        if let Err(broken) = begun {
            self.close(Some(broken));
        }
    }

    /// Reads, writes and waits, until the connection has ended.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        self.work.begin_turn();
        for _ in 0..MOST_READS {
            self.now = self.clock.now();
            if self.work.is_over() {
                self.close(None);
            }
            if self.closing.is_some() {
                return self.poll_closing(context);
            }
            let waiting = self.writing.left() + self.work.output_len();
            let blocked = waiting > self.work.most_waiting();
            match blocked {
                true => self.work.is_held_up(),
                false => self.work.prepare(self.clock, context),
            }
            let read = match blocked || self.ended {
                true => Poll::Pending,
                false => self.poll_read(context)?,
            };
            match read {
                Poll::Ready(Read::Ended) => {
                    self.ended = true;
                    match self.work.end_of_input(self.reading.kept()) {
                        Ok(true) => {}
                        // What is there to be written still goes, if anybody takes it.
                        Ok(false) => {
                            self.work.input_ended();
                            self.close(None);
                            continue;
                        }
                        Err(broken) => {
                            self.close(Some(broken));
                            continue;
                        }
                    }
                }
                Poll::Ready(_) if self.work.has_given_up() => {
                    self.close(None);
                    continue;
                }
                Poll::Ready(_) if self.work.yields() => break,
                // What has come together is answered together.
                Poll::Ready(Read::More) if self.work.output_len() < ENOUGH => continue,
                _ => {}
            }
            let written = self.poll_write(context)?;
            let mut lingers = Time::NEVER;
            if written.is_ready() && self.work.is_done() {
                let linger = self.work.waits_for_the_other() && !self.ended;
                if !linger {
                    return self.poll_shutdown(context);
                }
                // It may have sent something before it heard of the end, which is answered.
                lingers = *self.lingers.get_or_insert(self.now.after(LINGER));
                if self.now >= lingers {
                    return self.poll_shutdown(context);
                }
            }
            let goes_on = (blocked || self.work.is_stalled()) && written.is_ready();
            if read.is_pending() && !goes_on {
                ready!(self.poll_time(lingers, context));
            }
        }
        // The others have their turn, and so have those who wait for this one.
        let _ = self.poll_write(context)?;
        self.work.timeout(self.clock.now());
        poll_others(context)
    }

    /// Closes the connection, within a moment.
    fn close(&mut self, broken: Option<ProtocolError>) {
        self.closing.get_or_insert(Closing {
            until: self.clock.now().after(LINGER),
            broken,
            said: false,
        });
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<Poll<Read>, Ended> {
        let now = self.now;
        let came = self.stopped.unwrap_or(now);
        let consumed = self.reading.consumed();
        let work = &mut self.work;
        let polled =
            self.reading
                .poll_read(Pin::new(&mut self.stream), context, &mut |bytes, whole| {
                    work.take(came, bytes, whole)
                });
        self.stopped = self.reading.is_stopped().then_some(came);
        Ok(match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(Ok(read))) => {
                self.heard = now;
                self.asked = None;
                self.partial = match self.reading.is_partial() {
                    // Of the frame that is coming, not of those that have come.
                    true if self.reading.consumed() == consumed => self.partial.or(Some(now)),
                    true => Some(now),
                    false => None,
                };
                Poll::Ready(read)
            }
            Poll::Ready(Ok(Err(broken))) => {
                self.close(Some(broken));
                Poll::Ready(Read::Dry)
            }
            Poll::Ready(Err(error)) => return Err(error.into()),
        })
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Result<Poll<()>, Ended> {
        loop {
            if self.writing.is_empty() {
                if self.work.output_len() == 0 {
                    // A stream may keep what it took, as TLS does; others have nothing to do here.
                    if !self.flushed {
                        let stream = Pin::new(&mut self.stream);
                        let Poll::Ready(flushed) = stream.poll_flush(context) else {
                            return Ok(Poll::Pending);
                        };
                        flushed?;
                        self.flushed = true;
                        self.progressed = self.now;
                    }
                    return Ok(Poll::Ready(()));
                }
                self.writing.exchange(|used| self.work.exchange(used));
                self.flushed = false;
            }
            let before = self.writing.written();
            let stream = Pin::new(&mut self.stream);
            let written = self.writing.poll_write(stream, context)?;
            if self.writing.written() > before {
                // That may be nobody but a system, so that it is no answer.
                self.progressed = self.now;
            }
            if written.is_pending() {
                return Ok(Poll::Pending);
            }
            self.work.wrote();
        }
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        if let Poll::Ready(ended) = Pin::new(&mut self.stream).poll_shutdown(context) {
            return Poll::Ready(ended.map_err(Ended::from));
        }
        // Over TLS that has something to write, which a peer may never read.
        let until = *self.shuts.get_or_insert(self.clock.now().after(LINGER));
        while self.clock.now() < until {
            ready!(self.poll_timer(until, context));
        }
        Poll::Ready(Ok(()))
    }

    /// Writes what is left, says that it was all, and waits until the other side has closed: bytes
    /// that nobody has read would have TCP throw away what was said. All that within a moment.
    fn poll_closing(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        let polled = self.poll_goodbye(context);
        let Some(closing) = &mut self.closing else {
            return Poll::Ready(Ok(()));
        };
        let until = closing.until;
        if polled.is_pending() {
            while self.clock.now() < until {
                ready!(self.poll_timer(until, context));
            }
        }
        let broken = self.closing.take().and_then(|closing| closing.broken);
        Poll::Ready(broken.map_or(Ok(()), |broken| Err(Ended::Broken(broken))))
    }

    fn poll_goodbye(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let said = self.closing.as_ref().is_some_and(|closing| closing.said);
        if !said {
            match self.poll_write(context) {
                Ok(Poll::Pending) => return Poll::Pending,
                // A peer that is gone is no concern any more.
                Err(_) => return Poll::Ready(()),
                Ok(Poll::Ready(())) => {}
            }
            if ready!(Pin::new(&mut self.stream).poll_shutdown(context)).is_err() {
                return Poll::Ready(());
            }
            self.reading = Reading::default();
            if let Some(closing) = &mut self.closing {
                closing.said = true;
            }
        }
        let mut pass_over = |bytes: &[u8], _: Option<&Bytes>| {
            Ok::<_, ProtocolError>(Taken {
                bytes: bytes.len(),
                wants: 1,
            })
        };
        for _ in 0..MOST_READS {
            let stream = Pin::new(&mut self.stream);
            match ready!(self.reading.poll_read(stream, context, &mut pass_over)) {
                Ok(Ok(Read::Ended)) | Err(_) => return Poll::Ready(()),
                Ok(_) => {}
            }
        }
        poll_others(context)
    }

    /// Waits for the next that is due. Ready, if something has been done, or if that time has come until which only
    /// the other side is waited for: with something left to write there is none.
    fn poll_time(&mut self, lingers: Time, context: &mut Context<'_>) -> Poll<()> {
        let now = self.now;
        let next = self.work.next_timeout().min(self.patience()).min(lingers);
        if next <= now {
            self.work.timeout(now);
            self.lose_patience(now);
            return Poll::Ready(());
        }
        self.poll_timer(next, context)
    }

    /// Waits until then, or for less long.
    fn poll_timer(&mut self, next: Time, context: &mut Context<'_>) -> Poll<()> {
        // A timer that rings too early is set again then, which is seldom; setting it at each
        // call is not.
        if self.timer.is_none() || next < self.rings {
            let Some(instant) = self.clock.instant(next) else {
                return Poll::Pending;
            };
            self.rings = next;
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(instant),
                None => self.timer = Some(Box::pin(tokio::time::sleep_until(instant))),
            }
        }
        let Some(timer) = &mut self.timer else {
            return Poll::Pending;
        };
        ready!(timer.as_mut().poll(context));
        self.timer = None;
        Poll::Ready(())
    }

    /// Until when the other side may be silent.
    fn patience(&self) -> Time {
        let patience = self.work.patience();
        let silence = match self.asked {
            // Who can say no more is not asked, but has to take what he is told.
            _ if self.ended && self.writing.is_empty() => Time::NEVER,
            _ if self.ended => self.heard.max(self.progressed).after(patience),
            _ if !self.work.greeted() => self.heard.after(HANDSHAKE.min(patience)),
            None => self.heard.max(self.progressed).after(patience),
            // The answer comes behind what is there to be written.
            Some(asked) if !self.writing.is_empty() => asked.max(self.progressed).after(patience),
            Some(asked) => asked.after(patience),
        };
        silence.min(self.slowness())
    }

    /// Until when a frame that is coming must be there: it holds memory, however often a byte of it
    /// comes. What is large may take longer.
    fn slowness(&self) -> Time {
        let pieces = 1 + self.reading.kept() / PIECE;
        let pieces = u32::try_from(pieces).unwrap_or(u32::MAX);
        self.partial.map_or(Time::NEVER, |since| {
            since.after(self.work.patience().saturating_mul(pieces))
        })
    }

    fn lose_patience(&mut self, now: Time) {
        if now < self.patience() {
            return;
        }
        let slow = now >= self.slowness();
        if !self.work.greeted() {
            self.work.give_up(Reason::HANDSHAKE);
            self.close(None);
        } else if self.asked.is_none() && !slow && !self.ended {
            self.asked = Some(now);
            self.work.rest();
            self.work.ping();
        } else {
            self.work.give_up(Reason::SILENCE);
            self.close(None);
        }
    }
}

/// Lets the others have their turn, and the runtime look at its sockets. One that is woken at once goes to the end of
/// the queue, and as long as something is in it, a runtime looks at sockets only once in a while: what comes
/// there would wait for some sixty turns.
pub(crate) fn poll_others<T>(context: &mut Context<'_>) -> Poll<T> {
    match pin!(tokio::task::yield_now()).poll(context) {
        Poll::Pending => {}
        Poll::Ready(()) => context.waker().wake_by_ref(),
    }
    Poll::Pending
}
