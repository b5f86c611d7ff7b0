//! The task of a connection: it reads, writes, and keeps to the time.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep};

use super::codec::{Codec, Event, Stop};
use super::error::WebSocketError;
use super::limits::WebSocketLimits;
use super::message::{CloseCode, CloseFrame, Message};
use super::queue::Queue;
use super::stats::{Count, Counts};

/// What is read before others have their turn.
const MOST_READ: usize = 64 << 10;
const MOST_EVENTS: usize = 64;

/// What a peer may still send once it was told that it broke a rule. A connection with unread bytes would be reset,
/// and the peer might not see the close frame.
const MOST_DISCARDED: usize = 1 << 20;

/// How long the end of a stream may take to be written.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// One side of a connection. It has ended when this has.
pub(super) struct Driver<S> {
    codec: Codec<S>,
    queue: Arc<Queue>,
    counts: Arc<Counts>,
    limits: WebSocketLimits,
    phase: Phase,
    /// Messages that came, on their way to the queue.
    arrived: Vec<Message>,
    /// Messages that are written next.
    batch: VecDeque<Message>,
    /// The peer takes no more at the moment.
    blocked: bool,
    /// What was written is to be flushed.
    dirty: bool,
    timer: Pin<Box<Sleep>>,
    /// When bytes last came, and how many there were.
    heard: Instant,
    heard_bytes: u64,
    /// Bytes that had come with the last message that came whole.
    whole_bytes: u64,
    /// When the peer last took bytes, or there were none to take.
    took: Instant,
    took_bytes: u64,
    /// When a message last came or went.
    moved: Instant,
    /// When a ping was sent, after which nothing came.
    pinged: Option<Instant>,
    /// Nothing is read, since nobody takes what came.
    deaf: bool,
    /// The close frame of this side.
    own: Option<CloseFrame>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    /// One side has closed, and the other has until then.
    Closing(Instant),
    /// What the peer sends is not looked at any more.
    Lingering {
        until: Instant,
        left: usize,
        flushed: bool,
        shut: bool,
    },
    /// The stream ends.
    Ending(Instant),
    Done,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Driver<S> {
    pub(super) fn new(
        codec: Codec<S>,
        queue: Arc<Queue>,
        counts: Arc<Counts>,
        limits: WebSocketLimits,
    ) -> Self {
        let now = Instant::now();
        Self {
            codec,
            queue,
            counts,
            limits,
            phase: Phase::Open,
            arrived: Vec::new(),
            batch: VecDeque::new(),
            blocked: false,
            dirty: false,
            timer: Box::pin(tokio::time::sleep_until(now)),
            heard: now,
            heard_bytes: 0,
            whole_bytes: 0,
            took: now,
            took_bytes: 0,
            moved: now,
            pinged: None,
            deaf: false,
            own: None,
        }
    }

    /// Does what there is to do. Ready at the end of the connection.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let now = Instant::now();
            let changed = match self.phase {
                Phase::Open => self.poll_open(now, cx),
                Phase::Closing(until) => self.poll_closing(now, until, cx),
                Phase::Lingering { .. } => self.poll_lingering(now, cx),
                Phase::Ending(until) => {
                    let ended = self.codec.poll_shutdown(cx).is_ready() || now >= until;
                    if ended {
                        self.phase = Phase::Done;
                    }
                    ended
                }
                Phase::Done => return Poll::Ready(()),
            };
            if changed {
                continue;
            }
            let Some(next) = self.next_timeout() else {
                return Poll::Pending;
            };
            // It is left alone while it ends too early: the connection is looked at then, and it is set anew.
            if self.timer.deadline() > next || self.timer.is_elapsed() {
                self.timer.as_mut().reset(next);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// True if the phase has changed, or there is more to do.
    fn poll_open(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        if let Err(stop) = self.read(now, cx) {
            self.stopped(stop, now, cx);
            return true;
        }
        if !matches!(self.phase, Phase::Open) {
            return true;
        }
        if let Err(stop) = self.write(now, cx) {
            self.stopped(stop, now, cx);
            return true;
        }
        if !self.blocked
            && self.batch.is_empty()
            && let Some(frame) = self.queue.closing()
        {
            self.close(frame, now, cx);
            return true;
        }
        self.check_time(now, cx)
    }

    fn read(&mut self, now: Instant, cx: &mut Context<'_>) -> Result<(), Stop> {
        self.deaf = !self.queue.has_room();
        let before = self.codec.read();
        let (mut bytes, mut events) = (0, 0);
        let mut stop = None;
        while !self.deaf {
            if bytes >= MOST_READ || events >= MOST_EVENTS {
                // There may be more.
                cx.waker().wake_by_ref();
                break;
            }
            events += 1;
            match self.codec.poll_next(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(Event::Message(message))) => {
                    bytes += message.len();
                    self.arrived.push(message);
                    self.whole_bytes = self.codec.read();
                }
                Poll::Ready(Ok(Event::Ping)) => self.dirty = true,
                Poll::Ready(Ok(Event::Pong)) => {}
                Poll::Ready(Ok(Event::Close(frame))) => {
                    stop = Some(Ok(frame));
                    break;
                }
                Poll::Ready(Err(error)) => {
                    stop = Some(Err(error));
                    break;
                }
            }
        }
        if self.deaf || self.codec.read() != self.heard_bytes {
            self.heard = now;
            self.heard_bytes = self.codec.read();
            self.pinged = None;
        }
        if !self.arrived.is_empty() {
            self.moved = now;
            self.counts
                .add(Count::MessagesIn, self.arrived.len() as u64);
        }
        if !self.arrived.is_empty() || self.codec.read() != before {
            let coming = (self.codec.read() - self.whole_bytes) as usize;
            if !self.queue.arrive(&mut self.arrived, coming, cx) && stop.is_none() {
                return Err(Stop::Failed(WebSocketError::NoMemory));
            }
        }
        match stop {
            None => Ok(()),
            Some(Err(stop)) => Err(stop),
            Some(Ok(frame)) => {
                self.queue.end(frame, None);
                self.batch.clear();
                self.phase = Phase::Closing(now + self.limits.close_timeout);
                Ok(())
            }
        }
    }

    fn write(&mut self, now: Instant, cx: &mut Context<'_>) -> Result<(), Stop> {
        if self.blocked {
            self.flush(cx)?;
        }
        while !self.blocked {
            if self.batch.is_empty() {
                self.queue.depart(&mut self.batch);
            }
            let Some(message) = self.batch.pop_front() else {
                break;
            };
            self.moved = now;
            self.dirty = true;
            self.counts.add(Count::MessagesOut, 1);
            match self.codec.poll_write(message.into_wire(), cx) {
                Poll::Ready(written) => written?,
                Poll::Pending => self.blocked = true,
            }
        }
        if self.dirty && !self.blocked {
            self.flush(cx)?;
        }
        if !self.blocked || self.codec.written() != self.took_bytes {
            self.took = now;
            self.took_bytes = self.codec.written();
        }
        Ok(())
    }

    fn flush(&mut self, cx: &mut Context<'_>) -> Result<(), Stop> {
        match self.codec.poll_flush(cx) {
            Poll::Pending => self.blocked = true,
            Poll::Ready(flushed) => {
                flushed?;
                self.blocked = false;
                self.dirty = false;
            }
        }
        Ok(())
    }

    /// True if something was done.
    fn check_time(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let limits = self.limits;
        let since = match (self.blocked, self.queue.crowded()) {
            (true, Some(crowded)) => Some(crowded.min(self.took)),
            (true, None) => Some(self.took),
            (false, crowded) => crowded,
        };
        if since.is_some_and(|since| now >= since + limits.write_timeout) {
            let error = WebSocketError::SlowReader(limits.write_timeout);
            self.stopped(Stop::Failed(error), now, cx);
            return true;
        }
        if let Some(idle) = limits.idle_timeout
            && now >= self.moved + idle
        {
            let reason = format!("no messages for {idle:?}");
            self.close(CloseFrame::new(CloseCode::GOING_AWAY, reason), now, cx);
            return true;
        }
        if self.deaf {
            return false;
        }
        if let Some(pinged) = self.pinged {
            let late = now >= pinged + limits.pong_timeout;
            if late {
                let error = WebSocketError::NoPong(limits.pong_timeout);
                self.stopped(Stop::Failed(error), now, cx);
            }
            return late;
        }
        if let Some(interval) = limits.ping_interval
            && now >= self.heard + interval
        {
            self.pinged = Some(now);
            self.dirty = true;
            let ping = tungstenite::Message::Ping(Bytes::new());
            match self.codec.poll_write(ping, cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(stop)) => self.stopped(stop, now, cx),
                Poll::Pending => self.blocked = true,
            }
            return true;
        }
        false
    }

