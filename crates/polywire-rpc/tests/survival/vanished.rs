//! Peers that vanish, or send one byte per second. Each connection is closed when its timeout
//! expires, with a fault where the protocol allows one. Other clients are served meanwhile. A
//! client call ends at its deadline.
//!
//! The clock is paused and advances only when all tasks wait, so the tests use the default
//! timeouts and check exact times. They use Unix sockets, where written bytes can be read at
//! once. The code above the socket is the same as for TCP.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use polywire_rpc::methods::Methods;
use polywire_rpc::server::Timeouts;
use polywire_rpc::xmlrpc::Client;
use polywire_rpc::{RunningServer, Server, ServerBuilder};
use polywire_schema::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

/// A server over HTTP and SCGI with the default timeouts.
struct Site {
    folder: PathBuf,
    http: RunningServer<PathBuf>,
    scgi: RunningServer<PathBuf>,
    /// One permit per `wait` call that was dropped.
    dropped: Arc<Semaphore>,
}

fn folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("polywire-vanished-{}-{count}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).unwrap();
    folder
}

/// Adds a permit when it is dropped.
struct CountOnDrop(Arc<Semaphore>);

impl Drop for CountOnDrop {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl Site {
    async fn start(set: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let dropped = Arc::new(Semaphore::new(0));
        let own = dropped.clone();
        let methods = Methods::new()
            .values("echo", |parameters, _| async move {
                Ok(Value::List(parameters))
            })
            .method("wait", move |(): ()| {
                let dropped = CountOnDrop(own.clone());
                async move {
                    let _dropped = dropped;
                    std::future::pending::<i32>().await
                }
            });
        let server = set(Server::methods(methods)).build().unwrap();
        let folder = folder();
        let (http, scgi) = (folder.join("http"), folder.join("scgi"));
        Self {
            http: server.listen_unix(http).await.unwrap(),
            scgi: server.listen_scgi_unix(scgi).await.unwrap(),
            folder,
            dropped,
        }
    }

    async fn open(&self) -> UnixStream {
        UnixStream::connect(self.http.path()).await.unwrap()
    }

    async fn open_scgi(&self) -> UnixStream {
        UnixStream::connect(self.scgi.path()).await.unwrap()
    }

