//! Streaming calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_protocol::Fault;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::methods::{MethodCall, MethodService};
use polywire_rpc::{Methods, RunningServer, Server, StreamCall, Timeouts};
use polywire_schema::Blob;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tower::layer::layer_fn;
use tower::{ServiceExt, service_fn};

use crate::scripted::{Action, ScriptedServer, settle};
use crate::support::client;

/// Counts the items that a handler has sent, and reports when the handler is dropped.
#[derive(Clone, Default)]
struct FloodCounter {
    sent: Arc<AtomicUsize>,
    dropped: Option<mpsc::UnboundedSender<()>>,
}

impl Drop for FloodCounter {
    fn drop(&mut self) {
        if let Some(dropped) = &self.dropped {
            let _ = dropped.send(());
        }
    }
}

fn methods(sent: &Arc<AtomicUsize>, dropped: &mpsc::UnboundedSender<()>) -> Methods {
    let (sent, dropped) = (Arc::clone(sent), dropped.clone());
    Methods::new()
        .method("Add", |(a, b): (i32, i32)| async move { a + b })
        .stream("Count", |(to,): (u32,), mut call: StreamCall| async move {
            for number in 0..to {
                call.send(number).await?;
            }
            Ok::<_, Fault>(to)
        })
        .stream("Sum", |(): (), mut call: StreamCall| async move {
            let mut sum = 0;
            while let Some(number) = call.next::<i64>().await? {
                sum += number;
            }
            Ok::<_, Fault>(sum)
        })
        .stream("Echo", |(): (), call: StreamCall| async move {
            let (mut items, out) = call.split();
            let mut count = 0_u32;
            while let Some(item) = items.next_bytes().await {
                out.send_bytes(item).await?;
                count += 1;
            }
            Ok::<_, Fault>(count)
        })
        .stream("Flood", move |(len,): (usize,), call: StreamCall| {
            let seen = FloodCounter {
                sent: Arc::clone(&sent),
                dropped: Some(dropped.clone()),
            };
            async move {
                let (_, out) = call.split();
                let item = bytes::Bytes::from(vec![0; len]);
                loop {
                    out.send_bytes(item.clone()).await?;
                    seen.sent.fetch_add(1, Ordering::Relaxed);
                }
                #[allow(unreachable_code, reason = "it says what the type is")]
                Ok::<(), Fault>(())
            }
        })
        .stream("Both", |(each,): (u32,), call: StreamCall| async move {
            let (_, one) = call.split();
            let other = one.clone();
            let item = bytes::Bytes::from(vec![0; 10_000]);
            let send = |out: polywire_rpc::ItemSender| {
                let item = item.clone();
                async move {
                    for _ in 0..each {
                        out.send_bytes(item.clone()).await?;
                    }
                    Ok::<_, Fault>(())
                }
            };
            // Two tasks, so that each sender has its own waker.
            let (first, second) = (tokio::spawn(send(one)), tokio::spawn(send(other)));
            first.await.unwrap().and(second.await.unwrap())
        })
        .stream("Half", |(): (), mut call: StreamCall| async move {
            call.send("one").await?;
            call.send("two").await?;
            Err::<(), _>(Fault::coded(7, "no more"))
        })
}

struct TestServer {
    running: RunningServer,
    client: Client,
    sent: Arc<AtomicUsize>,
    dropped: mpsc::UnboundedReceiver<()>,
}

async fn served() -> TestServer {
    let (dropping, dropped) = mpsc::unbounded_channel();
    let sent = Arc::default();
    let timeouts = Timeouts::DEFAULT.with_shutdown(Duration::from_millis(50));
    let server = Server::methods(methods(&sent, &dropping))
        .timeouts(timeouts)
        .frames(true);
    let address = "127.0.0.1:0".parse().unwrap();
    let running = server.build().unwrap().listen(address).await.unwrap();
    let client = client(&running).await;
    TestServer {
        running,
        client,
        sent,
        dropped,
    }
}