    /// When time will have been up for something.
    fn next_timeout(&self) -> Option<Instant> {
        let limits = &self.limits;
        match self.phase {
            Phase::Open => {}
            Phase::Closing(until) | Phase::Lingering { until, .. } | Phase::Ending(until) => {
                return Some(until);
            }
            Phase::Done => return None,
        }
        let slow = match self.blocked {
            true => Some(self.took),
            false => None,
        };
        let slow = slow.into_iter().chain(self.queue.crowded()).min();
        let slow = slow.map(|since| since + limits.write_timeout);
        let idle = limits.idle_timeout.map(|idle| self.moved + idle);
        let alive = match (self.deaf, self.pinged) {
            (true, _) => None,
            (false, Some(pinged)) => Some(pinged + limits.pong_timeout),
            (false, None) => limits.ping_interval.map(|interval| self.heard + interval),
        };
        [slow, idle, alive].into_iter().flatten().min()
    }

    /// Begins to close from this side.
    fn close(&mut self, frame: CloseFrame, now: Instant, cx: &mut Context<'_>) {
        self.batch.clear();
        self.phase = match self.codec.poll_close(&frame, cx) {
            Poll::Ready(Err(_)) => {
                self.queue.end(frame.clone(), None);
                Phase::Ending(now + SHUTDOWN)
            }
            _ => Phase::Closing(now + self.limits.close_timeout),
        };
        self.own = Some(frame);
    }

