//! Calls without a reply.

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinSet;

/// The calls without a reply of a connection, or of all clients of a socket.
///
/// They cannot be cancelled, and run to their end also after their connection has ended. Dropping this aborts them.
#[derive(Debug, Default)]
pub(super) struct OneWays {
    tasks: JoinSet<()>,
    /// A reference count per address: one for each call, and one here.
    callers: HashMap<Option<SocketAddr>, Arc<()>>,
    /// The number of addresses at which those without calls are removed.
    cleanup_at: usize,
}

/// The minimum of `cleanup_at`.
const MIN_CLEANUP: usize = 16;

impl OneWays {
    /// Whether a caller has fewer than `max` calls in progress.
    pub(super) fn has_room(&self, caller: Option<SocketAddr>, max: usize) -> bool {
        self.callers
            .get(&caller)
            .is_none_or(|count| Arc::strong_count(count) <= max)
    }

    /// Runs a call.
    pub(super) fn spawn(
        &mut self,
        caller: Option<SocketAddr>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.reap();
        if self.callers.len() >= self.cleanup_at.max(MIN_CLEANUP) {
            self.callers.retain(|_, count| Arc::strong_count(count) > 1);
            self.cleanup_at = 2 * self.callers.len();
        }
        let count = Arc::clone(self.callers.entry(caller).or_default());
        self.tasks.spawn(async move {
            work.await;
            drop(count);
        });
    }

    /// Whether none is in progress.
    pub(super) fn is_empty(&mut self) -> bool {
        self.reap();
        self.tasks.is_empty()
    }

    /// Waits until all have ended.
    pub(super) async fn ended(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Removes completed tasks.
    fn reap(&mut self) {
        while self.tasks.try_join_next().is_some() {}
    }
}
