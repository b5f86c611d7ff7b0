//! Keeping and renewing credentials.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use polywire_rpc::aws::providers::CachedProvider;
use polywire_rpc::aws::{Credentials, CredentialsFuture, CredentialsProvider};
use polywire_text::Timestamp;
use tokio::sync::Semaphore;

use super::found;
use crate::support::within;

/// Gives credentials with a number, each when the test lets it.
#[derive(Debug, Clone)]
struct Source(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    calls: AtomicU32,
    permits: Semaphore,
    /// Seconds to the expiry; `None`: the source fails, or panics with `i64::MIN`.
    valid: Mutex<Option<i64>>,
}

impl Source {
    fn new(valid: i64) -> Self {
        Self(Arc::new(Inner {
            calls: AtomicU32::new(0),
            permits: Semaphore::new(0),
            valid: Mutex::new(Some(valid)),
        }))
    }

    fn calls(&self) -> u32 {
        self.0.calls.load(Ordering::SeqCst)
    }

    fn set(&self, valid: Option<i64>) {
        *self.0.valid.lock().unwrap() = valid;
    }
}

impl CredentialsProvider for Source {
    fn credentials(&self) -> CredentialsFuture<'_> {
        Box::pin(async {
            let number = self.0.calls.fetch_add(1, Ordering::SeqCst) + 1;
            self.0.permits.acquire().await.unwrap().forget();
            let valid = *self.0.valid.lock().unwrap();
            match valid {
                None => Err("no luck".into()),
                Some(i64::MIN) => panic!("on purpose"),
                Some(seconds) => {
                    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64;
                    let expiry = Timestamp::new(now + seconds, 0);
                    Ok(Credentials::new(&number.to_string(), "SECRET").with_expiry(expiry))
                }
            }
        })
    }
}

async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn all_requests_wait_for_one_refresh() {
    let source = Source::new(3600);
    let cache = CachedProvider::new(source.clone());
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let cache = cache.clone();
            tokio::spawn(async move { found(&cache).await.access_key_id().to_owned() })
        })
        .collect();
    settle().await;
    assert_eq!(source.calls(), 1);
    // The cancellation of the request that began the refresh does not cancel it.
    calls[0].abort();
    settle().await;
    source.0.permits.add_permits(1);
    for call in calls.into_iter().skip(1) {
        assert_eq!(within(call).await.unwrap(), "1");
    }
    assert_eq!(found(&cache).await.access_key_id(), "1");
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn credentials_are_renewed_in_the_background() {
    let source = Source::new(200);
    let cache = CachedProvider::new(source.clone());
    source.0.permits.add_permits(1);
    assert_eq!(found(&cache).await.access_key_id(), "1");
    // Not within a minute.
    assert_eq!(found(&cache).await.access_key_id(), "1");
    settle().await;
    assert_eq!(source.calls(), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    // Nobody waits for the second refresh.
    for _ in 0..5 {
        assert_eq!(found(&cache).await.access_key_id(), "1");
    }
    settle().await;
    assert_eq!(source.calls(), 2);
    source.set(None);
    source.0.permits.add_permits(1);
    settle().await;
    // It failed. The old ones are used, and the next attempt is later.
    assert_eq!(found(&cache).await.access_key_id(), "1");
    settle().await;
    assert_eq!(source.calls(), 2);
    tokio::time::advance(Duration::from_secs(61)).await;
    source.set(Some(3600));
    source.0.permits.add_permits(1);
    found(&cache).await;
    settle().await;
    assert_eq!(found(&cache).await.access_key_id(), "3");
}

#[tokio::test]
async fn failures_reach_all_that_wait_and_are_not_kept() {
    let source = Source::new(3600);
    source.set(None);
    let cache = CachedProvider::new(source.clone());
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let cache = cache.clone();
            tokio::spawn(async move { cache.credentials().await.unwrap_err().to_string() })
        })
        .collect();
    settle().await;
    source.0.permits.add_permits(1);
    for call in calls {
        let text = within(call).await.unwrap();
        assert_eq!(text, "no credentials from the provider: no luck");
    }
    source.set(Some(i64::MIN));
    source.0.permits.add_permits(1);
    let error = within(cache.credentials()).await.unwrap_err();
    assert!(error.to_string().contains("panicked"), "{error}");
    // Expired ones are never returned.
    source.set(Some(5));
    source.0.permits.add_permits(2);
    assert_eq!(found(&cache).await.access_key_id(), "3");
    assert_eq!(found(&cache).await.access_key_id(), "4");
    assert!(!format!("{cache:?}").contains("SECRET"));
}