    /// Ends the connection for a reason that its user is told of.
    fn stopped(&mut self, stop: Stop, now: Instant, cx: &mut Context<'_>) {
        let error = match stop {
            Stop::Closed => {
                self.queue.end(self.end_frame(), None);
                self.phase = Phase::Ending(now + SHUTDOWN);
                return;
            }
            Stop::Failed(error) => error,
        };
        tracing::debug!(%error, "a WebSocket failed");
        let frame = error.close_frame();
        match error {
            WebSocketError::SlowReader(_) => {
                self.counts.add(Count::SlowReaders, 1);
                self.close(frame, now, cx);
                self.queue.end(self.end_frame(), Some(error));
                return;
            }
            // Nobody is there who could be told.
            WebSocketError::NoPong(_) | WebSocketError::Reset | WebSocketError::Io(_) => {
                self.queue.end(self.end_frame(), Some(error));
                self.phase = Phase::Done;
                return;
            }
            _ => {}
        }
        // What waits would delay the close frame. A part that was written stays before it.
        self.batch.clear();
        self.queue.end(frame.clone(), Some(error));
        let closing = self.codec.poll_close(&frame, cx);
        self.own = Some(frame);
        self.phase = match closing {
            Poll::Ready(Err(_)) => Phase::Ending(now + SHUTDOWN),
            _ => Phase::Lingering {
                until: now + self.limits.close_timeout,
                left: MOST_DISCARDED,
                flushed: false,
                shut: false,
            },
        };
    }

    fn end_frame(&self) -> CloseFrame {
        let abnormal = || CloseFrame::new(CloseCode::ABNORMAL, "");
        self.own.clone().unwrap_or_else(abnormal)
    }

    fn poll_closing(&mut self, now: Instant, until: Instant, cx: &mut Context<'_>) -> bool {
        let mut ended = now >= until;
        // What is missing shows when it is read.
        let _ = self.codec.poll_flush(cx);
        let mut events = 0;
        while !ended {
            if events == MOST_EVENTS {
                cx.waker().wake_by_ref();
                break;
            }
            events += 1;
            match self.codec.poll_next(cx) {
                Poll::Pending => break,
                // Who takes no messages does not keep the connection from closing.
                Poll::Ready(Ok(Event::Message(message))) => {
                    if self.queue.has_room() {
                        self.arrived.push(message);
                        self.queue.arrive(&mut self.arrived, 0, cx);
                    }
                }
                Poll::Ready(Ok(Event::Ping | Event::Pong)) => {}
                Poll::Ready(Ok(Event::Close(_))) => self.queue.end(self.end_frame(), None),
                Poll::Ready(Err(_)) => ended = true,
            }
        }
        if ended {
            self.queue.end(self.end_frame(), None);
            self.phase = Phase::Ending(now + SHUTDOWN);
        }
        ended
    }

    fn poll_lingering(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let Phase::Lingering {
            until,
            left,
            flushed,
            shut,
        } = &mut self.phase
        else {
            return true;
        };
        if !*flushed {
            *flushed = self.codec.poll_flush(cx).is_ready();
        }
        if *flushed && !*shut {
            *shut = self.codec.poll_shutdown(cx).is_ready();
        }
        let mut ended = now >= *until;
        while !ended {
            match self.codec.poll_discard(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(count)) if count > 0 && count < *left => *left -= count,
                // What was to be flushed may have to be given up, as the peer has gone.
                Poll::Ready(_) => ended = true,
            }
        }
        if ended {
            self.phase = Phase::Done;
        }
        ended
    }
}
