//! One connection of a client.

use std::future::{Future, poll_fn};
#[cfg(feature = "udp")]
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use polywire_frame::Settings;
use polywire_frame::client::Connection;
use polywire_frame::flow::AdaptiveLimit;
use tokio::io::{AsyncRead, AsyncWrite};
#[cfg(feature = "udp")]
use tokio::sync::oneshot;

use super::Clock;
use super::driven::Driven;
use super::machine::Machine;
use super::payload::Payload;
use super::request::{CallRequest, Stage};
use super::room::Room;
use super::session::{Ended, Session};
use super::state::{Farewell, Shared};
use super::streams::Open;
use super::tickets::Ticket;
#[cfg(feature = "udp")]
use super::udp::{self, Socket};
use crate::error::CallError;
use crate::error::Cause;

/// A connection, driven by a task of its own. When this is dropped no more calls are made; the
/// connection ends once all is answered.
#[derive(Debug)]
pub(super) struct Link {
    way: Way,
}

/// What it goes over. Calls with streams have it too, as long as they are open.
#[derive(Debug)]
enum Way {
    #[cfg(feature = "udp")]
    Datagrams(Arc<Leaving<polywire_frame_udp::Client<Ticket>>>),
    Stream(Arc<Leaving>),
}

/// Ends the connection when nobody has it any more.
#[derive(Debug)]
pub(super) struct Leaving<M: Machine = Connection<Ticket>>(pub(super) Arc<Shared<M>>);

impl<M: Machine> Drop for Leaving<M> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What a connection is made with.
#[derive(Clone, Debug)]
pub(super) struct LinkOptions {
    /// What this side takes.
    pub(super) settings: Settings,
    /// The limit of datagrams in bytes.
    #[cfg(feature = "udp")]
    pub(super) datagram: usize,
    /// From how many bytes on payloads are compressed.
    pub(super) compress: Option<usize>,
    /// How many calls are in flight.
    pub(super) limit: AdaptiveLimit,
    /// Where calls wait for room.
    pub(super) room: Arc<Room>,
    /// What calls are timed by.
    pub(super) clock: Clock,
    /// Where chance begins.
    pub(super) seed: u64,
}

/// Writes the input of a call; again, if the call is made again.
pub(super) type Write<'a> = dyn FnMut(&mut Vec<u8>) -> Result<(), CallError> + Send + 'a;

