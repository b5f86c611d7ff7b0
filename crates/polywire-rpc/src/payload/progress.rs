//! The timeout of a request whose body is a stream: it starts again each time that the transport reads a piece.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use polywire_schema::{ByteStream, StreamError};
use tokio::time::Instant;

use crate::call::CallTimeout;

/// The longest wait. A clock cannot represent every `Duration`.
const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// When a stream was last read, and its error.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<State>>);

struct State {
    last: Instant,
    error: Option<StreamError>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let last = Instant::now();
        Self(Arc::new(Mutex::new(State { last, error: None })))
    }

    /// Returns the stream, which records each time that it is read.
    pub(crate) fn watch(&self, stream: ByteStream) -> ByteStream {
        let len = stream.len();
        let watched = WatchedStream {
            stream,
            progress: self.clone(),
        };
        match len {
            Some(len) => ByteStream::with_len(watched, len),
            None => ByteStream::new(watched),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last(&self) -> Instant {
        self.state().last
    }

    /// The error that ended the stream. hyper's error does not contain it in HTTP/2.
    pub(crate) fn error(&self) -> Option<StreamError> {
        self.state().error.clone()
    }

    /// Awaits the future. Returns `None` if the stream has not been read for the duration of the timeout.
    pub(crate) async fn timeout<F: Future + Unpin>(
        &self,
        timeout: CallTimeout,
        mut future: F,
    ) -> Option<F::Output> {
        loop {
            let total = timeout.total().min(YEAR);
            let end = self.last() + total;
            match tokio::time::timeout_at(end, &mut future).await {
                Ok(output) => return Some(output),
                Err(_) if self.last() + total <= end => return None,
                Err(_) => {}
            }
        }
    }
}

struct WatchedStream {
    stream: ByteStream,
    progress: Progress,
}

impl Stream for WatchedStream {
    type Item = Result<Bytes, StreamError>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, StreamError>>> {
        let piece = Pin::new(&mut self.stream).poll_next(context);
        if let Poll::Ready(piece) = &piece {
            let mut state = self.progress.state();
            state.last = Instant::now();
            if let Some(Err(error)) = piece {
                state.error = Some(error.clone());
            }
        }
        piece
    }
}