#[tokio::test]
async fn items_of_the_server_arrive_in_order_before_the_reply() {
    let served = served().await;
    let mut count = served.client.stream("Count", (100_000,)).await.unwrap();
    let mut expected = 0_u32;
    while let Some(number) = count.next::<u32>().await.unwrap() {
        assert_eq!(number, expected);
        expected += 1;
    }
    assert_eq!(expected, 100_000);
    assert_eq!(count.result::<u32>().await.unwrap(), 100_000);
    assert_eq!(served.client.pending(), 0);
}

#[tokio::test]
async fn items_of_the_client_arrive_in_order_before_the_end() {
    let served = served().await;
    let mut sum = served.client.two_way("Sum", ()).await.unwrap();
    for number in 1..=100_000_i64 {
        sum.send(number).await.unwrap();
    }
    assert_eq!(sum.result::<i64>().await.unwrap(), 5_000_050_000);
}

#[tokio::test]
async fn both_directions_at_the_same_time() {
    let served = served().await;
    let echo = served.client.two_way("Echo", ()).await.unwrap();
    let (mut out, mut back) = echo.split();
    let sends = async move {
        for number in 0..20_000_u32 {
            out.send((number, "x".repeat(number as usize % 300)))
                .await
                .unwrap();
        }
    };
    let reads = async move {
        for number in 0..20_000_u32 {
            let (back, _) = back.next::<(u32, String)>().await.unwrap().unwrap();
            assert_eq!(back, number);
        }
        assert_eq!(back.next::<(u32, String)>().await.unwrap(), None);
        back.result::<u32>().await.unwrap()
    };
    // The stream is finished when the half that sends is dropped.
    let ((), count) = tokio::join!(sends, reads);
    assert_eq!(count, 20_000);
}

#[tokio::test]
async fn several_tasks_can_send_on_one_stream() {
    let served = served().await;
    let both = served.client.stream("Both", (200,)).await.unwrap();
    let (_, mut items) = both.split();
    let mut count = 0;
    while items.next_bytes().await.unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 400);
}

#[tokio::test]
async fn senders_wait_for_slow_readers() {
    let served = served().await;
    let mut flood = served.client.stream("Flood", (1_000,)).await.unwrap();
    // The handler fills the window (256 KiB) and the buffer of unsent items (64 KiB). It sends no further item,
    // however often both sides run.
    for _ in 0..1_000 {
        served.client.call::<i32>("Add", (1, 2)).await.unwrap();
    }
    let room = (256 << 10) + (64 << 10);
    let most = room / 1_016 + 2;
    assert!(served.sent.load(Ordering::Relaxed) <= most);
    for _ in 0..10 * most {
        flood.next::<()>().await.unwrap_err();
    }
    assert!(served.sent.load(Ordering::Relaxed) >= 9 * most);
}

#[tokio::test]
async fn dropping_a_stream_ends_its_handler_and_frees_its_slot() {
    let mut served = served().await;
    // The windows of 40 streams together exceed the window of the connection.
    for _ in 0..40 {
        let mut flood = served.client.stream("Flood", (60_000,)).await.unwrap();
        assert!(flood.next::<()>().await.is_err());
        drop(flood);
        served.dropped.recv().await.unwrap();
    }
    assert_eq!(served.client.call::<i32>("Add", (1, 2)).await.unwrap(), 3);
    // The reply arrived after the answers to the cancelled calls.
    assert_eq!(served.client.pending(), 0);
}

#[tokio::test]
async fn unread_streams_do_not_delay_calls() {
    let served = served().await;
    let mut floods = Vec::new();
    for _ in 0..40 {
        floods.push(served.client.stream("Flood", (60_000,)).await.unwrap());
    }
    for _ in 0..100 {
        assert_eq!(served.client.call::<i32>("Add", (1, 2)).await.unwrap(), 3);
    }
    // A stream continues when the client reads it and has dropped the others.
    let mut last = floods.pop().unwrap();
    drop(floods);
    for _ in 0..200 {
        assert!(last.next::<()>().await.is_err());
    }
}

