//! Overload: which calls a server rejects, and how it limits what clients send.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::server::FrameLimits;
use polywire_rpc::{Methods, RunningServer, Server};
use polywire_schema::Limits;
use tokio::sync::Semaphore;
use tokio::time::{advance, sleep};

use crate::raw::{CREDIT, FAULT, Frame, REPLY, Raw, UNSTARTED};

/// The CBOR of no parameters.
const NONE: &[u8] = &[0x80];
const DEADLINE: u16 = 0x32;
const OVERLOADED: u16 = 0x30;

/// State that the handlers of a test share.
#[derive(Clone, Default)]
struct HandlerState {
    started: Arc<AtomicUsize>,
    gate: Arc<Gate>,
}

struct Gate(Semaphore);

impl Default for Gate {
    fn default() -> Self {
        Self(Semaphore::new(0))
    }
}

impl HandlerState {
    fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }

    /// Methods that count their starts. `Quick` ends at once, `Wait` waits for a permit of `gate`, and `Slow` advances
    /// the clock by 30 ms.
    fn methods(&self) -> Methods {
        let (quick, wait, slow) = (self.clone(), self.clone(), self.clone());
        Methods::new()
            .method("Quick", move |()| {
                quick.started.fetch_add(1, Ordering::Relaxed);
                async move {}
            })
            .method("Wait", move |(_input,): (String,)| {
                wait.started.fetch_add(1, Ordering::Relaxed);
                let gate = Arc::clone(&wait.gate);
                async move { gate.0.acquire().await.unwrap().forget() }
            })
            .method("Slow", move |()| {
                slow.started.fetch_add(1, Ordering::Relaxed);
                async move { advance(Duration::from_millis(30)).await }
            })
    }

    async fn serve(&self, limits: FrameLimits) -> (Server, RunningServer) {
        let server = Server::methods(self.methods())
            .frames(true)
            .frame_limits(limits)
            .build()
            .unwrap();
        let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        (server, running)
    }
}

fn is_shed(frame: &Frame) -> bool {
    frame.kind == FAULT && frame.code == OVERLOADED && frame.flags & UNSTARTED != 0
}

