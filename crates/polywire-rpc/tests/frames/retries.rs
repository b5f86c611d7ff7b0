//! Which calls are retried, and how often.

use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_rpc::frames::{Client, ClientBuilder};
use polywire_rpc::{CallError, CallErrorKind};
use tokio::time::Instant;

use crate::scripted::{Action, ScriptedServer};

fn builder(server: &ScriptedServer) -> ClientBuilder {
    Client::builder()
        .connector("scripted", server.connector())
        .seed(7)
}

async fn client(server: &ScriptedServer) -> Client {
    builder(server).connect().await.unwrap()
}

fn code(error: &CallError) -> FaultCode {
    error.frame_code().unwrap()
}

#[tokio::test(start_paused = true)]
async fn rejected_calls_are_retried_at_the_requested_time() {
    let server = ScriptedServer::new(|call| match call.number {
        0 => Action::Fault(FaultCode::OVERLOADED, 500, true),
        _ => Action::Echo,
    });
    let client = client(&server).await;
    let reply = client.call_bytes("Echo", b"input").await.unwrap();
    assert_eq!(reply, b"input");
    let seen = server.seen();
    let waited = seen[1].at - seen[0].at;
    // The server asks for 500 ms. The client adds a backoff of 5 to 10 ms.
    let range = Duration::from_millis(505)..Duration::from_millis(512);
    assert!(range.contains(&waited), "{waited:?}");
    assert_eq!(seen[1].payload, b"input");
    let stats = client.stats();
    assert_eq!((stats.replies, stats.tries, stats.retries), (1, 2, 1));
    assert_eq!(stats.pending, 0);
}