#[tokio::test]
async fn items_before_a_fault_are_not_lost() {
    let served = served().await;
    let mut half = served.client.stream("Half", ()).await.unwrap();
    assert_eq!(half.next::<String>().await.unwrap().unwrap(), "one");
    assert_eq!(half.next::<String>().await.unwrap().unwrap(), "two");
    let fault = half.next::<String>().await.unwrap_err();
    assert_eq!(fault.fault().unwrap().message(), "no more");
    let again = half.result::<()>().await.unwrap_err();
    assert_eq!(again.fault().unwrap().message(), "no more");
}

#[tokio::test]
async fn an_item_of_the_wrong_type_is_a_fault_that_names_it() {
    let served = served().await;
    let mut sum = served.client.two_way("Sum", ()).await.unwrap();
    sum.send(1).await.unwrap();
    sum.send("two").await.unwrap();
    let error = sum.result::<i64>().await.unwrap_err();
    let fault = error.fault().unwrap();
    assert_eq!(error.frame_code(), Some(FaultCode::MALFORMED), "{fault:?}");
    assert!(fault.message().starts_with("item 2: "), "{fault:?}");
}

#[tokio::test]
async fn sending_to_an_ended_call_is_an_error() {
    let served = served().await;
    let mut sum = served.client.two_way("Sum", ()).await.unwrap();
    sum.send("two").await.unwrap();
    // `send` succeeds until the fault has arrived.
    let error = loop {
        if let Err(error) = sum.send(1).await {
            break error;
        }
        tokio::task::yield_now().await;
    };
    assert!(error.fault().is_some(), "{error}");
}

#[tokio::test]
async fn methods_without_streams_reject_items() {
    let served = served().await;
    let mut add = served.client.two_way("Add", (1, 2)).await.unwrap();
    let _ = add.send(3).await;
    let error = add.result::<i32>().await.unwrap_err();
    let fault = error.fault().unwrap();
    assert_eq!(error.frame_code(), Some(FaultCode::UNSUPPORTED));
    assert!(error.is_unstarted());
    assert_eq!(fault.message(), "`Add` takes no items");
    // A streaming method can be called without streams, for its reply alone.
    assert_eq!(served.client.call::<u32>("Count", (9,)).await.unwrap(), 9);
    assert_eq!(served.client.call::<i64>("Sum", ()).await.unwrap(), 0);
}

#[tokio::test]
async fn streaming_methods_are_rejected_over_other_protocols() {
    let served = served().await;
    let url = format!("http://{}/RPC2", served.running.address());
    let client = polywire_rpc::xmlrpc::Client::new(&url).unwrap();
    let error = client.call::<u32>("Count", (1,)).await.unwrap_err();
    let expected = "`Count` has streams, which only frames carry";
    assert!(error.to_string().contains(expected), "{error}");
}

#[tokio::test]
async fn method_layers_apply_to_streams_too() {
    let (dropping, _dropped) = mpsc::unbounded_channel();
    let sent = Arc::default();
    let methods = methods(&sent, &dropping).layer(layer_fn(|inner: MethodService| {
        service_fn(move |call: MethodCall| {
            let inner = inner.clone();
            async move {
                match call.name() {
                    "Count" => Err(Fault::coded(403, "not for you")),
                    _ => inner.oneshot(call).await,
                }
            }
        })
    }));
    let server = Server::methods(methods);
    let server = server.frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = client(&running).await;
    let mut count = client.stream("Count", (3,)).await.unwrap();
    let error = count.next::<u32>().await.unwrap_err();
    assert_eq!(error.fault().unwrap().message(), "not for you");
    let mut sum = client.two_way("Sum", ()).await.unwrap();
    sum.send(5).await.unwrap();
    assert_eq!(sum.result::<i64>().await.unwrap(), 5);
}

