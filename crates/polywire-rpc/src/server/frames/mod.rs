//! Frames: the same methods and handlers, on connections that begin with `0xf7`.
//!
//! One task has the stream and the state machine of a connection. A call whose handler is ready at its first poll is answered
//! by this task. Other handlers get a task each, which passes the result to the task of the connection. That task writes when
//! nothing is left to read, so that the replies to calls that were received together are sent together.

mod dispatcher;
mod faults;
mod flow;
mod handlers;
mod head;
mod inproc;
mod lifetime;
mod limits;
mod one_ways;
mod open_call;
mod start;
mod state;
mod stats;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod time_slice;
#[cfg(feature = "udp")]
mod udp;

use std::future::{Future, poll_fn};
use std::pin::pin;

use tokio::sync::watch;

use super::Server;
use super::accept::Stream;
use super::connection_stream::ConnectionStream;
use super::first_bytes::FirstBytes;
use crate::frames::{Clock, Session, SessionError};
use crate::peer::Peer;
use state::ConnectionState;

pub(crate) use flow::Flow;
pub use inproc::InprocName;
pub use limits::FrameLimits;
pub use stats::FrameStats;
pub(crate) use table::Table;
#[cfg(feature = "udp")]
pub use udp::UdpSocket;

/// Serves frames on a connection that began with their first byte.
pub(super) async fn connection(
    server: Server,
    stream: ConnectionStream,
    mut first: FirstBytes,
    peer: Peer,
    stopped: watch::Receiver<bool>,
) {
    let clock = Clock::new();
    let Some(work) = ConnectionState::new(server.app, peer, clock) else {
        return;
    };
    let session = session(work, stream, clock, first.take(usize::MAX));
    run_session(session, stopped).await;
}

/// Serves frames on the bytes of WebSocket messages.
#[cfg(feature = "websocket")]
pub(super) async fn over_messages(
    server: Server,
    stream: Box<crate::websocket::MessageStream<ConnectionStream>>,
    peer: Peer,
    stopped: watch::Receiver<bool>,
) {
    let clock = Clock::new();
    if let Some(work) = ConnectionState::new(server.app, peer, clock) {
        run_session(session(work, *stream, clock, b""), stopped).await;
    }
}

/// The session of a connection that began with these bytes. Boxed, to keep the tasks of idle connections small.
fn session<S: Stream>(
    work: ConnectionState,
    stream: S,
    clock: Clock,
    received: &[u8],
) -> Box<Session<S, ConnectionState>> {
    let mut session = Box::new(Session::new(work, stream, clock));
    session.begin(received);
    session
}

/// Runs a session to its end.
async fn run_session<S: Stream>(
    mut session: Box<Session<S, ConnectionState>>,
    mut stopped: watch::Receiver<bool>,
) {
    let peer = session.side().calls.context.peer.clone();
    let mut stop = pin!(async move {
        // A dropped sender means stop.
        let _ = stopped.changed().await;
    });
    let mut stopping = false;
    let ended = poll_fn(|context| {
        if !stopping && stop.as_mut().poll(context).is_ready() {
            stopping = true;
            session.side().stop();
        }
        session.poll(context)
    });
    match ended.await {
        Ok(()) => {}
        Err(SessionError::Io(error)) => tracing::debug!(?peer, %error, "a connection ended early"),
        Err(SessionError::Broken(broken)) => {
            tracing::debug!(?peer, %broken, "a connection was broken off");
        }
    }
    // Calls without a reply go on after their client has gone. The connection counts until they end, so that a client
    // cannot have more of them by connecting anew.
    let one_ways = session.side().calls.handlers.take_one_ways();
    drop(session);
    one_ways.ended().await;
}
