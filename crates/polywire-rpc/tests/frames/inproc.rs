//! Servers in the same process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_protocol::Fault;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::server::{BoundAddress, FrameLimits, InprocName};
use polywire_rpc::{Context, Methods, RunningServer, Server, StreamCall, Timeouts, Topics};
use polywire_schema::Limits;
use tokio::time::sleep;

use crate::support::methods;

fn listen(name: &str, methods: Methods) -> RunningServer<InprocName> {
    let server = Server::methods(methods).frames(true).build().unwrap();
    server.listen_inproc(name).unwrap()
}

async fn client(running: &RunningServer<InprocName>) -> Client {
    let url = format!("inproc://{}", running.name());
    Client::connect(&url).await.unwrap()
}

/// The limit on inputs is the same as on other transports.
#[tokio::test]
async fn a_large_reply_arrives_and_an_input_above_the_limit_is_rejected() {
    let running = listen("large", methods());
    let client = client(&running).await;
    let text: String = client
        .call("Repeat", ("abcdefgh", 1_000_000))
        .await
        .unwrap();
    assert_eq!(text.len(), 8_000_000);
    let text = "x".repeat(17 << 20);
    let error = client.call::<usize>("Length", (text,)).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Encode, "{error}");
    assert!(error.is_unstarted(), "{error}");
    assert_eq!((client.pending(), client.stats().in_flight), (0, 0));
}

/// The context of a handler shows that the caller is in this process: it counts as local and encrypted, without a peer.
#[tokio::test]
async fn the_context_shows_an_in_process_caller() {
    let methods = Methods::new().method("Who", |(), context: Context| async move {
        let caller = context.caller();
        let here = caller.is_in_process() && caller.is_local() && caller.is_encrypted();
        here && context.peer().is_none()
    });
    let running = listen("who", methods);
    assert!(
        client(&running)
            .await
            .call::<bool>("Who", ())
            .await
            .unwrap()
    );
    let place = running.into_any();
    assert_eq!(
        place.bound_address(),
        &BoundAddress::Inproc("who".to_owned())
    );
    assert_eq!(place.bound_address().to_string(), "inproc:who");
}

#[tokio::test]
async fn a_name_in_use_cannot_be_bound_again() {
    let running = listen("once", methods());
    let other = Server::methods(methods()).frames(true).build().unwrap();
    let error = other.listen_inproc("once").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    let error = other.listen_inproc("a b").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    let without = Server::methods(methods()).build().unwrap();
    let error = without.listen_inproc("other").unwrap_err();
    assert!(error.to_string().contains("offer frames"), "{error}");
    running.shutdown().await;
    let _running = other.listen_inproc("once").unwrap();

    let error = Client::connect("inproc://nobody").await.unwrap_err();
    assert!(error.to_string().contains("has this name"), "{error}");
    let error = Client::connect("inproc://").await.unwrap_err();
    assert!(error.to_string().contains("expected visible"), "{error}");
}

struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A server that shuts down answers the open call. A new call waits until a server with the same name listens again.
#[tokio::test]
async fn servers_stop_and_restart() {
    let running = listen("back", methods());
    let client = client(&running).await;
    let other = client.clone();
    let call = tokio::spawn(async move { other.call::<u64>("Sleep", (300,)).await });
    while client.stats().in_flight == 0 {
        tokio::task::yield_now().await;
    }
    running.shutdown().await;
    assert_eq!(call.await.unwrap().unwrap(), 300);
    let waits = client.clone();
    let waits = tokio::spawn(async move { waits.call::<i32>("Add", (2, 3)).await });
    tokio::task::yield_now().await;
    let _running = listen("back", methods());
    assert_eq!(waits.await.unwrap().unwrap(), 5);
}

