//! Handlers that block: on files, on locks, on the processor.
//!
//! A server answers its calls on a few threads. A handler that does not give its
//! thread back holds up all other calls that have it, however small they are. A
//! [`BlockingPool`] runs such work on threads of its own, of which there are not
//! more than it is told, and has no more of it wait than it is told.
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

/// Threads for work that blocks. Clones are one pool.
///
/// The threads are those of tokio's runtime for such work, of which it has 512 where
/// nothing else is said; they are made when they are needed and end when they are
/// not.
#[derive(Clone, Debug)]
pub struct BlockingPool {
    /// Places of work that is there, running or waiting.
    places: Arc<Semaphore>,
    /// Places of work that runs.
    threads: Arc<Semaphore>,
}

impl Default for BlockingPool {
    /// 64 threads, and 1,000 pieces of work that wait.
    fn default() -> Self {
        Self::new(64, 1_000)
    }
}

impl BlockingPool {
    /// A pool of so many threads, in which so many pieces of work wait at most while
    /// all of them are at work. There is at least one thread.
    #[must_use]
    pub fn new(threads: usize, queue: usize) -> Self {
        let threads = threads.clamp(1, Semaphore::MAX_PERMITS / 2);
        let queue = queue.min(Semaphore::MAX_PERMITS / 2);
        Self {
            places: Arc::new(Semaphore::new(threads + queue)),
            threads: Arc::new(Semaphore::new(threads)),
        }
    }

    /// Runs work on a thread of the pool.
    ///
    /// Work that has begun cannot be stopped: if nobody waits for it any more, as when
    /// a call has taken too long, it runs to its end and keeps its thread until then.
    /// Work that has not begun is forgotten.
    ///
    /// # Errors
    ///
    /// As much waits as may wait: [`FaultKind::Overloaded`], at once.
    ///
    /// # Panics
    ///
    /// If the work does; in a handler that is an internal fault.
    pub fn run<T, W>(&self, work: W) -> impl Future<Output = Result<T, Fault>> + Send + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let threads = Arc::clone(&self.threads);
        async move {
            let full = |_| Rejection::PoolFull.fault();
            let place = place.map_err(full)?;
            // Never closed.
            let thread = threads
                .acquire_owned()
                .await
                .map_err(|_| Rejection::PoolFull.fault())?;
            let work = tokio::task::spawn_blocking(move || {
                // Held by the work, and not by who waits for it.
                let _held = (place, thread);
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

    /// A handler over [`Map`]s, as [`dynamic`] makes it, of a function that blocks.
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

    /// A handler over types, as [`typed`] makes it, of a function that blocks.
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
