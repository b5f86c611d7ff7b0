//! A raw echo: the server writes back what each read returns. It parses no frames and tells no calls
//! apart, so it shows what the machine and its kernel can do.

use std::collections::VecDeque;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use super::super::layout::Layout;
use super::super::tally::{self, Times};
use super::super::transport::Transport;
use super::super::trial::{Peer, words};
use super::ended;

/// The bytes of a message, as many as one of our calls: a header of 16, and a list of two integers.
const MESSAGE: usize = 16 + 1 + 2 * 5;

/// The bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// Messages of the size of our calls, with a window of them in flight.
pub(crate) struct Echo;

impl<T: Transport> Peer<T> for Echo {
    async fn serve(listener: T::Listener) -> Result<(), String> {
        loop {
            let mut stream = T::accept(&listener).await.map_err(words)?;
            tokio::spawn(async move {
                let mut buffer = vec![0; BUFFER];
                // Until the client closes.
                while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                    if stream.write_all(&buffer[..count]).await.is_err() {
                        return;
                    }
                }
            });
        }
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let mut streams = Vec::new();
        for _ in 0..layout.clients {
            streams.push(T::connect(url).await.map_err(words)?);
        }
        let times = start()?;
        let mut tasks = JoinSet::new();
        for stream in streams {
            let window = Window::new(stream, u64::from(layout.window));
            tasks.spawn(window.run(times));
        }
        ended(times, &mut tasks).await
    }
}

/// A connection with messages in flight.
struct Window<S> {
    stream: S,
    size: u64,
    sent: u64,
    received: u64,
    /// The time of each write, and its messages that have no answer yet.
    batches: VecDeque<(Instant, u64)>,
    out: Vec<u8>,
}

impl<S: AsyncReadExt + AsyncWriteExt + Unpin> Window<S> {
    const fn new(stream: S, size: u64) -> Self {
        Self {
            stream,
            size,
            sent: 0,
            received: 0,
            batches: VecDeque::new(),
            out: Vec::new(),
        }
    }

    async fn run(mut self, times: Times) {
        if let Err(error) = self.exchange(times).await {
            let lost = self.sent - self.received;
            tally::with(|tally| tally.failed(lost, error));
        }
    }

    async fn exchange(&mut self, times: Times) -> Result<(), String> {
        let mut buffer = vec![0; BUFFER];
        let mut held = 0;
        self.send(self.size, Instant::now()).await?;
        while self.received < self.sent {
            let count = self.stream.read(&mut buffer[held..]).await;
            held += match count.map_err(words)? {
                0 => return Err("the server closed the connection".to_owned()),
                count => count,
            };
            let now = Instant::now();
            let whole = held - held % MESSAGE;
            for message in buffer[..whole].chunks_exact(MESSAGE) {
                if !is_message(message, self.received) {
                    let received = self.received;
                    tally::with(|tally| tally.wrong(format!("another message than {received}")));
                    return Ok(());
                }
                self.received += 1;
            }
            buffer.copy_within(whole..held, 0);
            held -= whole;
            let messages = (whole / MESSAGE) as u64;
            self.count(messages, now);
            if messages > 0 && !times.over(now) {
                self.send(messages, now).await?;
            }
        }
        Ok(())
    }

    async fn send(&mut self, messages: u64, now: Instant) -> Result<(), String> {
        self.out.clear();
        for number in self.sent..self.sent + messages {
            self.out.extend_from_slice(&message(number));
        }
        self.sent += messages;
        self.batches.push_back((now, messages));
        self.stream.write_all(&self.out).await.map_err(words)
    }

    fn count(&mut self, mut messages: u64, now: Instant) {
        while messages > 0
            && let Some((from, left)) = self.batches.front_mut()
        {
            let ended = messages.min(*left);
            tally::with(|tally| tally.answered(ended, *from, now));
            messages -= ended;
            *left -= ended;
            if *left == 0 {
                self.batches.pop_front();
            }
        }
    }
}

/// A message: its number and padding.
pub(super) fn message(number: u64) -> [u8; MESSAGE] {
    let mut message = [0x5a; MESSAGE];
    message[..8].copy_from_slice(&number.to_le_bytes());
    message
}

fn is_message(bytes: &[u8], number: u64) -> bool {
    bytes == message(number)
}
