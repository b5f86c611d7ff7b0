//! `Expect: 100-continue`: a body that waits until the server wants it (RFC 9110, section 10.1.1).

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use polywire_schema::{ByteStream, StreamError, StreamErrorKind};
use tokio::time::Sleep;

/// How long a body waits. Servers may not know `Expect`.
const PATIENCE: Duration = Duration::from_secs(1);

/// Opens or closes the way of one body. Clones are the same gate.
#[derive(Clone)]
pub(crate) struct Gate(Arc<Mutex<State>>);

struct State {
    position: Position,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Position {
    /// The body waits, at most as long as [`PATIENCE`].
    Waiting,
    /// The body is sent.
    Open,
    /// There is a response that makes the body useless. The body waits for [`Gate::close`].
    Rejected,
    /// The body ends with an error, and so does its connection.
    Closed,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            position: Position::Waiting,
            waker: None,
        })))
    }

    /// Returns the stream, which cannot be read before the gate opens.
    pub(crate) fn guard(&self, stream: ByteStream) -> ByteStream {
        let len = stream.len();
        let guarded = GuardedStream {
            stream,
            gate: self.clone(),
            timer: None,
        };
        match len {
            Some(len) => ByteStream::with_len(guarded, len),
            None => ByteStream::new(guarded),
        }
    }

    /// The server wants the body.
    pub(crate) fn open(&self) {
        self.change(Position::Waiting, Position::Open);
    }

    /// The head of a response with an error has come. If the body was not begun, it will not be sent.
    pub(crate) fn reject(&self) {
        self.change(Position::Waiting, Position::Rejected);
    }

    /// The response of [`reject`](Self::reject) has been read.
    pub(crate) fn close(&self) {
        self.change(Position::Rejected, Position::Closed);
    }

    fn change(&self, from: Position, to: Position) {
        let waker = {
            let mut state = self.state();
            if state.position != from {
                return;
            }
            state.position = to;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(&self, context: &Context<'_>) -> Position {
        let mut state = self.state();
        state.waker = Some(context.waker().clone());
        state.position
    }
}

struct GuardedStream {
    stream: ByteStream,
    gate: Gate,
    /// Starts when the body is asked for first, which is after the head was written.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stream for GuardedStream {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        let own = &mut *self;
        loop {
            match own.gate.poll(context) {
                Position::Open => return Pin::new(&mut own.stream).poll_next(context),
                Position::Rejected => return Poll::Pending,
                Position::Closed => {
                    let reason = "the server answered before it wanted the body";
                    let error = StreamError::new(StreamErrorKind::Interrupted).with_source(reason);
                    return Poll::Ready(Some(Err(error)));
                }
                Position::Waiting => {
                    let timer = || Box::pin(tokio::time::sleep(PATIENCE));
                    let timer = own.timer.get_or_insert_with(timer);
                    if timer.as_mut().poll(context).is_pending() {
                        return Poll::Pending;
                    }
                    own.gate.open();
                }
            }
        }
    }
}