#[tokio::test]
async fn open_streams_end_with_unavailable_at_shutdown() {
    let mut served = served().await;
    let mut flood = served.client.stream("Flood", (1_000,)).await.unwrap();
    assert!(flood.next::<()>().await.is_err());
    let running = served.running;
    let stopping = tokio::spawn(async move { running.shutdown().await });
    let error = loop {
        match flood.next::<()>().await {
            // An item has arrived, but it is not of the type `()`.
            Err(error) if error.kind() == CallErrorKind::Decode => {}
            ended => break ended.unwrap_err(),
        }
    };
    assert_eq!(
        error.frame_code(),
        Some(FaultCode::UNAVAILABLE),
        "{error:?}"
    );
    assert!(!error.is_unstarted());
    served.dropped.recv().await.unwrap();
    stopping.await.unwrap();
}

/// A server that rejects the first `calls` calls, and answers further calls with their input.
fn rejecting_server(calls: usize) -> ScriptedServer {
    ScriptedServer::new(move |call| match call.number < calls {
        true => Action::Fault(FaultCode::OVERLOADED, 0, true),
        false => Action::Echo,
    })
}

async fn client_of(server: &ScriptedServer) -> Client {
    let client = Client::builder().connector("scripted", server.connector());
    client.seed(7).connect().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_stream_rejected_before_any_item_is_retried() {
    for both in [false, true] {
        let server = rejecting_server(2);
        let client = client_of(&server).await;
        let stream = match both {
            true => client.two_way("Any", (1, 2)).await.unwrap(),
            false => client.stream("Any", (1, 2)).await.unwrap(),
        };
        let answer: (u8, u8) = stream.result().await.unwrap();
        assert_eq!(answer, (1, 2));
        let stats = client.stats();
        assert_eq!((server.seen().len(), stats.retries), (3, 2));
        assert_eq!((stats.opened, stats.pending, stats.overloaded), (1, 0, 0));
    }
    // Three retries, as for other calls.
    let server = rejecting_server(100);
    let client = client_of(&server).await;
    let mut stream = client.stream("Any", ()).await.unwrap();
    let error = stream.next::<u8>().await.unwrap_err();
    assert_eq!(error.frame_code().unwrap(), FaultCode::OVERLOADED);
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_stream_rejected_after_an_item_is_not_retried() {
    let server = rejecting_server(1);
    let client = client_of(&server).await;
    let mut stream = client.two_way("Any", ()).await.unwrap();
    stream.send(1).await.unwrap();
    let error = stream.next::<u8>().await.unwrap_err();
    assert_eq!(error.frame_code().unwrap(), FaultCode::OVERLOADED);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn streams_have_a_deadline_if_configured() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = client_of(&server).await;
    let client = client.with_stream_deadline(Duration::from_secs(300));
    let began = Instant::now();
    let mut stream = client.two_way("Any", ()).await.unwrap();
    let error = stream.next::<u8>().await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error:?}");
    assert_eq!(began.elapsed().as_secs(), 300);
    let error = stream.send(1).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error:?}");
    settle().await;
    assert_eq!(server.cancels(), 1);
    // The server has received the deadline.
    let deadline = server.seen()[0].deadline.unwrap() - began;
    assert_eq!(deadline.as_secs(), 300);
}

#[tokio::test(start_paused = true)]
async fn streams_have_no_deadline_by_default() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = client_of(&server).await;
    let mut stream = client.stream("Any", ()).await.unwrap();
    let waited = tokio::time::timeout(Duration::from_secs(86_400), stream.next::<u8>());
    assert!(waited.await.is_err());
    assert_eq!(server.seen()[0].deadline, None);
}

