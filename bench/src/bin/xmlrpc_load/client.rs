//! Clients on sockets: no library of HTTP between them and the clock.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

use crate::calls::Prepared;
use crate::report::processor_of_thread;

/// What clients have done.
#[derive(Default)]
pub(crate) struct Ended {
    /// How long each call took, from before its first byte was written to its last
    /// byte read.
    pub(crate) latencies: Vec<Duration>,
    /// What they took of a processor.
    pub(crate) processor: Duration,
}

/// Runs clients on a thread of their own, with so many calls each, to their end.
pub(crate) fn run(address: SocketAddr, prepared: &Prepared, shares: &[usize]) -> io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut latencies = Vec::with_capacity(shares.iter().sum());
    LocalSet::new().block_on(&runtime, async {
        let clients: Vec<_> = shares
            .iter()
            .map(|share| {
                let (request, answer) = (prepared.request.clone(), prepared.answer.clone());
                tokio::task::spawn_local(client(address, request, answer, *share))
            })
            .collect();
        for client in clients {
            latencies.extend(client.await.map_err(io::Error::other)??);
        }
        io::Result::Ok(())
    })?;
    Ok(Ended {
        latencies,
        processor: processor_of_thread()?,
    })
}

async fn client(
    address: SocketAddr,
    request: Vec<u8>,
    answer: Vec<u8>,
    calls: usize,
) -> io::Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    // Larger than any answer, so that one read takes it all.
    let mut buffer = vec![0; answer.len() + 4096];
    let mut latencies = Vec::with_capacity(calls);
    for _ in 0..calls {
        let start = Instant::now();
        stream.write_all(&request).await?;
        let len = read(&mut stream, &mut buffer).await?;
        latencies.push(start.elapsed());
        check(&buffer[..len], &answer)?;
    }
    Ok(latencies)
}

/// Reads one answer: how many bytes head and body are.
async fn read(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    let (mut len, mut whole) = (0, None);
    loop {
        let room = buffer.get_mut(len..).unwrap_or_default();
        let count = stream.read(room).await?;
        if count == 0 {
            return Err(wrong("ended too early, or is too long", &buffer[..len]));
        }
        len += count;
        if whole.is_none() {
            whole = length(&buffer[..len])?;
        }
        match whole {
            Some(whole) if len == whole => return Ok(len),
            Some(whole) if len > whole => {
                return Err(wrong("is longer than it says", &buffer[..len]));
            }
            _ => {}
        }
    }
}

/// The length of an answer, once its head is there.
fn length(bytes: &[u8]) -> io::Result<Option<usize>> {
    let Some(head) = head(bytes) else {
        return Ok(None);
    };
    let mut lines = bytes[..head].split(|byte| *byte == b'\n');
    let body = lines.find_map(|line| {
        let (name, value) = line.split_at_checked(b"content-length:".len())?;
        name.eq_ignore_ascii_case(b"content-length:")
            .then_some(())?;
        std::str::from_utf8(value)
            .ok()?
            .trim()
            .parse::<usize>()
            .ok()
    });
    match body {
        Some(body) => Ok(Some(head + body)),
        None => Err(wrong("has no content-length", bytes)),
    }
}

/// How long the head is, if it is whole.
fn head(bytes: &[u8]) -> Option<usize> {
    const END: &[u8] = b"\r\n\r\n";
    let end = memchr::memmem::find(bytes, END)?;
    Some(end + END.len())
}

fn check(bytes: &[u8], answer: &[u8]) -> io::Result<()> {
    let body = head(bytes).and_then(|head| bytes.get(head..));
    if bytes.starts_with(b"HTTP/1.1 200 ") && body == Some(answer) {
        return Ok(());
    }
    Err(wrong("is not the one that was expected", bytes))
}

#[cold]
fn wrong(what: &str, bytes: &[u8]) -> io::Error {
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    io::Error::other(format!("an answer {what}: {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_measured_and_checked() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        assert_eq!(length(&answer[..30]).unwrap(), None);
        assert_eq!(length(answer).unwrap(), Some(answer.len()));
        assert!(length(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(check(answer, b"ok").is_ok());
        assert!(check(answer, b"no").is_err());
        let fault = b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nok";
        assert!(check(fault, b"ok").is_err());
    }
}