#[tokio::test(start_paused = true)]
async fn only_unstarted_or_idempotent_calls_are_retried_after_retryable_errors() {
    let fault = |code, unstarted| Action::Fault(code, 0, unstarted);
    // The first action of the server, the expected number of attempts, and that number if the call is idempotent.
    let table = [
        (fault(FaultCode::OVERLOADED, true), 2, 2),
        (fault(FaultCode::UNAVAILABLE, true), 2, 2),
        (fault(FaultCode::OVERLOADED, false), 1, 2),
        (fault(FaultCode::INTERNAL, false), 1, 2),
        (fault(FaultCode(0x7777), false), 1, 2),
        (Action::HangUp, 1, 2),
        (fault(FaultCode::NAMED, false), 1, 1),
        (fault(FaultCode::MODELLED, false), 1, 1),
        (fault(FaultCode::DEADLINE, true), 1, 1),
        (fault(FaultCode::INVALID, true), 1, 1),
        (fault(FaultCode::UNKNOWN_OPERATION, true), 1, 1),
    ];
    for (action, once, idempotent) in table {
        for (repeats, sent) in [(false, once), (true, idempotent)] {
            let first = action.clone();
            let server = ScriptedServer::new(move |call| match call.number {
                0 => first.clone(),
                _ => Action::Echo,
            });
            let client = client(&server).await;
            let client = match repeats {
                true => client.idempotent(),
                false => client,
            };
            let result = client.call_bytes("Echo", b"input").await;
            assert_eq!(server.seen().len(), sent, "{action:?}, {repeats}");
            assert_eq!(
                result.is_ok(),
                sent == 2,
                "{action:?}, {repeats}: {result:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_are_retried_as_configured() {
    for (configured, tries) in [(0, 1), (1, 2), (10, 11), (11, 11)] {
        let server = ScriptedServer::new(|_| Action::Fault(FaultCode::OVERLOADED, 0, true));
        let client = builder(&server).retries(configured).throttle(None);
        let client = client.connect().await.unwrap();
        let began = Instant::now();
        let error = client.call_bytes("Echo", b"").await.unwrap_err();
        assert_eq!(code(&error), FaultCode::OVERLOADED);
        assert_eq!(server.seen().len(), tries, "{configured}");
        // The backoff doubles up to 1 s.
        let longest = Duration::from_millis(10 * ((1 << tries.min(8)) - 2));
        assert!(began.elapsed() <= longest + Duration::from_secs(3));
        assert_eq!(client.stats().overloaded, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn the_retry_budget_bounds_the_attempts_of_all_calls() {
    let server = ScriptedServer::new(|_| Action::Fault(FaultCode::OVERLOADED, 0, true));
    let client = builder(&server).retry_budget(0.2, 0.0).throttle(None);
    let client = client.connect().await.unwrap();
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Echo", b"").await })
        })
        .collect();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(code(&error), FaultCode::OVERLOADED);
    }
    let stats = client.stats();
    assert_eq!((stats.overloaded, stats.retries), (1_000, 200));
    assert_eq!(server.seen().len(), 1_200);
    assert!(stats.over_budget > 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_fails_at_once_if_its_retry_would_exceed_the_deadline() {
    let server = ScriptedServer::new(|_| Action::Fault(FaultCode::OVERLOADED, 10_000, true));
    let client = builder(&server).deadline(Duration::from_secs(5));
    let client = client.connect().await.unwrap();
    let began = Instant::now();
    let error = client.call_bytes("Echo", b"").await.unwrap_err();
    assert_eq!(code(&error), FaultCode::OVERLOADED);
    assert!(began.elapsed() < Duration::from_millis(1));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn calls_to_a_server_that_rejects_all_are_throttled() {
    let server = ScriptedServer::new(|_| Action::Fault(FaultCode::OVERLOADED, 0, true));
    let client = client(&server).await;
    let mut throttled = 0;
    for _ in 0..1_000 {
        let error = client.call_bytes("Echo", b"").await.unwrap_err();
        throttled += u32::from(error.kind() == CallErrorKind::Throttled);
        assert!(error.is_unstarted());
    }
    let sent = server.seen().len();
    assert!(throttled > 900 && sent < 100, "{throttled}, {sent}");
    let stats = client.stats();
    assert_eq!((stats.overloaded, stats.pending), (1_000, 0));

    // A client without throttling sends every call.
    let other = builder(&server).throttle(None).retries(0);
    let other = other.connect().await.unwrap();
    for _ in 0..1_000 {
        let error = other.call_bytes("Echo", b"").await.unwrap_err();
        assert_eq!(code(&error), FaultCode::OVERLOADED);
    }
    assert_eq!(server.seen().len(), sent + 1_000);
}

/// Calls that time out do not count as accepted. Otherwise the client would not be throttled: three of four calls here
/// are never answered, and the server rejects the fourth.
#[tokio::test(start_paused = true)]
async fn unanswered_calls_do_not_count_as_accepted() {
    let server = ScriptedServer::new(|call| match call.number % 4 {
        0 => Action::Fault(FaultCode::OVERLOADED, 0, true),
        _ => Action::Hold,
    });
    let client = builder(&server).retries(0);
    let client = client.deadline(Duration::from_millis(10));
    let client = client.connect().await.unwrap();
    for _ in 0..1_000 {
        let _ = client.call_bytes("Echo", b"").await;
    }
    assert!(client.stats().throttled > 500, "{:?}", client.stats());
}

#[tokio::test(start_paused = true)]
async fn a_recovered_server_gets_calls_again_within_seconds() {
    let back = Instant::now() + Duration::from_secs(300);
    let server = ScriptedServer::new(move |call| match call.at < back {
        true => Action::Fault(FaultCode::OVERLOADED, 0, true),
        false => Action::Echo,
    });
    let client = builder(&server).retries(0).connect().await.unwrap();
    let mut ended = Vec::new();
    while back.elapsed() < Duration::from_secs(20) {
        ended.push((Instant::now(), client.call_bytes("Echo", b"").await.is_ok()));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let last = ended.iter().rfind(|(_, well)| !well).unwrap().0;
    assert!(last >= back - Duration::from_secs(1));
    assert!(last <= back + Duration::from_secs(4), "{:?}", last - back);
}
