//! 10,000 idle connections: the memory of each, service for other clients meanwhile, and a
//! clean close of all connections when the server stops.
//!
//! Server and clients are two child processes of this binary, because each end of a connection
//! takes a descriptor and memory. The figures are printed with `--nocapture`. Quote those of a
//! release build.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    dead_code,
    reason = "a test may panic and tell"
)]
#![cfg(target_os = "linux")]

#[path = "../support/child.rs"]
mod child;
mod clients;
mod server;

use child::Child;
use polywire_rpc::xmlrpc::blocking::Client;
use polywire_schema::Value;

/// Connections that are opened before the measurement, so that one-time allocations do not
/// count.
const BEFORE: usize = 100;

/// Requests on each connection after the first. 19 would take most of a minute without
/// optimizations, with the same result.
const AGAIN: usize = if cfg!(debug_assertions) { 1 } else { 19 };

/// Measures `count` connections. Each may take `limit` bytes in the server.
fn idle(count: usize, limit: usize, certificate: Option<&server::ServerCertificate>) {
    let descriptors = BEFORE + count + 200;
    let wire = certificate.map_or("", |certificate| &certificate.pem);
    let Some(mut server) = Child::with_descriptors(descriptors, "server::serves", wire) else {
        println!("skipped: the system does not allow a process {descriptors} descriptors");
        return;
    };
    let place = server.line();
    let root = certificate.map_or("", |certificate| &certificate.certificate);
    let argument = format!("{place} {root}");
    let mut clients =
        Child::with_descriptors(descriptors, "clients::call_and_wait", &argument).unwrap();
    clients.ask(&format!("open {BEFORE}"));
    let resident = |server: &mut Child| server.ask("resident").parse::<usize>().unwrap();
    let before = resident(&mut server);
    assert_eq!(clients.ask(&format!("open {count}")), "open");
    let mut tell = |requests: usize| {
        let each = resident(&mut server).saturating_sub(before) / count;
        eprintln!("{each} bytes for each of {count} idle connections after {requests} requests");
        assert!(each <= limit, "{each} bytes are more than {limit}");
    };
    tell(1);
    // Another client is served while the connections are idle.
    if certificate.is_none() {
        let client = Client::new(&format!("http://{place}")).unwrap();
        for number in 0..200 {
            let answer = client.call_values("echo", &[Value::from(number)]);
            assert_eq!(answer.unwrap(), Value::from(vec![Value::from(number)]));
        }
    }
    clients.ask(&format!("call {AGAIN}"));
    tell(1 + AGAIN);
    assert_eq!(server.ask("stop"), "stopped");
    let ended = clients.ask("end");
    assert_eq!(ended, format!("{} ended cleanly", BEFORE + count));
}

#[test]
fn ten_thousand_connections() {
    idle(10_000, 16 * 1024, None);
}

#[cfg(feature = "tls")]
#[test]
fn connections_over_tls() {
    // Most of this is the state that rustls keeps per connection.
    idle(1_000, 32 * 1024, Some(&server::ServerCertificate::new()));
}