impl Link {
    /// Speaks frames on a stream that is connected already, within tokio's runtime.
    pub(super) fn over<S>(stream: S, options: LinkOptions) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut machine = Connection::new(options.settings);
        if let Some(least) = options.compress {
            machine = machine.with_compression(least);
        }
        let shared = Arc::new(Shared::new(machine, options));
        let own = Arc::clone(&shared);
        tokio::spawn(async move {
            let clock = own.clock;
            // However this ends, no call is left waiting.
            let _closing = Closing(Arc::clone(&own));
            let mut session = Box::new(Session::new(Driven::new(Arc::clone(&own)), stream, clock));
            let ended = poll_fn(|context| session.poll(context)).await;
            own.lock().close(match ended {
                Ok(()) => "the server closed the connection".into(),
                Err(Ended::Io(error)) => Cause::of(error),
                Err(Ended::Broken(broken)) => Cause::of(broken),
            });
        });
        Self {
            way: Way::Stream(Arc::new(Leaving(shared))),
        }
    }

    /// Speaks frames over a socket of UDP that is connected already, within tokio's runtime, once the
    /// server has said hello.
    ///
    /// # Errors
    ///
    /// The server turns clients away, or nobody listens there.
    #[cfg(feature = "udp")]
    pub(super) async fn over_datagrams(socket: Socket, options: LinkOptions) -> io::Result<Self> {
        let machine =
            polywire_frame_udp::Client::new(options.settings).with_datagram(options.datagram);
        let shared = Arc::new(Shared::new(machine, options));
        let own = Arc::clone(&shared);
        let (greeted, hello) = oneshot::channel();
        tokio::spawn(async move {
            // However this ends, no call is left waiting.
            let _closing = Closing(Arc::clone(&own));
            udp::drive(own, socket, greeted).await;
        });
        // It ends with its task, if this is given up.
        let link = Self {
            way: Way::Datagrams(Arc::new(Leaving(shared))),
        };
        match hello.await {
            Ok(Ok(())) => Ok(link),
            Ok(Err(why)) => Err(io::Error::new(io::ErrorKind::ConnectionRefused, why)),
            Err(_) => Err(io::Error::other("the task of the connection has ended")),
        }
    }

    /// Makes a call. `read` is given the payload of the reply.
    pub(super) fn ask<'a, R, F>(
        &'a self,
        asked: &'a CallRequest<'a>,
        write: &'a mut Write<'a>,
        read: F,
    ) -> impl Future<Output = Result<R, CallError>> + Send + 'a
    where
        F: FnOnce(Payload<'_>) -> Result<R, CallError> + Copy + Send + 'a,
        R: 'a,
    {
        let mut calling = CallGuard {
            way: &self.way,
            stage: Stage::New,
        };
        poll_fn(move |context| {
            // As a whole, so that it is given up when this future is.
            let CallGuard { way, stage } = &mut calling;
            match way {
                #[cfg(feature = "udp")]
                Way::Datagrams(link) => link.0.poll_call(stage, asked, write, read, context),
                Way::Stream(link) => link.0.poll_call(stage, asked, write, read, context),
            }
        })
    }

    /// Opens a call with streams, or a subscription.
    pub(super) async fn open(
        &self,
        asked: &CallRequest<'_>,
        payload: &[u8],
    ) -> Result<Open, CallError> {
        let link = match &self.way {
            Way::Stream(link) => link,
            #[cfg(feature = "udp")]
            Way::Datagrams(_) => {
                let message = "there are no streams and topics over UDP";
                return Err(CallError::encode_text(message));
            }
        };
        let mut calling = CallGuard {
            way: &self.way,
            stage: Stage::New,
        };
        let ticket = poll_fn(|context| {
            let stage = &mut calling.stage;
            link.0.poll_open(stage, asked, payload, context)
        });
        Ok(Open {
            ticket: ticket.await?,
            link: Arc::clone(link),
        })
    }

    /// Makes a call that nobody answers.
    pub(super) async fn notify(
        &self,
        asked: &CallRequest<'_>,
        payload: &[u8],
    ) -> Result<(), CallError> {
        let poll = |context: &mut Context<'_>| -> Poll<_> {
            match &self.way {
                #[cfg(feature = "udp")]
                Way::Datagrams(link) => link.0.poll_notify(asked, payload, context),
                Way::Stream(link) => link.0.poll_notify(asked, payload, context),
            }
        };
        poll_fn(poll).await
    }

    /// Calls that are open, and how many may be.
    pub(super) fn figures(&self) -> (usize, u32) {
        match &self.way {
            #[cfg(feature = "udp")]
            Way::Datagrams(link) => link.0.lock().figures(),
            Way::Stream(link) => link.0.lock().figures(),
        }
    }

    /// Waits until the server has said hello. One task waits at a time.
    ///
    /// # Errors
    ///
    /// The connection has ended before: why.
    pub(super) async fn greeted(&self) -> Result<(), Cause> {
        match &self.way {
            #[cfg(feature = "udp")]
            Way::Datagrams(link) => link.0.greeted().await,
            Way::Stream(link) => link.0.greeted().await,
        }
    }

    /// Why no call can be made any more, if so.
    pub(super) fn farewell(&self) -> Option<Farewell> {
        match &self.way {
            #[cfg(feature = "udp")]
            Way::Datagrams(link) => link.0.lock().farewell(),
            Way::Stream(link) => link.0.lock().farewell(),
        }
    }

    /// Waits until no call can be made any more. One task waits at a time.
    pub(super) async fn ended(&self) -> Farewell {
        match &self.way {
            #[cfg(feature = "udp")]
            Way::Datagrams(link) => link.0.ended().await,
            Way::Stream(link) => link.0.ended().await,
        }
    }
}

/// Ends all calls with the task of the connection.
struct Closing<M: Machine>(Arc<Shared<M>>);

impl<M: Machine> Drop for Closing<M> {
    fn drop(&mut self) {
        self.0.lock().close("the task of the connection has ended");
        self.0.changed.notify_one();
    }
}

/// Cancels the call when dropped.
struct CallGuard<'a> {
    way: &'a Way,
    stage: Stage,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        match self.way {
            #[cfg(feature = "udp")]
            Way::Datagrams(link) => link.0.give_up(&self.stage),
            Way::Stream(link) => link.0.give_up(&self.stage),
        }
    }
}
