//! The reply cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use polywire_protocol::Fault;
use polywire_rpc::layers::cache::Cache;
use polywire_rpc::{Methods, Server};
use polywire_schema::Value;

use crate::support::{call, call_cbor, serve};

/// A server with four methods that share one call counter. All but `other` are cached.
fn server_that_counts_calls(cache: &Cache) -> Server {
    let calls = Arc::new(AtomicI64::new(0));
    let count = move || calls.fetch_add(1, Ordering::Relaxed) + 1;
    let (kept, other, failing, long) = (count.clone(), count.clone(), count.clone(), count);
    let methods = Methods::new()
        .values("kept", move |_, _| {
            let count = kept();
            async move { Ok(Value::from(count)) }
        })
        .values("other", move |_, _| {
            let count = other();
            async move { Ok(Value::from(count)) }
        })
        .values("failing", move |_, _| {
            let count = failing();
            async move { Err(Fault::coded(count, "no")) }
        })
        .values("long", move |_, _| {
            let count = long();
            async move { Ok(Value::from(format!("{count}{}", "x".repeat(10_000)))) }
        })
        .cbor("Sample")
        .layer(
            cache
                .clone()
                .method("kept")
                .method("failing")
                .method("long"),
        );
    serve(methods)
}

#[tokio::test(start_paused = true)]
async fn replies_are_cached_until_their_maximum_age() {
    let cache = Cache::new(1 << 20, Duration::from_secs(60));
    let server = server_that_counts_calls(&cache);
    let one = [Value::from(1)];
    for _ in 0..3 {
        assert_eq!(call(&server, "kept", &one).await, Ok(Value::from(1)));
    }
    let counts = cache.counts();
    assert_eq!((counts.hits, counts.misses, counts.replies), (2, 1, 1));
    // Other parameters and another protocol are separate cache entries.
    assert_eq!(call(&server, "kept", &[]).await, Ok(Value::from(2)));
    assert_eq!(call_cbor(&server, "kept", &(1,)).await.1, Value::from(3));
    assert_eq!(call_cbor(&server, "kept", &(1,)).await.1, Value::from(3));
    tokio::time::advance(Duration::from_secs(59)).await;
    assert_eq!(call(&server, "kept", &one).await, Ok(Value::from(1)));
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(call(&server, "kept", &one).await, Ok(Value::from(4)));
    cache.clear();
    assert_eq!(call(&server, "kept", &one).await, Ok(Value::from(5)));
}

#[tokio::test]
async fn other_methods_and_faults_are_not_cached() {
    let cache = Cache::new(1 << 20, Duration::from_secs(60));
    let server = server_that_counts_calls(&cache);
    assert_eq!(call(&server, "other", &[]).await, Ok(Value::from(1)));
    assert_eq!(call(&server, "other", &[]).await, Ok(Value::from(2)));
    assert_eq!(
        call(&server, "failing", &[]).await,
        Err((3, "no".to_owned()))
    );
    assert_eq!(
        call(&server, "failing", &[]).await,
        Err((4, "no".to_owned()))
    );
    let counts = cache.counts();
    assert_eq!((counts.hits, counts.misses, counts.replies), (0, 2, 0));
}

#[tokio::test]
async fn bytes_are_bounded() {
    let cache = Cache::new(200_000, Duration::from_secs(60));
    let server = server_that_counts_calls(&cache);
    for number in 0..200 {
        call(&server, "long", &[number.into()]).await.unwrap();
    }
    let counts = cache.counts();
    assert!(counts.replies > 1, "{counts:?}");
    assert!(counts.bytes <= 200_000, "{counts:?}");

    // A reply larger than an eighth of the cache capacity is not cached.
    let cache = Cache::new(60_000, Duration::from_secs(60));
    let server = server_that_counts_calls(&cache);
    call(&server, "long", &[]).await.unwrap();
    assert_eq!(cache.counts().replies, 0);
}

#[tokio::test]
async fn methods_that_share_a_cache_have_their_own_replies() {
    let cache = Cache::new(1 << 20, Duration::from_secs(60)).method("name");
    let named = |name: &'static str| {
        let methods = Methods::new().method("name", move |(): ()| async move { name });
        serve(methods.layer(cache.clone()))
    };
    let (one, other) = (named("one"), named("other"));
    for _ in 0..2 {
        assert_eq!(call(&one, "name", &[]).await, Ok(Value::from("one")));
        assert_eq!(call(&other, "name", &[]).await, Ok(Value::from("other")));
    }
    let counts = cache.counts();
    assert_eq!((counts.hits, counts.misses, counts.replies), (2, 2, 2));
}
