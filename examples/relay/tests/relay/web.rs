//! HTTP: the information document (NIP-11) and metrics.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::*;

fn get(address: &str, path: &str, accept: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: {accept}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_information_document_has_the_url_of_the_relay() {
    let relay = TestRelay::with(&["--name", "Harbour"]).await;
    let answer = get(&relay.address(), "/", "application/nostr+json");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for part in [
        "content-type: application/nostr+json",
        "access-control-allow-origin: *",
        r#""name":"Harbour""#,
        r#""supported_nips":[1,9,11,40,42,45,77]"#,
        r#""max_message_length":131072"#,
        r#""auth_required":false"#,
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    let page = get(&relay.address(), "/", "text/html");
    assert!(page.contains("A Nostr relay"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_count_events_and_connections() {
    let relay = TestRelay::start().await;
    let mut client = relay.client().await;
    let event = note(1, "", now());
    client.accepted(&event).await;
    client.publish(&event).await;
    client
        .subscribe("a", &[polywire_nostr::Filter::new()])
        .await;
    let mut page = get(&relay.address(), "/metrics", "*/*");
    // The writer frees the space of an event in the queue after OK.
    for _ in 0..500 {
        if page.contains("relay_queue_bytes 0\n") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        page = get(&relay.address(), "/metrics", "*/*");
    }
    for line in [
        "relay_events_accepted_total 1\n",
        "relay_rejected_total{reason=\"duplicate\"} 1\n",
        "relay_subscriptions 1\n",
        "relay_commit_seconds_count 1\n",
        "relay_queue_bytes 0\n",
        "polywire_websocket_connections 1\n",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
}
