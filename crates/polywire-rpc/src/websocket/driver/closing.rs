//! The end of a connection: the closing handshake, failures, and discarding what the peer still sends.

use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::{Driver, MAX_READ_EVENTS, Phase, SHUTDOWN_TIMEOUT};
use crate::websocket::codec::{Event, Stop};
use crate::websocket::error::WebSocketError;
use crate::websocket::message::{CloseCode, CloseFrame};
use crate::websocket::stats::Count;

/// The maximum of bytes that are read and discarded after a protocol violation. If a TCP connection is closed with
/// unread bytes, it is reset, and the peer may not receive the close frame.
const MAX_DISCARDED_BYTES: usize = 1 << 20;

impl<S: AsyncRead + AsyncWrite + Unpin> Driver<S> {
    /// Starts the closing handshake from this side.
    pub(super) fn close(&mut self, frame: CloseFrame, now: Instant, cx: &mut Context<'_>) {
        self.batch.clear();
        self.phase = match self.codec.poll_close(&frame, cx) {
            Poll::Ready(Err(_)) => {
                self.queue.close_now(frame.clone(), None);
                Phase::ShuttingDown(now + SHUTDOWN_TIMEOUT)
            }
            _ => Phase::Closing(now + self.limits.close_timeout),
        };
        self.local_close_frame = Some(frame);
    }

    /// Ends the connection after the codec has stopped or a timeout has expired.
    pub(super) fn handle_stop(&mut self, stop: Stop, now: Instant, cx: &mut Context<'_>) {
        let error = match stop {
            Stop::Closed => {
                self.queue.close_now(self.final_close_frame(), None);
                self.phase = Phase::ShuttingDown(now + SHUTDOWN_TIMEOUT);
                return;
            }
            Stop::Failed(error) => error,
        };
        tracing::debug!(%error, "a WebSocket connection failed");
        let frame = error.close_frame();
        match error {
            WebSocketError::SlowReader(_) => {
                self.counts.add(Count::SlowReaders, 1);
                self.close(frame, now, cx);
                self.queue.close_now(self.final_close_frame(), Some(error));
                return;
            }
            // The peer cannot be reached, so no close frame is sent.
            WebSocketError::NoPong(_) | WebSocketError::Reset | WebSocketError::Io(_) => {
                self.queue.close_now(self.final_close_frame(), Some(error));
                self.phase = Phase::Done;
                return;
            }
            _ => {}
        }
        // Unwritten messages would delay the close frame. A partly written message stays before it.
        self.batch.clear();
        self.queue.close_now(frame.clone(), Some(error));
        let closing = self.codec.poll_close(&frame, cx);
        self.local_close_frame = Some(frame);
        self.phase = match closing {
            Poll::Ready(Err(_)) => Phase::ShuttingDown(now + SHUTDOWN_TIMEOUT),
            _ => Phase::Lingering {
                until: now + self.limits.close_timeout,
                remaining: MAX_DISCARDED_BYTES,
                is_flushed: false,
                is_shut_down: false,
            },
        };
    }

    /// The close frame of this side, or an abnormal closure if it has sent none.
    fn final_close_frame(&self) -> CloseFrame {
        let abnormal = || CloseFrame::new(CloseCode::ABNORMAL_CLOSURE, "");
        self.local_close_frame.clone().unwrap_or_else(abnormal)
    }

    pub(super) fn poll_closing(
        &mut self,
        now: Instant,
        until: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
        let mut ended = now >= until;
        // A write error also appears as a read error.
        let _ = self.codec.poll_flush(cx);
        let mut events = 0;
        while !ended {
            if events == MAX_READ_EVENTS {
                cx.waker().wake_by_ref();
                break;
            }
            events += 1;
            match self.codec.poll_next(cx) {
                Poll::Pending => break,
                // Messages are dropped if the application does not take them, because reading must go on to find the
                // close frame.
                Poll::Ready(Ok(Event::Message(message))) => {
                    if self.queue.can_receive() {
                        self.received.push(message);
                        self.queue.push_inbound(&mut self.received, 0, cx);
                    }
                }
                Poll::Ready(Ok(Event::Ping | Event::Pong)) => {}
                Poll::Ready(Ok(Event::Close(_))) => {
                    self.queue.close_now(self.final_close_frame(), None);
                }
                Poll::Ready(Err(_)) => ended = true,
            }
        }
        if ended {
            self.queue.close_now(self.final_close_frame(), None);
            self.phase = Phase::ShuttingDown(now + SHUTDOWN_TIMEOUT);
        }
        ended
    }

    pub(super) fn poll_lingering(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let Phase::Lingering {
            until,
            remaining,
            is_flushed,
            is_shut_down,
        } = &mut self.phase
        else {
            return true;
        };
        if !*is_flushed {
            *is_flushed = self.codec.poll_flush(cx).is_ready();
        }
        if *is_flushed && !*is_shut_down {
            *is_shut_down = self.codec.poll_shutdown(cx).is_ready();
        }
        let mut ended = now >= *until;
        while !ended {
            match self.codec.poll_discard(cx) {
                Poll::Pending => break,
                Poll::Ready(Ok(count)) if count > 0 && count < *remaining => *remaining -= count,
                // The stream has ended, or the peer has sent too much. Unflushed data is dropped.
                Poll::Ready(_) => ended = true,
            }
        }
        if ended {
            self.phase = Phase::Done;
        }
        ended
    }
}
