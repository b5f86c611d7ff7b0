//! Authentication over frames: calls, one-way calls, streams and topics, over each transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use polywire_frame::FaultCode;
use polywire_protocol::Fault;
use polywire_rpc::auth::{AuthError, Authenticator, BasicAuth, BearerAuth, CallHead, Identity};
use polywire_rpc::frames::Client;
use polywire_rpc::{CallError, Context, Methods, Server, ServerBuilder, StreamCall, Topics};

/// A server with three methods. `Name` returns the name of the user, and panics if it sees the `authorization` header.
/// `Note` increments `notes`. `Sum` adds up its items. Only the user `ada` may use topics.
fn builder(notes: &Arc<AtomicUsize>) -> ServerBuilder {
    let notes = Arc::clone(notes);
    let methods = Methods::new()
        .method("Name", |(): (), context: Context| async move {
            assert!(!context.headers().contains_key("authorization"));
            context.user().map(str::to_owned)
        })
        .method("Note", move |(): ()| {
            notes.fetch_add(1, Ordering::Relaxed);
            async {}
        })
        .stream("Sum", |(): (), mut call: StreamCall| async move {
            let mut sum = 0;
            while let Some(number) = call.next::<i64>().await? {
                sum += number;
            }
            Ok::<_, Fault>(sum)
        });
    let topics = Topics::new().guard(|context, _| context.user() == Some("ada"));
    Server::methods(methods).frames(true).topics(topics)
}

fn passwords() -> BasicAuth {
    BasicAuth::users("kitchen", [("ada", "horse")])
}

/// The same password, but each verification takes 2 ms.
fn slow_passwords() -> BasicAuth {
    BasicAuth::verify_with("kitchen", async |user: String, password: String| {
        tokio::time::sleep(Duration::from_millis(2)).await;
        user == "ada" && password == "horse"
    })
}

/// `Basic ada:horse`.
const ADA: &str = "Basic YWRhOmhvcnNl";
/// `Basic ada:house`.
const WRONG: &str = "Basic YWRhOmhvdXNl";

fn code(error: &CallError) -> FaultCode {
    error.frame_code().unwrap()
}

#[track_caller]
fn assert_unauthenticated<T>(result: Result<T, CallError>) {
    let error = result.err().unwrap();
    assert_eq!(code(&error), FaultCode::UNAUTHENTICATED);
    assert!(error.is_unstarted());
}

async fn name(client: &Client) -> Result<Option<String>, CallError> {
    client.call("Name", ()).await
}

