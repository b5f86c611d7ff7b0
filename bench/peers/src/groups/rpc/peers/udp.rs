//! A raw echo of datagrams.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Udp;
use super::super::trial::{Peer, words};
use super::echo::message;
use super::ended;

/// Datagrams of the size of our calls, without their nonces, with a window of them in flight. One
/// system call per datagram.
pub(crate) struct UdpEcho;

/// A datagram that takes longer counts as lost. None that arrives takes nearly as long.
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

/// Datagrams come back in order or not at all.
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
        // Read all that have arrived before sending more.
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

/// Counts a datagram and those lost before it. False if it is none that was sent.
fn answered(begun: &mut VecDeque<(u64, Instant)>, datagram: &[u8]) -> bool {
    let Some(number) = datagram.first_chunk().copied().map(u64::from_le_bytes) else {
        return false;
    };
    let before = begun.partition_point(|(other, _)| *other < number);
    lost(before);
    begun.drain(..before);
    // Otherwise it counted as lost already.
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
