//! A connection of frames on a stream of bytes, for either side.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use polywire_frame::{Broken, Output, Reason, Time};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Sleep;

use super::clock::Clock;
use super::wire::{Read, Reading, Taken, Writing};

/// Bytes that wait to be written, beyond which no more calls are read.
const MOST_WAITING: usize = 1 << 20;

/// Bytes that are written before all that has come is read.
const ENOUGH: usize = 64 << 10;

/// Reads after which other tasks of the thread have their turn.
const MOST_READS: usize = 16;

/// How long the other side may take to close, once it was told why.
const LINGER: Duration = Duration::from_secs(1);

/// How long the other side may take to say hello.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// One side of a connection, but for its bytes: the state machine, and who uses it.
pub(crate) trait Side {
    /// Hands over what others have left for it. Afterwards the task is woken when there is more.
    fn prepare(&mut self, clock: Clock, context: &mut Context<'_>);

    /// Looks at what has come.
    fn take(&mut self, now: Time, bytes: &[u8]) -> Result<Taken, Broken>;

    /// How many bytes are to be written.
    fn output_len(&self) -> usize;

    /// Exchanges what is to be written for an output without anything in it.
    fn exchange(&mut self, empty: Output) -> Output;

    /// Whether nothing is left to do, once the output is written.
    fn is_done(&self) -> bool;

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

    /// Ends the connection.
    fn give_up(&mut self, reason: Reason);
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
    /// When something last came.
    heard: Time,
    /// Whether the other side was asked since whether it is there.
    asked: bool,
    /// Why the connection ends, once the farewell is written.
    broken: Option<Broken>,
    /// When it ends at the latest, once it is written.
    ends: Option<Time>,
}

/// Why a connection has ended before its time.
#[derive(Debug)]
pub(crate) enum Ended {
    Broken(Broken),
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
            heard: clock.now(),
            asked: false,
            broken: None,
            ends: None,
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
            .begin(said, &mut |bytes| work.take(self.heard, bytes));
        self.broken = begun.err();
    }

    /// Reads, writes and waits, until the connection has ended.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        for _ in 0..MOST_READS {
            self.work.prepare(self.clock, context);
            let waiting = self.writing.left() + self.work.output_len();
            let blocked = self.broken.is_some() || waiting > MOST_WAITING;
            let read = match blocked {
                true => None,
                false => match self.poll_read(context)? {
                    Poll::Ready(Read::Ended) => return Poll::Ready(Ok(())),
                    // What has come together is answered together.
                    Poll::Ready(Read::More) if self.work.output_len() < ENOUGH => continue,
                    Poll::Ready(read) => Some(read),
                    Poll::Pending => None,
                },
            };
            let written = self.poll_write(context)?;
            if written.is_ready() {
                if self.broken.is_some() {
                    return self.poll_farewell(context);
                }
                if self.work.is_done() {
                    return self.poll_shutdown(context);
                }
            }
            if read.is_none() && !(blocked && written.is_ready()) {
                ready!(self.poll_time(context));
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Result<Poll<Read>, Ended> {
        let clock = self.clock;
        let mut heard = self.heard;
        let polled = self
            .reading
            .poll_read(Pin::new(&mut self.stream), context, &mut |bytes| {
                heard = clock.now();
                self.work.take(heard, bytes)
            });
        self.heard = heard;
        Ok(match polled {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(Ok(read))) => {
                self.asked = false;
                Poll::Ready(read)
            }
            Poll::Ready(Ok(Err(broken))) => {
                self.broken = Some(broken);
                Poll::Ready(Read::Dry)
            }
            Poll::Ready(Err(error)) => return Err(error.into()),
        })
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Result<Poll<()>, Ended> {
        loop {
            if self.writing.is_empty() {
                if self.work.output_len() == 0 {
                    return Ok(Poll::Ready(()));
                }
                self.writing.exchange(|used| self.work.exchange(used));
            }
            let stream = Pin::new(&mut self.stream);
            if self.writing.poll_write(stream, context)?.is_pending() {
                return Ok(Poll::Pending);
            }
        }
    }

    fn poll_shutdown(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        let ended = ready!(Pin::new(&mut self.stream).poll_shutdown(context));
        Poll::Ready(ended.map_err(Ended::from))
    }

    /// The farewell is written: waits for a moment until the other side has closed. Bytes that
    /// nobody has read would have TCP throw away what was said.
    fn poll_farewell(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        let ends = match self.ends {
            Some(ends) => ends,
            None => {
                // A peer that is gone is no concern any more.
                let _ = ready!(Pin::new(&mut self.stream).poll_shutdown(context));
                self.reading = Reading::default();
                *self.ends.insert(self.clock.now().after(LINGER))
            }
        };
        let mut pass_over = |bytes: &[u8]| {
            Ok::<_, Broken>(Taken {
                bytes: bytes.len(),
                wants: 1,
            })
        };
        loop {
            let stream = Pin::new(&mut self.stream);
            match self.reading.poll_read(stream, context, &mut pass_over) {
                Poll::Ready(Ok(Ok(Read::Ended)) | Err(_)) => break,
                Poll::Ready(_) if self.clock.now() < ends => {}
                Poll::Ready(_) => break,
                Poll::Pending => {
                    ready!(self.poll_timer(ends, context));
                    break;
                }
            }
        }
        Poll::Ready(match self.broken.take() {
            Some(broken) => Err(Ended::Broken(broken)),
            None => Ok(()),
        })
    }

    /// Waits for the next that is due. Ready, if something has been done.
    fn poll_time(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let now = self.clock.now();
        let next = self.work.next_timeout().min(self.patience());
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
        let time = match self.work.greeted() {
            false => HANDSHAKE.min(self.work.patience()),
            true if self.asked => self.work.patience() * 2,
            true => self.work.patience(),
        };
        self.heard.after(time)
    }

    fn lose_patience(&mut self, now: Time) {
        if now < self.patience() {
            return;
        }
        if !self.work.greeted() {
            self.work.give_up(Reason::HANDSHAKE);
        } else if !self.asked {
            self.asked = true;
            self.work.ping();
        } else {
            self.work.give_up(Reason::SILENCE);
        }
    }
}
