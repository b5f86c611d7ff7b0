//! Names from callers are not kept in memory. A process of its own, because the memory of other
//! tests would count too.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may panic and tell"
)]

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use polywire_rpc::{Methods, Server};
use polywire_schema::Value;
use tower::ServiceExt;

/// The resident memory of this process, if the system reports it.
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

/// Names that no other call has had, also of members: of a method that does not exist,
/// and of one that does.
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

/// The largest growth of memory: the size of one more arena of the allocator, and far
/// less than a few bytes for each name.
const NOISE: usize = 1 << 20;

/// Makes this number of calls after a warm-up, and checks the memory in between.
async fn leaves_memory_flat(count: u64) {
    let server = server();
    let warm = 50_000;
    calls(&server, 0..warm).await;
    let Some(before) = resident() else { return };
    let mut most = before;
    for tenth in 0..10 {
        let from = warm + tenth * (count / 10);
        calls(&server, from..from + count / 10).await;
        most = most.max(resident().unwrap());
        let (names, grown) = ((tenth + 1) * (count / 10), most - before);
        println!("{names} names: {before} bytes resident before, {grown} more now");
    }
    let grown = most - before;
    assert!(grown < NOISE, "{grown} bytes more");
}

/// A hundred megabytes of names: even an entry of 16 bytes for each would show.
#[tokio::test]
async fn a_hundred_thousand_names_leave_memory_as_it_was() {
    leaves_memory_flat(100_000).await;
}

/// Run by hand, in a release build, where it takes half a minute.
#[tokio::test]
#[ignore = "takes minutes"]
async fn ten_million_names_leave_memory_as_it_was() {
    leaves_memory_flat(10_000_000).await;
}