/// The client and the server run in runtimes on different threads.
#[test]
fn client_and_server_on_different_threads() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (up, is_up) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        runtime().block_on(async {
            let running = listen("threads", methods());
            up.send(()).unwrap();
            let _ = stopped.await;
            running.shutdown().await;
        });
    });
    is_up.recv().unwrap();
    runtime().block_on(async {
        let client = Client::connect("inproc://threads").await.unwrap();
        let calls: Vec<_> = (0..2_000_i32)
            .map(|number| {
                let client = client.clone();
                tokio::spawn(async move {
                    let sum = client.call::<i32>("Add", (number, 1)).await.unwrap();
                    let slept = client.call::<u64>("Sleep", (1,)).await.unwrap();
                    (sum, slept)
                })
            })
            .collect();
        for (number, call) in (1..).zip(calls) {
            assert_eq!(call.await.unwrap(), (number, 1));
        }
    });
    drop(stop);
    server.join().unwrap();
}

/// A handler may call its own server, to any depth that the limits on open calls allow.
#[tokio::test]
async fn a_handler_can_call_its_own_server() {
    static OWN: OnceLock<Client> = OnceLock::new();
    let methods = Methods::new().method("Down", |(left,): (u32,)| async move {
        match left {
            0 => 0,
            left => {
                let down = OWN.get().unwrap().call::<u32>("Down", (left - 1,));
                Box::pin(down).await.unwrap() + 1
            }
        }
    });
    let limits = FrameLimits::new().calls(6_000);
    let server = Server::methods(methods).frames(true).frame_limits(limits);
    let _running = server.build().unwrap().listen_inproc("down").unwrap();
    // All calls are open at the same time.
    let builder = Client::builder()
        .endpoint("inproc://down")
        .in_flight(6_000..=6_000);
    OWN.set(builder.connect().await.unwrap()).unwrap();
    let down = OWN.get().unwrap().call::<u32>("Down", (5_000,));
    assert_eq!(down.await.unwrap(), 5_000);
}

/// One-way calls, streams and topics work in process.
#[tokio::test]
async fn one_way_calls_streams_and_topics_work() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let topics = Topics::new();
    let methods = methods()
        .method("Note", move |(number,): (u32,)| {
            sender.send(number).unwrap();
            async {}
        })
        // A topic below has the same name.
        .method("news", |(): ()| async {})
        .stream("Count", |(to,): (u32,), call: StreamCall| async move {
            let (_, items) = call.split();
            for number in 0..to {
                items.send(&number).await?;
            }
            Ok::<_, Fault>(to)
        });
    let server = Server::methods(methods).frames(true).topics(topics.clone());
    let running = server.build().unwrap().listen_inproc("all").unwrap();
    let client = client(&running).await;
    client.notify("Note", (7,)).await.unwrap();
    assert_eq!(receiver.recv().await, Some(7));
    let mut stream = client.stream("Count", (1_000,)).await.unwrap();
    for expected in 0..1_000 {
        assert_eq!(stream.next::<u32>().await.unwrap(), Some(expected));
    }
    assert_eq!(stream.result::<u32>().await.unwrap(), 1_000);
    let mut news = client.subscribe("news").await.unwrap();
    assert_eq!(topics.publish("news", "rain").unwrap(), 1);
    assert_eq!(news.next::<String>().await.unwrap().unwrap().value, "rain");
    assert_eq!(client.publish("news", "sun").await.unwrap(), 1);
    assert_eq!(news.next::<String>().await.unwrap().unwrap().value, "sun");
}

/// With `at_work(3)`, three of ten concurrent calls succeed. The other seven are rejected before their handler starts.
#[tokio::test]
async fn calls_beyond_the_limit_of_waiting_handlers_are_rejected() {
    let server = Server::methods(methods()).frames(true);
    let server = server
        .frame_limits(FrameLimits::new().at_work(3))
        .build()
        .unwrap();
    let running = server.listen_inproc("busy").unwrap();
    let builder = Client::builder().endpoint("inproc://busy").retries(0);
    let client = builder.connect().await.unwrap();
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call::<u64>("Sleep", (50,)).await })
        })
        .collect();
    let mut shed = 0;
    for call in calls {
        if let Err(error) = call.await.unwrap() {
            assert_eq!(error.frame_code(), Some(FaultCode::OVERLOADED));
            assert!(error.is_unstarted() && error.retry_after().is_some());
            shed += 1;
        }
    }
    assert_eq!(shed, 7);
    let stats = server.frame_stats();
    assert_eq!((stats.calls, stats.replies, stats.shed), (10, 3, 7));
    drop(running);
}

