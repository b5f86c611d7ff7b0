//! Reading a body piece by piece.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http_body::Body;
use polywire_schema::{ByteStream, StreamError, StreamErrorKind};
use tokio::time::{Instant, Sleep};

use crate::call::Deadline;

/// The limits of a body that is read piece by piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveLimits {
    /// The longest time without a piece. Time in which the reader does not poll does not count.
    pub(crate) idle: Duration,
    /// When the whole body must have arrived.
    pub(crate) deadline: Deadline,
    /// The maximum number of bytes.
    pub(crate) bytes: u64,
}

/// A body as the source of a [`ByteStream`].
pub(crate) struct IncomingStream<B> {
    body: B,
    limits: ReceiveLimits,
    received: u64,
    /// When the reader started to wait for the next piece.
    waiting_since: Option<Instant>,
    /// Created when the reader first waits for a piece. It is not reset for each piece, which would cost time. If it ends
    /// before the wait is too long, it is set again.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<B> IncomingStream<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<StreamError>,
{
    /// The stream of a body. Its length is that of the body, if that is known.
    pub(crate) fn stream(body: B, limits: ReceiveLimits) -> ByteStream {
        let len = body.size_hint().exact();
        let source = Self {
            body,
            limits,
            received: 0,
            waiting_since: None,
            timer: None,
        };
        match len {
            Some(len) => ByteStream::with_len(source, len),
            None => ByteStream::new(source),
        }
    }

    fn add(&mut self, piece: Bytes) -> Result<Bytes, StreamError> {
        self.received += piece.len() as u64;
        if self.received > self.limits.bytes {
            let message = format!("the body is longer than {} bytes", self.limits.bytes);
            return Err(StreamError::new(StreamErrorKind::TooLarge).with_source(message));
        }
        Ok(piece)
    }

    /// Polls the timer. Ready with an error if the deadline or the longest pause has passed.
    fn poll_timer(&mut self, context: &mut Context<'_>) -> Poll<StreamError> {
        let now = Instant::now();
        let since = *self.waiting_since.get_or_insert(now);
        let idle_end = since + self.limits.idle;
        let end = match self.limits.deadline.instant() {
            Some(deadline) => idle_end.min(deadline),
            None => idle_end,
        };
        loop {
            if Instant::now() >= end {
                let message = match end < idle_end {
                    true => "the body did not arrive before its deadline".to_owned(),
                    false => format!(
                        "no bytes arrived within {} s",
                        self.limits.idle.as_secs_f64()
                    ),
                };
                return Poll::Ready(
                    StreamError::new(StreamErrorKind::TimedOut).with_source(message),
                );
            }
            let timer = self
                .timer
                .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
            if timer.deadline() > end {
                timer.as_mut().reset(end);
            }
            // Without tokio's coop budget: a body that exhausts it at each poll would never time out.
            match pin!(tokio::task::unconstrained(timer.as_mut())).poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(()) => timer.as_mut().reset(end),
            }
        }
    }
}

impl<B> Stream for IncomingStream<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<StreamError>,
{
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        let own = &mut *self;
        loop {
            match Pin::new(&mut own.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => {
                    own.waiting_since = None;
                    // Trailers have no meaning in any protocol.
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Some(own.add(piece)));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return own.poll_timer(context).map(|error| Some(Err(error))),
            }
        }
    }
}
