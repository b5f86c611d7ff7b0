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
    /// The calls of each address: one reference for each, and one here.
    callers: HashMap<Option<SocketAddr>, Arc<()>>,
    /// At this number of addresses, those without calls are removed.
    tidy_at: usize,
}

/// Minimum of `tidy_at`.
const LEAST: usize = 16;

impl OneWays {
    /// Whether a caller that may have `most` calls may start a further one.
    pub(super) fn has_room(&self, caller: Option<SocketAddr>, most: usize) -> bool {
        self.callers
            .get(&caller)
            .is_none_or(|count| Arc::strong_count(count) <= most)
    }

    /// Runs a call.
    pub(super) fn spawn(
        &mut self,
        caller: Option<SocketAddr>,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        self.forget();
        if self.callers.len() >= self.tidy_at.max(LEAST) {
            self.callers.retain(|_, count| Arc::strong_count(count) > 1);
            self.tidy_at = 2 * self.callers.len();
        }
        let count = Arc::clone(self.callers.entry(caller).or_default());
        self.tasks.spawn(async move {
            work.await;
            drop(count);
        });
    }

    /// Whether none is in progress.
    pub(super) fn is_empty(&mut self) -> bool {
        self.forget();
        self.tasks.is_empty()
    }

    /// Waits until all have ended.
    pub(super) async fn ended(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    fn forget(&mut self) {
        while self.tasks.try_join_next().is_some() {}
    }
}