/// Handlers that still run after the shutdown timeout, here 50 ms, are dropped. Their calls fail and are not marked as
/// unstarted.
#[tokio::test]
async fn no_handler_outlives_its_server() {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ended);
    let methods = Methods::new().method("Wait", move |()| {
        let guard = Guard(Arc::clone(&count));
        async move {
            sleep(Duration::from_secs(3_600)).await;
            drop(guard);
        }
    });
    let timeouts = Timeouts::DEFAULT.with_shutdown(Duration::from_millis(50));
    let server = Server::methods(methods).frames(true).timeouts(timeouts);
    let running = server.build().unwrap().listen_inproc("outlives").unwrap();
    let builder = Client::builder().endpoint("inproc://outlives");
    let client = builder.fail_fast(true).connect().await.unwrap();
    // A one-way call.
    client.notify("Wait", ()).await.unwrap();
    let other = client.clone();
    let call = tokio::spawn(async move { other.call::<()>("Wait", ()).await });
    while client.stats().in_flight == 0 {
        tokio::task::yield_now().await;
    }
    running.shutdown().await;
    let error = call.await.unwrap().unwrap_err();
    assert!(!error.is_unstarted(), "{error}");
    while ended.load(Ordering::Relaxed) < 2 {
        sleep(Duration::from_millis(1)).await;
    }
    let error = client.call::<()>("Wait", ()).await.unwrap_err();
    assert!(error.is_unstarted(), "{error}");
}

/// The limit `in_flight` of the client also applies in process: at most four handlers run, and further calls wait.
#[tokio::test]
async fn the_in_flight_limit_of_the_client_bounds_running_handlers() {
    let (at_work, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, seen) = (Arc::clone(&at_work), Arc::clone(&most));
    let methods = Methods::new().method("Wait", move |()| {
        let (now, seen) = (Arc::clone(&now), Arc::clone(&seen));
        async move {
            seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(Duration::from_millis(5)).await;
            now.fetch_sub(1, Ordering::SeqCst);
        }
    });
    let running = listen("pool", methods);
    let url = format!("inproc://{}", running.name());
    let client = Client::builder().endpoint(&url).in_flight(4..=4);
    let client = client.connect().await.unwrap();
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call::<()>("Wait", ()).await })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert!(most.load(Ordering::SeqCst) <= 4, "{most:?}");
}

/// Invalid metadata is rejected as on other transports.
#[tokio::test]
async fn invalid_metadata_is_rejected() {
    let running = listen("elsewhere", methods());
    let client = client(&running).await;
    let wrong = client.with_metadata("Bad Key", "x");
    let error = wrong.call::<i32>("Add", (1, 2)).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Encode, "{error}");
}

#[tokio::test]
async fn a_streaming_method_can_be_called_without_streams() {
    let methods = methods().stream("Sum", |(): (), call: StreamCall| async move {
        drop(call);
        Ok::<_, Fault>(3)
    });
    let running = listen("unstreamed", methods);
    let client = client(&running).await;
    assert_eq!(client.call::<i32>("Sum", ()).await.unwrap(), 3);
}

/// The error does not contain the password.
#[tokio::test]
async fn a_url_with_a_password_is_rejected() {
    let error = Client::connect("tcp://ann:secret@127.0.0.1:1").await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("no user") && !error.contains("secret"),
        "{error}"
    );
}

/// A call whose deadline passes at the client is cancelled, and the server counts it as cancelled.
#[tokio::test]
async fn cancelled_calls_are_counted() {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let _running = server.listen_inproc("counted").unwrap();
    let client = Client::connect("inproc://counted").await.unwrap();
    let short = client.with_deadline(Duration::from_millis(5));
    short.call::<u64>("Sleep", (60_000,)).await.unwrap_err();
    while server.frame_stats().cancelled == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    let stats = server.frame_stats();
    assert_eq!((stats.calls, stats.cancelled, stats.open), (1, 1, 0));
}

