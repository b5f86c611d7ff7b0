//! The task of a client over datagrams.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use polywire_frame::Reason;
use polywire_frame::client::Event;
use polywire_frame_udp::Client;
use tokio::sync::oneshot;

use super::machine::nonce;
use super::socket::{ReadStatus, SendQueue, Socket};
use crate::frames::alarm::Alarm;
use crate::frames::machine::Machine;
use crate::frames::poll_others;
use crate::frames::state;
use crate::frames::tickets::{Ticket, wake_with};

/// The state that calls share with this task.
type Shared = state::Shared<Client<Ticket>>;

/// Let other tasks run after this many reads.
const MAX_READS: usize = 16;

/// Opens a socket that is connected to an address. Only a response shows whether a server listens there.
pub(in crate::frames) fn connect(address: SocketAddr) -> io::Result<Socket> {
    let own: SocketAddr = match address {
        SocketAddr::V4(_) => ([0, 0, 0, 0], 0).into(),
        SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let socket = std::net::UdpSocket::bind(own)?;
    socket.set_nonblocking(true)?;
    socket.connect(address)?;
    Socket::new(socket)
}

/// Drives a connection until the client is dropped and all calls are answered. Sends the result of the handshake to
/// `greeted`.
pub(in crate::frames) async fn drive(
    shared: Arc<Shared>,
    socket: Socket,
    greeted: oneshot::Sender<Result<(), String>>,
) {
    let mut driver = Driver {
        shared,
        socket,
        send_queue: SendQueue::default(),
        alarm: Alarm::new(),
        greeted: Some(greeted),
        rejection: None,
    };
    driver.begin();
    poll_fn(|context| driver.poll(context)).await;
}

struct Driver {
    shared: Arc<Shared>,
    socket: Socket,
    send_queue: SendQueue<()>,
    alarm: Alarm,
    /// Receives the result of the handshake. None after it.
    greeted: Option<oneshot::Sender<Result<(), String>>>,
    /// Why the handshake has failed.
    rejection: Option<String>,
}

impl Driver {
    /// Starts the handshake.
    fn begin(&self) {
        let now = self.shared.clock.now();
        self.shared.lock().machine.begin(now, nonce());
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        for _ in 0..MAX_READS {
            wake_with(&mut self.shared.lock().task, context);
            let received = self.poll_receive(context);
            if let Some(cause) = self.rejection.take() {
                self.reject(&cause);
                return Poll::Ready(());
            }
            // Answer together what was received together.
            if received == Poll::Ready(ReadStatus::More) {
                continue;
            }
            let _ = self.poll_send(context);
            if self.is_done() {
                ready!(self.poll_send(context));
                return Poll::Ready(());
            }
            if received.is_pending() {
                ready!(self.poll_time(context));
            }
        }
        // Let other tasks run. Send first, because they may wait for the output.
        let _ = self.poll_send(context);
        self.timeout();
        poll_others(context)
    }

    /// Whether the client was dropped, or the connection has ended, and all calls are answered. Then tells the server.
    fn is_done(&self) -> bool {
        let mut state = self.shared.lock();
        let over = state.is_released || state.ended.is_some();
        if over && state.machine.open() == 0 {
            state.machine.lose();
            return true;
        }
        false
    }

    /// Ends the connection, because the handshake has failed.
    fn reject(&mut self, cause: &str) {
        if let Some(greeted) = self.greeted.take() {
            let _ = greeted.send(Err(cause.to_owned()));
        }
        self.shared.lock().close(cause);
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<ReadStatus> {
        match ready!(self.poll_datagrams(context)) {
            Ok(received) => Poll::Ready(received),
            Err(error) => {
                self.handle_error(&error);
                Poll::Ready(ReadStatus::More)
            }
        }
    }

    fn poll_datagrams(&mut self, context: &mut Context<'_>) -> Poll<io::Result<ReadStatus>> {
        let Self {
            shared,
            socket,
            greeted,
            rejection,
            ..
        } = self;
        let mut state = None;
        let mut woken = Vec::new();
        let server = socket.peer();
        let polled = socket.poll_receive(context, &mut |from, datagram| {
            if server.is_some_and(|server| server != from.address) {
                return;
            }
            // One lock for all datagrams of a read.
            let state = state.get_or_insert_with(|| (shared.lock(), shared.clock.now()));
            let (state, now) = (&mut state.0, state.1);
            let state = &mut **state;
            let client = &mut state.machine;
            match client.receive(now, datagram) {
                None => {}
                Some(Event::GoAway {
                    reason, message, ..
                }) => {
                    if reason == Reason::TOKEN {
                        // The server was restarted, or has forgotten this client.
                        let lost = client.begin(now, nonce());
                        state.lose_calls(lost, &reason.to_string().into());
                    } else if state.greeted {
                        state.handle_go_away(now, reason, message);
                        shared.changed.notify_one();
                    } else {
                        *rejection = Some(reason.to_string());
                    }
                }
                Some(event) => {
                    woken.extend(state.handle_event(now, &event, None));
                    if matches!(event, Event::Hello(_)) {
                        shared.changed.notify_one();
                        if let Some(greeted) = greeted.take() {
                            let _ = greeted.send(Ok(()));
                        }
                    }
                }
            }
        });
        if let Some((mut state, now)) = state.take() {
            // Replies to cancelled calls have freed capacity.
            state.begin_queued(now);
        }
        for waker in woken {
            waker.wake();
        }
        polled
    }

    /// Handles a socket error. During the handshake it can mean that no server listens. Later it counts as a lost
    /// datagram.
    fn handle_error(&mut self, error: &io::Error) {
        if self.greeted.is_some() && error.kind() == io::ErrorKind::ConnectionRefused {
            self.rejection = Some(error.to_string());
            return;
        }
        tracing::debug!(%error, "a datagram was not sent");
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.send_queue.is_empty() {
                let mut state = self.shared.lock();
                if state.machine.output().is_empty() {
                    return Poll::Ready(());
                }
                state.wake_output_waiters();
                let output = state.machine.output_mut();
                self.send_queue
                    .exchange(|used| std::mem::replace(output, used));
            }
            let Some(server) = self.socket.peer() else {
                return Poll::Ready(());
            };
            let mut failed = None;
            let sent =
                self.send_queue
                    .poll(&self.socket, context, |()| server.into(), &mut |error| {
                        failed = Some(error);
                    });
            if let Some(error) = failed {
                self.handle_error(&error);
            }
            ready!(sent);
        }
    }

    fn timeout(&self) {
        let now = self.shared.clock.now();
        self.shared.lock().timeout(now);
    }

    /// Waits for the next timeout. Ready if one was handled.
    fn poll_time(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let clock = self.shared.clock;
        let next = self.shared.lock().next_timeout();
        if next <= clock.now() {
            self.timeout();
            return Poll::Ready(());
        }
        self.alarm.poll(clock, next, context)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The first address never answers, as behind a firewall that drops packets.
    #[tokio::test(start_paused = true)]
    async fn an_address_that_never_answers_is_skipped() {
        let addresses: Vec<SocketAddr> = [1, 2].map(|port| ([127, 0, 0, 1], port).into()).into();
        let connected = crate::connect::race(addresses.clone(), |address| async move {
            match connect(address)?.peer() {
                Some(peer) if peer.port() == 1 => std::future::pending().await,
                peer => Ok::<_, io::Error>(peer),
            }
        });
        let connected = tokio::time::timeout(Duration::from_secs(5), connected).await;
        assert_eq!(connected.unwrap().unwrap(), Some(addresses[1]));
    }
}