    /// Asserts that other clients are served over new connections without delay.
    async fn assert_still_serving(&self) {
        let started = Instant::now();
        for url in [
            format!("http+unix://{}", self.http.path().display()),
            format!("scgi+unix://{}", self.scgi.path().display()),
        ] {
            let client = Client::new(&url).unwrap();
            let answer = client.call_values("echo", &[Value::from(1)]).await;
            assert_eq!(answer.unwrap(), Value::from(vec![Value::from(1)]));
        }
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    async fn stop(self) {
        let started = Instant::now();
        self.http.shutdown().await;
        self.scgi.shutdown().await;
        // Shutdown does not wait for peers that have vanished.
        assert!(started.elapsed() <= 3 * SECOND, "{:?}", started.elapsed());
        std::fs::remove_dir_all(self.folder).unwrap();
    }
}

const ECHO: &str = "<methodCall><methodName>echo</methodName></methodCall>";

fn call(method: &str) -> String {
    let body = ECHO.replace("echo", method);
    let length = body.len();
    format!("POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn scgi(body: &str) -> String {
    let length = body.len();
    let head = format!("CONTENT_LENGTH\0{length}\0SCGI\x001\0");
    format!("{}:{head},{body}", head.len())
}

/// Reads until the connection ends. Returns the bytes as text, and the elapsed time.
async fn read_to_end_timed(stream: &mut UnixStream) -> (String, Duration) {
    let started = Instant::now();
    let mut bytes = Vec::new();
    let read = async {
        // A reset ends the connection too.
        let _ = stream.read_to_end(&mut bytes).await;
    };
    tokio::time::timeout(Duration::from_secs(1_000), read)
        .await
        .expect("the connection is closed");
    (String::from_utf8(bytes).unwrap(), started.elapsed())
}

/// Like `read_to_end_timed`, for a peer that sends one byte per second. Other clients are served
/// meanwhile.
async fn read_while_dripping(site: &Site, stream: UnixStream) -> (String, Duration) {
    let (mut read, mut write) = stream.into_split();
    let drip = async {
        loop {
            tokio::time::sleep(SECOND).await;
            // If the server has closed the connection, the read half sees it.
            let _ = write.write_all(b"x").await;
            site.assert_still_serving().await;
        }
    };
    let started = Instant::now();
    let mut bytes = Vec::new();
    let ends = async {
        let _ = read.read_to_end(&mut bytes).await;
    };
    tokio::select! {
        () = ends => {}
        () = drip => unreachable!(),
        () = tokio::time::sleep(Duration::from_secs(1_000)) => panic!("it is not closed"),
    }
    (String::from_utf8(bytes).unwrap(), started.elapsed())
}

/// Asserts a time, with up to 10 ms more for the timer resolution.
fn assert_took(took: Duration, time: Duration) {
    let more = Duration::from_millis(10);
    assert!(
        (time..=time + more).contains(&took),
        "{took:?}, not {time:?}"
    );
}

/// Incomplete heads of HTTP requests.
const HEADS: [&str; 5] = [
    "",
    "P",
    "POST /RPC2",
    "POST /RPC2 HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    "PRI * HTTP/2.0\r\n",
];

#[tokio::test(start_paused = true)]
async fn incomplete_heads_time_out() {
    let site = Site::start(|server| server).await;
    for head in HEADS {
        let mut peer = site.open().await;
        peer.write_all(head.as_bytes()).await.unwrap();
        let (words, took) = read_to_end_timed(&mut peer).await;
        assert_eq!(words, "", "{head}");
        assert_took(took, Timeouts::DEFAULT.head);
        site.assert_still_serving().await;
    }
    site.stop().await;
}

#[tokio::test(start_paused = true)]
async fn incomplete_scgi_heads_time_out() {
    let site = Site::start(|server| server).await;
    for head in ["", "7", "70:CONTENT_LENGTH\x0010"] {
        let mut peer = site.open_scgi().await;
        peer.write_all(head.as_bytes()).await.unwrap();
        let (words, took) = read_to_end_timed(&mut peer).await;
        assert!(words.starts_with("Status: 408"), "{words}");
        assert!(words.ends_with("did not arrive within 30 s\n"), "{words}");
        assert_took(took, Timeouts::DEFAULT.head);
        site.assert_still_serving().await;
    }
    site.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_head_of_one_byte_per_second_times_out() {
    let site = Site::start(|server| server).await;
    for head in &HEADS[3..4] {
        let mut peer = site.open().await;
        peer.write_all(head.as_bytes()).await.unwrap();
        let (words, took) = read_while_dripping(&site, peer).await;
        assert_eq!(words, "", "{head}");
        assert_took(took, Timeouts::DEFAULT.head);
    }
    let mut peer = site.open_scgi().await;
    peer.write_all(b"1000:X\0").await.unwrap();
    let (words, took) = read_while_dripping(&site, peer).await;
    assert!(words.starts_with("Status: 408"), "{words}");
    assert_took(took, Timeouts::DEFAULT.head);
    site.stop().await;
}

/// Asserts an XML-RPC fault for a body that timed out.
fn assert_body_timed_out(words: &str, status: &str) {
    assert!(words.starts_with(status), "{words}");
    assert!(words.contains("<int>-32300</int>"), "{words}");
    assert!(words.contains("did not arrive within 30 s"), "{words}");
}

#[tokio::test(start_paused = true)]
async fn incomplete_bodies_time_out() {
    let site = Site::start(|server| server).await;
    let whole = call("echo");
    for left in [1, 30, ECHO.len()] {
        let mut peer = site.open().await;
        let part = &whole[..whole.len() - left];
        peer.write_all(part.as_bytes()).await.unwrap();
        let (words, took) = read_to_end_timed(&mut peer).await;
        assert_body_timed_out(&words, "HTTP/1.1 200");
        assert_took(took, Timeouts::DEFAULT.body);
    }
    let whole = scgi(ECHO);
    let mut peer = site.open_scgi().await;
    let part = &whole[..whole.len() - 5];
    peer.write_all(part.as_bytes()).await.unwrap();
    let (words, took) = read_to_end_timed(&mut peer).await;
    assert_body_timed_out(&words, "Status: 200");
    assert_took(took, Timeouts::DEFAULT.body);
    site.assert_still_serving().await;
    site.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_body_of_one_byte_per_second_times_out() {
    let site = Site::start(|server| server).await;
    let head = "POST /RPC2 HTTP/1.1\r\nHost: x\r\n";
    let length = format!("{head}Content-Length: 1000\r\n\r\n<methodCall>");
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n100\r\n<methodCall>");
    for begin in [length, chunked] {
        let mut peer = site.open().await;
        peer.write_all(begin.as_bytes()).await.unwrap();
        let (words, took) = read_while_dripping(&site, peer).await;
        assert_body_timed_out(&words, "HTTP/1.1 200");
        assert_took(took, Timeouts::DEFAULT.body);
    }
    let mut peer = site.open_scgi().await;
    let whole = scgi(&ECHO.replace("echo", &"x".repeat(1000)));
    peer.write_all(&whole.as_bytes()[..100]).await.unwrap();
    let (words, took) = read_while_dripping(&site, peer).await;
    assert_body_timed_out(&words, "Status: 200");
    assert_took(took, Timeouts::DEFAULT.body);
    site.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_vanishes_after_its_reply_is_closed() {
    let site = Site::start(|server| server).await;
    let mut peer = site.open().await;
    for pause in [0, 10, 29] {
        tokio::time::sleep(pause * SECOND).await;
        peer.write_all(call("echo").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"</methodResponse>") {
            assert!(peer.read_buf(&mut answer).await.unwrap() > 0);
        }
    }
    let (words, took) = read_to_end_timed(&mut peer).await;
    assert_eq!(words, "");
    assert_took(took, Timeouts::DEFAULT.head);
    site.stop().await;
}

/// A call whose client has vanished holds its slot until the handler timeout. Its connection
/// is then held until the head timeout.
#[tokio::test(start_paused = true)]
async fn the_call_of_a_vanished_peer_runs_until_its_timeout() {
    let site = Site::start(|server| server.connections(1)).await;
    let started = Instant::now();
    let mut peer = site.open().await;
    peer.write_all(call("wait").as_bytes()).await.unwrap();
    site.dropped.acquire().await.unwrap().forget();
    assert_took(started.elapsed(), Timeouts::DEFAULT.handler);
    let (words, took) = read_to_end_timed(&mut peer).await;
    assert!(words.contains("<int>-32400</int>"), "{words}");
    assert!(words.contains("wait took too long"), "{words}");
    assert_took(took, Timeouts::DEFAULT.head);
    site.assert_still_serving().await;
    site.stop().await;
}

/// Over SCGI, the end of a connection cancels its call if `half_close` is false.
#[tokio::test(start_paused = true)]
async fn the_call_of_a_vanished_scgi_peer_is_cancelled() {
    let site = Site::start(|server| server.half_close(false).connections(1)).await;
    for _ in 0..3 {
        let started = Instant::now();
        let mut stream = site.open_scgi().await;
        let wait = scgi(&ECHO.replace("echo", "wait"));
        stream.write_all(wait.as_bytes()).await.unwrap();
        drop(stream);
        site.dropped.acquire().await.unwrap().forget();
        assert_eq!(started.elapsed(), Duration::ZERO);
    }
    site.assert_still_serving().await;
    // Extra bytes after a call are not the end of the connection.
    let mut stream = site.open_scgi().await;
    let wait = scgi(&ECHO.replace("echo", "wait")) + "more";
    stream.write_all(wait.as_bytes()).await.unwrap();
    let (words, took) = read_to_end_timed(&mut stream).await;
    assert!(words.contains("took too long"), "{words}");
    assert_took(took, Timeouts::DEFAULT.handler);
    site.stop().await;
}

/// By default, a client that has closed its write half still gets its reply.
#[tokio::test(start_paused = true)]
async fn a_half_closed_scgi_peer_gets_its_reply() {
    let site = Site::start(|server| server).await;
    let mut stream = site.open_scgi().await;
    let wait = scgi(&ECHO.replace("echo", "wait"));
    stream.write_all(wait.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let (words, took) = read_to_end_timed(&mut stream).await;
    assert!(words.contains("took too long"), "{words}");
    assert_took(took, Timeouts::DEFAULT.handler);
    site.stop().await;
}

/// A client does not read a reply that is larger than the socket buffers. The server drops the
/// rest of the reply after a timeout.
#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_its_reply_is_closed() {
    let site = Site::start(|server| server).await;
    let body = format!(
        "<methodCall><methodName>echo</methodName><params><param><value>{}</value></param>\
         </params></methodCall>",
        "x".repeat(4 << 20)
    );
    let length = body.len();
    let head = format!("POST /RPC2 HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
    for over_scgi in [false, true] {
        let (mut peer, request) = match over_scgi {
            false => (site.open().await, format!("{head}{body}")),
            true => (site.open_scgi().await, scgi(&body)),
        };
        peer.write_all(request.as_bytes()).await.unwrap();
        tokio::time::sleep(3 * Timeouts::DEFAULT.head + SECOND).await;
        let (words, took) = read_to_end_timed(&mut peer).await;
        assert!(
            !words.is_empty() && words.len() < 4 << 20,
            "{}",
            words.len()
        );
        assert_eq!(took, Duration::ZERO);
    }
    site.assert_still_serving().await;
    site.stop().await;
}

/// All connection slots are held by peers that have vanished during a request. Another client
/// waits in the listen backlog until those connections time out.
#[tokio::test(start_paused = true)]
async fn vanished_peers_hold_all_connection_slots_until_their_timeout() {
    const PLACES: usize = 100;
    let site = Site::start(|server| server.connections(PLACES)).await;
    let whole = call("echo");
    let words = ["", "P", "POST /RPC2 HT", &whole[..whole.len() - 3]];
    let mut peers = Vec::new();
    for word in words.iter().cycle().take(PLACES) {
        let mut peer = site.open().await;
        peer.write_all(word.as_bytes()).await.unwrap();
        peers.push(peer);
    }
    let url = format!("http+unix://{}", site.http.path().display());
    let started = Instant::now();
    Client::new(&url)
        .unwrap()
        .call_values("echo", &[])
        .await
        .unwrap();
    assert_took(started.elapsed(), Timeouts::DEFAULT.head);
    drop(peers);
    site.assert_still_serving().await;
    site.stop().await;
}

/// A scripted server for one connection, with a client and the folder of its socket.
async fn scripted_server<F: Future<Output = ()> + Send + 'static>(
    script: impl FnOnce(UnixStream) -> F + Send + 'static,
) -> (Client, PathBuf) {
    let folder = folder();
    let path = folder.join("http");
    let listener = UnixListener::bind(&path).unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        script(stream).await;
    });
    let client = Client::new(&format!("http+unix://{}", path.display())).unwrap();
    (client, folder)
}

/// The default deadline of a call.
const DEADLINE: Duration = Duration::from_secs(60);

async fn assert_ends_at_the_deadline(client: &Client) {
    let started = Instant::now();
    let error = client.call_values("echo", &[]).await.unwrap_err();
    assert_took(started.elapsed(), DEADLINE);
    assert!(error.is_timeout() && !error.is_unstarted(), "{error}");
    assert!(error.is_deadline());
}

#[tokio::test(start_paused = true)]
async fn a_call_to_a_vanished_server_times_out() {
    let (client, folder) = scripted_server(|mut stream| async move {
        stream.read_buf(&mut Vec::new()).await.unwrap();
        std::future::pending::<()>().await;
    })
    .await;
    assert_ends_at_the_deadline(&client).await;
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reply_of_one_byte_per_second_times_out() {
    for begin in [
        "HTTP/1.1 200 OK\r\nX-Slow: ",
        "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n<methodResponse>",
    ] {
        let (client, folder) = scripted_server(move |mut stream| async move {
            stream.read_buf(&mut Vec::new()).await.unwrap();
            stream.write_all(begin.as_bytes()).await.unwrap();
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(SECOND).await;
            }
        })
        .await;
        assert_ends_at_the_deadline(&client).await;
        std::fs::remove_dir_all(folder).unwrap();
    }
}
