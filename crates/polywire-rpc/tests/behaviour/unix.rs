//! HTTP over Unix sockets, and IPv6 addresses.

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use polywire_rpc::server::{BoundAddress, Credentials, UnixSocket};
use polywire_rpc::{Context, ServerBuilder, dynamic};
use polywire_schema::Map;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use crate::support::{Socket, WIRES, builder, call_of, request, within};

const CREATE: &str = r#"{"name":"kettle"}"#;

/// A temporary directory of one test, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("polywire-unix-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn open(path: &Path) -> Socket<UnixStream> {
    Socket::over(within(UnixStream::connect(path)).await.unwrap())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A server whose handler reports a value from its context.
fn reporting_server<T: Send + 'static>(
    tell: fn(&Context) -> T,
) -> (ServerBuilder, mpsc::UnboundedReceiver<T>) {
    let (send, seen) = mpsc::unbounded_channel();
    let handler = dynamic(move |mut input: Map, context: Context| {
        send.send(tell(&context)).unwrap();
        input.insert("id", 7);
        async { Ok(input) }
    });
    (builder().operation("Create", handler), seen)
}

#[tokio::test]
async fn every_wire() {
    let folder = Folder::new();
    let (builder, mut seen) = reporting_server(|context| {
        let caller = context.caller().clone();
        (context.peer(), caller.credentials(), caller.is_local())
    });
    let running = builder.build().unwrap();
    let running = running.listen_unix(folder.path("http")).await.unwrap();
    let mut socket = open(running.path()).await;
    for kind in WIRES {
        socket
            .write(call_of(kind, "/things", "Create", CREATE))
            .await;
        assert!(socket.reply().await.status < 300, "{kind}");
        let (address, credentials, local) = within(seen.recv()).await.unwrap();
        assert_eq!((address, local), (None, true));
        let Credentials { pid, uid, .. } = credentials.unwrap();
        let own = fs::metadata(folder.path("http")).unwrap();
        assert_eq!(uid, std::os::unix::fs::MetadataExt::uid(&own));
        if cfg!(target_os = "linux") {
            assert_eq!(pid, i32::try_from(std::process::id()).ok());
        }
    }
    running.shutdown().await;
}

#[tokio::test]
async fn the_file_is_private_and_removed() {
    let folder = Folder::new();
    let server = builder().build().unwrap();
    let running = server.listen_unix(folder.path("own")).await.unwrap();
    assert_eq!(mode(&folder.path("own")), 0o600);
    let group = UnixSocket::new(folder.path("group")).mode(0o660);
    let group = server.listen_unix(group).await.unwrap();
    assert_eq!(mode(group.path()), 0o660);
    let all = [running.into_any(), group.into_any()];
    assert_eq!(
        *all[0].bound_address(),
        BoundAddress::Unix(folder.path("own"))
    );
    for running in all {
        within(running.shutdown()).await;
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}

/// Only a socket file without a listener is replaced.
#[tokio::test]
async fn existing_files() {
    let folder = Folder::new();
    let server = builder().build().unwrap();
    let path = folder.path("socket");
    // The socket file of a process that has ended without removing it.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let running = server.listen_unix(&path).await.unwrap();
    // A socket with a listener, here the server above.
    let error = server.listen_unix(&path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    let text = error.to_string();
    assert!(text.contains("another process listens there"), "{text}");
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    let mut socket = open(&path).await;
    socket.write(request("GET /status/201", &[], "")).await;
    assert_eq!(socket.reply().await.status, 201);
    // On shutdown the server does not remove a socket file that another process has created since.
    fs::remove_file(&path).unwrap();
    let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
    within(running.shutdown()).await;
    assert!(path.exists());
    drop(other);
    // A regular file is never removed.
    let file = folder.path("file");
    fs::write(&file, "precious").unwrap();
    let error = server.listen_unix(&file).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&file).unwrap(), b"precious");
    // A missing directory.
    let error = server.listen_unix(folder.path("none/socket")).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("none/socket"), "{error}");
    // The path is too long for a socket address.
    let error = server.listen_unix(folder.path(&"x".repeat(200))).await;
    assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput);
}

