//! Frames: the same methods and handlers, on connections that begin with `0xf7`.
//!
//! A connection is one task, which owns its stream and its state machine. A call whose handler has
//! its answer at once, as most small ones do, is answered there and then, without a task, a lock or
//! a system call of its own; others get a task each, and hand their answers over. What is to be
//! written is written when there is nothing left to read, so that the answers to a hundred calls
//! that came together go out together.

mod calls;
mod completion;
mod faults;
mod flow;
mod handlers;
mod head;
mod inproc;
mod lifetime;
mod limits;
mod one_ways;
mod open_call;
mod pipe;
mod start;
mod state;
mod stats;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod time_slice;
mod topic_call;
#[cfg(feature = "udp")]
mod udp;

use std::future::{Future, poll_fn};
use std::pin::pin;

use tokio::sync::watch;

use super::Server;
use super::accept::Stream;
use super::begin::Begin;
use super::byte_stream::ByteStream;
use super::peer::Peer;
use crate::frames::{Clock, Ended, Session};
use state::ConnectionState;

pub(crate) use flow::Flow;
pub use inproc::InprocName;
pub use limits::FrameLimits;
pub(crate) use pipe::{Pipe, SendError};
pub use stats::FrameStats;
pub(crate) use table::Table;
#[cfg(feature = "udp")]
pub use udp::UdpSocket;

/// Speaks frames on a connection that has begun with their first byte.
pub(super) async fn connection(
    server: Server,
    stream: ByteStream,
    mut begin: Begin,
    peer: Peer,
    stopped: watch::Receiver<bool>,
) {
    let clock = Clock::new();
    let Some(work) = ConnectionState::new(server.app, peer, clock) else {
        return;
    };
    let session = session(work, stream, clock, begin.give(usize::MAX));
    speak(session, stopped).await;
}

/// Speaks frames on the bytes of WebSocket messages.
#[cfg(feature = "websocket")]
pub(super) async fn over_messages(
    server: Server,
    stream: Box<crate::websocket::MessageStream<ByteStream>>,
    peer: Peer,
    stopped: watch::Receiver<bool>,
) {
    let clock = Clock::new();
    if let Some(work) = ConnectionState::new(server.app, peer, clock) {
        speak(session(work, *stream, clock, b""), stopped).await;
    }
}

/// A connection that has begun so.
///
/// Many connections do nothing, and the task of each has room for all that it may be.
fn session<S: Stream>(
    work: ConnectionState,
    stream: S,
    clock: Clock,
    said: &[u8],
) -> Box<Session<S, ConnectionState>> {
    let mut session = Box::new(Session::new(work, stream, clock));
    session.begin(said);
    session
}

/// Speaks frames.
async fn speak<S: Stream>(
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
        Err(Ended::Io(error)) => tracing::debug!(?peer, %error, "a connection ended early"),
        Err(Ended::Broken(broken)) => {
            tracing::debug!(?peer, %broken, "a connection was broken off");
        }
    }
    // Calls without a reply go on after their client has gone. The connection counts until they end, so that a client
    // cannot have more of them by connecting anew.
    let one_ways = session.side().calls.handlers.take_one_ways();
    drop(session);
    one_ways.ended().await;
}
