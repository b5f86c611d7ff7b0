//! A proxy that injects faults into the TCP connections between clients and a server.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// The current address of the server.
#[derive(Clone, Debug)]
pub(crate) enum Upstream {
    Down,
    Tcp(SocketAddr),
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are none"))]
    Unix(PathBuf),
}

/// A generator of pseudorandom numbers.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number less than `below`, with Vigna's splitmix64.
    const fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % below
    }
}

/// A proxy that cuts connections, delays them, and inserts garbage between frames. Dropping it stops it.
pub(crate) struct FaultyProxy {
    pub(crate) address: SocketAddr,
    counts: Arc<FaultCounts>,
    _task: JoinSet<()>,
}

#[derive(Debug, Default)]
struct FaultCounts {
    cuts: AtomicU64,
    garbage: AtomicU64,
}

impl FaultyProxy {
    pub(crate) async fn new(upstreams: watch::Receiver<Upstream>, mut rng: Rng) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::<FaultCounts>::default();
        let mut task = JoinSet::new();
        let own = Arc::clone(&counts);
        task.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let upstream = upstreams.borrow().clone();
                let rng = Rng::new(rng.next(u64::MAX));
                let counts = Arc::clone(&own);
                connections.spawn(async move {
                    let _ = client.set_nodelay(true);
                    // If the server is unreachable, the connection of the client is closed.
                    let _ = match upstream {
                        Upstream::Down => Ok(()),
                        Upstream::Tcp(address) => match TcpStream::connect(address).await {
                            Ok(server) => {
                                let _ = server.set_nodelay(true);
                                let (from, to) = server.into_split();
                                proxy_streams(client, from, to, rng, &counts).await
                            }
                            Err(error) => Err(error),
                        },
                        Upstream::Unix(path) => proxy_unix(client, path, rng, &counts).await,
                    };
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Self {
            address,
            counts,
            _task: task,
        }
    }

    /// The number of cut connections, and how often garbage was inserted.
    pub(crate) fn cuts_and_garbage(&self) -> (u64, u64) {
        let FaultCounts { cuts, garbage } = &*self.counts;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(cuts), read(garbage))
    }
}

#[cfg(unix)]
async fn proxy_unix(
    client: TcpStream,
    path: PathBuf,
    rng: Rng,
    counts: &FaultCounts,
) -> io::Result<()> {
    let server = tokio::net::UnixStream::connect(path).await?;
    let (from, to) = server.into_split();
    proxy_streams(client, from, to, rng, counts).await
}

#[cfg(not(unix))]
async fn proxy_unix(_: TcpStream, _: PathBuf, _: Rng, _: &FaultCounts) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

async fn proxy_streams(
    client: TcpStream,
    from_server: impl AsyncRead + Unpin,
    to_server: impl AsyncWrite + Unpin,
    mut rng: Rng,
    counts: &FaultCounts,
) -> io::Result<()> {
    let (from_client, to_client) = client.into_split();
    let there = Rng::new(rng.next(u64::MAX));
    let back = Rng::new(rng.next(u64::MAX));
    // When one direction ends, both are closed.
    tokio::select! {
        ended = pass(from_client, to_server, there, counts) => ended,
        ended = pass(from_server, to_client, back, counts) => ended,
    }
}

/// Forwards bytes in one direction until the end of the stream or an injected cut.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut rng: Rng,
    counts: &FaultCounts,
) -> io::Result<()> {
    let mut frames = Frames::default();
    let mut buffer = vec![0; 16 << 10];
    let mut garbage = false;
    loop {
        let room = 1 + rng.next(buffer.len() as u64) as usize;
        let count = from.read(&mut buffer[..room]).await?;
        if count == 0 {
            return Ok(());
        }
        let bytes = &buffer[..count];
        let ends = frames.pass(bytes);
        if let (true, Some(end)) = (garbage, ends) {
            counts.garbage.fetch_add(1, Ordering::Relaxed);
            to.write_all(&bytes[..end]).await?;
            to.write_all(&[0xff; 64]).await?;
            // The receiver ignores all bytes after the garbage.
            to.write_all(&bytes[end..]).await?;
            continue;
        }
        match rng.next(1_000) {
            0..=2 => {
                counts.cuts.fetch_add(1, Ordering::Relaxed);
                let some = rng.next(count as u64) as usize;
                to.write_all(&bytes[..some]).await?;
                return Ok(());
            }
            3 => garbage = true,
            4..=6 => tokio::time::sleep(Duration::from_millis(20 + rng.next(100))).await,
            7..=40 => tokio::time::sleep(Duration::from_millis(1 + rng.next(3))).await,
            _ => {}
        }
        to.write_all(bytes).await?;
    }
}

/// Tracks frame boundaries. Garbage within a frame would become part of its payload and would not be detected.
#[derive(Default)]
struct Frames {
    preface_seen: bool,
    head: Vec<u8>,
    payload_left: usize,
}

impl Frames {
    /// Processes `bytes`. Returns the offset of the last frame end in them.
    fn pass(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut end = None;
        let mut at = 0;
        while at < bytes.len() {
            if self.payload_left > 0 {
                let some = self.payload_left.min(bytes.len() - at);
                self.payload_left -= some;
                at += some;
            } else {
                self.head.push(bytes[at]);
                at += 1;
                if !self.preface_seen && self.head.len() == 4 {
                    // The preface.
                    self.preface_seen = true;
                    self.head.clear();
                    continue;
                }
                if self.head.len() < 16 {
                    continue;
                }
                let length = [self.head[0], self.head[1], self.head[2], self.head[3]];
                self.payload_left = u32::from_le_bytes(length) as usize;
                self.head.clear();
            }
            if self.payload_left == 0 && self.head.is_empty() {
                end = Some(at);
            }
        }
        end
    }
}
