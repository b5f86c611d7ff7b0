//! A client over datagrams, as its task drives it.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use polywire_frame::Reason;
use polywire_frame::client::Event;
use polywire_frame_udp::Client;
use tokio::sync::oneshot;

use super::alarm::Alarm;
use super::machine::nonce;
use super::socket::{Received, Sending, Socket};
use crate::frames::machine::Machine;
use crate::frames::poll_others;
use crate::frames::state;
use crate::frames::tickets::{Ticket, wake_with};

/// What calls and the task of a connection share.
type Shared = state::Shared<Client<Ticket>>;

/// Reads after which other tasks of the thread have their turn.
const MOST_READS: usize = 16;

/// Opens a socket that sends to an address. Only a response shows that a server is there.
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

/// Drives a connection until nobody has it any more and all is answered. `greeted` is told when the
/// server has said hello, or why it never will.
pub(in crate::frames) async fn drive(
    shared: Arc<Shared>,
    socket: Socket,
    greeted: oneshot::Sender<Result<(), String>>,
) {
    let mut driver = Driver {
        shared,
        socket,
        sending: Sending::default(),
        alarm: Alarm::new(),
        greeted: Some(greeted),
        refused: None,
    };
    driver.begin();
    poll_fn(|context| driver.poll(context)).await;
}

struct Driver {
    shared: Arc<Shared>,
    socket: Socket,
    sending: Sending<()>,
    alarm: Alarm,
    /// Whom to tell that the server has said hello.
    greeted: Option<oneshot::Sender<Result<(), String>>>,
    /// Why there is nobody to be greeted.
    refused: Option<String>,
}

impl Driver {
    /// Greets the server.
    fn begin(&self) {
        let now = self.shared.clock.now();
        self.shared.lock().machine.begin(now, nonce());
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        for _ in 0..MOST_READS {
            wake_with(&mut self.shared.lock().task, context);
            let received = self.poll_receive(context);
            if let Some(why) = self.refused.take() {
                self.refuse(&why);
                return Poll::Ready(());
            }
            // What has come together is answered together.
            if received == Poll::Ready(Received::More) {
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
        // The others have their turn, and so have those who wait for this one.
        let _ = self.poll_send(context);
        self.timeout();
        poll_others(context)
    }

    /// Nobody has it any more, and all is answered. Says so to the server.
    fn is_done(&self) -> bool {
        let mut state = self.shared.lock();
        let over = state.left || state.ended.is_some();
        if over && state.machine.open() == 0 {
            state.machine.lose();
            return true;
        }
        false
    }

    /// The server does not want us, or is not there.
    fn refuse(&mut self, why: &str) {
        if let Some(greeted) = self.greeted.take() {
            let _ = greeted.send(Err(why.to_owned()));
        }
        self.shared.lock().close(why);
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Received> {
        match ready!(self.poll_hear(context)) {
            Ok(received) => Poll::Ready(received),
            Err(error) => {
                self.failed(&error);
                Poll::Ready(Received::More)
            }
        }
    }

    fn poll_hear(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Received>> {
        let Self {
            shared,
            socket,
            greeted,
            refused,
            ..
        } = self;
        let mut state = None;
        let mut woken = Vec::new();
        let server = socket.peer();
        let polled = socket.poll_receive(context, &mut |from, datagram| {
            if server.is_some_and(|server| server != from.address) {
                return;
            }
            // Once for all that have come together.
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
                        // It has started again, or has forgotten us.
                        let lost = client.begin(now, nonce());
                        state.lose(lost, &reason.to_string().into());
                    } else if state.greeted {
                        state.goes_away(now, reason, message);
                        shared.changed.notify_one();
                    } else {
                        *refused = Some(reason.to_string());
                    }
                }
                Some(event) => {
                    woken.extend(state.happens(now, &event, None));
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
            // Answers that nobody waited for have made room too.
            state.admit_waiting(now);
        }
        for waker in woken {
            waker.wake();
        }
        polled
    }

    /// A datagram could not be sent, or has come back. Unless it was the first it is as one that was
    /// lost.
    fn failed(&mut self, error: &io::Error) {
        if self.greeted.is_some() && error.kind() == io::ErrorKind::ConnectionRefused {
            self.refused = Some(error.to_string());
            return;
        }
        tracing::debug!(%error, "a datagram was not sent");
    }

    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.sending.is_empty() {
                let mut state = self.shared.lock();
                if state.machine.output().is_empty() {
                    return Poll::Ready(());
                }
                state.wake_full();
                let output = state.machine.output_mut();
                self.sending
                    .exchange(|used| std::mem::replace(output, used));
            }
            let Some(server) = self.socket.peer() else {
                return Poll::Ready(());
            };
            let mut failed = None;
            let sent = self
                .sending
                .poll(&self.socket, context, |()| server.into(), &mut |error| {
                    failed = Some(error);
                });
            if let Some(error) = failed {
                self.failed(&error);
            }
            ready!(sent);
        }
    }

    fn timeout(&self) {
        let now = self.shared.clock.now();
        self.shared.lock().timeout(now);
    }

    /// Waits for the next that is due. Ready, if something has been done.
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

    /// One that never answers, as behind a firewall that drops what comes.
    #[tokio::test(start_paused = true)]
    async fn a_blackholed_address_is_passed() {
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
