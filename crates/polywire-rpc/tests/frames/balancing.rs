//! Load balancing of one client over several servers.

use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_rpc::frames::{Client, ClientBuilder};
use tokio::time::{Instant, sleep};

use crate::scripted::{Action, ScriptedServer};

fn builder(servers: &[&ScriptedServer]) -> ClientBuilder {
    let builder = Client::builder().seed(7);
    servers.iter().fold(builder, |builder, server| {
        builder.connector("scripted", server.connector())
    })
}

fn server_with_latency(millis: u64) -> ScriptedServer {
    ScriptedServer::new(move |_| Action::Later(Duration::from_millis(millis)))
}

/// Ten tasks make calls, each one after another, for `time`.
async fn load(client: &Client, time: Duration) {
    let until = Instant::now() + time;
    let callers: Vec<_> = (0..10)
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
}

#[tokio::test(start_paused = true)]
async fn a_dead_and_a_slow_server_do_not_affect_calls() {
    let (fast, slow, dead) = (
        server_with_latency(1),
        server_with_latency(50),
        server_with_latency(1),
    );
    dead.kill();
    let client = builder(&[&dead, &slow, &fast]).connect().await.unwrap();
    load(&client, Duration::from_secs(20)).await;
    let (fast, slow) = (fast.seen().len(), slow.seen().len());
    assert!(slow > 0 && fast > 20 * slow, "{fast}, {slow}");
    assert!(dead.connections() > 20 && dead.seen().is_empty());
    let stats = client.stats();
    assert_eq!(stats.connections, 2);
    assert_eq!(stats.replies as usize, fast + slow);
    assert_eq!((stats.retries, stats.disconnected), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn equal_servers_get_equal_shares() {
    let servers = [
        server_with_latency(5),
        server_with_latency(5),
        server_with_latency(5),
    ];
    let client = builder(&[&servers[0], &servers[1], &servers[2]]);
    let client = client.connect().await.unwrap();
    load(&client, Duration::from_secs(20)).await;
    let shares = servers.map(|server| server.seen().len());
    let all: usize = shares.iter().sum();
    for share in shares {
        assert!(share * 4 > all && share * 2 < all, "{shares:?}");
    }
}

/// A server that rejects each call at once has the lowest latency. It still gets less than 1/20 of the calls of a good
/// server.
#[tokio::test(start_paused = true)]
async fn servers_that_fail_fast_get_fewer_calls() {
    let bad = ScriptedServer::new(|_| Action::Fault(FaultCode::OVERLOADED, 0, true));
    let good = server_with_latency(10);
    let client = builder(&[&bad, &good]).connect().await.unwrap();
    load(&client, Duration::from_secs(20)).await;
    let (bad, good) = (bad.seen().len(), good.seen().len());
    assert!(bad * 20 < good, "{bad}, {good}");
}

#[tokio::test(start_paused = true)]
async fn a_restarted_server_gets_its_share_gradually() {
    let (first, second) = (server_with_latency(5), server_with_latency(5));
    let client = builder(&[&first, &second]).connect().await.unwrap();
    load(&client, Duration::from_secs(10)).await;
    second.kill();
    load(&client.idempotent(), Duration::from_secs(10)).await;
    second.revive();
    sleep(Duration::from_millis(600)).await;
    let shares = [first.seen().len(), second.seen().len()];
    load(&client, Duration::from_millis(500)).await;
    let soon = [first.seen().len(), second.seen().len()];
    load(&client, Duration::from_secs(10)).await;
    let late = [first.seen().len(), second.seen().len()];
    let share = |from: [usize; 2], to: [usize; 2]| {
        let [first, second] = [to[0] - from[0], to[1] - from[1]];
        second as f64 / (first + second) as f64
    };
    let (soon, late) = (share(shares, soon), share(soon, late));
    assert!(soon < 0.35 && late > 0.4, "{soon} and {late}");
}

/// A server whose first two calls take 1 s gets its share of the calls again later.
#[tokio::test(start_paused = true)]
async fn a_server_that_was_slow_regains_its_share() {
    let slow = ScriptedServer::new(|call| match call.number {
        0..2 => Action::Later(Duration::from_secs(1)),
        _ => Action::Later(Duration::from_millis(5)),
    });
    let other = server_with_latency(5);
    let client = builder(&[&slow, &other]).connect().await.unwrap();
    load(&client, Duration::from_secs(120)).await;
    let before = [slow.seen().len(), other.seen().len()];
    load(&client, Duration::from_secs(20)).await;
    let [slow, other] = [
        slow.seen().len() - before[0],
        other.seen().len() - before[1],
    ];
    assert!(slow * 3 > other, "{slow}, {other}");
}

/// INTERNAL faults do not reduce the share of a server, because the same calls would fail on other servers too.
#[tokio::test(start_paused = true)]
async fn servers_with_internal_faults_keep_their_share() {
    let broken = ScriptedServer::new(|_| Action::Fault(FaultCode::INTERNAL, 0, false));
    let good = server_with_latency(5);
    let client = builder(&[&broken, &good]).connect().await.unwrap();
    for _ in 0..1_000 {
        let _ = client.call_bytes("Echo", b"").await;
    }
    let (broken, good) = (broken.seen().len(), good.seen().len());
    assert!(broken > 300 && good > 300, "{broken}, {good}");
}

#[tokio::test(start_paused = true)]
async fn one_server_may_have_several_connections() {
    let server = server_with_latency(5);
    let client = builder(&[&server]).connections(4).in_flight(1..=1);
    let client = client.connect().await.unwrap();
    sleep(Duration::from_millis(10)).await;
    let stats = client.stats();
    assert_eq!((stats.connections, stats.limit), (4, 4));
    load(&client, Duration::from_secs(1)).await;
    // Four concurrent calls of 5 ms each make 800 calls per second.
    let answered = server.seen().len();
    assert!((600..=810).contains(&answered), "{answered}");
}

#[tokio::test(start_paused = true)]
async fn a_rejected_call_goes_to_another_server() {
    let drained = ScriptedServer::new(|_| Action::Fault(FaultCode::UNAVAILABLE, 0, true));
    let good = server_with_latency(1);
    let client = builder(&[&drained, &good]).connect().await.unwrap();
    load(&client, Duration::from_secs(1)).await;
    assert!(!drained.seen().is_empty());
    assert_eq!(client.stats().replies as usize, good.seen().len());
}

#[tokio::test]
async fn an_invalid_endpoint_is_an_error_at_once() {
    for (url, words) in [
        (
            "tcp://localhost",
            "there is no port: expected tcp://HOST:PORT",
        ),
        (
            "tcp://localhost:port",
            "the port is not a number from 1 to 65535",
        ),
        (
            "http://localhost:1",
            "unknown scheme; expected tcp://HOST:PORT, tcp+tls://HOST:PORT, udp://HOST:PORT, unix:///PATH, inproc://NAME, ws://HOST/PATH, wss://HOST/PATH or ws+unix://SOCKET",
        ),
    ] {
        let error = Client::builder().endpoint(url).build().unwrap_err();
        let text = error.to_string();
        assert_eq!(text, format!("cannot connect to {url}: {words}"));
    }
    let error = Client::builder().build().unwrap_err().to_string();
    assert_eq!(error, "cannot connect to nothing: there is no endpoint");
}
