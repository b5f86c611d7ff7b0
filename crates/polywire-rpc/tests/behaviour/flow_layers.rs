//! Flow control as layers around services that are no servers.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use polywire_rpc::layers::flow::{AdaptiveConcurrency, Pace, Retries, Sample};
use tokio::time::{Instant, sleep, timeout};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

/// What a service has seen.
#[derive(Debug, Default)]
struct Seen {
    calls: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
    refuses: AtomicBool,
}

struct Guard(Arc<Seen>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}

/// Takes so long, and refuses all while it is told to.
async fn work(seen: Arc<Seen>, time: Duration) -> Result<(), &'static str> {
    seen.calls.fetch_add(1, Relaxed);
    seen.most
        .fetch_max(seen.now.fetch_add(1, Relaxed) + 1, Relaxed);
    let _guard = Guard(Arc::clone(&seen));
    sleep(time).await;
    match seen.refuses.load(Relaxed) {
        true => Err("busy"),
        false => Ok(()),
    }
}

fn judge(result: &Result<(), &'static str>, took: Duration) -> Sample {
    match result {
        Ok(()) => Sample::Answered(took),
        Err(_) => Sample::Refused,
    }
}

/// Calls of as many callers, all at once.
async fn call_all<S>(service: &S, calls: usize)
where
    S: Service<(), Response = (), Error = &'static str> + Clone + Send + 'static,
    S::Future: Send,
{
    let calls: Vec<_> = (0..calls)
        .map(|_| {
            let service = service.clone();
            tokio::spawn(service.oneshot(()))
        })
        .collect();
    for call in calls {
        let _ = call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_calls_are_at_work_as_may() {
    let seen = Arc::new(Seen::default());
    let own = Arc::clone(&seen);
    let service = ServiceBuilder::new()
        .layer(AdaptiveConcurrency::new(3..=3, judge))
        .service_fn(move |()| work(Arc::clone(&own), Duration::from_millis(10)));
    let began = Instant::now();
    call_all(&service, 30).await;
    assert_eq!((seen.calls.load(Relaxed), seen.most.load(Relaxed)), (30, 3));
    assert!(began.elapsed() >= Duration::from_millis(100));
}

#[tokio::test(start_paused = true)]
async fn the_number_follows_what_the_service_does() {
    let seen = Arc::new(Seen::default());
    let own = Arc::clone(&seen);
    let limit = AdaptiveConcurrency::new(5..=100, judge);
    let service = ServiceBuilder::new()
        .layer(limit.clone())
        .service_fn(move |()| work(Arc::clone(&own), Duration::from_millis(10)));
    assert!(limit.current() < 20);
    call_all(&service, 5_000).await;
    assert_eq!(limit.current(), 100);
    assert_eq!(seen.most.swap(0, Relaxed), 100);
    // Those that are at work when it goes down have gone by the next round.
    seen.refuses.store(true, Relaxed);
    call_all(&service, 2_000).await;
    assert_eq!(limit.current(), 5);
    seen.most.store(0, Relaxed);
    call_all(&service, 100).await;
    assert_eq!(seen.most.swap(0, Relaxed), 5);
    seen.refuses.store(false, Relaxed);
    call_all(&service, 20_000).await;
    assert_eq!(limit.current(), 100);
    assert_eq!(seen.most.load(Relaxed), 100);
}

#[tokio::test(start_paused = true)]
async fn who_goes_gives_the_place_back() {
    let seen = Arc::new(Seen::default());
    let own = Arc::clone(&seen);
    let service = ServiceBuilder::new()
        .layer(AdaptiveConcurrency::new(1..=1, judge))
        .service_fn(move |()| work(Arc::clone(&own), Duration::from_secs(1_000)));
    for _ in 0..3 {
        // One at work, one that waits, and one that was ready and made no call.
        let first = tokio::spawn(service.clone().oneshot(()));
        tokio::task::yield_now().await;
        let waits = service.clone().oneshot(());
        assert!(timeout(Duration::from_secs(1), waits).await.is_err());
        first.abort();
        let _ = first.await;
        let mut ready = service.clone();
        ready.ready().await.unwrap();
        drop(ready);
    }
    assert_eq!((seen.calls.load(Relaxed), seen.most.load(Relaxed)), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn calls_begin_at_their_pace() {
    let pace = Pace::new(10.0, 2);
    let began = Instant::now();
    let begun = move |()| async move { Ok::<_, Infallible>(began.elapsed()) };
    // Two services share it, and so do their clones.
    let services = [pace.layer(service_fn(begun)), pace.layer(service_fn(begun))];
    let mut times = Vec::new();
    for number in 0..5 {
        let time = services[number % 2].clone().oneshot(()).await.unwrap();
        times.push(time.as_millis() as u64 / 50 * 50);
    }
    assert_eq!(times, [0, 0, 100, 200, 300]);
}

/// A service that is always busy, with a policy in front, and how often it is called.
async fn sent(
    calls: usize,
    policy: Retries<impl Fn(&u32, &Result<(), &'static str>) -> bool + 'static>,
) -> usize {
    let asked = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&asked);
    let service = ServiceBuilder::new()
        .retry(policy)
        .service_fn(move |_: u32| {
            own.fetch_add(1, Relaxed);
            async { Err::<(), _>("busy") }
        });
    for number in 0..calls {
        let error = service.clone().oneshot(number as u32).await.unwrap_err();
        assert_eq!(error, "busy");
    }
    asked.load(Relaxed)
}

#[tokio::test(start_paused = true)]
async fn further_tries_are_bounded() {
    let always = |_: &u32, _: &Result<(), &str>| true;
    let began = Instant::now();
    assert_eq!(sent(1, Retries::new(4, always)).await, 5);
    // 10, 20, 40 and 80 ms, or half of it.
    let took = began.elapsed().as_millis();
    assert!((75..=155).contains(&took), "{took}");
    // All calls together: a tenth more.
    let policy = Retries::new(4, always).with_budget(0.1, 0.0);
    let policy = policy.with_backoff(Duration::ZERO, Duration::ZERO);
    assert_eq!(sent(1_000, policy).await, 1_100);
    // Every second call may be tried again.
    let even = |number: &u32, _: &Result<(), &str>| number.is_multiple_of(2);
    assert_eq!(sent(10, Retries::new(1, even)).await, 15);
    assert_eq!(sent(10, Retries::new(0, always)).await, 10);
}
