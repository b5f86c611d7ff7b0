//! One connection of a client.

use std::future::{Future, poll_fn};
use std::sync::Arc;

use polywire_frame::Settings;
use polywire_frame::flow::AdaptiveLimit;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Clock;
use super::driven::Driven;
use super::error::CallError;
use super::room::Room;
use super::session::{Ended, Session};
use super::state::{Asked, Shared, Stage};
use super::streams::Open;

/// A connection, driven by a task of its own. When this is dropped no more calls are made; the
/// connection ends once all is answered.
#[derive(Debug)]
pub(super) struct Link {
    shared: Arc<Shared>,
    /// Calls with streams have it too, as long as they are open.
    leaving: Arc<Leaving>,
}

/// Ends the connection when nobody has it any more.
#[derive(Debug)]
pub(super) struct Leaving(pub(super) Arc<Shared>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What a connection is made with.
#[derive(Clone, Debug)]
pub(super) struct LinkOptions {
    /// What this side takes.
    pub(super) settings: Settings,
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
        let shared = Arc::new(Shared::new(options));
        let own = Arc::clone(&shared);
        tokio::spawn(async move {
            let clock = own.clock;
            // However this ends, no call is left waiting.
            let _closing = Closing(Arc::clone(&own));
            let mut session = Box::new(Session::new(Driven(Arc::clone(&own)), stream, clock));
            let ended = poll_fn(|context| session.poll(context)).await;
            let why = match ended {
                Ok(()) => "the server closed the connection".to_owned(),
                Err(Ended::Io(error)) => error.to_string(),
                Err(Ended::Broken(broken)) => broken.to_string(),
            };
            own.lock().close(&why);
        });
        Self {
            leaving: Arc::new(Leaving(Arc::clone(&shared))),
            shared,
        }
    }

    /// Makes a call. `read` is given the payload of the reply.
    pub(super) fn ask<'a, R, F>(
        &'a self,
        asked: &'a Asked<'a>,
        write: &'a mut Write<'a>,
        read: F,
    ) -> impl Future<Output = Result<R, CallError>> + Send + 'a
    where
        F: FnOnce(&[u8]) -> Result<R, CallError> + Copy + Send + 'a,
        R: 'a,
    {
        let mut calling = Calling {
            shared: &self.shared,
            stage: Stage::New,
        };
        poll_fn(move |context| {
            // As a whole, so that it is given up when this future is.
            let calling = &mut calling;
            let shared = calling.shared;
            let stage = &mut calling.stage;
            shared.poll_call(stage, asked, write, read, context)
        })
    }

    /// Opens a call with streams, or a subscription.
    pub(super) async fn open(&self, asked: &Asked<'_>, payload: &[u8]) -> Result<Open, CallError> {
        let mut calling = Calling {
            shared: &self.shared,
            stage: Stage::New,
        };
        let ticket = poll_fn(|context| {
            let calling = &mut calling;
            let stage = &mut calling.stage;
            calling.shared.poll_open(stage, asked, payload, context)
        });
        Ok(Open {
            ticket: ticket.await?,
            link: Arc::clone(&self.leaving),
        })
    }

    /// Makes a call that nobody answers.
    pub(super) async fn notify(&self, asked: &Asked<'_>, payload: &[u8]) -> Result<(), CallError> {
        poll_fn(|context| self.shared.poll_notify(asked, payload, context)).await
    }

    /// Calls that are open, and how many may be.
    pub(super) fn figures(&self) -> (usize, u32) {
        self.shared.lock().figures()
    }

    /// Waits until the server has said hello. One task waits at a time.
    ///
    /// # Errors
    ///
    /// The connection has ended before: why.
    pub(super) async fn greeted(&self) -> Result<(), Arc<str>> {
        loop {
            {
                let state = self.shared.lock();
                if let Some(why) = &state.ended {
                    return Err(Arc::clone(why));
                }
                if state.greeted {
                    return Ok(());
                }
            }
            self.shared.changed.notified().await;
        }
    }

    /// Waits until no call can be made any more. One task waits at a time.
    pub(super) async fn ended(&self) -> Arc<str> {
        loop {
            if let Some(why) = &self.shared.lock().ended {
                return Arc::clone(why);
            }
            self.shared.changed.notified().await;
        }
    }
}

/// Ends all calls with the task of the connection.
struct Closing(Arc<Shared>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.lock().close("the task of the connection has ended");
        self.0.changed.notify_one();
    }
}

/// A call that is given up when this is dropped.
struct Calling<'a> {
    shared: &'a Shared,
    stage: Stage,
}

impl Drop for Calling<'_> {
    fn drop(&mut self) {
        self.shared.give_up(&self.stage);
    }
}
