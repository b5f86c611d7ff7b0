//! Names from requests are not kept in memory. This test is its own binary, because the memory
//! of other tests would count too.
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

/// Resident memory of this process in bytes, or `None` if it cannot be read.
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

/// Sends calls to known methods and to unknown ones with unique names. Each call has a unique
/// member name.
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

/// Maximum growth of memory in bytes: one more arena of the allocator.
const NOISE: usize = 1 << 20;

/// Makes `count` calls after a warm-up of 50,000, and measures memory ten times.
async fn assert_memory_stays_flat(count: u64) {
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

/// 100,000 names of 1,000 bytes each are 100 MB. Even 16 bytes per name would exceed the
/// bound.
#[tokio::test]
async fn a_hundred_thousand_names_do_not_grow_memory() {
    assert_memory_stays_flat(100_000).await;
}

/// Run by hand in a release build, where it takes half a minute.
#[tokio::test]
#[ignore = "takes minutes"]
async fn ten_million_names_do_not_grow_memory() {
    assert_memory_stays_flat(10_000_000).await;
}
