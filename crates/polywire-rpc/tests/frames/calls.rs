//! Calls and their outcomes.

use std::time::Duration;

use polywire_frame::client::{Operation, Request};
use polywire_protocol::Fault;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::{Context, Methods, Server, Timeouts};
use tokio::io::AsyncWriteExt;

use crate::support::{client, server};

#[tokio::test]
async fn large_payloads_in_both_directions() {
    let running = server().await;
    let client = client(&running).await;
    for times in [1_000, 100_000, 1_000_000] {
        let text: String = client.call("Repeat", ("abcdefgh", times)).await.unwrap();
        assert_eq!(text.len(), 8 * times);
        let length: usize = client.call("Length", (&text,)).await.unwrap();
        assert_eq!(length, text.len());
    }
    // 17 MiB are more than the limit that the server has sent.
    let error = client
        .call::<usize>("Length", ("x".repeat(17 << 20),))
        .await
        .unwrap_err();
    assert!(error.kind() == CallErrorKind::Encode, "{error}");
}

#[tokio::test]
async fn layers_that_frames_would_bypass_are_a_build_error() {
    let layer = tower::layer::util::Identity::new();
    let built = Server::methods(crate::support::methods())
        .http_layer(layer)
        .frames(true)
        .build();
    let words = built.unwrap_err().to_string();
    assert!(
        words.contains("do not see what comes over frames"),
        "{words}"
    );
}

#[tokio::test]
async fn large_payloads_in_both_directions_at_once() {
    let running = server().await;
    let client = client(&running).await;
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let client = client.clone();
            let text = "x".repeat(5 << 20);
            tokio::spawn(async move { client.call::<Vec<String>>("Echo", (text,)).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap()[0].len(), 5 << 20);
    }
}

/// The first call may have 1 MiB, although the limits of the server may not have arrived yet.
#[tokio::test]
async fn the_first_call_may_be_large() {
    let running = server().await;
    let client = client(&running).await;
    let length = client.call::<usize>("Length", ("x".repeat(1 << 20),)).await;
    assert_eq!(length.unwrap(), 1 << 20);
}

/// A client that does not read its replies is disconnected for inactivity. This frees its connection permit.
#[tokio::test]
async fn connections_of_clients_that_do_not_read_are_closed() {
    let timeouts = Timeouts::DEFAULT.with_head(Duration::from_millis(200));
    let server = Server::methods(crate::support::methods())
        .frames(true)
        .connections(1)
        .timeouts(timeouts)
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();

    let mut machine = polywire_frame::client::Connection::new(polywire_frame::Settings::DEFAULT);
    for number in 0..8 {
        let request = Request::new(Operation {
            number: 1,
            name: "Repeat",
        });
        let mut call = machine.call(polywire_frame::Time::ZERO, &request).unwrap();
        call.payload()
            .extend(*b"\x82\x68abcdefgh\x1a\x00\x0f\x42\x40");
        call.send(number).unwrap();
    }
    let mut unread_socket = tokio::net::TcpStream::connect(running.address())
        .await
        .unwrap();
    let sent: Vec<_> = machine.output().parts().flatten().copied().collect();
    unread_socket.write_all(&sent).await.unwrap();

    let client = client(&running).await;
    assert_eq!(client.call::<i32>("Add", (2, 3)).await.unwrap(), 5);
    drop(unread_socket);
}

#[tokio::test]
async fn connecting_without_a_server_fails() {
    let error = Client::connect("tcp://127.0.0.1:1").await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.starts_with("cannot connect to tcp://127.0.0.1:1: "),
        "{words}"
    );
    let error = Client::connect("http://127.0.0.1:1").await.unwrap_err();
    let words = error.to_string();
    assert!(
        words.ends_with(
            "expected tcp://HOST:PORT, tcp+tls://HOST:PORT, udp://HOST:PORT, unix:///PATH, inproc://NAME, ws://HOST/PATH, wss://HOST/PATH or ws+unix://SOCKET"
        ),
        "{words}"
    );
}

/// The payloads of `bytes` methods are passed on unchanged and need not be CBOR.
#[tokio::test]
async fn byte_methods_pass_payloads_unchanged() {
    let methods = || {
        Methods::new().bytes("Reverse", |input, output, context: &Context| {
            if input.is_empty() {
                return Err(Fault::coded(7, "nothing to reverse"));
            }
            if let Some(before) = context.headers().get("before") {
                output.extend_from_slice(before.as_bytes());
            }
            output.extend(input.iter().rev());
            Ok(())
        })
    };
    let server = Server::methods(methods()).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let _inproc = server.listen_inproc("bytes").unwrap();
    for url in [
        format!("tcp://{}", running.address()),
        "inproc://bytes".to_owned(),
    ] {
        let client = Client::connect(&url).await.unwrap();
        // Neither CBOR nor UTF-8.
        let sent = [0xff, 0x00, 0x9f];
        let reply = client.call_bytes("Reverse", &sent).await.unwrap();
        assert_eq!(reply, [0x9f, 0x00, 0xff]);
        let mut space = b"kept ".to_vec();
        let into = client.call_bytes_into("Reverse", b"abc", &mut space);
        into.await.unwrap();
        assert_eq!(space, b"kept cba");
        let into = client.call_bytes_into("Reverse", b"", &mut space).await;
        let error = into.unwrap_err();
        assert_eq!(error.fault().unwrap().message(), "nothing to reverse");
        assert_eq!(space, b"kept cba");
        let large = vec![1; 3 << 20];
        let reply = client.call_bytes("Reverse", &large).await.unwrap();
        assert_eq!(reply, large);
    }

    // The method cannot be called over HTTP. A server with method layers, which would not see it, cannot be built.
    let xmlrpc = polywire_rpc::xmlrpc::Client::new(&format!("http://{}/RPC2", running.address()));
    let error = xmlrpc
        .unwrap()
        .call::<i32>("Reverse", ())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("which only frames carry"),
        "{error}"
    );
    let layered = methods().layer(tower::layer::util::Identity::new());
    let error = Server::methods(layered).frames(true).build().unwrap_err();
    assert!(
        error.to_string().contains("do not see `Reverse`"),
        "{error}"
    );
}

/// A handler can block its thread with `block_in_place`, and there call another server from a runtime of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_blocks_on_another_call_gets_its_reply() {
    let other = server().await;
    let url = format!("tcp://{}", other.address());
    let methods = Methods::new().method("Relay", move |(a, b): (i32, i32)| {
        let url = url.clone();
        async move {
            tokio::task::block_in_place(|| {
                let mut runtime = tokio::runtime::Builder::new_current_thread();
                let runtime = runtime.enable_all().build().unwrap();
                runtime.block_on(async {
                    let client = Client::connect(&url).await.unwrap();
                    client.call::<i32>("Add", (a, b)).await.unwrap()
                })
            })
        }
    });
    let relay = Server::methods(methods).frames(true).build().unwrap();
    let relay = relay.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = client(&relay).await;
    let sum: i32 = client.call("Relay", (2, 3)).await.unwrap();
    assert_eq!(sum, 5);
}
