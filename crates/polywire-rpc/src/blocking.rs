//! Handlers that block, on files, locks or long computations.
//!
//! A server runs all calls on a few threads. A handler that blocks its thread delays all other calls on this thread. A
//! [`BlockingPool`] runs blocking work on separate threads. It limits the number of threads and of queued work.
//!
//! ```
//! use polywire_rpc::{ServerBuilder, blocking::BlockingPool};
//! use polywire_schema::{Map, Value};
//!
//! fn handle(builder: ServerBuilder) -> ServerBuilder {
//!     let pool = BlockingPool::new(8, 100);
//!     builder.operation("Read", pool.dynamic(|input: Map, _| {
//!         let path = input.get("path").and_then(Value::as_str).unwrap_or("");
//!         let text = std::fs::read_to_string(path).map_err(polywire_protocol::Fault::internal)?;
//!         Ok(Map::from_iter([("text", text)]))
//!     }))
//! }
//! ```

use std::future::Future;
use std::sync::Arc;

use polywire_protocol::Fault;
use polywire_schema::{DecodeStructure, Encode, Map};
use tokio::sync::Semaphore;

use crate::call::admission::Rejection;
use crate::{Context, Handler, IntoOutput, dynamic, typed};

/// Limits blocking work. Clones share the limits.
///
/// The work runs on the blocking threads of the tokio runtime ([`tokio::task::spawn_blocking`]), of which there are at most
/// 512 by default. They are started when needed and end when idle.
#[derive(Clone, Debug)]
pub struct BlockingPool {
    /// Permits for running and queued work.
    slots: Arc<Semaphore>,
    /// Permits for running work.
    threads: Arc<Semaphore>,
}

impl Default for BlockingPool {
    /// 64 threads, and a queue of 1,000.
    fn default() -> Self {
        Self::new(64, 1_000)
    }
}

impl BlockingPool {
    /// Creates a pool with a maximum number of threads, at least 1, and a maximum number of queued pieces of work.
    #[must_use]
    pub fn new(threads: usize, queue: usize) -> Self {
        let threads = threads.clamp(1, Semaphore::MAX_PERMITS / 2);
        let queue = queue.min(Semaphore::MAX_PERMITS / 2);
        Self {
            slots: Arc::new(Semaphore::new(threads + queue)),
            threads: Arc::new(Semaphore::new(threads)),
        }
    }

    /// Runs work on a thread of the pool.
    ///
    /// If the returned future is dropped, for example because the deadline of a call is exceeded, queued work is not
    /// started. Work that has started cannot be stopped: it continues to its end on its thread.
    ///
    /// # Errors
    ///
    /// [`FaultKind::Overloaded`](polywire_protocol::FaultKind::Overloaded), without waiting, if the queue is full.
    ///
    /// # Panics
    ///
    /// If the work panics. In a handler this is an internal fault.
    pub fn run<T, W>(&self, work: W) -> impl Future<Output = Result<T, Fault>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        let slot = Arc::clone(&self.slots).try_acquire_owned();
        let threads = Arc::clone(&self.threads);
        async move {
            let full = |_| Rejection::PoolFull.fault();
            let slot = slot.map_err(full)?;
            // The semaphore is never closed.
            let thread = threads
                .acquire_owned()
                .await
                .map_err(|_| Rejection::PoolFull.fault())?;
            let work = tokio::task::spawn_blocking(move || {
                // Released when the work ends, not when the future is dropped.
                let _permits = (slot, thread);
                work()
            });
            match work.await {
                Ok(output) => Ok(output),
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    // The runtime is being shut down.
                    Err(error) => Err(Fault::internal(error)),
                },
            }
        }
    }

    /// Creates a handler from a blocking function. See [`dynamic`].
    pub fn dynamic<F, O>(&self, function: F) -> impl Handler + use<F, O>
    where
        F: Fn(Map, Context) -> Result<O, Fault> + Send + Sync + 'static,
        O: IntoOutput + 'static,
    {
        let pool = self.clone();
        let function = Arc::new(function);
        dynamic(move |input: Map, context| {
            let function = Arc::clone(&function);
            let work = pool.run(move || function(input, context).map(O::into_output));
            async move { work.await? }
        })
    }

    /// Creates a handler from a blocking function. See [`typed`].
    pub fn typed<I, O, F>(&self, function: F) -> impl Handler + use<I, O, F>
    where
        I: for<'de> DecodeStructure<'de> + Encode + Send + 'static,
        O: Encode + Send + 'static,
        F: Fn(I, Context) -> Result<O, Fault> + Send + Sync + 'static,
    {
        let pool = self.clone();
        let function = Arc::new(function);
        typed(move |input: I, context| {
            let function = Arc::clone(&function);
            let work = pool.run(move || function(input, context));
            async move { work.await? }
        })
    }
}
