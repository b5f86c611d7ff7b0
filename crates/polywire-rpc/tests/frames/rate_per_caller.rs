//! Rate limits per caller, with several kinds of keys.

use std::num::NonZeroU32;
use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_rpc::Server;
use polywire_rpc::frames::Client;
use tokio::time::sleep;

use crate::raw::{FAULT, Frame, REPLY, Raw, UNSTARTED};
use crate::support::methods;

const OVERLOADED: u16 = 0x30;
const NONE: &[u8] = &[0x80];

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}

async fn ask(raw: &mut Raw, key: Option<&str>) -> Frame {
    let metadata: Vec<_> = key.map(|key| ("x-api-key", key)).into_iter().collect();
    raw.call_by(0, "Nothing", 0, &metadata, NONE);
    raw.send().await;
    raw.answers(1).await.0.remove(0)
}

#[tokio::test(start_paused = true)]
async fn rates_by_metadata_apply_across_connections() {
    let server = Server::methods(methods())
        .frames(true)
        .rate_per_caller(number(10), number(2), |caller| {
            caller.headers().get("x-api-key").cloned()
        })
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut one = Raw::connect(running.address()).await;
    let mut two = Raw::connect(running.address()).await;
    assert_eq!(ask(&mut one, Some("a")).await.kind, REPLY);
    assert_eq!(ask(&mut two, Some("a")).await.kind, REPLY);
    let refused = ask(&mut two, Some("a")).await;
    assert_eq!((refused.kind, refused.code), (FAULT, OVERLOADED));
    assert_eq!(refused.flags & UNSTARTED, UNSTARTED);
    assert!(
        (1..=100).contains(&refused.value),
        "when to try again: {refused:?}"
    );
    // The key `b` has its own allowance. Calls without a key are not limited.
    assert_eq!(ask(&mut two, Some("b")).await.kind, REPLY);
    for _ in 0..10 {
        assert_eq!(ask(&mut two, None).await.kind, REPLY);
    }
    sleep(Duration::from_millis(refused.value.into())).await;
    assert_eq!(ask(&mut one, Some("a")).await.kind, REPLY);
    // Calls over HTTP and over frames with the same key share an allowance.
    sleep(Duration::from_secs(1)).await;
    assert_eq!(ask(&mut one, Some("b")).await.kind, REPLY);
    assert_eq!(post(running.address(), "b").await, "200");
    assert_eq!(post(running.address(), "b").await, "429");
}

/// Calls `Nothing` over XML-RPC. Returns the HTTP status.
async fn post(address: std::net::SocketAddr, key: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let body = "<methodCall><methodName>Nothing</methodName><params></params></methodCall>";
    let head = format!(
        "POST /RPC2 HTTP/1.1\r\nhost: a\r\nx-api-key: {key}\r\nconnection: close\r\n\
         content-type: text/xml\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut http = tokio::net::TcpStream::connect(address).await.unwrap();
    http.write_all(head.as_bytes()).await.unwrap();
    let mut page = String::new();
    http.read_to_string(&mut page).await.unwrap();
    page.split(' ').nth(1).unwrap().to_owned()
}

#[cfg(unix)]
#[tokio::test]
async fn rates_by_the_user_of_a_local_process() {
    let server = Server::methods(methods())
        .frames(true)
        .rate_per_caller(number(1), number(3), |caller| {
            Some(caller.peer().credentials()?.uid)
        })
        .build()
        .unwrap();
    let path = std::env::temp_dir().join(format!("polywire-callers-{}", std::process::id()));
    let running = server.listen_unix(path.clone()).await.unwrap();
    let tcp = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = |url: String| async move {
        let client = Client::builder().endpoint(&url).retries(0);
        client.connect().await.unwrap()
    };
    // The three connections have the same user and share its burst of three calls.
    let mut refused = 0;
    for _ in 0..3 {
        let client = client(format!("unix://{}", path.display())).await;
        for _ in 0..3 {
            if let Err(error) = client.call::<()>("Nothing", ()).await {
                assert_eq!(error.frame_code().unwrap(), FaultCode::OVERLOADED);
                refused += 1;
            }
        }
    }
    assert!((1..=6).contains(&refused), "{refused}");
    // Over TCP there are no peer credentials, so the key is `None` and calls are not limited.
    let client = client(format!("tcp://{}", tcp.address())).await;
    for _ in 0..20 {
        client.call::<()>("Nothing", ()).await.unwrap();
    }
    running.shutdown().await;
}

/// A panic in the key function fails one call: with INTERNAL over frames, with status 500 over HTTP. The connection or
/// UDP socket stays usable.
#[tokio::test]
async fn a_panic_in_the_key_function_fails_only_its_call() {
    use polywire_frame::FaultCode;
    use polywire_rpc::frames::Client;

    let server = Server::methods(methods())
        .frames(true)
        .rate_per_caller(number(1_000), number(1_000), |caller| {
            let key = caller.headers().get("x-api-key").cloned();
            assert!(key.as_ref().is_none_or(|key| key != "broken"));
            key
        })
        .build()
        .unwrap();
    let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    let tcp = server.listen(address).await.unwrap();
    let udp = server.listen_udp(address).await.unwrap();
    let urls = [
        format!("tcp://{}", tcp.address()),
        format!("udp://{}", udp.address()),
    ];
    for url in urls {
        let client = Client::connect(&url).await.unwrap();
        let broken = client.with_metadata("x-api-key", "broken");
        for _ in 0..2 {
            let error = broken.call::<()>("Nothing", ()).await.unwrap_err();
            assert_eq!(error.frame_code(), Some(FaultCode::INTERNAL), "{url}");
            client.call::<()>("Nothing", ()).await.unwrap();
        }
    }
    assert_eq!(post(tcp.address(), "broken").await, "500");
    assert_eq!(post(tcp.address(), "other").await, "200");
}
