//! How many calls begin a second, and which of them are asked twice.

use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_rpc::frames::{CallError, Client, ClientBuilder, Rate};
use tokio::time::{Instant, sleep};

use crate::scripted::{Act, Scripted, settle};

fn builder(server: &Scripted) -> ClientBuilder {
    Client::builder()
        .connector("scripted", server.connector())
        .seed(7)
}

/// When each of so many calls, made at once, came to the server: milliseconds.
async fn arrivals(server: &Scripted, client: &Client, count: usize) -> Vec<u64> {
    let began = Instant::now();
    let before = server.seen().len();
    let calls: Vec<_> = (0..count)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Echo", b"x").await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let seen = server.seen();
    let times = seen[before..].iter().map(|call| call.at - began);
    times.map(|time| time.as_millis() as u64).collect()
}

#[tokio::test(start_paused = true)]
async fn a_token_bucket_lets_a_burst_through_and_then_a_rate() {
    let server = Scripted::new(|_| Act::Echo);
    let client = builder(&server).rate(Rate::token_bucket(10.0, 3));
    let client = client.connect().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let times = arrivals(&server, &client, 6).await;
    assert_eq!(times[..3], [0, 0, 0]);
    for (time, due) in times[3..].iter().zip([100, 200, 300]) {
        assert!((due..due + 3).contains(time), "{times:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_leaky_bucket_is_even_and_bounded() {
    let server = Scripted::new(|_| Act::Echo);
    let client = builder(&server).rate(Rate::leaky_bucket(10.0, 3));
    let client = client.connect().await.unwrap();
    let times = arrivals(&server, &client, 4).await;
    for (time, due) in times.iter().zip([0, 100, 200, 300]) {
        assert!((due..due + 3).contains(time), "{times:?}");
    }
    sleep(Duration::from_secs(1)).await;
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Echo", b"").await })
        })
        .collect();
    settle().await;
    assert_eq!(client.stats().waiting, 3);
    let mut full = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => {}
            Err(CallError::Full) => full += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(full, 6);
}

/// A server that takes a millisecond a call, one after the other.
#[tokio::test(start_paused = true)]
async fn an_adaptive_rate_finds_what_the_server_can_do() {
    let free = std::sync::Mutex::new(Instant::now());
    let server = Scripted::new(move |call| {
        let mut free = free.lock().unwrap();
        *free = (*free).max(call.at) + Duration::from_millis(1);
        Act::Later(*free - call.at)
    });
    let client = builder(&server).rate(Rate::adaptive(10.0, 100_000.0));
    let client = client.connect().await.unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    let callers: Vec<_> = (0..500)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                while Instant::now() < until {
                    client.call_bytes("Echo", b"").await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let replies = client.stats().replies;
    assert!(replies > 15_000, "{replies} of 20,000");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_comes_too_late_is_not_waited_for() {
    let server = Scripted::new(|_| Act::Echo);
    let client = builder(&server)
        .rate(Rate::token_bucket(1.0, 1))
        .deadline(Duration::from_millis(1_500));
    let client = client.connect().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Echo", b"").await })
        })
        .collect();
    settle().await;
    let mut ends = Vec::new();
    for call in calls {
        ends.push((call.await.unwrap().is_ok(), began.elapsed().as_secs()));
    }
    assert_eq!(ends, [(true, 0), (true, 1), (false, 1)]);
    // It had failed at once.
    assert_eq!(client.stats().deadlines, 1);
}

#[tokio::test(start_paused = true)]
async fn further_tries_wait_for_their_turn_too() {
    let server = Scripted::new(|call| match call.number {
        0 => Act::Fault(FaultCode::OVERLOADED, 0, true),
        _ => Act::Echo,
    });
    let client = builder(&server).rate(Rate::token_bucket(1.0, 1));
    let client = client.connect().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    client.call_bytes("Echo", b"").await.unwrap();
    let seen = server.seen();
    let waited = (seen[1].at - seen[0].at).as_millis();
    assert!((995..1_010).contains(&waited), "{waited} ms");
}