/// Calls `action` once in each turn of the runtime's queue, without end.
pub(crate) async fn on_each_poll(mut action: impl FnMut(&mut Context<'_>)) {
    poll_fn(|context| {
        action(context);
        context.waker().wake_by_ref();
        Poll::<()>::Pending
    })
    .await;
}

/// Waits until a statistic has the value `wanted`. Statistics are updated shortly after replies are sent.
pub(crate) async fn wait_for_stat(server: &Server, sum: impl Fn(&Server) -> u64, wanted: u64) {
    for _ in 0..1_000 {
        if sum(server) == wanted {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("{wanted} expected: {:?}", server.frame_stats());
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_deadline_passes_in_the_queue_is_not_started() {
    let seen = HandlerState::default();
    let (server, running) = seen.serve(FrameLimits::new()).await;
    let mut raw = Raw::connect(running.address()).await;
    raw.call(0, "Slow", 0, NONE);
    raw.call(1, "Quick", 20, NONE);
    raw.call(2, "Quick", 1_000, NONE);
    raw.send().await;
    let (answers, _) = raw.answers(3).await;
    let late = answers.iter().find(|answer| answer.id == 1).unwrap();
    assert_eq!((late.kind, late.code), (FAULT, DEADLINE), "{late:?}");
    assert_eq!(late.flags & UNSTARTED, UNSTARTED);
    assert_eq!(
        answers.iter().filter(|answer| answer.kind == REPLY).count(),
        2
    );
    assert_eq!(seen.started(), 2);
    wait_for_stat(&server, |server| server.frame_stats().late, 1).await;
    let stats = server.frame_stats();
    assert_eq!((stats.calls, stats.replies, stats.deadlines), (3, 2, 0));
    assert_eq!((stats.open, stats.connections, stats.shed), (0, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_limit_of_waiting_handlers_are_shed_before_their_handler() {
    let seen = HandlerState::default();
    let (server, running) = seen.serve(FrameLimits::new().at_work(2)).await;
    let mut raw = Raw::connect(running.address()).await;
    // The CBOR of [""].
    let input = &[0x81, 0x60];
    for slot in 0..3 {
        raw.call(slot, "Wait", 0, input);
    }
    raw.send().await;
    let shed = raw.answers(1).await.0.remove(0);
    assert!(is_shed(&shed) && shed.id == 2, "{shed:?}");
    assert!(shed.value > 0, "when to try again: {shed:?}");
    assert_eq!(seen.started(), 2);
    wait_for_stat(&server, |server| server.frame_stats().shed, 1).await;
    assert_eq!(server.frame_stats().at_work, 2);
    // The limit applies to all connections together.
    let mut other = Raw::connect(running.address()).await;
    assert!(is_shed(&other.ask("Wait", input).await));
    seen.gate.0.add_permits(2);
    assert!(
        raw.answers(2)
            .await
            .0
            .iter()
            .all(|answer| answer.kind == REPLY)
    );
    assert_eq!(other.ask("Quick", NONE).await.kind, REPLY);
    wait_for_stat(&server, |server| server.frame_stats().replies, 3).await;
    assert_eq!(server.frame_stats().shed, 2);
}

#[tokio::test(start_paused = true)]
async fn a_persistent_queue_sheds_calls_without_lowering_credit() {
    let seen = HandlerState::default();
    let (server, running) = seen.serve(FrameLimits::new()).await;
    let mut raw = Raw::connect(running.address()).await;
    let (mut replies, mut shed) = (0, 0);
    for _ in 0..20 {
        for slot in 0..200 {
            raw.call(slot, "Slow", 0, NONE);
        }
        raw.send().await;
        let (answers, others) = raw.answers(200).await;
        sleep(Duration::from_millis(10)).await;
        shed += answers.iter().filter(|answer| is_shed(answer)).count();
        replies += answers.iter().filter(|answer| answer.kind == REPLY).count();
        // No CREDIT frame is sent: with less credit, calls would wait in the queue of the client until they expire.
        assert!(others.is_empty(), "{others:?}");
    }
    assert_eq!(replies + shed, 4_000);
    assert!(shed > 1_000 && replies > 30, "{shed} turned away");
    // No handler of a rejected call has started.
    assert_eq!(seen.started(), replies);
    wait_for_stat(&server, |server| server.frame_stats().shed, shed as u64).await;
    // After 1 s without load, the server accepts calls again.
    sleep(Duration::from_secs(1)).await;
    assert_eq!(raw.ask("Quick", NONE).await.kind, REPLY);
}

#[tokio::test(start_paused = true)]
async fn overload_lowers_the_call_credit_of_clients_and_raises_it_afterwards() {
    let seen = HandlerState::default();
    let (_server, running) = seen.serve(FrameLimits::new().at_work(200)).await;
    let mut raw = Raw::connect(running.address()).await;
    let mut credits = Vec::new();
    for slot in 0..400 {
        raw.call(slot, "Wait", 0, &[0x81, 0x60]);
    }
    raw.send().await;
    let (answers, mut others) = raw.answers(200).await;
    assert!(answers.iter().all(is_shed));
    seen.gate.0.add_permits(200);
    let (answers, more) = raw.answers(200).await;
    others.extend(more);
    assert!(answers.iter().all(|answer| answer.kind == REPLY));
    for _ in 0..40 {
        sleep(Duration::from_millis(600)).await;
        raw.call(0, "Quick", 0, NONE);
        raw.send().await;
        others.extend(raw.answers(1).await.1);
    }
    for credit in others {
        assert_eq!((credit.kind, credit.code), (CREDIT, 1), "{credit:?}");
        credits.push(credit.value);
    }
    // The lowest limit depends on how TCP splits the calls into reads.
    assert!((64..=200).contains(&credits[0]), "{credits:?}");
    assert!(credits.is_sorted() && credits.len() < 10, "{credits:?}");
    assert_eq!(credits.last(), Some(&1_024));
}

/// The server lowers the client's limit on bytes in open calls to 64 KiB while memory is short, and restores it to
/// 2 MiB afterwards.
#[tokio::test(start_paused = true)]
async fn low_memory_lowers_the_byte_credit_of_clients() {
    let seen = HandlerState::default();
    let server = Server::methods(seen.methods())
        .frames(true)
        .limits(Limits::DEFAULT.with_bytes(1 << 20))
        .body_memory(1 << 20)
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut raw = Raw::connect(running.address()).await;
    // The CBOR of a list of a text of 900,000 bytes.
    let mut input = vec![0x81, 0x7a, 0, 13, 0xbb, 0xa0];
    input.resize(900_006, b'x');
    raw.call(0, "Wait", 0, &input);
    raw.send().await;
    let credit = raw.next().await.unwrap();
    assert_eq!(
        (credit.kind, credit.code, credit.value),
        (CREDIT, 2, 65_536)
    );
    seen.gate.0.add_permits(1);
    let (_, mut others) = raw.answers(1).await;
    if others.is_empty() {
        others.extend(raw.next().await);
    }
    assert_eq!((others[0].kind, others[0].code), (CREDIT, 2));
    assert_eq!(others[0].value, 2 << 20);
}

#[tokio::test(start_paused = true)]
async fn calls_are_shed_while_the_system_is_overloaded() {
    let seen = HandlerState::default();
    let load = Arc::new(AtomicUsize::new(50));
    let own = Arc::clone(&load);
    let limits = FrameLimits::new().load(0.9, move || own.load(Ordering::Relaxed) as f64 / 100.0);
    let (_server, running) = seen.serve(limits).await;
    let mut raw = Raw::connect(running.address()).await;
    for (percent, is_busy) in [(50, false), (95, true), (20, false)] {
        load.store(percent, Ordering::Relaxed);
        // The load is measured when a call arrives, at most every 5 ms.
        sleep(Duration::from_millis(20)).await;
        let _ = raw.ask("Quick", NONE).await;
        sleep(Duration::from_millis(20)).await;
        let answer = raw.ask("Quick", NONE).await;
        assert_eq!(is_shed(&answer), is_busy, "at {percent}%: {answer:?}");
    }
}

/// A connection yields to other tasks after a time slice of 1 ms, even if it has made fewer than 16 reads.
#[tokio::test(start_paused = true)]
async fn a_busy_connection_does_not_starve_other_tasks() {
    let methods = Methods::new().method("Step", |(_input,): (String,)| async move {
        advance(Duration::from_micros(900)).await;
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut raw = Raw::connect(running.address()).await;
    // The CBOR of a list of a text of 60,000 bytes. Each read returns about one such call.
    let mut input = vec![0x81, 0x79, 0xea, 0x60];
    input.resize(60_004, b'x');
    for slot in 0..60 {
        raw.call(slot, "Step", 0, &input);
    }
    let longest = Arc::new(AtomicUsize::new(0));
    let own = Arc::clone(&longest);
    let other = tokio::spawn(async move {
        let mut last = tokio::time::Instant::now();
        on_each_poll(|_| {
            let waited = last.elapsed().as_micros() as usize;
            own.fetch_max(waited, Ordering::Relaxed);
            last = tokio::time::Instant::now();
        })
        .await;
    });
    raw.send().await;
    let (answers, _) = raw.answers(60).await;
    assert!(answers.iter().all(|answer| answer.kind == REPLY));
    other.abort();
    let longest = longest.load(Ordering::Relaxed);
    assert!((900..4_000).contains(&longest), "{longest} us");
}

/// A delay that was measured under load does not reject a call after 10 s without load.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_idle_after_load_accepts_the_next_call() {
    let seen = HandlerState::default();
    let (server, running) = seen.serve(FrameLimits::new()).await;
    let mut raw = Raw::connect(running.address()).await;
    assert_eq!(raw.ask("Quick", NONE).await.kind, REPLY);
    // Advances the clock by 10 ms in each turn of the runtime, so that the queueing delay exceeds its limit.
    let busy = tokio::spawn(on_each_poll(|context| {
        let _ = pin!(advance(Duration::from_millis(10))).poll(context);
    }));
    while !is_shed(&raw.ask("Quick", NONE).await) {}
    busy.abort();
    let _ = busy.await;
    sleep(Duration::from_secs(10)).await;
    let shed = server.frame_stats().shed;
    assert_eq!(raw.ask("Quick", NONE).await.kind, REPLY);
    assert_eq!(server.frame_stats().shed, shed);
}

#[tokio::test(start_paused = true)]
async fn an_outdated_load_measurement_rejects_no_calls() {
    let seen = HandlerState::default();
    let limits = FrameLimits::new().load(0.9, || 1.0);
    let (_server, running) = seen.serve(limits).await;
    let mut raw = Raw::connect(running.address()).await;
    while !is_shed(&raw.ask("Quick", NONE).await) {
        sleep(Duration::from_millis(20)).await;
    }
    sleep(Duration::from_secs(10)).await;
    assert_eq!(raw.ask("Quick", NONE).await.kind, REPLY);
}

/// If a measurement of the load panics, its last value stays in use, and the connection stays open.
#[tokio::test(start_paused = true)]
async fn a_panic_in_the_load_measurement_closes_no_connection() {
    let seen = HandlerState::default();
    let measured = AtomicUsize::new(0);
    let limits = FrameLimits::new().load(0.9, move || {
        match measured.fetch_add(1, Ordering::Relaxed) {
            0 => 1.0,
            _ => panic!("no such file"),
        }
    });
    let (_server, running) = seen.serve(limits).await;
    let mut raw = Raw::connect(running.address()).await;
    while !is_shed(&raw.ask("Quick", NONE).await) {
        sleep(Duration::from_millis(20)).await;
    }
    for _ in 0..10 {
        sleep(Duration::from_millis(20)).await;
        let reply = raw.ask("Quick", NONE).await;
        assert!(is_shed(&reply) || reply.kind == REPLY);
    }
}

#[tokio::test]
async fn inputs_are_bounded_by_the_memory_of_the_server() {
    let seen = HandlerState::default();
    let server = Server::methods(seen.methods())
        .frames(true)
        .limits(Limits::DEFAULT.with_bytes(1 << 20))
        .body_memory(1 << 20)
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = Client::builder()
        .endpoint(&format!("tcp://{}", running.address()))
        .retries(0)
        .connect()
        .await
        .unwrap();
    let input = "x".repeat(700_000);
    let (first, held) = (client.clone(), input.clone());
    let first = tokio::spawn(async move { first.call::<()>("Wait", (held,)).await });
    while seen.started() == 0 {
        tokio::task::yield_now().await;
    }
    let error = client
        .call::<()>("Wait", (input.clone(),))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), CallErrorKind::Fault, "{error:?}");
    assert!(error.is_unstarted(), "{error:?}");
    assert_eq!(seen.started(), 1);
    // A small input needs no reservation.
    seen.gate.0.add_permits(2);
    client.call::<()>("Wait", ("",)).await.unwrap();
    first.await.unwrap().unwrap();
    seen.gate.0.add_permits(1);
    client.call::<()>("Wait", (input,)).await.unwrap();
}

#[tokio::test]
async fn statistics_are_exported_to_prometheus() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let seen = HandlerState::default();
    let server = Server::methods(seen.methods())
        .frames(true)
        .pages(|_| http::Response::new("another page".into()))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut raw = Raw::connect(running.address()).await;
    assert_eq!(raw.ask("Quick", NONE).await.kind, REPLY);
    wait_for_stat(&server, |server| server.frame_stats().replies, 1).await;
    let mut http = tokio::net::TcpStream::connect(running.address())
        .await
        .unwrap();
    let head = "GET /_polywire/metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    http.write_all(head.as_bytes()).await.unwrap();
    let mut page = String::new();
    http.read_to_string(&mut page).await.unwrap();
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    for line in [
        "polywire_frames_calls_total{outcome=\"reply\"} 1",
        "polywire_frames_connections 1",
        "# TYPE polywire_frames_connections gauge",
    ] {
        assert!(page.lines().any(|other| other == line), "{line} in {page}");
    }
}

/// All words of `text` that start with `polywire_frames_`.
fn metrics(text: &str) -> std::collections::BTreeSet<&str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter| !is_name(letter));
    words
        .filter(|word| word.starts_with("polywire_frames_"))
        .collect()
}

#[test]
fn all_metrics_of_the_dashboard_are_exported() {
    let page = polywire_rpc::server::FrameStats::default().to_prometheus();
    let dashboard = include_str!("../../../../docs/dashboard.json");
    let (exported, shown) = (metrics(&page), metrics(dashboard));
    // The dashboard shows all exported metrics and no unknown ones.
    assert_eq!(shown, exported);
    for outcome in ["shed", "late", "deadline", "cancelled", "internal"] {
        assert!(dashboard.contains(outcome));
        assert!(page.contains(&format!("{{outcome=\"{outcome}\"}} 0")));
    }
}