/// If several calls of `listen_unix` find the same stale socket file, one replaces it. The remaining
/// calls fail with `AddrInUse`.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_several_concurrent_listens_replaces_a_stale_file() {
    let folder = Folder::new();
    let server = builder().build().unwrap();
    for round in 0..100 {
        let path = folder.path(&format!("left-{round}"));
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let all = (0..8).map(|_| {
            let (server, path) = (server.clone(), path.clone());
            tokio::spawn(async move { server.listen_unix(path).await })
        });
        let all: Vec<_> = all.collect();
        let mut listening = Vec::new();
        for one in all {
            match within(one).await.unwrap() {
                Ok(running) => listening.push(running),
                Err(error) => assert_eq!(error.kind(), ErrorKind::AddrInUse, "{error}"),
            }
        }
        assert_eq!(listening.len(), 1, "round {round}");
        let mut socket = open(&path).await;
        socket.write(request("GET /status/201", &[], "")).await;
        assert_eq!(socket.reply().await.status, 201);
        drop(socket);
        within(listening.remove(0).shutdown()).await;
    }
}

#[tokio::test]
async fn calls_in_progress_end() {
    let folder = Folder::new();
    let server = builder().build().unwrap();
    let running = server.listen_unix(folder.path("http")).await.unwrap();
    let mut socket = open(running.path()).await;
    socket
        .write(request("POST /fail", &[], r#"{"how":"soon"}"#))
        .await;
    let (reply, ()) = tokio::join!(socket.reply(), running.shutdown());
    assert_eq!(reply.status, 200);
    assert!(socket.ends().await);
}

/// A listener that the caller has bound, as with socket activation. Its file is not removed.
#[tokio::test]
async fn a_listener_bound_by_the_caller_keeps_its_file() {
    let folder = Folder::new();
    let listener = tokio::net::UnixListener::bind(folder.path("given")).unwrap();
    let running = builder().build().unwrap().serve(listener).unwrap();
    assert_eq!(running.path(), folder.path("given"));
    let mut socket = open(running.path()).await;
    socket.write(request("GET /status/201", &[], "")).await;
    assert_eq!(socket.reply().await.status, 201);
    drop(socket);
    within(running.shutdown()).await;
    assert!(folder.path("given").exists());
}

/// IPv6 addresses; link-local addresses have a scope id.
#[tokio::test]
async fn ipv6() {
    let (builder, mut seen) = reporting_server(Context::peer);
    let server = builder.build().unwrap();
    let mut addresses = vec!["[::1]:0".parse().unwrap()];
    match link_local() {
        Some(address) => addresses.push(address),
        None => eprintln!("skipped: no interface has a link-local address"),
    }
    for address in addresses {
        let running = match server.listen(address).await {
            Ok(running) => running,
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
                eprintln!("skipped: no {address} here");
                continue;
            }
            Err(error) => panic!("{address}: {error}"),
        };
        let stream = tokio::net::TcpStream::connect(running.address()).await;
        let stream = stream.unwrap();
        let own = stream.local_addr().unwrap();
        let mut socket = Socket::over(stream);
        socket.write(request("POST /things", &[], CREATE)).await;
        assert_eq!(socket.reply().await.status, 201, "{address}");
        // The peer address has its scope id, which a reply to a link-local address needs.
        assert_eq!(within(seen.recv()).await.unwrap(), Some(own));
        within(running.shutdown()).await;
    }
}

/// A link-local address of this machine, from the interface table of Linux.
fn link_local() -> Option<SocketAddr> {
    let table = fs::read_to_string("/proc/net/if_inet6").ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [address, index, _, "20", ..] = fields[..] else {
            return None;
        };
        let address = u128::from_str_radix(address, 16).ok()?;
        let index = u32::from_str_radix(index, 16).ok()?;
        let address = std::net::SocketAddrV6::new(address.into(), 0, 0, index);
        Some(address.into())
    })
}
