//! Large payloads that are echoed: by our methods, and by a raw copy over the same transport.

use std::sync::Arc;
use std::time::Instant;

use polywire_rpc::frames::Client;
use polywire_rpc::{Methods, Server};
use polywire_schema::Blob;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::super::layout::Layout;
use super::super::tally::{self, Outcome, Times};
use super::super::transport::{Transport, Wire};
use super::super::trial::{Peer, words};
use super::{ended, frames, tasks};

/// The bytes of a payload.
pub(crate) const LARGE: usize = 8 << 20;

/// The bytes that a raw copy reads at once.
const BUFFER: usize = 256 << 10;

/// Pseudo-random bytes: a misplaced part does not go unnoticed.
fn payload() -> Vec<u8> {
    let mut state = 1_u64;
    let words = std::iter::repeat_with(|| {
        // Knuth's MMIX generator.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()
    });
    words.take(LARGE / 8).flatten().collect()
}

/// A method of ours that returns its blob.
pub(crate) struct LargeFrames;

impl<W: Wire> Peer<W> for LargeFrames {
    async fn serve(listener: W::Listener) -> Result<(), String> {
        let methods = Methods::new().method("Echo", |(blob,): (Blob,)| async move { blob });
        let server = Server::methods(methods).frames(true).build();
        frames::serve::<W>(&server.map_err(words)?, listener).await
    }

    async fn call(
        url: &str,
        layout: Layout,
        start: impl FnOnce() -> Result<Times, String>,
    ) -> Result<(), String> {
        let mut clients = Vec::new();
        for _ in 0..layout.clients {
            clients.push(frames::connect(url).await?);
        }
        let blob = Blob::from(payload());
        let times = start()?;
        let work = |client: Client, _| {
            let blob = blob.clone();
            async move {
                let call = || async {
                    match client.call::<Blob>("Echo", (&blob,)).await {
                        Ok(answer) if answer == blob => Outcome::Right,
                        Ok(_) => Outcome::Wrong("another payload".to_owned()),
                        Err(error) => Outcome::Failed(error.to_string()),
                    }
                };
                tally::repeat(times, call).await;
            }
        };
        tasks(layout, times, clients, work).await
    }
}

/// The server writes what it reads; the client compares.
pub(crate) struct Copy;

impl<T: Transport> Peer<T> for Copy {
    async fn serve(listener: T::Listener) -> Result<(), String> {
        loop {
            let mut stream = T::accept(&listener).await.map_err(words)?;
            tokio::spawn(async move {
                let mut buffer = vec![0; BUFFER];
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
        let payload: Arc<[u8]> = payload().into();
        let times = start()?;
        let mut tasks = JoinSet::new();
        for stream in streams {
            tasks.spawn(copies(stream, Arc::clone(&payload), layout.window, times));
        }
        ended(times, &mut tasks).await
    }
}

/// Writes and reads payloads at the same time, with a window of them in flight.
async fn copies<S>(stream: S, payload: Arc<[u8]>, window: u32, times: Times)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + 'static,
{
    let (mut reader, mut writer) = tokio::io::split(stream);
    let (more, mut wanted) = mpsc::unbounded_channel();
    let content = Arc::clone(&payload);
    let writing = tokio::spawn(async move {
        while wanted.recv().await.is_some() {
            if writer.write_all(&content).await.is_err() {
                return;
            }
        }
    });
    let mut begun = std::collections::VecDeque::new();
    let want = |now| more.send(()).is_ok().then_some(now);
    begun.extend((0..window).filter_map(|_| want(Instant::now())));
    let mut buffer = vec![0; BUFFER];
    while let Some(from) = begun.pop_front() {
        let mut at = 0;
        while at < payload.len() {
            let room = BUFFER.min(payload.len() - at);
            match reader.read(&mut buffer[..room]).await {
                Ok(count @ 1..) if buffer[..count] == payload[at..at + count] => at += count,
                Ok(1..) => return tally::with(|tally| tally.wrong("another payload")),
                _ => return tally::with(|tally| tally.failed(1, "the connection has ended")),
            }
        }
        let now = Instant::now();
        tally::with(|tally| tally.answered(1, from, now));
        if !times.over(now) {
            begun.extend(want(now));
        }
    }
    drop(more);
    // Nothing is left to write.
    let _ = writing.await;
}
