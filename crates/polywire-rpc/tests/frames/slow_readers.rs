//! Peers that request more data than they read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_protocol::Fault;
use polywire_rpc::CallError;
use polywire_rpc::frames::Client;
use polywire_rpc::server::FrameLimits;
use polywire_rpc::{Methods, RunningServer, Server, ServerBuilder, StreamCall, Topics};
use polywire_schema::Limits;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::raw::{FAULT, REPLY, Raw, UNSTARTED};

const OVERLOADED: u16 = 0x30;
const MIB: u64 = 1 << 20;

/// Methods with large replies, and the numbers of their calls that have begun and ended.
#[derive(Clone)]
struct CallCounters {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    /// Calls of `Later` end when this is closed.
    gate: Arc<Semaphore>,
}

impl CallCounters {
    fn new() -> Self {
        Self {
            started: Arc::default(),
            ended: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
        }
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    fn methods(&self) -> Methods {
        let (at_once, later) = (self.clone(), self.clone());
        Methods::new()
            .method("AtOnce", move |(len,): (usize,)| {
                at_once.started.fetch_add(1, Ordering::Relaxed);
                async move { "x".repeat(len) }
            })
            .method("Later", move |(len,): (usize,)| {
                let seen = later.clone();
                seen.started.fetch_add(1, Ordering::Relaxed);
                async move {
                    let _ = seen.gate.acquire().await;
                    seen.ended.fetch_add(1, Ordering::Relaxed);
                    "x".repeat(len)
                }
            })
            .stream(
                "Send",
                |(items, len): (usize, usize), call: StreamCall| async move {
                    let (_, out) = call.split();
                    for _ in 0..items {
                        out.send_bytes(vec![0; len].into()).await?;
                    }
                    Ok::<_, Fault>(items)
                },
            )
            .stream("Hold", |(): (), call: StreamCall| async move {
                std::future::pending::<()>().await;
                drop(call);
                Ok::<_, Fault>(())
            })
    }

    /// A server with `memory` bytes of memory, and messages of at most 1 MiB.
    fn server(&self, memory: u64) -> ServerBuilder {
        Server::methods(self.methods())
            .frames(true)
            .limits(Limits::DEFAULT.with_bytes(MIB as usize))
            .body_memory(memory as usize)
    }
}

async fn listen(server: &Server) -> RunningServer {
    server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap()
}

async fn client(running: &RunningServer) -> Client {
    let url = format!("tcp://{}", running.address());
    let client = Client::builder().endpoint(&url).retries(0);
    client.connect().await.unwrap()
}

async fn wait_until(condition: impl Fn() -> bool) {
    let all = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all)
        .await
        .unwrap();
}

fn code(error: &CallError) -> FaultCode {
    error.frame_code().unwrap()
}

/// A CBOR array of this number.
fn number(number: u32) -> Vec<u8> {
    let mut cbor = vec![0x81, 0x1a];
    cbor.extend(number.to_be_bytes());
    cbor
}

#[tokio::test]
async fn clients_that_never_read_use_bounded_memory() {
    let seen = CallCounters::new();
    let server = seen.server(32 * MIB).build().unwrap();
    let running = listen(&server).await;
    let mut raw = Raw::connect(running.address()).await;
    for slot in 0..1_000 {
        raw.call(slot, "Later", 0, &number(60_000));
    }
    raw.send().await;
    wait_until(|| seen.started() == 1_000).await;
    seen.gate.close();
    wait_until(|| seen.ended() == 1_000).await;
    // One connection holds at most half of the memory, so that other connections have enough.
    let held = server.frame_stats().memory;
    assert!((8 * MIB..=16 * MIB).contains(&held), "{held}");
    let other = client(&running).await;
    let large: String = other.call("Later", (900_000,)).await.unwrap();
    assert_eq!(large.len(), 900_000);
    // Each call is answered: with its reply, or with `OVERLOADED` if there was no memory for the reply.
    let (answers, _) = raw.answers(1_000).await;
    let replies = answers.iter().filter(|answer| answer.kind == REPLY);
    let replies = replies.count();
    assert!((200..1_000).contains(&replies), "{replies} replies");
    for fault in answers.iter().filter(|answer| answer.kind != REPLY) {
        assert_eq!((fault.kind, fault.code), (FAULT, OVERLOADED));
        assert_eq!(fault.flags & UNSTARTED, 0, "it was executed");
    }
    wait_until(|| server.frame_stats().memory == 0).await;
    assert_eq!(raw.ask("Later", &number(60_000)).await.kind, REPLY);
}

/// While the client does not read, the server does not begin further calls, not even those whose handlers are ready at
/// once.
#[tokio::test]
async fn calls_of_clients_that_never_read_are_not_started() {
    let seen = CallCounters::new();
    let server = seen.server(64 * MIB).build().unwrap();
    let running = listen(&server).await;
    let mut raw = Raw::connect(running.address()).await;
    for slot in 0..1_000 {
        raw.call(slot, "AtOnce", 0, &number(60_000));
    }
    raw.send().await;
    let other = client(&running).await;
    for _ in 0..100 {
        let _: String = other.call("AtOnce", (1,)).await.unwrap();
    }
    // The limit of unsent output, and the socket buffers of the operating system, allow some calls to begin.
    assert!(seen.started() < 500, "{}", seen.started());
    assert!(server.frame_stats().memory < 3 * MIB);
    let (answers, _) = raw.answers(1_000).await;
    assert!(answers.iter().all(|answer| answer.kind == REPLY));
    wait_until(|| server.frame_stats().memory == 0).await;
}

