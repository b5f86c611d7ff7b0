//! Decoding of large bodies on a pool of threads.
//!
//! A body of 16 MiB takes up to two seconds to decode. On the thread of its connection all other
//! connections of that thread would wait for it. So large bodies are decompressed and decoded on
//! threads of tokio's blocking pool, as many at a time as there are processors. That bounds what
//! the operating system has to share out between them and connections, and how much decoded data
//! has not been counted yet: it is counted against the server's memory when it is there
//! (`InputMemory`).

use std::cell::RefCell;
use std::sync::Arc;

use http::{HeaderMap, header};
use polywire_protocol::{Fault, InputMemory};

use super::memory::{FREE, Memory, MemoryReservation};
use super::{Deadline, Engine, catch_panic};
use crate::blocking::BlockingPool;

/// Longer bodies are large. They take a millisecond or more.
const LARGE: usize = FREE;
/// The same of bodies that come compressed, to at most a thousandth of their size.
const LARGE_COMPRESSED: usize = 1024;

/// How many large bodies wait for their turn. Further ones are shed.
const QUEUE: usize = 1_000;

/// The decoded inputs of shorter bodies are not counted against the server's memory, since that
/// takes a walk over them.
pub(crate) const COUNTED_FROM: usize = 8 * 1024;

/// Whether the body of an HTTP request is decoded on the pool.
pub(crate) fn is_large_body(headers: &HeaderMap, body: &[u8]) -> bool {
    is_large(body)
        || body.len() > LARGE_COMPRESSED && headers.contains_key(header::CONTENT_ENCODING)
}

/// Whether bytes are decoded on the pool. They are not compressed, or have been decompressed.
pub(crate) const fn is_large(bytes: &[u8]) -> bool {
    bytes.len() > LARGE
}

/// The pool in which a server decodes.
pub(crate) fn pool() -> BlockingPool {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    BlockingPool::new(processors, QUEUE)
}

/// Decodes on a thread of the pool. Waiting and decoding together end at the deadline. What has begun runs to its end,
/// even if this future is dropped.
///
/// # Errors
///
/// That of `decode`; too many bodies wait; it took too long. No handler was called.
pub(crate) async fn decode_on_pool<T, F>(
    engine: Arc<Engine>,
    deadline: Deadline,
    decode: F,
) -> Result<T, Fault>
where
    T: Send + 'static,
    F: FnOnce(&Arc<Engine>) -> Result<T, Fault> + Send + 'static,
{
    let span = tracing::Span::current();
    let own = Arc::clone(&engine);
    let decoded = engine
        .decoding
        .run(move || span.in_scope(|| catch_panic(|| decode(&own))));
    let decoded = deadline.limit(async { decoded.await.flatten() }).await;
    decoded.map_err(Fault::before_handler)
}

/// The memory of one call's decoded input, taken from the server's until this is dropped.
#[derive(Debug)]
pub(crate) struct InputReservation(RefCell<MemoryReservation>);

impl InputReservation {
    pub(crate) const fn new(memory: Arc<Memory>) -> Self {
        Self(RefCell::new(MemoryReservation::nothing(memory)))
    }

    /// What was taken, if anything was.
    pub(crate) fn into_held(self) -> Option<MemoryReservation> {
        let held = self.0.into_inner();
        (!held.is_empty()).then_some(held)
    }
}

impl InputMemory for InputReservation {
    fn take(&self, bytes: usize) -> Result<(), Fault> {
        let mut held = self.0.borrow_mut();
        if held.grow(bytes) {
            return Ok(());
        }
        Err(held.refuse(bytes).before_handler())
    }
}