/// `send` fails on a stream that is not open for items of the client. Otherwise it would wait for credit that never
/// arrives.
#[tokio::test(start_paused = true)]
async fn sending_without_an_open_input_is_an_error() {
    let server = ScriptedServer::new(|_| Action::Hold);
    let client = client_of(&server).await;
    let mut stream = client.stream("Any", ()).await.unwrap();
    let error = stream.send(1).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Encode, "{error:?}");
    let mut both = client.two_way("Any", ()).await.unwrap();
    both.send(1).await.unwrap();
    both.finish();
    let error = both.send(2).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Encode, "{error:?}");
}

/// A streaming call with a deadline of zero fails, and the server does not receive it.
#[tokio::test]
async fn a_stream_whose_deadline_has_passed_is_not_started() {
    let (sender, mut started) = mpsc::unbounded_channel();
    let methods = Methods::new().stream("Note", move |(number,): (u32,), _: StreamCall| {
        sender.send(number).unwrap();
        async { Ok::<_, Fault>(()) }
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = client(&running).await;
    let late = client.with_deadline(Duration::ZERO);
    let error = late.stream("Note", (1,)).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    let error = late.two_way("Note", (2,)).await.unwrap_err();
    assert!(error.kind() == CallErrorKind::Deadline, "{error}");
    assert_eq!(client.stats().deadlines, 2);
    client
        .stream("Note", (3,))
        .await
        .unwrap()
        .result::<()>()
        .await
        .unwrap();
    assert_eq!(started.recv().await, Some(3));
}

/// A large reply shares the buffer in which it was received.
#[tokio::test]
async fn a_large_reply_of_a_stream_is_not_copied() {
    const LEN: usize = 1 << 20;
    let methods = Methods::new().stream("Blob", |(): (), _: StreamCall| async {
        Ok::<_, Fault>(Blob::from(vec![7; LEN]))
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = client(&running).await;
    let stream = client.stream("Blob", ()).await.unwrap();
    let blob: Blob = stream.result().await.unwrap();
    assert!(blob.is_shared());
    assert_eq!(blob, Blob::from(vec![7; LEN]));
    let (_, incoming) = client.stream("Blob", ()).await.unwrap().split();
    assert!(incoming.result::<Blob>().await.unwrap().is_shared());
    let bytes = client.stream("Blob", ()).await.unwrap();
    let bytes = bytes.result_bytes().await.unwrap();
    assert_eq!(bytes.len(), LEN + 5);
    assert!(bytes.ends_with(&[7; 100]));
}

/// The `Debug` output of streams contains no payload of any call of the connection, so that logs do not either.
#[tokio::test]
async fn debug_output_of_streams_contains_no_payloads() {
    const SECRET: &[u8] = b"swordfish";
    let server = ScriptedServer::new(|seen| match seen.number {
        0 => Action::Echo,
        _ => Action::Hold,
    });
    let builder = Client::builder().connector("scripted", server.connector());
    let client = builder.in_flight(1..=1).connect().await.unwrap();
    let mut stream = client.two_way_bytes("Echo", SECRET).await.unwrap();
    // The client holds the reply of this stream, which is not read yet, and inputs: of another stream, of a call that
    // is sent, and of a queued call.
    assert_eq!(stream.next_bytes().await.unwrap(), None);
    let mut held = client.two_way_bytes("Hold", SECRET).await.unwrap();
    held.send_bytes(SECRET).await.unwrap();
    let _calls = [1, 2].map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.call_bytes("Hold", SECRET).await })
    });
    settle().await;
    let (outgoing, incoming) = held.split();
    let debug = format!("{stream:?} {outgoing:#?} {incoming:?}");
    let bytes = format!("{SECRET:?}");
    for secret in ["swordfish", bytes.trim_matches(['[', ']'])] {
        assert!(!debug.contains(secret), "{debug}");
    }
    // Nor in the format `{:#?}`, with one byte per line.
    let debug: String = debug.split_whitespace().collect();
    assert!(!debug.contains("115,119,111,114,100"), "{debug}");
}
