//! The shared state of the calls of a client, and the loop over the attempts of a call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use polywire_frame::flow::{AdaptiveLimit, Backoff};
use polywire_frame::{Settings, Time, Trace};
use tokio::sync::Notify;

use super::attempts::Attempts;
use super::flow::Flow;
use super::retry::CallOptions;
use super::stats::{CallOutcome, Stats};
use crate::call::FrameDeadline;
use crate::error::CallError;
use crate::error::Cause;
use crate::frames::Clock;
use crate::frames::link::{Link, LinkOptions, Write};
use crate::frames::payload::Payload;
use crate::frames::quota::QueueQuota;
use crate::frames::request::{CallRequest, RequestKind};

/// The state that calls share with the tasks that maintain the connections.
#[derive(Debug)]
pub(super) struct ClientState {
    pub(super) clock: Clock,
    flow: Mutex<Flow>,
    pub(super) quota: Arc<QueueQuota>,
    pub(super) config: ClientConfig,
    /// Notified when there is a new connection.
    pub(super) new_connection: Notify,
    /// Locked by the call that is next to reserve a time of an adaptive rate.
    pub(super) next_in_line: tokio::sync::Mutex<()>,
    /// Notified after each attempt to connect.
    pub(super) connect_attempt: Notify,
}

/// The configuration of a client.
#[derive(Clone, Debug)]
pub(super) struct ClientConfig {
    pub(super) settings: Settings,
    /// The limit of datagrams in bytes.
    #[cfg(feature = "udp")]
    pub(super) datagram: usize,
    /// Payloads of at least this many bytes are compressed.
    pub(super) compress: Option<usize>,
    pub(super) limit: AdaptiveLimit,
    pub(super) connect_timeout: Duration,
    pub(super) reconnect: Backoff,
    pub(super) retries: u32,
    pub(super) backoff: Backoff,
    /// Whether calls wait while there is no connection.
    pub(super) waits: bool,
    /// Whether there is a rate limit.
    pub(super) paced: bool,
}

/// The parameters of a call, except its input and the time.
#[derive(Clone, Copy)]
pub(crate) struct CallTemplate<'a> {
    pub(super) kind: RequestKind,
    pub(super) operation: &'a str,
    pub(super) timeout: Duration,
    /// The time of a call with items, from its start to its end.
    pub(super) stream_timeout: Duration,
    pub(super) metadata: &'a [(&'a str, &'a [u8])],
    pub(super) trace: Option<Trace>,
    pub(super) options: CallOptions<'a>,
}

impl<'a> CallTemplate<'a> {
    /// The parameters of a call that begins now.
    #[inline]
    pub(super) fn request(&self, now: Time) -> CallRequest<'a> {
        let stream_deadline = FrameDeadline::after(now, self.stream_timeout);
        let deadline = FrameDeadline::after(now, self.timeout);
        CallRequest {
            kind: self.kind,
            operation: self.operation,
            now,
            deadline: match self.kind.has_items() {
                true => deadline.earlier(stream_deadline),
                false => deadline,
            },
            stream_deadline,
            metadata: self.metadata,
            trace: self.trace,
        }
    }
}

impl ClientState {
    pub(super) fn new(clock: Clock, flow: Flow, quota: QueueQuota, config: ClientConfig) -> Self {
        Self {
            clock,
            flow: Mutex::new(flow),
            quota: Arc::new(quota),
            config,
            new_connection: Notify::new(),
            next_in_line: tokio::sync::Mutex::new(()),
            connect_attempt: Notify::new(),
        }
    }

    pub(super) fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn link_options(&self) -> LinkOptions {
        LinkOptions {
            settings: self.config.settings,
            #[cfg(feature = "udp")]
            datagram: self.config.datagram,
            compress: self.config.compress,
            limit: self.config.limit.clone(),
            quota: Arc::clone(&self.quota),
            clock: self.clock,
            seed: self.flow().random.bits(),
        }
    }

    /// Records a new connection.
    pub(super) fn connected(&self, lane: usize, link: &Arc<Link>) {
        let now = self.clock.now();
        self.flow().connected(lane, now, Arc::clone(link));
        self.new_connection.notify_waiters();
        self.connect_attempt.notify_waiters();
    }

    /// Records an attempt to connect that has failed.
    pub(super) fn failed(&self, lane: usize, cause: &Cause) {
        self.flow().failed(lane, self.clock.now(), cause);
        self.connect_attempt.notify_waiters();
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
            attempts.check_deadline(&request)?;
            let Some(attempt) = &attempts.attempt else {
                // Boxed, because it is rare: otherwise the future of each call would have space for it.
                Box::pin(attempts.connect(&mut request, write)).await?;
                continue;
            };
            let answer = attempt.link.ask(&request, &mut *write, read).await;
            match answer {
                Ok(reply) => {
                    attempts.finish(CallOutcome::Reply);
                    return Ok(reply);
                }
                Err(error) => {
                    Box::pin(attempts.retry(&mut request, error, &call.options)).await?;
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
            let (open, limit) = link.load();
            stats.in_flight += open;
            stats.limit += limit as usize;
        }
        (stats.waiting, stats.waiting_bytes) = self.quota.usage();
        stats
    }

    /// Drops the connections, because the client was dropped.
    pub(super) fn release(&self) {
        let links = self.flow().take_links();
        drop(links);
    }
}
