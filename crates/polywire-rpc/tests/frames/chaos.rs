//! Guarantees for calls between many clients and servers while the network and the servers fail.
//!
//! Connections are cut, delayed and get garbage. Datagrams are lost, duplicated and reordered. Servers restart. Each
//! call has a unique number, and its handler counts the executions of that number. At the end:
//!
//! - each call has ended exactly once: in a reply, a fault or an error, or dropped by its caller;
//! - each reply belongs to its call;
//! - a call with a reply was executed at least once;
//! - a call that is not idempotent was executed at most once;
//! - a call whose error is marked as unstarted was not executed.
//!
//! `POLYWIRE_CHAOS=10000000` sets the number of calls. `POLYWIRE_SEED` repeats the faults of another run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::server::UdpSocket;
use polywire_rpc::{Methods, Server, Timeouts};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::faulty_proxy::{FaultyProxy, Rng, Upstream};
use crate::lossy_network::{Network, NetworkConditions};
use crate::raw::Raw;

const CLIENTS: u64 = 3;
const CALLERS: u64 = 40;

/// The number of executions of each call, by call number.
#[derive(Clone)]
struct ExecutionCounts(Arc<[AtomicU8]>);

impl ExecutionCounts {
    fn new(calls: u64) -> Self {
        Self((0..calls).map(|_| AtomicU8::new(0)).collect())
    }

    fn of(&self, number: u64) -> u8 {
        self.0[number as usize].load(Ordering::Relaxed)
    }

    /// A server whose handler counts executions. Of eight calls, one yields, one sleeps for up to 4 ms, and six are
    /// ready at once.
    fn server(&self) -> Server {
        let executed = self.clone();
        let methods = Methods::new().method("Do", move |(number, text): (u64, String)| {
            let executed = executed.clone();
            async move {
                executed.0[number as usize].fetch_add(1, Ordering::Relaxed);
                match number % 8 {
                    0 => tokio::task::yield_now().await,
                    1 => tokio::time::sleep(Duration::from_millis(number % 5)).await,
                    _ => {}
                }
                (number, text)
            }
        });
        let timeouts = Timeouts::DEFAULT.with_shutdown(Duration::from_millis(50));
        let server = Server::methods(methods).frames(true).timeouts(timeouts);
        server.build().unwrap()
    }
}

/// The number of calls by outcome.
#[derive(Debug, Default)]
struct OutcomeCounts {
    replies: AtomicU64,
    faults: AtomicU64,
    deadlines: AtomicU64,
    disconnected: AtomicU64,
    dropped: AtomicU64,
    others: AtomicU64,
}

