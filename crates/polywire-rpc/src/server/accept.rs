//! Accepting connections, and stopping.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Server;
use super::gate::Door;
use super::peer::Peer;
use super::running::Running;

/// A stream of bytes that a connection can be.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// What gives connections.
pub(super) trait Listener: Send + Sync + 'static {
    type Stream: Stream;
    /// The connections that wait to be accepted once no more are waited for.
    type Waiting: Send;

    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Peer)>> + Send;

    /// Waits for no more connections.
    fn stop(self) -> Self::Waiting;

    /// The next of those that the system has connected already. The system is
    /// asked and not the runtime, which may not know of all yet.
    fn next(waiting: &Self::Waiting) -> Option<(Self::Stream, Peer)>;
}

impl Listener for TcpListener {
    type Stream = TcpStream;
    type Waiting = Option<std::net::TcpListener>;

    async fn accept(&self) -> io::Result<(TcpStream, Peer)> {
        let (stream, address) = Self::accept(self).await?;
        Ok(prepared(stream, address))
    }

    fn stop(self) -> Self::Waiting {
        self.into_std().ok()
    }

    fn next(waiting: &Self::Waiting) -> Option<(TcpStream, Peer)> {
        let (stream, address) = waiting.as_ref()?.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(prepared(TcpStream::from_std(stream).ok()?, address))
    }
}

fn prepared(stream: TcpStream, address: std::net::SocketAddr) -> (TcpStream, Peer) {
    // Small answers must not wait for more data; without the option they only
    // arrive later.
    let _ = stream.set_nodelay(true);
    (stream, Peer::from(address))
}

/// Serves the connections of a listener in the background.
///
/// Connections that are turned away are told so by `words`.
pub(super) fn serve<P, L, F, C>(
    server: &Server,
    place: P,
    listener: L,
    words: &'static [u8],
    speak: F,
) -> Running<P>
where
    L: Listener,
    F: Fn(Server, L::Stream, Peer, watch::Receiver<bool>) -> C + Send + Sync + 'static,
    C: Future<Output = ()> + Send + 'static,
{
    let (stop, stopped) = watch::channel(false);
    let task = tokio::spawn(accept(
        server.clone(),
        listener,
        Door::new(words, server.app.frames.is_some()),
        speak,
        stopped,
    ));
    Running::new(place, stop, task)
}

/// What is warned of once a second at most, however often it happens.
#[derive(Debug, Default)]
struct Warnings {
    last: Option<Instant>,
    since: u64,
}

impl Warnings {
    /// How often it has happened since the last warning, if it is time for one.
    fn due(&mut self, now: Instant) -> Option<u64> {
        let soon = |last: Instant| now.duration_since(last) < Duration::from_secs(1);
        if self.last.is_some_and(soon) {
            self.since += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.since))
    }
}

/// Accepts connections until told to stop, then waits for them to end.
async fn accept<L, F, C>(
    server: Server,
    listener: L,
    door: Door,
    speak: F,
    mut stopped: watch::Receiver<bool>,
) where
    L: Listener,
    F: Fn(Server, L::Stream, Peer, watch::Receiver<bool>) -> C + Send + Sync + 'static,
    C: Future<Output = ()> + Send + 'static,
{
    // Of all listeners of the server, on whatever thread.
    let places = &server.app.connections;
    let mut connections = JoinSet::new();
    let mut warnings = Warnings::default();
    // Has not seen the word to stop, nor have its clones, whenever it comes.
    let unseen = stopped.clone();
    let serve = |connections: &mut JoinSet<()>, stream, peer, place: OwnedSemaphorePermit| {
        let connected = match server.app.connect(&peer) {
            Ok(connected) => connected,
            Err(refused) => return door.refuse(stream, &peer, refused),
        };
        let connection = speak(server.clone(), stream, peer, unseen.clone());
        connections.spawn(async move {
            connection.await;
            drop((connected, place));
        });
    };
    // One that has no place yet. No place is kept for one that has not come: other
    // listeners may need it.
    let mut next = None;
    loop {
        let accepted = tokio::select! {
            accepted = next_connection(&listener, &mut connections) => accepted,
            _ = stopped.changed() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let place = tokio::select! {
                    biased;
                    place = Arc::clone(places).acquire_owned() => place,
                    _ = stopped.changed() => {
                        next = Some((stream, peer));
                        break;
                    }
                };
                // Never closed.
                let Ok(place) = place else { break };
                serve(&mut connections, stream, peer, place);
            }
            Err(error) => {
                // Out of descriptors, or a connection that was gone again:
                // neither is a reason to stop, the first one to pause.
                if let Some(before) = warnings.due(Instant::now()) {
                    tracing::warn!(%error, before, "a connection could not be accepted");
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
    // Those that the system has connected to us have sent their requests, or
    // are about to: as far as there are places for them, they are answered.
    let waiting = listener.stop();
    while let Ok(place) = Arc::clone(places).try_acquire_owned()
        && let Some((stream, peer)) = next.take().or_else(|| L::next(&waiting))
    {
        serve(&mut connections, stream, peer, place);
    }
    drop(waiting);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(server.app.timeouts.shutdown, ended)
        .await
        .is_err()
    {
        tracing::warn!("connections were still open at the end of the time to stop");
    }
}

/// Waits for a connection. Meanwhile what the tasks of connections that have ended take is freed: a server that had
/// many connections may wait long for the next.
async fn next_connection<L: Listener>(
    listener: &L,
    connections: &mut JoinSet<()>,
) -> io::Result<(L::Stream, Peer)> {
    loop {
        while connections.try_join_next().is_some() {}
        tokio::select! {
            accepted = listener.accept() => return accepted,
            Some(_) = connections.join_next() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_that_have_ended_are_freed_while_none_comes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut connections = JoinSet::new();
        let (end, mut ended) = watch::channel(());
        for _ in 0..100 {
            let mut ended = end.subscribe();
            connections.spawn(async move {
                let _ = ended.changed().await;
            });
        }
        let next = async {
            let next = next_connection(&listener, &mut connections).await;
            next.is_ok()
        };
        let ending = async {
            tokio::task::yield_now().await;
            end.send(()).unwrap();
            let _ = ended.changed().await;
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = next => panic!("there was no connection"),
            () = ending => {}
        }
        assert_eq!(connections.len(), 0);
    }

    #[test]
    fn warnings_once_a_second() {
        let start = Instant::now();
        let mut warnings = Warnings::default();
        let mut said = Vec::new();
        // Every 10 ms for 2.5 seconds.
        for count in 0..250 {
            let now = start + Duration::from_millis(10 * count);
            said.extend(warnings.due(now));
        }
        assert_eq!(said, [0, 99, 99]);
    }
}
