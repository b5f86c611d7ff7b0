//! The rate limit of a client, for calls and retries.

use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::{Client, ClientBuilder, Rate};
use tokio::time::{Instant, sleep};

use crate::scripted::{Action, ScriptedServer, settle};

fn builder(server: &ScriptedServer) -> ClientBuilder {
    Client::builder()
        .connector("scripted", server.connector())
        .seed(7)
}

/// Makes `count` calls at once. Returns the times in milliseconds after which they arrived at the server.
async fn arrivals(server: &ScriptedServer, client: &Client, count: usize) -> Vec<u64> {
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
async fn a_token_bucket_admits_a_burst_and_then_a_steady_rate() {
    let server = ScriptedServer::new(|_| Action::Echo);
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
    let server = ScriptedServer::new(|_| Action::Echo);
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
            Err(error) if error.kind() == CallErrorKind::QueueFull => full += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(full, 6);
}

/// An adaptive rate approaches the capacity of the server, which processes one call at a time and takes 1 ms for each.
#[tokio::test(start_paused = true)]
async fn an_adaptive_rate_finds_the_capacity_of_the_server() {
    let free = std::sync::Mutex::new(Instant::now());
    let server = ScriptedServer::new(move |call| {
        let mut free = free.lock().unwrap();
        *free = (*free).max(call.at) + Duration::from_millis(1);
        Action::Later(*free - call.at)
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
async fn a_call_fails_at_once_if_its_rate_permit_would_exceed_the_deadline() {
    let server = ScriptedServer::new(|_| Action::Echo);
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
    // The turn of the third call would come after 2 s, later than its deadline of 1.5 s.
    assert_eq!(client.stats().deadlines, 1);
}

#[tokio::test(start_paused = true)]
async fn retries_wait_for_the_rate_limit_too() {
    let server = ScriptedServer::new(|call| match call.number {
        0 => Action::Fault(FaultCode::OVERLOADED, 0, true),
        _ => Action::Echo,
    });
    let client = builder(&server).rate(Rate::token_bucket(1.0, 1));
    let client = client.connect().await.unwrap();
    sleep(Duration::from_secs(1)).await;
    client.call_bytes("Echo", b"").await.unwrap();
    let seen = server.seen();
    let waited = (seen[1].at - seen[0].at).as_millis();
    assert!((995..1_010).contains(&waited), "{waited} ms");
}