impl OutcomeCounts {
    fn sum(&self) -> u64 {
        let Self {
            replies,
            faults,
            deadlines,
            disconnected,
            dropped,
            others,
        } = self;
        let all = [replies, faults, deadlines, disconnected, dropped, others];
        all.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

/// State that the callers share.
struct Run {
    calls: u64,
    next: AtomicU64,
    executed: ExecutionCounts,
    outcomes: OutcomeCounts,
}

async fn connect(url: &str, seed: u64) -> Client {
    loop {
        let client = Client::builder()
            .endpoint(url)
            .deadline(Duration::from_secs(5))
            .reconnect(Duration::from_millis(1), Duration::from_millis(50))
            .throttle(None)
            .seed(seed);
        if let Ok(client) = client.connect().await {
            return client;
        }
    }
}

/// Makes calls until all call numbers are used.
async fn caller(run: Arc<Run>, client: Client) {
    let idempotent = client.idempotent();
    loop {
        let number = run.next.fetch_add(1, Ordering::Relaxed);
        if number >= run.calls {
            return;
        }
        let text = "x".repeat((number % 97 * 3) as usize);
        let twice = number % 4 == 3;
        let by = if twice { &idempotent } else { &client };
        let call = by.call::<(u64, String)>("Do", (number, &text));
        let outcomes = &run.outcomes;
        // One call in 100 is dropped by its caller after 1 ms.
        let ended = match number % 100 {
            57 => tokio::time::timeout(Duration::from_millis(1), call).await,
            _ => Ok(call.await),
        };
        let counts = match ended {
            Err(_) => &outcomes.dropped,
            Ok(Ok(reply)) => {
                assert_eq!(reply, (number, text), "the answer to another call");
                assert!(run.executed.of(number) >= 1, "{number} was never done");
                &outcomes.replies
            }
            Ok(Err(error)) => {
                let executions = run.executed.of(number);
                assert!(
                    executions == 0 || !error.is_unstarted(),
                    "{number} was done {executions} times: {error}"
                );
                match error.kind() {
                    CallErrorKind::Fault => &outcomes.faults,
                    CallErrorKind::Deadline => &outcomes.deadlines,
                    CallErrorKind::Connect | CallErrorKind::Disconnected => &outcomes.disconnected,
                    _ => &outcomes.others,
                }
            }
        };
        counts.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs a TCP or Unix server and restarts it repeatedly. Writes its current address to `upstream`.
async fn restart_repeatedly(
    executed: ExecutionCounts,
    upstream: watch::Sender<Upstream>,
    unix: bool,
) {
    for turn in 0_u64.. {
        let server = executed.server();
        let running = if cfg!(unix) && unix {
            let name = format!("polywire-chaos-{}-{turn}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let running = server.listen_unix(path.clone()).await.unwrap();
            upstream.send_replace(Upstream::Unix(path));
            running.into_any()
        } else {
            let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
            upstream.send_replace(Upstream::Tcp(running.address()));
            // A client that sends 100 calls and never reads. It disconnects before the server shuts down.
            let mut raw = Raw::connect(running.address()).await;
            for slot in 0..100 {
                // The CBOR of [0]. A parameter is missing, so the call is not counted as executed.
                raw.call(slot, "Do", 0, &[0x81, 0]);
            }
            raw.send().await;
            let running = running.into_any();
            tokio::time::sleep(Duration::from_millis(700)).await;
            drop(raw);
            running
        };
        tokio::time::sleep(Duration::from_millis(700)).await;
        running.shutdown().await;
        tokio::time::sleep(Duration::from_millis(turn % 3 * 20)).await;
    }
}

/// Runs a UDP server and restarts it every 2 s at the same address, which it sends to `first`.
async fn restart_udp_repeatedly(
    executed: ExecutionCounts,
    first: tokio::sync::oneshot::Sender<std::net::SocketAddr>,
) {
    let mut address = "127.0.0.1:0".parse().unwrap();
    let mut first = Some(first);
    loop {
        let Ok(running) = executed.server().listen_udp(UdpSocket::new(address)).await else {
            tokio::task::yield_now().await;
            continue;
        };
        address = running.address();
        if let Some(first) = first.take() {
            first.send(address).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(2_000)).await;
        running.shutdown().await;
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_call_ends_once_and_non_idempotent_calls_execute_at_most_once() {
    let calls = number("POLYWIRE_CHAOS").unwrap_or(200_000);
    let seed = number("POLYWIRE_SEED").unwrap_or_else(|| {
        let time = std::time::UNIX_EPOCH.elapsed().unwrap();
        time.as_nanos() as u64
    });
    println!("POLYWIRE_SEED={seed}");
    let executed = ExecutionCounts::new(calls);
    let run = Arc::new(Run {
        calls,
        next: AtomicU64::new(0),
        executed: executed.clone(),
        outcomes: OutcomeCounts::default(),
    });
    // The tasks that restart the servers.
    let mut world = JoinSet::new();
    let mut urls = Vec::new();
    let mut proxies = Vec::new();
    for unix in [false, cfg!(unix)] {
        let (upstream, upstreams) = watch::channel(Upstream::Down);
        world.spawn(restart_repeatedly(executed.clone(), upstream, unix));
        let proxy = FaultyProxy::new(upstreams, Rng::new(seed.wrapping_add(unix.into()))).await;
        urls.push(format!("tcp://{}", proxy.address));
        proxies.push(proxy);
    }
    let (first, address) = tokio::sync::oneshot::channel();
    world.spawn(restart_udp_repeatedly(executed.clone(), first));
    let conditions = NetworkConditions {
        lost: 10,
        duplicated: 10,
        delayed: 20,
    };
    let network = Network::new(address.await.unwrap(), conditions).await;
    urls.push(format!("udp://{}", network.address));

    let mut callers = JoinSet::new();
    for at in 0..CLIENTS {
        for url in &urls {
            let client = connect(url, seed.wrapping_add(at)).await;
            for _ in 0..CALLERS {
                callers.spawn(caller(Arc::clone(&run), client.clone()));
            }
        }
    }
    while let Some(ended) = callers.join_next().await {
        if let Err(error) = ended {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    // Stops the servers and their running handlers, so that the counts are final.
    world.shutdown().await;
    let faults: Vec<_> = proxies.iter().map(FaultyProxy::cuts_and_garbage).collect();
    println!("{:?}, and {faults:?}", run.outcomes);
    assert_eq!(run.outcomes.sum(), calls);
    let mut twice = 0;
    for number in 0..calls {
        let times = executed.of(number);
        twice += u64::from(times > 1);
        assert!(
            times <= 1 || number % 4 == 3,
            "{number} was done {times} times"
        );
    }
    // Most calls succeeded, although each proxy has cut connections and inserted garbage.
    assert!(run.outcomes.replies.load(Ordering::Relaxed) > calls / 2);
    assert!(
        faults
            .iter()
            .all(|(cuts, garbage)| *cuts > 0 && *garbage > 0)
    );
    println!("{twice} idempotent calls were done more than once");
}
