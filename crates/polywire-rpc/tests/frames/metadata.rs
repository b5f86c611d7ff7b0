//! Metadata, credentials, trace and deadline of calls, and what handlers see of them.

use std::any::Any;
use std::time::Duration;

use polywire_protocol::Fault;
use polywire_rpc::CallErrorKind;
use polywire_rpc::frames::Client;
use polywire_rpc::{Context, Methods, RunningServer, Server, StreamCall, Timeouts};
use tokio::time::Instant;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn header(context: &Context, name: &str) -> Vec<String> {
    let values = context.headers().get_all(name).iter();
    values
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        .collect()
}

/// The time until the deadline in milliseconds.
fn remaining(context: &Context) -> Option<u64> {
    let remaining = context
        .deadline()?
        .saturating_duration_since(Instant::now());
    Some(remaining.as_millis() as u64)
}

fn methods() -> Methods {
    Methods::new()
        .method(
            "Header",
            |(name,): (String,), context: Context| async move { header(&context, &name) },
        )
        .method("Remaining", |(): (), context: Context| async move {
            remaining(&context)
        })
        .stream(
            "Stream",
            |(name,): (String,), mut call: StreamCall| async move {
                let (values, remaining) =
                    (header(call.context(), &name), remaining(call.context()));
                for value in values {
                    call.send(value).await?;
                }
                Ok::<_, Fault>(remaining)
            },
        )
}

struct Setup {
    _server: Server,
    running: RunningServer,
    _others: Box<dyn Any>,
    clients: Vec<Client>,
}

/// A server on TCP, UDP and inproc, with a client for each.
async fn setup(name: &str) -> Setup {
    let timeouts = Timeouts::DEFAULT.with_handler(Duration::from_secs(20));
    let server = Server::methods(methods()).frames(true).timeouts(timeouts);
    let server = server.build().unwrap();
    let address = "127.0.0.1:0".parse().unwrap();
    let running = server.listen(address).await.unwrap();
    let datagrams = server.listen_udp(address).await.unwrap();
    let inproc = server.listen_inproc(name).unwrap();
    let mut clients = Vec::new();
    for url in [
        format!("tcp://{}", running.address()),
        format!("udp://{}", datagrams.address()),
        format!("inproc://{name}"),
    ] {
        clients.push(Client::connect(&url).await.unwrap());
    }
    Setup {
        _server: server,
        running,
        _others: Box::new((datagrams, inproc)),
        clients,
    }
}

#[tokio::test]
async fn handlers_see_metadata_credentials_and_the_trace() {
    let setup = setup("metadata-metadata").await;
    for plain in &setup.clients {
        let client = plain
            .with_metadata("tenant", "one")
            .with_metadata("tenant", [0xff])
            .with_authorization("Bearer first")
            .with_authorization("Bearer second")
            .with_trace(PARENT.parse().unwrap());
        for (name, values) in [
            ("tenant", &["one", "\u{fffd}"][..]),
            ("authorization", &["Bearer second"]),
            ("traceparent", &[PARENT]),
            ("other", &[]),
        ] {
            // The first call of a connection sends the name of the operation, later calls only its number.
            for _ in 0..2 {
                let seen: Vec<String> = client.call("Header", (name,)).await.unwrap();
                assert_eq!(seen, values, "{name}");
            }
            let seen: Vec<String> = plain.call("Header", (name,)).await.unwrap();
            assert!(seen.is_empty(), "{seen:?}");
        }
    }
    for plain in [&setup.clients[0], &setup.clients[2]] {
        let client = plain.with_trace(PARENT.parse().unwrap());
        let mut stream = client.stream("Stream", ("traceparent",)).await.unwrap();
        let seen: Option<String> = stream.next().await.unwrap();
        assert_eq!(seen.as_deref(), Some(PARENT));
    }
}

/// Queued calls are sent with their own metadata and trace.
#[tokio::test]
async fn queued_calls_keep_their_metadata() {
    let setup = setup("metadata-waits").await;
    let url = format!("tcp://{}", setup.running.address());
    let client = Client::builder().endpoint(&url).in_flight(1..=1);
    let client = client.connect().await.unwrap();
    let calls: Vec<_> = (0..50)
        .map(|number: u8| {
            let (client, name, value) = match number % 2 {
                0 => {
                    let client = client.with_trace(PARENT.parse().unwrap());
                    (client, "traceparent", PARENT.to_owned())
                }
                _ => {
                    let value = number.to_string();
                    (client.with_metadata("number", &value), "number", value)
                }
            };
            tokio::spawn(async move {
                let seen: Vec<String> = client.call("Header", (name,)).await.unwrap();
                assert_eq!(seen, [value]);
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
}

#[tokio::test]
async fn invalid_metadata_is_rejected() {
    let setup = setup("metadata-wrong").await;
    let client = &setup.clients[0];
    for client in [
        client.with_metadata("Tenant", "x"),
        client.with_metadata("", "x"),
        client.with_metadata("long", vec![b'x'; 20_000]),
    ] {
        let error = client
            .call::<Vec<String>>("Header", ("x",))
            .await
            .unwrap_err();
        assert!(error.kind() == CallErrorKind::Encode, "{error:?}");
    }
}

#[tokio::test]
async fn handlers_see_the_remaining_time() {
    let setup = setup("metadata-time").await;
    for client in &setup.clients {
        let short = client.with_deadline(Duration::from_secs(5));
        let remaining: u64 = short.call("Remaining", ()).await.unwrap();
        assert!((1_000..=5_000).contains(&remaining), "{remaining}");
        // The handler timeout of the server (20 s) applies too.
        let remaining: u64 = client.call("Remaining", ()).await.unwrap();
        assert!((10_000..=20_000).contains(&remaining), "{remaining}");
    }
    let client = &setup.clients[0];
    let stream = client.stream("Stream", ("x",)).await.unwrap();
    assert_eq!(stream.result::<Option<u64>>().await.unwrap(), None);
    let client = client.with_stream_deadline(Duration::from_secs(100));
    let stream = client.stream("Stream", ("x",)).await.unwrap();
    let remaining = stream.result::<u64>().await.unwrap();
    assert!((50_000..=100_000).contains(&remaining), "{remaining}");
    // Over HTTP only the handler timeout of the server applies.
    let url = format!("http://{}/RPC2", setup.running.address());
    let client = polywire_rpc::xmlrpc::Client::new(&url).unwrap();
    let remaining: f64 = client.call::<i64>("Remaining", ()).await.unwrap() as f64;
    assert!((10_000.0..=20_000.0).contains(&remaining), "{remaining}");
}

#[tokio::test]
async fn byte_streams_need_no_cbor() {
    let methods = Methods::new().stream("Sizes", |(): (), call: StreamCall| async move {
        let (mut items, out) = call.split();
        while let Some(item) = items.next_bytes().await {
            out.send_bytes(vec![item.len() as u8; 2].into()).await?;
        }
        Ok::<_, Fault>("done")
    });
    let server = Server::methods(methods).frames(true).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let client = crate::support::client(&running).await;
    let mut stream = client.two_way_bytes("Sizes", b"").await.unwrap();
    stream.send_bytes(b"12345").await.unwrap();
    assert_eq!(stream.next_bytes().await.unwrap().unwrap(), [5, 5]);
    assert_eq!(stream.result_bytes().await.unwrap(), b"\x64done");
    let stream = client.stream_bytes("Sizes", b"").await.unwrap();
    assert_eq!(stream.result_bytes().await.unwrap(), b"\x64done");
}
