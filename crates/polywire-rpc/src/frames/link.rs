//! A connection of a client.

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
use super::client_side::ClientSide;
use super::machine::Machine;
use super::payload::Payload;
use super::quota::QueueQuota;
use super::request::{CallRequest, CallStage};
use super::session::{Session, SessionError};
use super::state::{LinkEnd, Shared};
use super::streams::CallHandle;
use super::tickets::Ticket;
#[cfg(feature = "udp")]
use super::udp::{self, Socket};
use crate::error::CallError;
use crate::error::Cause;

/// A connection, driven by a task of its own. After this is dropped, the connection ends when all calls are answered.
#[derive(Debug)]
pub(super) struct Link {
    kind: LinkKind,
}

/// A shared reference to the connection. Open calls with streams have one too.
#[derive(Debug)]
enum LinkKind {
    #[cfg(feature = "udp")]
    Datagrams(Arc<LinkHandle<polywire_frame_udp::Client<Ticket>>>),
    Stream(Arc<LinkHandle>),
}

/// Ends the connection when the last reference is dropped.
#[derive(Debug)]
pub(super) struct LinkHandle<M: Machine = Connection<Ticket>>(pub(super) Arc<Shared<M>>);

impl<M: Machine> Drop for LinkHandle<M> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// The options of a connection.
#[derive(Clone, Debug)]
pub(super) struct LinkOptions {
    /// The settings that are sent to the server.
    pub(super) settings: Settings,
    /// The limit of datagrams in bytes.
    #[cfg(feature = "udp")]
    pub(super) datagram: usize,
    /// Payloads of at least this many bytes are compressed.
    pub(super) compress: Option<usize>,
    /// The limit of calls in flight.
    pub(super) limit: AdaptiveLimit,
    /// The limit of queued calls.
    pub(super) quota: Arc<QueueQuota>,
    /// The clock of the client.
    pub(super) clock: Clock,
    /// The seed of the random numbers.
    pub(super) seed: u64,
}

/// Writes the input of a call. Called once for each attempt.
pub(super) type Write<'a> = dyn FnMut(&mut Vec<u8>) -> Result<(), CallError> + Send + 'a;

