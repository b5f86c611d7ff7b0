//! Nothing of a caller's names is kept. A process of its own, since what other tests
//! hold would count too.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use polywire_rpc::{Methods, Server};
use polywire_schema::Value;
use tower::ServiceExt;

/// The bytes that this process has in memory, where there is a way to know.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

fn server() -> Server {
    let methods = Methods::new()
        .values("echo", |parameters, _| async move {
            Ok(Value::List(parameters))
        })
        .method("any", |(value,): (Value,)| async move { value.is_null() })
        .introspection(true);
    Server::methods(methods).build().unwrap()
}

/// Names that no other call has had, and members too: of a method that there is not,
/// and of one that there is.
async fn calls(server: &Server, numbers: std::ops::Range<u64>) {
    let long = "x".repeat(1000);
    for number in numbers {
        let method = match number % 3 {
            0 => format!("{long}{number}"),
            1 => "echo".to_owned(),
            _ => "any".to_owned(),
        };
        let body = format!(
            "<methodCall><methodName>{method}</methodName><params><param><value><struct><member>\
             <name>{long}{number}</name><value><int>1</int></value></member></struct></value>\
             </param></params></methodCall>"
        );
        let request = Request::post("/RPC2").body(Full::new(Bytes::from(body)));
        let response = server.clone().oneshot(request.unwrap()).await.unwrap();
        assert!(response.status().is_success());
    }
}

/// Calls so often after as many to warm up, and sees what memory has grown by.
async fn grows_by(count: u64) -> usize {
    let server = server();
    let warm = 20_000.min(count);
    calls(&server, 0..warm).await;
    let Some(before) = resident() else { return 0 };
    calls(&server, warm..warm + count).await;
    resident().unwrap_or(before).saturating_sub(before)
}

#[tokio::test]
async fn a_hundred_thousand_names_leave_memory_as_it_was() {
    // Had all of them been kept, it were a hundred megabytes more; thirty for those of
    // methods, and seventy for those of members.
    let grown = grows_by(100_000).await;
    assert!(grown < 8 << 20, "{grown} bytes more");
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn ten_million_names_leave_memory_as_it_was() {
    let grown = grows_by(10_000_000).await;
    assert!(grown < 8 << 20, "{grown} bytes more");
}