/// Calls that wait until the client reads are not shed, however long they wait: this delay is not caused by the server.
#[tokio::test(start_paused = true)]
async fn calls_that_wait_until_their_caller_reads_are_not_shed() {
    let seen = CallCounters::new();
    let server = seen.server(64 * MIB).build().unwrap();
    let running = listen(&server).await;
    let mut raw = Raw::connect(running.address()).await;
    for slot in 0..1_000 {
        raw.call(slot, "AtOnce", 0, &number(60_000));
    }
    raw.send().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let before = seen.started();
    assert!((1..500).contains(&before), "{before}");
    let (answers, _) = raw.answers(1_000).await;
    let replies = answers.iter().filter(|answer| answer.kind == REPLY);
    assert_eq!(replies.count(), 1_000);
}

#[tokio::test]
async fn items_that_no_handler_reads_are_bounded_by_memory() {
    let seen = CallCounters::new();
    let server = seen.server(MIB).build().unwrap();
    let running = listen(&server).await;
    let client = client(&running).await;
    let item = [0_u8; 100_000];
    let mut streams = Vec::new();
    for _ in 0..6 {
        let (mut out, back) = client.two_way("Hold", ()).await.unwrap().split();
        for _ in 0..2 {
            // Fails if the server has already ended the stream.
            let _ = out.send_bytes(&item).await;
        }
        streams.push((out, back));
    }
    wait_until(|| server.frame_stats().faults > 0).await;
    let stats = server.frame_stats();
    assert!(
        stats.memory > MIB / 4 && stats.memory <= MIB / 2,
        "{stats:?}"
    );
    assert!(stats.open > 1, "{stats:?}");
    let error = streams.pop().unwrap().1.next::<()>().await.unwrap_err();
    assert_eq!(code(&error), FaultCode::OVERLOADED);
    drop(streams);
    wait_until(|| server.frame_stats().memory == 0).await;
    // The credit of the unread items was returned.
    for _ in 0..100 {
        let (mut out, _back) = client.two_way("Hold", ()).await.unwrap().split();
        out.send_bytes(&item).await.unwrap();
    }
}

#[tokio::test]
async fn items_that_no_client_reads_are_bounded_by_memory() {
    let seen = CallCounters::new();
    let server = seen.server(MIB).build().unwrap();
    let running = listen(&server).await;
    let client = client(&running).await;
    let mut streams = Vec::new();
    // More than the credit of the connection.
    for _ in 0..60 {
        streams.push(client.stream("Send", (40, 10_000)).await.unwrap());
    }
    for _ in 0..1_000 {
        let _: String = client.call("AtOnce", (1,)).await.unwrap();
    }
    let held = server.frame_stats().memory;
    assert!((MIB / 4..=MIB / 2).contains(&held), "{held}");
    // All streams complete when the client reads them.
    let mut readers = JoinSet::new();
    for stream in streams {
        readers.spawn(async move {
            let (_, mut stream) = stream.split();
            let mut items = 0;
            while stream.next_bytes().await.unwrap().is_some() {
                items += 1;
            }
            items
        });
    }
    let read = tokio::time::timeout(Duration::from_secs(60), readers.join_all());
    assert!(read.await.unwrap().iter().all(|items| *items == 40));
    wait_until(|| server.frame_stats().memory == 0).await;
}

#[tokio::test]
async fn streams_count_as_handlers_at_work() {
    let seen = CallCounters::new();
    let limits = FrameLimits::new().at_work(2);
    let server = seen.server(8 * MIB).frame_limits(limits).build().unwrap();
    let running = listen(&server).await;
    let client = client(&running).await;
    let mut open = Vec::new();
    for _ in 0..2 {
        open.push(client.two_way("Hold", ()).await.unwrap());
    }
    wait_until(|| server.frame_stats().at_work == 2).await;
    let mut third = client.two_way("Hold", ()).await.unwrap();
    let error = third.next::<()>().await.unwrap_err();
    assert_eq!(code(&error), FaultCode::OVERLOADED);
    assert!(error.is_unstarted());
    drop(open);
    wait_until(|| server.frame_stats().at_work == 0).await;
}

#[tokio::test]
async fn subscriptions_count_as_calls_in_progress() {
    let seen = CallCounters::new();
    let topics = Topics::new();
    let server = seen.server(8 * MIB).calls(1).topics(topics);
    let server = server.build().unwrap();
    let running = listen(&server).await;
    let client = client(&running).await;
    let first = client.subscribe("news").await.unwrap();
    let error = client.subscribe("news").await.unwrap_err();
    assert_eq!(code(&error), FaultCode::OVERLOADED);
    drop(first);
    client.call::<String>("AtOnce", (1,)).await.unwrap();
    client.subscribe("news").await.unwrap();
}
