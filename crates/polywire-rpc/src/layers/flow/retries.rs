//! Further tries, under a budget.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use polywire_frame::flow::{Backoff, RetryBudget};
use tokio::time::{Sleep, sleep};
use tower::retry::Policy;

use super::chance;
use crate::frames::Clock;

/// A policy of [`tower::retry`] that tries again what a function says may be, with waits that grow and
/// have chance in them, under a budget for all calls together: a share of the calls of the last ten
/// seconds, and so many a second besides. Without one each layer that retries multiplies the load of a
/// service that is down already.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use polywire_rpc::layers::flow::Retries;
/// use tower::{Service, ServiceBuilder, ServiceExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), &'static str> {
/// // Only what reads, and only while the service is busy.
/// let may = |request: &&str, result: &Result<u32, &'static str>| {
///     request.starts_with("GET") && matches!(result, Err("busy"))
/// };
/// let asked = Arc::new(AtomicU32::new(0));
/// let mut service = ServiceBuilder::new()
///     .retry(Retries::new(3, may))
///     .service_fn(move |_: &'static str| {
///         let answer = match asked.fetch_add(1, Ordering::Relaxed) {
///             0 | 1 => Err("busy"),
///             number => Ok(number),
///         };
///         async move { answer }
///     });
/// assert_eq!(service.ready().await?.call("GET /").await, Ok(2));
/// # Ok(()) }
/// ```
pub struct Retries<F> {
    clock: Clock,
    budget: Arc<Mutex<RetryBudget>>,
    backoff: Backoff,
    most: u32,
    may: Arc<F>,
    /// Of this call; of the policy itself none.
    tries: u32,
}

impl<F> Retries<F> {
    /// So many further tries of a call, where `may` says of a request and its result that another try is
    /// safe and may help. The budget is 20% and 10 a second, and the waits are from 10 ms to 1 s.
    #[must_use]
    pub fn new(most: u32, may: F) -> Self {
        Self {
            clock: Clock::new(),
            budget: Arc::default(),
            backoff: Backoff::DEFAULT,
            most,
            may: Arc::new(may),
            tries: 0,
        }
    }

    /// Sets the budget: a share of the calls of the last ten seconds, from 0 to 1, and tries a second
    /// besides.
    #[must_use]
    pub fn with_budget(mut self, share: f64, per_second: f64) -> Self {
        self.budget = Arc::new(Mutex::new(RetryBudget::new(share, per_second)));
        self
    }

    /// Sets the waits: from `first`, twice as long each time, up to `most`, and a random part of that, at
    /// least half.
    #[must_use]
    pub const fn with_backoff(mut self, first: Duration, most: Duration) -> Self {
        self.backoff = Backoff::new(first, most);
        self
    }

    fn budget(&self) -> MutexGuard<'_, RetryBudget> {
        self.budget.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Request, Response, Error, F> Policy<Request, Response, Error> for Retries<F>
where
    Request: Clone,
    F: Fn(&Request, &Result<Response, Error>) -> bool,
{
    type Future = Sleep;

    fn retry(
        &mut self,
        request: &mut Request,
        result: &mut Result<Response, Error>,
    ) -> Option<Sleep> {
        if self.tries >= self.most || !(self.may)(request, result) {
            return None;
        }
        let now = self.clock.now();
        if !self.budget().withdraw(now) {
            return None;
        }
        self.tries += 1;
        Some(sleep(self.backoff.wait(self.tries, chance())))
    }

    fn clone_request(&mut self, request: &Request) -> Option<Request> {
        // Each call begins with this, and so does each further try.
        if self.tries == 0 {
            let now = self.clock.now();
            self.budget().called(now);
        }
        Some(request.clone())
    }
}

impl<F> Clone for Retries<F> {
    fn clone(&self) -> Self {
        Self {
            budget: Arc::clone(&self.budget),
            may: Arc::clone(&self.may),
            ..*self
        }
    }
}

impl<F> fmt::Debug for Retries<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retries")
            .field("most", &self.most)
            .field("tries", &self.tries)
            .finish_non_exhaustive()
    }
}
