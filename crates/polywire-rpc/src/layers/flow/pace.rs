//! So many calls a second.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use polywire_frame::flow::TokenBucket;
use tokio::time::{Sleep, sleep};
use tower::{Layer, Service};

use crate::frames::Clock;

/// A layer that lets so many calls begin a second in the long run, and so many at once after a pause.
/// Each call has a time of its own, for which it waits in [`poll_ready`](Service::poll_ready); a service
/// that is dropped while it waits leaves its time unused.
///
/// ```
/// use std::convert::Infallible;
/// use polywire_rpc::layers::flow::Pace;
/// use tower::{Service, ServiceBuilder, ServiceExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Infallible> {
/// let mut service = ServiceBuilder::new()
///     .layer(Pace::new(1_000.0, 50))
///     .service_fn(|number: u32| async move { Ok::<_, Infallible>(number + 1) });
/// assert_eq!(service.ready().await?.call(4).await?, 5);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Pace {
    clock: Clock,
    bucket: Arc<Mutex<TokenBucket>>,
}

impl Pace {
    /// So many a second, and up to `burst` at once, at least one; with one they are even.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        Self {
            clock: Clock::new(),
            bucket: Arc::new(Mutex::new(TokenBucket::new(per_second, burst))),
        }
    }

    /// How long the next has to wait for its time, which is its own from now on.
    fn book(&self) -> Duration {
        let now = self.clock.now();
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        bucket.book(now, Duration::MAX).unwrap_or_default()
    }
}

impl<S> Layer<S> for Pace {
    type Service = Paced<S>;

    fn layer(&self, inner: S) -> Paced<S> {
        Paced {
            inner,
            pace: self.clone(),
            turn: Turn::None,
        }
    }
}

/// A service behind a [`Pace`].
#[derive(Debug)]
pub struct Paced<S> {
    inner: S,
    pace: Pace,
    turn: Turn,
}

/// The time of the next call.
#[derive(Debug)]
enum Turn {
    None,
    Later(Pin<Box<Sleep>>),
    Now,
}

impl<S, Request> Service<Request> for Paced<S>
where
    S: Service<Request>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        loop {
            self.turn = match &mut self.turn {
                Turn::Now => return self.inner.poll_ready(context),
                Turn::None => match self.pace.book() {
                    Duration::ZERO => Turn::Now,
                    wait => Turn::Later(Box::pin(sleep(wait))),
                },
                Turn::Later(sleep) => {
                    ready!(sleep.as_mut().poll(context));
                    Turn::Now
                }
            };
        }
    }

    fn call(&mut self, request: Request) -> S::Future {
        self.turn = Turn::None;
        self.inner.call(request)
    }
}

impl<S: Clone> Clone for Paced<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            pace: self.pace.clone(),
            turn: Turn::None,
        }
    }
}
