//! Behaviour that is the same over every transport: each case is a test per transport.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::server::BoundAddress;
use polywire_rpc::{Methods, RunningServer, Server};
use tokio::sync::mpsc;

use crate::support::methods;

/// The transport of frames.
#[derive(Clone, Copy, Debug)]
enum Transport {
    Inproc,
    Tcp,
    Udp,
    #[cfg(unix)]
    Unix,
}

macro_rules! over_every_transport {
    ($($case:ident,)*) => {
        over_every_transport!(@ inproc, Transport::Inproc, $($case,)*);
        over_every_transport!(@ tcp, Transport::Tcp, $($case,)*);
        over_every_transport!(@ udp, Transport::Udp, $($case,)*);
        #[cfg(unix)]
        over_every_transport!(@ unix, Transport::Unix, $($case,)*);
    };
    (@ $name:ident, $transport:expr, $($case:ident,)*) => {
        mod $name {
            use super::Transport;

            $(
                #[tokio::test]
                async fn $case() {
                    super::$case($transport).await;
                }
            )*
        }
    };
}

over_every_transport![
    calls_are_answered,
    faults_describe_the_error,
    thousands_at_once_are_all_answered,
    a_dropped_call_is_cancelled,
    a_handler_ends_at_the_deadline_of_its_call,
    open_and_queued_calls_end_at_their_deadline,
    a_call_whose_deadline_has_passed_is_not_started,
    slow_replies_need_no_other_traffic,
    the_capacity_of_dropped_calls_is_reused,
    shutdown_answers_open_calls,
    one_way_calls_arrive,
];

/// A server that listens on a transport.
struct TestServer {
    running: RunningServer<BoundAddress>,
    url: String,
}

impl TestServer {
    async fn new(transport: Transport, methods: Methods) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("wires-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let any: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
        let server = Server::methods(methods).frames(true).build().unwrap();
        let (running, url) = match transport {
            Transport::Inproc => {
                let url = format!("inproc://{name}");
                (server.listen_inproc(&name).unwrap().into_any(), url)
            }
            Transport::Tcp => {
                let running = server.listen(any).await.unwrap();
                let url = format!("tcp://{}", running.address());
                (running.into_any(), url)
            }
            Transport::Udp => {
                let running = server.listen_udp(any).await.unwrap();
                let url = format!("udp://{}", running.address());
                (running.into_any(), url)
            }
            #[cfg(unix)]
            Transport::Unix => {
                let path = std::env::temp_dir();
                let path = path.join(format!("polywire-{}-{name}", std::process::id()));
                let running = server.listen_unix(path.clone()).await.unwrap();
                (running.into_any(), format!("unix://{}", path.display()))
            }
        };
        Self { running, url }
    }

    async fn client(&self) -> Client {
        Client::connect(&self.url).await.unwrap()
    }
}

async fn calls_are_answered(transport: Transport) {
    let server = TestServer::new(transport, methods()).await;
    let client = server.client().await;
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    assert_eq!(client.call::<usize>("Length", ("four",)).await.unwrap(), 4);
    client.call::<()>("Nothing", ()).await.unwrap();
    // A slow call, during which a UDP client retransmits.
    assert_eq!(client.call::<u64>("Sleep", (50,)).await.unwrap(), 50);
    assert_eq!((client.pending(), client.stats().in_flight), (0, 0));
    server.running.shutdown().await;
}

async fn faults_describe_the_error(transport: Transport) {
    let server = TestServer::new(transport, methods()).await;
    let client = server.client().await;
    for (method, code, words) in [
        ("Fail", FaultCode::NAMED, "as asked"),
        ("Panic", FaultCode::INTERNAL, "an internal error occurred"),
        ("Gone", FaultCode::UNKNOWN_OPERATION, "no operation `Gone`"),
    ] {
        let error = client.call::<()>(method, ()).await.unwrap_err();
        let fault = error.fault().unwrap();
        assert_eq!((error.frame_code(), fault.message()), (Some(code), words));
    }
    let error = client.call::<i32>("Add", ("two", 3)).await.unwrap_err();
    assert_eq!(error.frame_code(), Some(FaultCode::MALFORMED), "{error}");
    let error = client.call::<String>("Add", (2, 3)).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Decode, "{error}");
    assert_eq!((client.pending(), client.stats().in_flight), (0, 0));
}

async fn thousands_at_once_are_all_answered(transport: Transport) {
    let server = TestServer::new(transport, methods()).await;
    let client = server.client().await;
    let calls: Vec<_> = (0..5_000)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { client.call::<i32>("Add", (number, 1)).await })
        })
        .collect();
    for (number, call) in (1..).zip(calls) {
        assert_eq!(call.await.unwrap().unwrap(), number);
    }
    assert_eq!(client.pending(), 0);
}

/// Methods, of which `Wait` never ends, and a receiver of a message for each handler of `Wait` that is dropped.
fn waiting() -> (Methods, mpsc::UnboundedReceiver<()>) {
    let (sender, dropped_handlers) = mpsc::unbounded_channel();
    let methods = methods().method("Wait", move |()| {
        let guard = NotifyOnDrop(sender.clone());
        async move {
            std::future::pending::<()>().await;
            drop(guard);
        }
    });
    (methods, dropped_handlers)
}

