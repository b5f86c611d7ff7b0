//! What the calls of a client share, and how a call is made.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use polywire_frame::flow::{AdaptiveLimit, Backoff};
use polywire_frame::{Settings, Time, Trace};
use tokio::sync::Notify;

use super::attempts::Attempts;
use super::flow::Flow;
use super::retry::CallOptions;
use super::stats::{Outcome, Stats};
use crate::call::FrameDeadline;
use crate::error::CallError;
use crate::error::Cause;
use crate::frames::Clock;
use crate::frames::link::{Link, LinkOptions, Write};
use crate::frames::payload::Payload;
use crate::frames::request::{CallRequest, RequestKind};
use crate::frames::room::Room;

/// What a client's calls and those who keep its connections share.
#[derive(Debug)]
pub(super) struct ClientState {
    pub(super) clock: Clock,
    flow: Mutex<Flow>,
    pub(super) room: Arc<Room>,
    pub(super) plan: Plan,
    /// There is a connection that was not there before.
    pub(super) arrived: Notify,
    /// The holder is the next call to begin, if it is unknown when a connection has room.
    pub(super) turns: tokio::sync::Mutex<()>,
    /// Somebody has tried to connect.
    pub(super) attempted: Notify,
}

/// What a client was told at its beginning.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) settings: Settings,
    /// The limit of datagrams in bytes.
    #[cfg(feature = "udp")]
    pub(super) datagram: usize,
    /// From how many bytes on payloads are compressed.
    pub(super) compress: Option<usize>,
    pub(super) limit: AdaptiveLimit,
    pub(super) connect_timeout: Duration,
    pub(super) reconnect: Backoff,
    pub(super) retries: u32,
    pub(super) backoff: Backoff,
    /// Whether calls wait while there is no connection.
    pub(super) waits: bool,
    /// Whether calls begin at a rate.
    pub(super) paced: bool,
}

/// What is called, but for the input.
#[derive(Clone, Copy)]
pub(crate) struct CallTemplate<'a> {
    pub(super) what: RequestKind,
    pub(super) operation: &'a str,
    pub(super) within: Duration,
    /// The same of a call with items, once it has begun.
    pub(super) lasts: Duration,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
    pub(super) trace: Option<Trace>,
    pub(super) options: CallOptions<'a>,
}

impl<'a> CallTemplate<'a> {
    /// The same at that time.
    #[inline]
    pub(super) fn request(&self, now: Time) -> CallRequest<'a> {
        let lasts = FrameDeadline::after(now, self.lasts);
        let deadline = FrameDeadline::after(now, self.within);
        CallRequest {
            what: self.what,
            operation: self.operation,
            now,
            deadline: match self.what.has_items() {
                true => deadline.earlier(lasts),
                false => deadline,
            },
            lasts,
            metadata: self.metadata,
            trace: self.trace,
        }
    }
}

impl ClientState {
    pub(super) fn new(clock: Clock, flow: Flow, room: Room, plan: Plan) -> Self {
        Self {
            clock,
            flow: Mutex::new(flow),
            room: Arc::new(room),
            plan,
            arrived: Notify::new(),
            turns: tokio::sync::Mutex::new(()),
            attempted: Notify::new(),
        }
    }

    pub(super) fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn link_options(&self) -> LinkOptions {
        LinkOptions {
            settings: self.plan.settings,
            #[cfg(feature = "udp")]
            datagram: self.plan.datagram,
            compress: self.plan.compress,
            limit: self.plan.limit.clone(),
            room: Arc::clone(&self.room),
            clock: self.clock,
            seed: self.flow().random.bits(),
        }
    }

    /// There is a connection.
    pub(super) fn connected(&self, lane: usize, link: &Arc<Link>) {
        let now = self.clock.now();
        self.flow().connected(lane, now, Arc::clone(link));
        self.arrived.notify_waiters();
        self.attempted.notify_waiters();
    }

    /// A connection could not be made.
    pub(super) fn failed(&self, lane: usize, why: &Cause) {
        self.flow().failed(lane, self.clock.now(), why);
        self.attempted.notify_waiters();
    }

    /// Makes a call.
    pub(super) async fn ask<R, F>(
        &self,
        call: &CallTemplate<'_>,
        write: &mut Write<'_>,
        read: F,
    ) -> Result<R, CallError>
    where
        F: FnOnce(Payload<'_>) -> Result<R, CallError> + Copy + Send,
    {
        let mut request = call.request(self.clock.now());
        let mut attempts = Attempts::new(self);
        attempts.begin(request.now)?;
        loop {
            attempts.in_time(&request)?;
            let Some(current) = &attempts.current else {
                // What is rare has its room elsewhere than in the future of each call.
                Box::pin(attempts.connect(&mut request, write)).await?;
                continue;
            };
            let answer = current.link.ask(&request, &mut *write, read).await;
            match answer {
                Ok(reply) => {
                    attempts.ends(Outcome::Reply);
                    return Ok(reply);
                }
                Err(error) => {
                    Box::pin(attempts.again(&mut request, error, &call.options)).await?;
                }
            }
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.flow().pending()
    }

    pub(super) fn stats(&self) -> Stats {
        let flow = self.flow();
        let mut stats = flow.counts.stats();
        stats.pending = flow.pending();
        let links: Vec<_> = flow.lanes().iter().flat_map(|lane| &lane.link).collect();
        let links: Vec<_> = links.into_iter().map(Arc::clone).collect();
        drop(flow);
        stats.connections = links.len();
        for link in links {
            let (open, limit) = link.figures();
            stats.in_flight += open;
            stats.limit += limit as usize;
        }
        (stats.waiting, stats.waiting_bytes) = self.room.figures();
        stats
    }

    /// Nobody has the client any more.
    pub(super) fn leave(&self) {
        let links = self.flow().leave();
        drop(links);
    }
}
