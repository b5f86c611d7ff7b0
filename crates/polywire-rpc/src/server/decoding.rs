//! Decoding of large bodies, apart from the threads of connections.
//!
//! A body of 16 MiB takes up to two seconds to decode. On the thread of its connection all other
//! connections of that thread would wait for it. So large bodies are decompressed and decoded on
//! threads of tokio's blocking pool, as many at a time as there are processors. That bounds what
//! the operating system has to share out between them and connections, and how much decoded data
//! has not been counted yet: it is counted against the server's memory when it is there
//! (`InputMemory`).

use std::cell::RefCell;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, header};
use polywire_protocol::{Fault, InputMemory};
use tokio::sync::Semaphore;

use super::memory::{FREE, Held, Memory};

/// Longer bodies are large. They take a millisecond or more.
const LARGE: usize = FREE;
/// The same of bodies that come compressed, to at most a thousandth of their size.
const LARGE_COMPRESSED: usize = 1024;

/// The decoded inputs of shorter bodies are not counted against the server's memory, since that
/// takes a walk over them. They take at most 64 times as much: 512 KiB.
pub(super) const COUNTED_FROM: usize = 8 * 1024;

/// Whether a body is decoded apart from its connection.
pub(super) fn is_large(headers: &HeaderMap, body: &Bytes) -> bool {
    body.len() > LARGE
        || body.len() > LARGE_COMPRESSED && headers.contains_key(header::CONTENT_ENCODING)
}

/// Whether the payload of a frame is decoded apart from its connection. It has been decompressed.
pub(super) const fn is_large_payload(payload: &[u8]) -> bool {
    payload.len() > LARGE
}

/// The places for decoding large bodies.
#[derive(Clone, Debug)]
pub(super) struct DecodePool(Arc<Semaphore>);

impl DecodePool {
    pub(super) fn new() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new(processors)))
    }

    /// Runs a function on a thread of the blocking pool, when there is a place. It runs to its end
    /// even if this future is dropped.
    pub(super) async fn run<T, F>(self, function: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let stopping = || Fault::internal("the runtime is shutting down");
        let place = self.0.acquire_owned().await;
        let place = place.map_err(|_closed| stopping())?;
        let span = tracing::Span::current();
        let task = tokio::task::spawn_blocking(move || {
            let _place = place;
            span.in_scope(function)
        });
        task.await.map_err(|_cancelled| stopping())
    }
}

/// The memory of one call's decoded input, taken from the server's until this is dropped.
#[derive(Debug)]
pub(super) struct Decoded(RefCell<Held>);

impl Decoded {
    pub(super) const fn new(memory: Arc<Memory>) -> Self {
        Self(RefCell::new(Held::nothing(memory)))
    }

    pub(super) fn into_held(self) -> Held {
        self.0.into_inner()
    }
}

impl InputMemory for Decoded {
    fn take(&self, bytes: usize) -> Result<(), Fault> {
        // What each request may bring without taking any.
        match self.0.borrow_mut().grow(bytes) {
            true => Ok(()),
            false => Err(super::body::overloaded()),
        }
    }
}