async fn a_dropped_call_is_cancelled(transport: Transport) {
    let (methods, mut dropped_handlers) = waiting();
    let server = TestServer::new(transport, methods).await;
    let client = server.client().await;
    let call = client.call::<()>("Wait", ());
    let timed = tokio::time::timeout(Duration::from_millis(20), call).await;
    assert!(timed.is_err());
    assert_eq!((client.pending(), client.stats().cancelled), (0, 1));
    // The server drops the handler. The slot of the call is free when the server has answered the cancellation.
    dropped_handlers.recv().await.unwrap();
    while client.stats().in_flight > 0 {
        client.call::<i32>("Add", (1, 1)).await.unwrap();
    }
}

async fn a_handler_ends_at_the_deadline_of_its_call(transport: Transport) {
    let (methods, mut dropped_handlers) = waiting();
    let server = TestServer::new(transport, methods).await;
    let client = server.client().await;
    let short = client.with_deadline(Duration::from_millis(20));
    let error = short.call::<()>("Wait", ()).await.unwrap_err();
    assert!(error.is_deadline(), "{error}");
    dropped_handlers.recv().await.unwrap();
    while client.stats().in_flight > 0 {
        client.call::<i32>("Add", (1, 1)).await.unwrap();
    }
}

/// Sends a message when it is dropped.
struct NotifyOnDrop(mpsc::UnboundedSender<()>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

async fn open_and_queued_calls_end_at_their_deadline(transport: Transport) {
    let server = TestServer::new(transport, methods()).await;
    let client = server.client().await;
    let short = client.with_deadline(Duration::from_millis(50));
    // More calls than may be in flight at once. None is answered before its deadline.
    let calls: Vec<_> = (0..3_000)
        .map(|_| {
            let client = short.clone();
            tokio::spawn(async move { client.call::<u64>("Sleep", (60_000,)).await })
        })
        .collect();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert!(error.is_deadline(), "{error}");
    }
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
}

async fn a_call_whose_deadline_has_passed_is_not_started(transport: Transport) {
    let (sender, mut started) = mpsc::unbounded_channel();
    let methods = Methods::new().method("Note", move |(number,): (u32,)| {
        sender.send(number).unwrap();
        async {}
    });
    let server = TestServer::new(transport, methods).await;
    let client = server.client().await;
    let late = client.with_deadline(Duration::ZERO);
    let error = late.call::<()>("Note", (1,)).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    let error = late.notify("Note", (2,)).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    assert_eq!(client.stats().deadlines, 2);
    client.call::<()>("Note", (3,)).await.unwrap();
    assert_eq!(started.recv().await, Some(3));
}

/// Slow replies arrive one after the other, without other traffic on the connection.
async fn slow_replies_need_no_other_traffic(transport: Transport) {
    let server = TestServer::new(transport, methods()).await;
    let client = server.client().await;
    let client = client.with_deadline(Duration::from_secs(10));
    let calls: Vec<_> = [10_u64, 40, 70, 100]
        .into_iter()
        .map(|ms| {
            let client = client.clone();
            tokio::spawn(async move { client.call::<u64>("Sleep", (ms,)).await })
        })
        .collect();
    for (call, ms) in calls.into_iter().zip([10, 40, 70, 100]) {
        assert_eq!(call.await.unwrap().unwrap(), ms);
    }
}

/// The capacity of cancelled calls is used by a queued call.
async fn the_capacity_of_dropped_calls_is_reused(transport: Transport) {
    let server = TestServer::new(transport, methods()).await;
    let client = server.client().await;
    let calls: Vec<_> = (0..2_000)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call::<u64>("Sleep", (60_000,)).await })
        })
        .collect();
    while client.pending() < 2_000 {
        tokio::task::yield_now().await;
    }
    let other = client.clone();
    let waits = tokio::spawn(async move { other.call::<i32>("Add", (2, 3)).await });
    for call in calls {
        call.abort();
    }
    assert_eq!(waits.await.unwrap().unwrap(), 5);
}

async fn shutdown_answers_open_calls(transport: Transport) {
    let server = TestServer::new(transport, methods()).await;
    let client = Client::builder().endpoint(&server.url).fail_fast(true);
    let client = client.connect().await.unwrap();
    let other = client.clone();
    let call = tokio::spawn(async move { other.call::<u64>("Sleep", (300,)).await });
    while client.pending() == 0 {
        tokio::task::yield_now().await;
    }
    client.call::<i32>("Add", (2, 3)).await.unwrap();
    server.running.shutdown().await;
    assert_eq!(call.await.unwrap().unwrap(), 300);
    let error = client.call::<i32>("Add", (2, 3)).await.unwrap_err();
    let unsent = error.kind() == CallErrorKind::Connect;
    assert!(unsent && error.is_unstarted(), "{error:?}");
}

async fn one_way_calls_arrive(transport: Transport) {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let methods = Methods::new().method("Note", move |(number,): (u32,)| {
        sender.send(number).unwrap();
        async {}
    });
    let server = TestServer::new(transport, methods).await;
    let client = server.client().await;
    client.notify("Note", (7,)).await.unwrap();
    assert_eq!(receiver.recv().await, Some(7));
}
