//! As many calls at once as a service can do.

use std::fmt;
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use polywire_frame::Time;
use polywire_frame::flow::{AdaptiveLimit, Sample};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tower::{Layer, Service};

use super::chance;
use crate::frames::Clock;

/// A layer that lets as many calls be at work as the service behind it can do: the number goes up while
/// answers come as fast as the fastest of the last minute, and down when they take longer than twice
/// that, or when calls are refused or late. Further calls wait in [`poll_ready`](Service::poll_ready), in
/// their order.
///
/// What a call says of the service is for a function to judge, which is given its result and how long
/// it took.
///
/// ```
/// use std::time::Duration;
/// use polywire_rpc::layers::flow::{AdaptiveConcurrency, Sample};
/// use tower::{Service, ServiceBuilder, ServiceExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), &'static str> {
/// let judge = |result: &Result<u32, &'static str>, took: Duration| match result {
///     Ok(_) => Sample::Answered(took),
///     Err("busy") => Sample::Refused,
///     Err(_) => Sample::Nothing,
/// };
/// let limit = AdaptiveConcurrency::new(10..=1_000, judge);
/// let mut service = ServiceBuilder::new()
///     .layer(limit.clone())
///     .service_fn(|number: u32| async move { Ok(number + 1) });
/// assert_eq!(service.ready().await?.call(4).await?, 5);
/// assert!((10..=1_000).contains(&limit.current()));
/// # Ok(()) }
/// ```
pub struct AdaptiveConcurrency<J> {
    shared: Arc<Shared>,
    judge: Arc<J>,
}

struct Shared {
    clock: Clock,
    /// As many permits as calls may be at work, but for those that are.
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    limit: AdaptiveLimit,
    /// How many permits there are, those of calls at work included.
    allowed: usize,
    /// Permits that are to be taken away when their calls end.
    owed: usize,
    at_work: u32,
}

impl<J> AdaptiveConcurrency<J> {
    /// Between so many calls at once; if both numbers are the same the limit is fixed.
    #[must_use]
    pub fn new(calls: RangeInclusive<u32>, judge: J) -> Self {
        let limit = AdaptiveLimit::new(*calls.start(), *calls.end());
        let allowed = limit.current() as usize;
        Self {
            shared: Arc::new(Shared {
                clock: Clock::new(),
                permits: Arc::new(Semaphore::new(allowed)),
                state: Mutex::new(State {
                    limit,
                    allowed,
                    owed: 0,
                    at_work: 0,
                }),
            }),
            judge: Arc::new(judge),
        }
    }

    /// How many calls may be at work now.
    #[must_use]
    pub fn current(&self) -> u32 {
        self.shared.state().limit.current()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> Time {
        let mut state = self.state();
        let at_work = state.at_work;
        state.limit.started(at_work);
        state.at_work += 1;
        drop(state);
        self.clock.now()
    }

    fn end(&self, permit: Option<OwnedSemaphorePermit>, sample: Sample) {
        let now = self.clock.now();
        let mut state = self.state();
        state.at_work -= 1;
        state.limit.ended(now, sample, chance());
        let allowed = state.limit.current() as usize;
        let before = std::mem::replace(&mut state.allowed, allowed);
        if allowed >= before {
            let paid = state.owed.min(allowed - before);
            state.owed -= paid;
            self.permits.add_permits(allowed - before - paid);
        } else {
            state.owed += before - allowed - self.permits.forget_permits(before - allowed);
        }
        if let Some(permit) = permit
            && state.owed > 0
        {
            state.owed -= 1;
            permit.forget();
        }
    }
}

impl<S, J> Layer<S> for AdaptiveConcurrency<J> {
    type Service = Concurrent<S, J>;

    fn layer(&self, inner: S) -> Concurrent<S, J> {
        Concurrent {
            inner,
            limit: self.clone(),
            place: Place::None,
        }
    }
}

/// A service behind an [`AdaptiveConcurrency`].
#[derive(Debug)]
pub struct Concurrent<S, J> {
    inner: S,
    limit: AdaptiveConcurrency<J>,
    place: Place,
}

type Acquiring = dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send + Sync;

/// What the next call has.
enum Place {
    None,
    Waits(Pin<Box<Acquiring>>),
    Has(OwnedSemaphorePermit),
}

impl<S, J> Concurrent<S, J> {
    fn poll_place(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            self.place = match &mut self.place {
                Place::Has(_) => return Poll::Ready(()),
                Place::None => {
                    let permits = Arc::clone(&self.limit.shared.permits);
                    match Arc::clone(&permits).try_acquire_owned() {
                        Ok(permit) => Place::Has(permit),
                        Err(_) => Place::Waits(Box::pin(permits.acquire_owned())),
                    }
                }
                Place::Waits(waits) => match ready!(waits.as_mut().poll(context)) {
                    Ok(permit) => Place::Has(permit),
                    // Nobody closes it.
                    Err(_) => return Poll::Pending,
                },
            };
        }
    }
}

impl<S, J, Request> Service<Request> for Concurrent<S, J>
where
    S: Service<Request>,
    J: Fn(&Result<S::Response, S::Error>, Duration) -> Sample,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Working<S::Future, J>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        ready!(self.poll_place(context));
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let permit = match std::mem::replace(&mut self.place, Place::None) {
            Place::Has(permit) => Some(permit),
            // Who has not waited until it was ready is not held up.
            Place::None | Place::Waits(_) => None,
        };
        let shared = Arc::clone(&self.limit.shared);
        let at_work = AtWork {
            began: shared.begin(),
            shared,
            permit,
            sample: Sample::Nothing,
        };
        Working {
            future: Box::pin(self.inner.call(request)),
            at_work: Some(at_work),
            judge: Arc::clone(&self.limit.judge),
        }
    }
}

/// A call at work. To drop it gives its place back.
#[derive(Debug)]
pub struct Working<F, J> {
    future: Pin<Box<F>>,
    at_work: Option<AtWork>,
    judge: Arc<J>,
}

struct AtWork {
    shared: Arc<Shared>,
    permit: Option<OwnedSemaphorePermit>,
    began: Time,
    sample: Sample,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.shared.end(self.permit.take(), self.sample);
    }
}

impl<F, J, R, E> Future for Working<F, J>
where
    F: Future<Output = Result<R, E>>,
    J: Fn(&Result<R, E>, Duration) -> Sample,
{
    type Output = Result<R, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<R, E>> {
        let result = ready!(self.future.as_mut().poll(context));
        if let Some(mut at_work) = self.at_work.take() {
            let took = at_work.shared.clock.now().since(at_work.began);
            at_work.sample = (self.judge)(&result, took);
        }
        Poll::Ready(result)
    }
}

impl<J> Clone for AdaptiveConcurrency<J> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            judge: Arc::clone(&self.judge),
        }
    }
}

impl<S: Clone, J> Clone for Concurrent<S, J> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            limit: self.limit.clone(),
            place: Place::None,
        }
    }
}

impl<J> fmt::Debug for AdaptiveConcurrency<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdaptiveConcurrency")
            .field("current", &self.current())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Waits(_) => "Waits",
            Self::Has(_) => "Has",
        })
    }
}

impl fmt::Debug for AtWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtWork").finish_non_exhaustive()
    }
}