impl Link {
    /// Creates a connection over a connected stream, and spawns its task on the runtime of tokio.
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
            // Ends all calls, even if the task panics or is aborted.
            let _guard = CloseGuard(Arc::clone(&own));
            let mut session = Box::new(Session::new(
                ClientSide::new(Arc::clone(&own)),
                stream,
                clock,
            ));
            let ended = poll_fn(|context| session.poll(context)).await;
            own.lock().close(match ended {
                Ok(()) => "the server closed the connection".into(),
                Err(SessionError::Io(error)) => Cause::of(error),
                Err(SessionError::Broken(broken)) => Cause::of(broken),
            });
        });
        Self {
            kind: LinkKind::Stream(Arc::new(LinkHandle(shared))),
        }
    }

    /// Creates a connection over a connected UDP socket, spawns its task on the runtime of tokio, and waits for the HELLO
    /// of the server.
    ///
    /// # Errors
    ///
    /// The server rejects the client, or does not listen.
    #[cfg(feature = "udp")]
    pub(super) async fn over_datagrams(socket: Socket, options: LinkOptions) -> io::Result<Self> {
        let machine =
            polywire_frame_udp::Client::new(options.settings).with_datagram(options.datagram);
        let shared = Arc::new(Shared::new(machine, options));
        let own = Arc::clone(&shared);
        let (greeted, hello) = oneshot::channel();
        tokio::spawn(async move {
            // Ends all calls, even if the task panics or is aborted.
            let _guard = CloseGuard(Arc::clone(&own));
            udp::drive(own, socket, greeted).await;
        });
        // Dropping this future drops the link, which ends the task.
        let link = Self {
            kind: LinkKind::Datagrams(Arc::new(LinkHandle(shared))),
        };
        match hello.await {
            Ok(Ok(())) => Ok(link),
            Ok(Err(cause)) => Err(io::Error::new(io::ErrorKind::ConnectionRefused, cause)),
            Err(_) => Err(io::Error::other("the task of the connection has ended")),
        }
    }

    /// Makes a call. `read` reads the payload of the reply.
    pub(super) fn ask<'a, R, F>(
        &'a self,
        request: &'a CallRequest<'a>,
        write: &'a mut Write<'a>,
        read: F,
    ) -> impl Future<Output = Result<R, CallError>> + Send + 'a
    where
        F: FnOnce(Payload<'_>) -> Result<R, CallError> + Copy + Send + 'a,
        R: 'a,
    {
        let mut guard = CallGuard {
            kind: &self.kind,
            stage: CallStage::New,
        };
        poll_fn(move |context| {
            // The closure captures the whole guard, so that dropping the future cancels the call.
            let CallGuard { kind, stage } = &mut guard;
            match kind {
                #[cfg(feature = "udp")]
                LinkKind::Datagrams(link) => link.0.poll_call(stage, request, write, read, context),
                LinkKind::Stream(link) => link.0.poll_call(stage, request, write, read, context),
            }
        })
    }

    /// Opens a call with streams, or a subscription.
    pub(super) async fn open(
        &self,
        request: &CallRequest<'_>,
        payload: &[u8],
    ) -> Result<CallHandle, CallError> {
        #[cfg_attr(
            not(feature = "udp"),
            expect(
                clippy::infallible_destructuring_match,
                reason = "there are two kinds with the feature `udp`"
            )
        )]
        let link = match &self.kind {
            LinkKind::Stream(link) => link,
            #[cfg(feature = "udp")]
            LinkKind::Datagrams(_) => {
                let message = "there are no streams and topics over UDP";
                return Err(CallError::encode_text(message));
            }
        };
        let mut guard = CallGuard {
            kind: &self.kind,
            stage: CallStage::New,
        };
        let ticket = poll_fn(|context| {
            let stage = &mut guard.stage;
            link.0.poll_open(stage, request, payload, context)
        });
        Ok(CallHandle {
            ticket: ticket.await?,
            link: Arc::clone(link),
        })
    }

    /// Makes a one-way call.
    pub(super) async fn notify(
        &self,
        request: &CallRequest<'_>,
        payload: &[u8],
    ) -> Result<(), CallError> {
        let poll = |context: &mut Context<'_>| -> Poll<_> {
            match &self.kind {
                #[cfg(feature = "udp")]
                LinkKind::Datagrams(link) => link.0.poll_notify(request, payload, context),
                LinkKind::Stream(link) => link.0.poll_notify(request, payload, context),
            }
        };
        poll_fn(poll).await
    }

    /// The number of open calls and its limit.
    pub(super) fn load(&self) -> (usize, u32) {
        match &self.kind {
            #[cfg(feature = "udp")]
            LinkKind::Datagrams(link) => link.0.lock().load(),
            LinkKind::Stream(link) => link.0.lock().load(),
        }
    }

    /// Waits for the HELLO of the server. One task can wait at a time.
    ///
    /// # Errors
    ///
    /// The cause, if the connection ends before.
    pub(super) async fn greeted(&self) -> Result<(), Cause> {
        match &self.kind {
            #[cfg(feature = "udp")]
            LinkKind::Datagrams(link) => link.0.greeted().await,
            LinkKind::Stream(link) => link.0.greeted().await,
        }
    }

    /// Why the connection takes no more calls. None if it does.
    pub(super) fn link_end(&self) -> Option<LinkEnd> {
        match &self.kind {
            #[cfg(feature = "udp")]
            LinkKind::Datagrams(link) => link.0.lock().link_end(),
            LinkKind::Stream(link) => link.0.lock().link_end(),
        }
    }

    /// Waits until the connection takes no more calls. One task can wait at a time.
    pub(super) async fn ended(&self) -> LinkEnd {
        match &self.kind {
            #[cfg(feature = "udp")]
            LinkKind::Datagrams(link) => link.0.ended().await,
            LinkKind::Stream(link) => link.0.ended().await,
        }
    }
}

/// Ends all calls when the task of the connection ends.
struct CloseGuard<M: Machine>(Arc<Shared<M>>);

impl<M: Machine> Drop for CloseGuard<M> {
    fn drop(&mut self) {
        self.0.lock().close("the task of the connection has ended");
        self.0.changed.notify_one();
    }
}

/// Cancels the call when dropped.
struct CallGuard<'a> {
    kind: &'a LinkKind,
    stage: CallStage,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        match self.kind {
            #[cfg(feature = "udp")]
            LinkKind::Datagrams(link) => link.0.abandon(&self.stage),
            LinkKind::Stream(link) => link.0.abandon(&self.stage),
        }
    }
}
