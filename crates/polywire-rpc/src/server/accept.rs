//! The accept loop of a listener, and how it stops.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Server;
#[cfg(feature = "tls")]
use super::connection::stop_and_wait;
use super::connection_stream::ConnectionStream;
use super::gate::ConnectionRejecter;
use super::listener::AnyListener;
use super::running::RunningServer;
use crate::peer::Peer;

/// The byte stream of a connection.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Stream for S {}

/// Serves the connections of a listener in the background. Rejected connections receive `words`.
pub(super) fn serve<F, C>(
    server: &Server,
    listener: Box<dyn AnyListener>,
    words: &'static [u8],
    serve_connection: F,
) -> RunningServer<()>
where
    F: Fn(Server, ConnectionStream, Peer, watch::Receiver<bool>) -> C
        + Copy
        + Send
        + Sync
        + 'static,
    C: Future<Output = ()> + Send + 'static,
{
    let (stop, stopped) = watch::channel(false);
    let rejecter = ConnectionRejecter::new(words, server.app.frames.is_some());
    let task = tokio::spawn(accept(
        server.clone(),
        listener,
        rejecter,
        serve_connection,
        stopped,
    ));
    RunningServer::new((), stop, task)
}

/// Limits a warning to one per second.
#[derive(Debug, Default)]
struct Warnings {
    last: Option<Instant>,
    /// Events since the last warning.
    suppressed: u64,
}

impl Warnings {
    /// Counts an event. If a warning is due, returns the number of events since the last one.
    fn due(&mut self, now: Instant) -> Option<u64> {
        let soon = |last: Instant| now.duration_since(last) < Duration::from_secs(1);
        if self.last.is_some_and(soon) {
            self.suppressed += 1;
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.suppressed))
    }
}

/// Accepts connections until told to stop, then waits for them to end, for at most `Timeouts::shutdown`. Dropping the set
/// aborts the rest.
async fn accept<F, C>(
    server: Server,
    mut listener: Box<dyn AnyListener>,
    rejecter: ConnectionRejecter,
    serve_connection: F,
    mut stopped: watch::Receiver<bool>,
) where
    F: Fn(Server, ConnectionStream, Peer, watch::Receiver<bool>) -> C
        + Copy
        + Send
        + Sync
        + 'static,
    C: Future<Output = ()> + Send + 'static,
{
    // Shared by all listeners of the server, on all threads.
    let permits = &server.app.connections;
    let mut connections = JoinSet::new();
    let mut warnings = Warnings::default();
    // Never marked as seen, so that each clone is notified of the stop.
    let unseen = stopped.clone();
    let serve = |connections: &mut JoinSet<()>,
                 stream: ConnectionStream,
                 peer: Peer,
                 permit: OwnedSemaphorePermit| {
        let counted = match server.app.connect(&peer) {
            Ok(counted) => counted,
            Err(refused) => return rejecter.reject(stream, &peer, refused),
        };
        let (server, stopped) = (server.clone(), unseen.clone());
        connections.spawn(async move {
            // Created here: a future that is captured takes its space twice.
            if let Some((stream, peer)) = establish(stream, peer, &stopped).await {
                serve_connection(server, stream, peer, stopped).await;
            }
            drop((counted, permit));
        });
    };
    // A connection without a permit. A permit is acquired after the connection: before, it would be
    // missing at other listeners.
    let mut next = None;
    loop {
        let accepted = tokio::select! {
            accepted = next_connection(&mut *listener, &mut connections) => accepted,
            _ = stopped.changed() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let permit = tokio::select! {
                    biased;
                    permit = Arc::clone(permits).acquire_owned() => permit,
                    _ = stopped.changed() => {
                        next = Some((stream, peer));
                        break;
                    }
                };
                // The semaphore is never closed.
                let Ok(permit) = permit else { break };
                serve(&mut connections, stream, peer, permit);
            }
            Err(error) => {
                // The process has no descriptors left, or the client has disconnected. The pause is for
                // the former.
                if let Some(before) = warnings.due(Instant::now()) {
                    tracing::warn!(%error, before, "a connection could not be accepted");
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
    // The clients of established connections may have sent requests. They are served as long as
    // there are permits.
    while let Ok(permit) = Arc::clone(permits).try_acquire_owned()
        && let Some((stream, peer)) = next.take().or_else(|| listener.try_accept_any())
    {
        serve(&mut connections, stream, peer, permit);
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(server.app.timeouts.shutdown, ended)
        .await
        .is_err()
    {
        tracing::warn!("connections were still open at the end of the time to stop");
    }
}

/// Completes the handshake of an encrypted connection. `None` if it fails, or the server stops.
async fn establish(
    stream: ConnectionStream,
    peer: Peer,
    stopped: &watch::Receiver<bool>,
) -> Option<(ConnectionStream, Peer)> {
    #[cfg(not(feature = "tls"))]
    let _ = stopped;
    match stream {
        #[cfg(feature = "tls")]
        ConnectionStream::Tls(mut stream) => {
            let session = tokio::select! {
                biased;
                session = stream.handshake() => session,
                () = stop_and_wait(stopped.clone()) => return None,
            };
            match session {
                Ok(session) => Some((ConnectionStream::Tls(stream), peer.with_tls(session))),
                Err(error) => {
                    tracing::debug!(?peer, %error, "a TLS handshake failed");
                    None
                }
            }
        }
        stream => Some((stream, peer)),
    }
}

/// Waits for a connection. Meanwhile frees the tasks of connections that have ended: a server that had many connections
/// may wait long for the next one.
async fn next_connection(
    listener: &mut dyn AnyListener,
    connections: &mut JoinSet<()>,
) -> io::Result<(ConnectionStream, Peer)> {
    loop {
        while connections.try_join_next().is_some() {}
        tokio::select! {
            accepted = listener.accept_any() => return accepted,
            Some(_) = connections.join_next() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn ended_connections_are_freed_without_new_ones() {
        let mut listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut connections = JoinSet::new();
        let (end, mut ended) = watch::channel(());
        for _ in 0..100 {
            let mut ended = end.subscribe();
            connections.spawn(async move {
                let _ = ended.changed().await;
            });
        }
        let next = async {
            let next = next_connection(&mut listener, &mut connections).await;
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
        let mut counts = Vec::new();
        // A warning every 10 ms for 2.5 s.
        for count in 0..250 {
            let now = start + Duration::from_millis(10 * count);
            counts.extend(warnings.due(now));
        }
        assert_eq!(counts, [0, 99, 99]);
    }
}
