//! Datagrams: a raw echo of them, and ours through a network that loses some.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Udp;
use super::super::trial::{Peer, words};
use super::caller::Calls;
use super::echo::message;
use super::{Frames, ended};

/// Datagrams of the size of our calls without the nonces that ours have, a window of them in flight.
pub(crate) struct UdpEcho;

/// What a datagram may take before it counts as lost: a multiple of the slowest that are not.
const LOST: Duration = Duration::from_millis(500);

impl Peer<Udp> for UdpEcho {
    async fn serve(listener: SocketAddr) -> Result<(), String> {
        let socket = UdpSocket::bind(listener).await.map_err(words)?;
        let mut buffer = [0; 2048];
        loop {
            let (count, from) = socket.recv_from(&mut buffer).await.map_err(words)?;
            let sent = socket.send_to(&buffer[..count], from).await;
            sent.map_err(words)?;
        }
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let mut sockets = Vec::new();
        for _ in 0..layout.clients {
            sockets.push(
                connect(url.trim_start_matches("udp://"))
                    .await
                    .map_err(words)?,
            );
        }
        let times = start()?;
        let mut tasks = JoinSet::new();
        for socket in sockets {
            tasks.spawn(async move {
                if let Err(error) = exchange(&socket, layout.window, times).await {
                    tally::with(|tally| tally.failed(1, error.to_string()));
                }
            });
        }
        ended(times, &mut tasks).await
    }
}

async fn connect(address: &str) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    socket.connect(address).await?;
    Ok(socket)
}

/// They come back in their order, or are lost.
async fn exchange(socket: &UdpSocket, window: u32, times: Times) -> io::Result<()> {
    let mut begun = VecDeque::new();
    let mut sent = 0_u64;
    let mut buffer = [0; 2048];
    loop {
        while begun.len() < window as usize && !times.over(Instant::now()) {
            begun.push_back((sent, Instant::now()));
            socket.send(&message(sent)).await?;
            sent += 1;
        }
        if begun.is_empty() {
            return Ok(());
        }
        let Ok(count) = tokio::time::timeout(LOST, socket.recv(&mut buffer)).await else {
            lost(begun.len());
            begun.clear();
            continue;
        };
        let mut count = count?;
        // All that is there, before more is sent.
        loop {
            if !answered(&mut begun, &buffer[..count]) {
                tally::with(|tally| tally.wrong("another datagram than was sent"));
                return Ok(());
            }
            match socket.try_recv(&mut buffer) {
                Ok(more) => count = more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
    }
}

/// Counts what has come, and what was lost before it; false, if it is nothing that was sent.
fn answered(begun: &mut VecDeque<(u64, Instant)>, datagram: &[u8]) -> bool {
    let Some(number) = datagram.first_chunk().copied().map(u64::from_le_bytes) else {
        return false;
    };
    let before = begun.partition_point(|(other, _)| *other < number);
    lost(before);
    begun.drain(..before);
    // One that was given up has come after all.
    if let Some((other, from)) = begun.front().copied()
        && other == number
    {
        begun.pop_front();
        tally::with(|tally| tally.answered(1, from, Instant::now()));
    }
    datagram == message(number)
}

fn lost(datagrams: usize) {
    if datagrams > 0 {
        tally::with(|tally| tally.failed(datagrams as u64, "a datagram was lost"));
    }
}

/// Ours behind a network that loses one datagram in a hundred, either way.
pub(crate) struct Lossy;

impl Peer<Udp> for Lossy {
    async fn serve(listener: SocketAddr) -> Result<(), String> {
        let (behind, _) = <Udp as super::super::transport::Wire>::bind().map_err(words)?;
        let outside = Arc::new(UdpSocket::bind(listener).await.map_err(words)?);
        tokio::spawn(network(outside, behind));
        <Calls<Frames> as Peer<Udp>>::serve(behind).await
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        <Calls<Frames> as Peer<Udp>>::call(url, layout, start).await
    }
}

/// The same datagrams of each run are lost.
struct Luck(u64);

impl Luck {
    fn loses(&mut self) -> bool {
        // Knuth's MMIX; the high bits are the good ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33).is_multiple_of(100)
    }
}

/// A socket to the server for each client. It ends with its runtime.
async fn network(outside: Arc<UdpSocket>, server: SocketAddr) -> io::Result<()> {
    let mut sockets: HashMap<SocketAddr, Arc<UdpSocket>> = HashMap::new();
    let mut luck = Luck(1);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let (count, client) = outside.recv_from(&mut buffer).await?;
        let socket = match sockets.get(&client) {
            Some(socket) => socket,
            None => {
                let socket = Arc::new(connect(&server.to_string()).await?);
                let (back, own) = (Arc::clone(&outside), Arc::clone(&socket));
                tokio::spawn(answers(own, back, client));
                sockets.entry(client).or_insert(socket)
            }
        };
        if !luck.loses() {
            // What cannot be sent is lost too.
            let _ = socket.send(&buffer[..count]).await;
        }
    }
}

async fn answers(socket: Arc<UdpSocket>, outside: Arc<UdpSocket>, client: SocketAddr) {
    let mut luck = Luck(2);
    let mut buffer = vec![0; 64 << 10];
    loop {
        // The server may not be there yet.
        let Ok(count) = socket.recv(&mut buffer).await else {
            tokio::task::yield_now().await;
            continue;
        };
        if !luck.loses() {
            let _ = outside.send_to(&buffer[..count], client).await;
        }
    }
}
