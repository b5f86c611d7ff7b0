//! The driver of a connection: it reads, writes and enforces timeouts.

mod closing;
#[cfg(test)]
mod tests;

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

/// The maximum of bytes and events that one poll reads, so that other tasks can run.
const MAX_READ_BYTES: usize = 64 << 10;
const MAX_READ_EVENTS: usize = 64;

/// The maximum time for the shutdown of the stream.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The driver of one endpoint. When [`Self::poll`] is ready, the connection is closed.
pub(super) struct Driver<S> {
    codec: Codec<S>,
    queue: Arc<Queue>,
    counts: Arc<Counts>,
    limits: WebSocketLimits,
    phase: Phase,
    /// Received messages that were not moved to the queue yet.
    received: Vec<Message>,
    /// Messages taken from the queue and not written yet.
    batch: VecDeque<Message>,
    /// The stream accepts no more bytes now.
    blocked: bool,
    /// The codec may have buffered data.
    needs_flush: bool,
    timer: Pin<Box<Sleep>>,
    /// When bytes were last received, and the total number of received bytes at that time.
    last_read_at: Instant,
    last_read_bytes: u64,
    /// When the stream last accepted bytes or was last found not to be blocked, and the total number of written bytes at that time.
    last_write_at: Instant,
    last_written_bytes: u64,
    /// When a message was last received or written.
    last_message_at: Instant,
    /// When a ping was sent. `None` if bytes were received after it.
    ping_sent_at: Option<Instant>,
    /// Reading is paused because the application does not take messages.
    reads_paused: bool,
    /// The close frame that this side has sent.
    local_close_frame: Option<CloseFrame>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Open,
    /// One side has sent a close frame. The other side must complete the closing handshake until the instant.
    Closing(Instant),
    /// This side has failed the connection. Received bytes are discarded.
    Lingering {
        until: Instant,
        remaining: usize,
        is_flushed: bool,
        is_shut_down: bool,
    },
    /// The stream is being shut down, until the instant.
    ShuttingDown(Instant),
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
            received: Vec::new(),
            batch: VecDeque::new(),
            blocked: false,
            needs_flush: false,
            timer: Box::pin(tokio::time::sleep_until(now)),
            last_read_at: now,
            last_read_bytes: 0,
            last_write_at: now,
            last_written_bytes: 0,
            last_message_at: now,
            ping_sent_at: None,
            reads_paused: false,
            local_close_frame: None,
        }
    }

    /// Reads, writes and checks timeouts. It is ready when the connection is closed.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let now = Instant::now();
            let changed = match self.phase {
                Phase::Open => self.poll_open(now, cx),
                Phase::Closing(until) => self.poll_closing(now, until, cx),
                Phase::Lingering { .. } => self.poll_lingering(now, cx),
                Phase::ShuttingDown(until) => {
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
            // A timer that expires too early is not reset, because a reset is expensive. The next poll sets it again.
            if self.timer.deadline() > next || self.timer.is_elapsed() {
                self.timer.as_mut().reset(next);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Returns true if the phase has changed or the caller must poll again.
    fn poll_open(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        if let Err(stop) = self.read(now, cx) {
            self.handle_stop(stop, now, cx);
            return true;
        }
        if !matches!(self.phase, Phase::Open) {
            return true;
        }
        if let Err(stop) = self.write(now, cx) {
            self.handle_stop(stop, now, cx);
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
        self.reads_paused = !self.queue.can_receive();
        let before = self.codec.read();
        let (mut bytes, mut events) = (0, 0);
        let mut stop = None;
        while !self.reads_paused {
            if bytes >= MAX_READ_BYTES || events >= MAX_READ_EVENTS {
                // More data may be available.
                cx.waker().wake_by_ref();
                break;
            }
            events += 1;
            match self.codec.poll_next(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(Event::Message(message))) => {
                    bytes += message.len();
                    self.received.push(message);
                }
                Poll::Ready(Ok(Event::Ping)) => self.needs_flush = true,
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
        if self.reads_paused || self.codec.read() != self.last_read_bytes {
            self.last_read_at = now;
            self.last_read_bytes = self.codec.read();
            self.ping_sent_at = None;
        }
        if !self.received.is_empty() {
            self.last_message_at = now;
            self.counts
                .add(Count::MessagesIn, self.received.len() as u64);
        }
        if !self.received.is_empty() || self.codec.read() != before {
            let partial_bytes = self.codec.buffered();
            if !self
                .queue
                .push_inbound(&mut self.received, partial_bytes, cx)
                && stop.is_none()
            {
                return Err(Stop::Failed(WebSocketError::MemoryLimit));
            }
        }
        match stop {
            None => Ok(()),
            Some(Err(stop)) => Err(stop),
            Some(Ok(frame)) => {
                self.queue.close_now(frame, None);
                self.batch.clear();
                self.phase = Phase::Closing(now + self.limits.close_timeout);
                Ok(())
            }
        }
    }

    fn write(&mut self, now: Instant, cx: &mut Context<'_>) -> Result<(), Stop> {
        if self.blocked {
            self.flush(now, cx)?;
        }
        while !self.blocked {
            if self.batch.is_empty() {
                self.queue.take_batch(&mut self.batch);
            }
            let Some(message) = self.batch.pop_front() else {
                break;
            };
            self.last_message_at = now;
            self.needs_flush = true;
            self.counts.add(Count::MessagesOut, 1);
            match self.codec.poll_write(message.into_wire(), cx) {
                Poll::Ready(written) => written?,
                Poll::Pending => self.block(now),
            }
        }
        if self.needs_flush && !self.blocked {
            self.flush(now, cx)?;
        }
        if !self.blocked || self.codec.written() != self.last_written_bytes {
            self.last_write_at = now;
            self.last_written_bytes = self.codec.written();
        }
        Ok(())
    }

    /// The stream accepts no more bytes. It is slow from now on: the last write can have been long ago.
    fn block(&mut self, now: Instant) {
        if !self.blocked {
            self.blocked = true;
            self.last_write_at = now;
        }
    }

    fn flush(&mut self, now: Instant, cx: &mut Context<'_>) -> Result<(), Stop> {
        match self.codec.poll_flush(cx) {
            Poll::Pending => self.block(now),
            Poll::Ready(flushed) => {
                flushed?;
                self.blocked = false;
                self.needs_flush = false;
            }
        }
        Ok(())
    }

    /// Enforces timeouts and sends pings. Returns true if it acted.
    fn check_time(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let limits = self.limits;
        let waits = self.queue.waits();
        let since = match (self.blocked, waits.full_since) {
            (true, Some(full_since)) => Some(full_since.min(self.last_write_at)),
            (true, None) => Some(self.last_write_at),
            (false, full_since) => full_since,
        };
        if since.is_some_and(|since| now >= since + limits.write_timeout) {
            let error = WebSocketError::SlowReader(limits.write_timeout);
            self.handle_stop(Stop::Failed(error), now, cx);
            return true;
        }
        // A peer that takes some bytes now and then is no slow reader, but it may not delay the close frame for long.
        if let Some(since) = waits.closing_since
            && now >= since + limits.write_timeout
        {
            self.batch.clear();
            self.queue.drop_unsent();
            if let Some(frame) = self.queue.closing() {
                self.close(frame, now, cx);
                return true;
            }
        }
        if let Some(idle) = limits.idle_timeout
            && now >= self.last_message_at + idle
        {
            let reason = format!("no messages for {idle:?}");
            self.close(CloseFrame::new(CloseCode::GOING_AWAY, reason), now, cx);
            return true;
        }
        if self.reads_paused {
            return false;
        }
        if let Some(sent_at) = self.ping_sent_at {
            let late = now >= sent_at + limits.pong_timeout;
            if late {
                let error = WebSocketError::NoPong(limits.pong_timeout);
                self.handle_stop(Stop::Failed(error), now, cx);
            }
            return late;
        }
        if let Some(interval) = limits.ping_interval
            && now >= self.last_read_at + interval
        {
            self.ping_sent_at = Some(now);
            self.needs_flush = true;
            let ping = tungstenite::Message::Ping(Bytes::new());
            match self.codec.poll_write(ping, cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(stop)) => self.handle_stop(stop, now, cx),
                Poll::Pending => self.block(now),
            }
            return true;
        }
        false
    }

    /// The next instant at which a timeout can expire.
    fn next_timeout(&self) -> Option<Instant> {
        let limits = &self.limits;
        match self.phase {
            Phase::Open => {}
            Phase::Closing(until) | Phase::Lingering { until, .. } | Phase::ShuttingDown(until) => {
                return Some(until);
            }
            Phase::Done => return None,
        }
        let slow = match self.blocked {
            true => Some(self.last_write_at),
            false => None,
        };
        let waits = self.queue.waits();
        let waits = [waits.full_since, waits.closing_since];
        let slow = slow.into_iter().chain(waits.into_iter().flatten()).min();
        let slow = slow.map(|since| since + limits.write_timeout);
        let idle = limits.idle_timeout.map(|idle| self.last_message_at + idle);
        let alive = match (self.reads_paused, self.ping_sent_at) {
            (true, _) => None,
            (false, Some(sent_at)) => Some(sent_at + limits.pong_timeout),
            (false, None) => limits
                .ping_interval
                .map(|interval| self.last_read_at + interval),
        };
        [slow, idle, alive].into_iter().flatten().min()
    }
}