/// The idle timeout runs only while no call is open, and restarts after each call.
#[tokio::test(start_paused = true)]
async fn a_connection_is_idle_only_without_calls() {
    const SECOND: Duration = Duration::from_secs(1);
    let limits = FrameLimits::new().idle(5 * SECOND);
    let server = Server::methods(methods()).frames(true).frame_limits(limits);
    let server = server.build().unwrap();
    let _running = server.listen_inproc("idle").unwrap();
    let client = Client::connect("inproc://idle").await.unwrap();
    for _ in 0..20 {
        assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
        sleep(4 * SECOND).await;
    }
    // A call of 13 s is longer than the idle timeout, which starts only when the call ends.
    assert_eq!(
        client.call::<u64>("Sleep", (13_000,)).await.unwrap(),
        13_000
    );
    sleep(4 * SECOND).await;
    assert_eq!(server.frame_stats().accepted, 1);
    // After 6 s without calls, the connection was closed and the client has reconnected.
    sleep(2 * SECOND).await;
    assert_eq!(server.frame_stats().accepted, 2);
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
}

/// The client's limit on replies and faults has the same effect in process as over TCP.
#[tokio::test]
async fn the_client_enforces_its_limits_on_replies_and_faults() {
    let methods = methods()
        .method("Later", |(length,): (usize,)| async move {
            sleep(Duration::from_millis(1)).await;
            "x".repeat(length)
        })
        .method("Explain", |(length,): (usize,)| async move {
            Err::<(), _>(Fault::coded(7, "x".repeat(length)))
        });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let _inproc = server.listen_inproc("long").unwrap();
    let mut ends = Vec::new();
    for url in [
        format!("tcp://{}", running.address()),
        "inproc://long".to_owned(),
    ] {
        let limits = Limits::DEFAULT.with_bytes(100_000);
        let client = Client::builder().endpoint(&url).limits(limits);
        let client = client.connect().await.unwrap();
        let most: String = client.call("Repeat", ("x", 99_995)).await.unwrap();
        assert_eq!(most.len(), 99_995);
        let longer = client.call::<String>("Repeat", ("x", 99_996)).await;
        let later = client.call::<String>("Later", (99_996,)).await;
        let explained = client.call::<()>("Explain", (100_000,)).await;
        let errors = [
            longer.unwrap_err(),
            later.unwrap_err(),
            explained.unwrap_err(),
        ];
        ends.push(errors.map(|error| {
            let fault = error.fault().unwrap();
            let code = error.frame_code();
            (code, fault.message().to_owned(), error.is_unstarted())
        }));
    }
    assert_eq!(ends[0], ends[1]);
    let codes = ends[1].clone().map(|(code, ..)| code);
    let too_large = FaultCode::TOO_LARGE;
    assert_eq!(codes, [too_large, too_large, FaultCode::NAMED].map(Some));
}

/// Each call and its outcome are counted once, whether its handler is ready at once or later.
#[tokio::test]
async fn calls_are_counted_by_their_outcome() {
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let _running = server.listen_inproc("ends-in").unwrap();
    let client = Client::connect("inproc://ends-in").await.unwrap();
    for _ in 0..3 {
        assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    }
    assert_eq!(client.call::<u64>("Sleep", (1,)).await.unwrap(), 1);
    client.call::<()>("Fail", ()).await.unwrap_err();
    client.call::<()>("Panic", ()).await.unwrap_err();
    client.call::<()>("Gone", ()).await.unwrap_err();
    client.call::<i32>("Add", ("two", 3)).await.unwrap_err();
    let stats = server.frame_stats();
    assert_eq!((stats.calls, stats.replies), (8, 4));
    assert_eq!((stats.faults, stats.internal, stats.open), (4, 1, 0));
}

/// A handler does not see the extensions that the handler of another call has added to its context.
#[tokio::test]
async fn context_extensions_are_not_shared_between_calls() {
    let methods = Methods::new().method("Visit", |(): (), mut context: Context| async move {
        let visited = context.extensions().get::<Visited>().is_some();
        context.extensions_mut().insert(Visited);
        let bare = context.headers().is_empty() && context.uri() == "/";
        (
            bare,
            visited,
            context.extensions().get::<Visited>().is_some(),
        )
    });
    let running = listen("visits", methods);
    let client = client(&running).await;
    for _ in 0..2 {
        let seen: (bool, bool, bool) = client.call("Visit", ()).await.unwrap();
        assert_eq!(seen, (true, false, true));
    }
}

#[derive(Clone)]
struct Visited;