/// Each kind of operation fails as unauthenticated without credentials or with a wrong password, and succeeds with the
/// right one.
async fn assert_authentication_required(client: Client, notes: &Arc<AtomicUsize>) {
    for client in [client.clone(), client.with_metadata("authorization", WRONG)] {
        assert_unauthenticated(name(&client).await);
        client.notify("Note", ()).await.unwrap();
        let mut call = client.two_way("Sum", ()).await.unwrap();
        // The call may have ended before an item is sent.
        let _ = call.send(1).await;
        call.finish();
        assert_unauthenticated(call.result::<i64>().await);
        assert_unauthenticated(client.publish("news", "rain").await);
        let refused = match client.subscribe("news").await {
            Ok(mut subscription) => subscription.next::<String>().await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert_unauthenticated(refused);
    }
    assert_eq!(notes.load(Ordering::Relaxed), 0);
    let ada = client.with_metadata("authorization", ADA);
    assert_eq!(name(&ada).await.unwrap().as_deref(), Some("ada"));
    let mut call = ada.two_way("Sum", ()).await.unwrap();
    for number in 1..=100 {
        call.send(number).await.unwrap();
    }
    call.finish();
    assert_eq!(call.result::<i64>().await.unwrap(), 5_050);
    let mut subscription = ada.subscribe("news").await.unwrap();
    assert_eq!(ada.publish("news", "rain").await.unwrap(), 1);
    let message = subscription.next::<String>().await.unwrap().unwrap();
    assert_eq!(message.value, "rain");
    ada.notify("Note", ()).await.unwrap();
    while notes.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn over_tcp(authenticator: impl Authenticator) {
    let notes = Arc::default();
    let server = builder(&notes).authenticate(authenticator).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    assert_authentication_required(Client::connect(&url).await.unwrap(), &notes).await;
}

#[tokio::test]
async fn passwords_over_tcp() {
    over_tcp(passwords()).await;
}

#[tokio::test]
async fn verification_that_takes_time() {
    over_tcp(slow_passwords()).await;
}

#[tokio::test]
async fn passwords_in_process() {
    let notes = Arc::default();
    let server = builder(&notes).authenticate(passwords()).build().unwrap();
    let _running = server.listen_inproc("passwords in process").unwrap_err();
    let _running = server.listen_inproc("passwords-in-process").unwrap();
    let client = Client::connect("inproc://passwords-in-process").await;
    assert_authentication_required(client.unwrap(), &notes).await;
}

#[tokio::test]
async fn passwords_over_udp() {
    for slow in [false, true] {
        let notes = Arc::default();
        let auth = if slow { slow_passwords() } else { passwords() };
        let server = builder(&notes).authenticate(auth).build().unwrap();
        let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
        let running = server.listen_udp(address).await.unwrap();
        let url = format!("udp://{}", running.address());
        let client = Client::connect(&url).await.unwrap();
        assert_unauthenticated(name(&client).await);
        let ada = client.with_metadata("authorization", ADA);
        assert_eq!(name(&ada).await.unwrap().as_deref(), Some("ada"));
        client.notify("Note", ()).await.unwrap();
        ada.notify("Note", ()).await.unwrap();
        while notes.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        name(&ada).await.unwrap();
        assert_eq!(notes.load(Ordering::Relaxed), 1);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn processes_at_unix_sockets() {
    use std::os::unix::fs::MetadataExt;

    use polywire_rpc::auth::UnixUserAuth;

    let folder = tempfile::tempdir().unwrap();
    let uid = std::fs::metadata(folder.path()).unwrap().uid();
    for (allowed, is_allowed) in [(uid, true), (uid + 1, false)] {
        let auth = UnixUserAuth::uids([allowed]);
        let server = builder(&Arc::default()).authenticate(auth).build().unwrap();
        let path = folder.path().join(format!("{allowed}.sock"));
        let _running = server.listen_unix(&path).await.unwrap();
        let url = format!("unix://{}", path.display());
        let client = Client::connect(&url).await.unwrap();
        match is_allowed {
            true => {
                let name = name(&client).await.unwrap().unwrap();
                assert_eq!(name, format!("uid:{uid}"));
            }
            false => assert_unauthenticated(name(&client).await),
        }
    }
}

/// On a WebSocket endpoint for frames, each call is authenticated. The upgrade request is not, because web pages cannot
/// add headers to it. Upgrade requests for other endpoints are authenticated.
#[tokio::test]
async fn websockets() {
    use polywire_rpc::websocket::{ConnectError, WebSocket, WebSocketEndpoint};

    let notes = Arc::default();
    let names = async |socket: WebSocket| {
        let name = socket.identity().map(|identity| identity.name().to_owned());
        let _ = socket.send(name.unwrap_or_default()).await;
    };
    let server = builder(&notes)
        .websocket("/frames", WebSocketEndpoint::polywire_frames())
        .websocket("/names", names)
        .authenticate(passwords())
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("ws://{}/frames", running.address());
    assert_authentication_required(Client::connect(&url).await.unwrap(), &notes).await;
    let url = format!("ws://{}/names", running.address());
    let error = WebSocket::builder(&url).connect().await.unwrap_err();
    assert!(
        matches!(&error, ConnectError::Refused { status, .. } if *status == 401),
        "{error:?}"
    );
    let ada = http::HeaderValue::from_static(ADA);
    let builder = WebSocket::builder(&url).header(http::header::AUTHORIZATION, ada);
    let mut socket = builder.connect().await.unwrap();
    let message = socket.recv().await.unwrap().unwrap();
    assert_eq!(message.as_text(), Some("ada"));
}

/// An authenticator can decide by operation. A call that it forbids fails with FORBIDDEN and its message, unless the
/// next authenticator accepts the credentials.
#[tokio::test]
async fn targets_and_forbidden_callers() {
    let auth = |head: &CallHead<'_>| -> Result<Identity, AuthError> {
        match head.target() {
            "Name" => Ok(Identity::new("anybody")),
            _ => Err(AuthError::Forbidden("not this one".into())),
        }
    };
    let notes = Arc::default();
    let server = builder(&notes)
        .authenticate(auth)
        .authenticate(BearerAuth::tokens([("job", "token")]))
        .build()
        .unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    assert_eq!(name(&client).await.unwrap().as_deref(), Some("anybody"));
    let error = client.call::<()>("Note", ()).await.unwrap_err();
    assert_eq!(code(&error), FaultCode::FORBIDDEN);
    assert_eq!(error.fault().unwrap().message(), "not this one");
    let job = client.with_metadata("authorization", "Bearer token");
    job.call::<()>("Note", ()).await.unwrap();
}

/// A panic in an authenticator fails one call with INTERNAL. The TCP connection stays open, and the UDP socket, which
/// all clients share, stays usable.
#[tokio::test]
async fn authenticators_that_panic() {
    let at_once = |head: &CallHead<'_>| -> Result<Identity, AuthError> {
        assert!(!head.headers().contains_key("x-bug"), "a bug");
        Err(AuthError::MissingCredentials)
    };
    let slow = BasicAuth::verify_with("kitchen", async |user: String, _| {
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert_eq!(user, "ada", "a bug");
        true
    });
    let server = builder(&Arc::default())
        .authenticate(at_once)
        .authenticate(slow)
        .build()
        .unwrap();
    let address: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    let running = server.listen(address).await.unwrap();
    let udp = server.listen_udp(address).await.unwrap();
    for url in [
        format!("tcp://{}", running.address()),
        format!("udp://{}", udp.address()),
    ] {
        let client = Client::connect(&url).await.unwrap();
        let ada = client.with_metadata("authorization", ADA);
        // `Basic bob:x`.
        let bob = client.with_metadata("authorization", "Basic Ym9iOng=");
        for bug in [ada.with_metadata("x-bug", "1"), bob] {
            let error = name(&bug).await.unwrap_err();
            assert_eq!(code(&error), FaultCode::INTERNAL, "{url} {error:?}");
            assert!(!format!("{error:?}").contains("a bug"), "{error:?}");
            assert_eq!(name(&ada).await.unwrap().as_deref(), Some("ada"), "{url}");
        }
        assert_eq!(client.stats().reconnects, 0, "{url}");
    }
}

/// Cancelling a call, or its deadline, ends its pending authentication. Other calls are not delayed meanwhile.
#[tokio::test]
async fn cancelled_calls_end_their_authentication() {
    let pending = Arc::new(AtomicUsize::new(0));
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let count = Arc::clone(&pending);
    let auth = BasicAuth::verify_with("kitchen", move |user: String, _| {
        count.fetch_add(1, Ordering::Relaxed);
        let guard = Guard(Arc::clone(&count));
        async move {
            if user != "ada" {
                std::future::pending::<()>().await;
            }
            drop(guard);
            true
        }
    });
    let server = builder(&Arc::default()).authenticate(auth).build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    // `Basic bob:x`.
    let bob = client.with_metadata("authorization", "Basic Ym9iOng=");
    let calls: Vec<_> = (0..4)
        .map(|_| {
            let bob = bob.clone();
            tokio::spawn(async move { name(&bob).await })
        })
        .collect();
    while pending.load(Ordering::Relaxed) < 4 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let ada = client.with_metadata("authorization", ADA);
    assert_eq!(name(&ada).await.unwrap().as_deref(), Some("ada"));
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    while pending.load(Ordering::Relaxed) > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let error = bob.with_deadline(Duration::from_millis(20));
    let error = name(&error).await.unwrap_err();
    assert!(error.is_deadline());
}

/// Inputs of calls with pending authentication use the memory of the server, also small ones: there may be many.
#[tokio::test]
async fn pending_inputs_use_memory() {
    const LEN: usize = 60_000;
    let methods = Methods::new()
        .bytes("Len", |_, _, _| Ok(()))
        .stream("Count", |(): (), _: StreamCall| async { Ok::<_, Fault>(0) });
    let server = Server::methods(methods)
        .frames(true)
        .authenticate(BasicAuth::verify_with("kitchen", async |_, _| {
            std::future::pending::<bool>().await
        }));
    let server = server.build().unwrap();
    let running = server.listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("tcp://{}", running.address());
    let client = Client::connect(&url).await.unwrap();
    let client = client.with_metadata("authorization", ADA);
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_bytes("Len", &[7; LEN]).await })
        })
        .collect();
    let memory_becomes = async |expected: u64| {
        let reached = async {
            while server.frame_stats().memory != expected {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let limit = Duration::from_secs(60);
        tokio::time::timeout(limit, reached).await.unwrap();
    };
    memory_becomes(10 * (LEN as u64 - 4_096)).await;
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    memory_becomes(0).await;
    let stream = client.stream_bytes("Count", &[7; LEN]).await.unwrap();
    memory_becomes(LEN as u64 - 4_096).await;
    drop(stream);
    memory_becomes(0).await;
}
