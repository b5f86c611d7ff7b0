//! Handlers of calls that nobody waits for.

use std::collections::HashMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinSet;

/// Those of a connection, or of all clients of a socket.
///
/// Nobody takes such a call back: it runs to its end, also when its connection has gone. When this is dropped they
/// are cut off, as when the server has no more time to stop.
#[derive(Debug, Default)]
pub(super) struct OneWays {
    tasks: JoinSet<()>,
    /// By where their callers are: as many counts as handlers are at work, and this one.
    callers: HashMap<Option<SocketAddr>, Arc<()>>,
    /// How many callers there may be until it is looked which have nothing at work any more.
    tidy_at: usize,
}

/// Callers for whom nothing is tidied.
const LEAST: usize = 16;

impl OneWays {
    /// Whether one more may begin for a caller who may have so many.
    pub(super) fn has_room(&self, caller: Option<SocketAddr>, most: usize) -> bool {
        self.callers
            .get(&caller)
            .is_none_or(|count| Arc::strong_count(count) <= most)
    }

    /// Runs one.
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

    /// Whether none is at work.
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