/// A server whose every tenth answer takes a second.
fn unsteady() -> Scripted {
    Scripted::new(|call| match call.number % 10 {
        9 => Act::Later(Duration::from_secs(1)),
        _ => Act::Later(Duration::from_millis(10)),
    })
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_may_be_the_first() {
    let server = unsteady();
    let client = builder(&server).hedging(0.8).connect().await.unwrap();
    let client = client.idempotent();
    // Until it is known how long answers take.
    for _ in 0..200 {
        client.call_bytes("Echo", b"x").await.unwrap();
    }
    let cancels = server.cancels();
    let mut slow = 0;
    for _ in 0..100 {
        let began = Instant::now();
        assert_eq!(client.call_bytes("Echo", b"x").await.unwrap(), b"x");
        slow += u32::from(began.elapsed() > Duration::from_millis(50));
    }
    settle().await;
    let stats = client.stats();
    assert_eq!(slow, 0);
    assert_eq!((stats.replies, stats.pending, stats.cancelled), (300, 0, 0));
    // The slow answers were not wanted any more.
    let hedges = stats.hedges as usize;
    assert!((5..=20).contains(&(server.cancels() - cancels)));
    assert!(hedges < 60, "{hedges}");
    assert_eq!(stats.tries as usize, server.seen().len());
}

#[tokio::test(start_paused = true)]
async fn only_what_is_idempotent_is_asked_twice() {
    let server = unsteady();
    let client = builder(&server).hedging(0.8).connect().await.unwrap();
    for _ in 0..300 {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    assert_eq!((client.stats().hedges, server.seen().len()), (0, 300));
}

/// A call whose second answer came first was slow all the same. If that were forgotten, the slowest that
/// are left would be asked twice next, until nearly all are.
#[tokio::test(start_paused = true)]
async fn no_more_is_asked_twice_than_was_said() {
    // Half of the calls take 10 ms, and the others up to a second, as chance has it.
    let server = Scripted::new(|call| {
        let chance = (call.number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let more = (chance % 2) * (chance / 2 % 1_000);
        Act::Later(Duration::from_millis(10 + more))
    });
    let client = builder(&server).hedging(0.8).connect().await.unwrap();
    let client = client.idempotent();
    for _ in 0..20_000 {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    let before = client.stats().hedges;
    for _ in 0..5_000 {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    let hedges = client.stats().hedges - before;
    assert!((500..=1_200).contains(&hedges), "{hedges} of 5,000");
}

/// Where all answers come late, it is no tail any more.
#[tokio::test(start_paused = true)]
async fn a_server_that_has_become_slow_is_not_asked_all_twice() {
    let server = Scripted::new(|call| match call.number {
        0..4_000 => Act::Later(Duration::from_millis(10)),
        _ => Act::Later(Duration::from_millis(100)),
    });
    // The budget of retries is something else.
    let client = builder(&server).hedging(0.95).retry_budget(0.0, 0.0);
    let client = client.connect().await.unwrap().idempotent();
    for _ in 0..4_000 {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    let before = client.stats().hedges;
    // What was asked before is no reason to ask more now.
    sleep(Duration::from_secs(20)).await;
    for _ in 0..150 {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    let stats = client.stats();
    // A tenth of the calls of ten seconds, and one.
    let hedges = stats.hedges - before;
    assert!((5..=20).contains(&hedges), "{hedges} of 150");
    assert_eq!(stats.over_budget, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_asked_twice_is_cancelled_twice() {
    let server = Scripted::new(|call| match call.number {
        0..200 => Act::Later(Duration::from_millis(10)),
        _ => Act::Hold,
    });
    let client = builder(&server).hedging(0.9).connect().await.unwrap();
    let client = client.idempotent();
    for _ in 0..200 {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    let call = client.call_bytes("Echo", b"");
    let timed = tokio::time::timeout(Duration::from_secs(1), call).await;
    assert!(timed.is_err());
    settle().await;
    assert_eq!((server.seen().len(), server.cancels()), (202, 2));
    let stats = client.stats();
    assert_eq!((stats.in_flight, stats.cancelled), (0, 1));
}

/// A fault is an answer too, if the other call has none that is better.
#[tokio::test(start_paused = true)]
async fn one_that_fails_waits_for_the_other() {
    let server = Scripted::new(|call| match call.number {
        0..200 => Act::Later(Duration::from_millis(10)),
        200 => Act::Later(Duration::from_millis(500)),
        _ => Act::Fault(FaultCode::NAMED, 0, false),
    });
    let client = builder(&server).hedging(0.9).connect().await.unwrap();
    let client = client.idempotent();
    for _ in 0..201 {
        client.call_bytes("Echo", b"").await.unwrap();
    }
    assert_eq!((client.stats().hedges, server.seen().len()), (1, 202));
}
