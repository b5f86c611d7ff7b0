//! Pools of relays.

use std::time::Duration;

use polywire_nostr::{Event, EventBuilder};
use polywire_nostr_client::{Pool, PublishError, SubscribeOptions, SubscriptionItem};

use crate::support::{
    Peer, SHORT, TestRelay, keys, next, next_event, note, notes, options, until, within,
};

const PATIENT: Duration = Duration::from_secs(30);

async fn relays<const N: usize>(pool: &Pool) -> ([TestRelay; N], [Peer; N]) {
    let mut servers = Vec::new();
    for _ in 0..N {
        servers.push(TestRelay::start().await);
    }
    // Ordered by URL, as in the pool.
    servers.sort_by_key(TestRelay::url);
    let mut peers = Vec::new();
    for server in &mut servers {
        pool.add(&server.url());
        peers.push(server.accept().await);
    }
    let Ok(servers) = servers.try_into() else {
        panic!("N relays");
    };
    let Ok(peers) = peers.try_into() else {
        panic!("N connections");
    };
    (servers, peers)
}

#[tokio::test]
async fn an_event_of_several_relays_is_delivered_and_verified_once() {
    let pool = Pool::new(options());
    let (_servers, mut peers) = relays::<3>(&pool).await;
    let mut subscription = pool.subscribe(notes(), SubscribeOptions::new());
    let events: Vec<Event> = (0..50).map(|at| note("", at)).collect();
    for peer in &mut peers {
        let (id, _) = peer.req().await;
        for event in &events {
            peer.send_event(&id, event).await;
        }
        peer.eose(&id).await;
    }
    let mut times = Vec::new();
    loop {
        match next(&mut subscription).await {
            Some(SubscriptionItem::Event(event)) => times.push(event.as_ref().created_at()),
            Some(SubscriptionItem::EndOfStored) => break,
            other => panic!("{other:?}"),
        }
    }
    times.sort_unstable();
    assert_eq!(times, (0..50).collect::<Vec<_>>());
    let stats = pool.stats();
    assert_eq!((stats.events, stats.delivered), (150, 50));
    assert_eq!((stats.verifications, stats.duplicates), (50, 100));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_relays_verify_an_event_once() {
    let pool = Pool::new(options());
    let (_servers, peers) = relays::<4>(&pool).await;
    let mut subscription = pool.subscribe(notes(), SubscribeOptions::new());
    let events: Vec<Event> = (0..200).map(|at| note("", at)).collect();
    let mut sending = tokio::task::JoinSet::new();
    for mut peer in peers {
        let events = events.clone();
        sending.spawn(async move {
            let (id, _) = peer.req().await;
            for event in &events {
                peer.send_event(&id, event).await;
            }
            peer.eose(&id).await;
            peer
        });
    }
    for _ in 0..200 {
        next_event(&mut subscription).await;
    }
    let _peers = within(sending.join_all()).await;
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
    let stats = pool.stats();
    assert_eq!((stats.delivered, stats.verifications), (200, 200));
}

#[tokio::test]
async fn a_forged_event_does_not_suppress_the_valid_one() {
    let pool = Pool::new(options());
    let (_servers, [mut evil, mut good]) = relays::<2>(&pool).await;
    let mut subscription = pool.subscribe(notes(), SubscribeOptions::new());
    let (evil_id, _) = evil.req().await;
    let (good_id, _) = good.req().await;
    let event = note("true", 1);
    let forged = Event::parse(&event.as_ref().as_json().replace("true", "false")).unwrap();
    evil.send_event(&evil_id, &forged).await;
    until(|| pool.stats().invalid == 1).await;
    good.send_event(&good_id, &event).await;
    assert_eq!(next_event(&mut subscription).await, event);
    // In another subscription, the id and signature are cached, but the text differs.
    let mut other = pool.subscribe(notes(), SubscribeOptions::new());
    let (evil_id, _) = evil.req().await;
    let (good_id, _) = good.req().await;
    evil.send_event(&evil_id, &forged).await;
    until(|| pool.stats().invalid == 2).await;
    good.send_event(&good_id, &event).await;
    assert_eq!(next_event(&mut other).await, event);
}

#[tokio::test]
async fn publishes_to_all() {
    let pool = Pool::new(options().request_timeout(Duration::from_millis(500)));
    let (servers, [mut first, mut second, mut third]) = relays::<3>(&pool).await;
    let event = note("hello", 1);
    let id = *event.as_ref().id();
    let relays = async {
        first.event().await;
        first.ok(&id, true, "").await;
        second.event().await;
        second.ok(&id, false, "blocked: no").await;
        third.event().await;
    };
    let (answers, ()) = within(async { tokio::join!(pool.publish(&event), relays) }).await;
    let urls = answers.iter().map(|(url, _)| url.clone());
    assert!(urls.eq(servers.iter().map(TestRelay::url)));
    assert!(answers[0].1.is_ok());
    assert!(matches!(&answers[1].1, Err(PublishError::Rejected(_))));
    assert!(matches!(&answers[2].1, Err(PublishError::Timeout { .. })));
}

#[tokio::test]
async fn end_of_stored_waits_for_all_open_relays() {
    let pool = Pool::new(options());
    let (servers, [mut first, mut second, mut third]) = relays::<3>(&pool).await;
    let options = SubscribeOptions::new().with_eose_timeout(None);
    let mut subscription = pool.subscribe(notes(), options);
    let (id, _) = first.req().await;
    first.eose(&id).await;
    let (id, _) = second.req().await;
    second.closed(&id, "error: full").await;
    let item = next(&mut subscription).await;
    let Some(SubscriptionItem::Closed { relay, .. }) = item else {
        panic!("{item:?}");
    };
    assert_eq!(relay, servers[1].url());
    third.req().await;
    let early = tokio::time::timeout(SHORT, subscription.recv()).await;
    assert!(early.is_err(), "{early:?}");
    // Relays that were shut down are not waited for.
    assert!(pool.remove(&servers[2].url()));
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
    assert_eq!(third.next().await, None);
    pool.shutdown();
    assert_eq!(next(&mut subscription).await, None);
}

#[tokio::test]
async fn end_of_stored_has_a_timeout() {
    let pool = Pool::new(options());
    let (_servers, [mut first, mut second]) = relays::<2>(&pool).await;
    let options = SubscribeOptions::new().with_eose_timeout(Some(SHORT));
    let mut subscription = pool.subscribe(notes(), options);
    let (id, _) = first.req().await;
    first.eose(&id).await;
    second.req().await;
    assert_eq!(
        next(&mut subscription).await,
        Some(SubscriptionItem::EndOfStored)
    );
}

#[tokio::test]
async fn fetches_from_all() {
    let pool = Pool::new(options());
    let (servers, [mut first, mut second, mut third]) = relays::<3>(&pool).await;
    let (a, b) = (note("a", 1), note("b", 2));
    let relays = async {
        let (id, _) = first.req().await;
        first.send_event(&id, &a).await;
        first.eose(&id).await;
        let (id, _) = second.req().await;
        second.send_event(&id, &a).await;
        second.send_event(&id, &b).await;
        second.eose(&id).await;
        let (id, _) = third.req().await;
        third.closed(&id, "error: full").await;
    };
    let fetching = pool.fetch(notes(), PATIENT);
    let (fetched, ()) = within(async { tokio::join!(fetching, relays) }).await;
    assert!(fetched.is_complete && !fetched.is_full);
    assert_eq!(fetched.closed[0].0, servers[2].url());
    let mut contents: Vec<_> = fetched
        .events
        .iter()
        .map(|event| event.as_ref().content())
        .collect();
    contents.sort_unstable();
    assert_eq!(contents, ["a", "b"]);
}

#[tokio::test]
async fn relays_are_added_once_and_removed() {
    let pool = Pool::new(options());
    let mut server = TestRelay::start().await;
    let first = pool.add(&server.url());
    let mut peer = server.accept().await;
    let second = pool.add(&server.url());
    assert_eq!(pool.relays().len(), 1);
    // Both handles share one connection.
    let event = EventBuilder::new(1, "", 1).sign(&keys());
    let relay = async {
        peer.event().await;
        peer.ok(event.as_ref().id(), true, "").await;
    };
    let (outcome, ()) = within(async { tokio::join!(second.publish(&event), relay) }).await;
    outcome.unwrap();
    assert_eq!(first.stats().connections, 1);
    assert!(pool.relay(&server.url()).is_some());
    assert!(pool.remove(&server.url()) && !pool.remove(&server.url()));
    assert_eq!(peer.next().await, None);
    assert!(pool.publish(&event).await.is_empty());
    assert_eq!(
        next(&mut pool.subscribe(notes(), SubscribeOptions::new())).await,
        None
    );
}
