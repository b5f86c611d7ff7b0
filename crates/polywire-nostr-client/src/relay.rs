//! The connection to one relay.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use polywire_nostr::message::Count;
use polywire_nostr::{Event, Filter, InvalidRelayUrl, RelayUrl};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::driver::{Command, Driver};
use crate::options::{RelayOptions, SubscribeOptions};
use crate::state::{ConnectionState, Shared};
use crate::stats::RelayStats;
use crate::subscription::{FetchOutcome, Subscription};
use crate::verifier::Verifier;
use crate::{CountError, FetchError, PublishError, Refusal};

/// A connection to one relay that reconnects automatically.
///
/// This is a handle: clones share the connection, which a tokio task owns. The task closes the
/// connection and ends when all handles and subscriptions are dropped, or after [`Self::shutdown`].
///
/// # After a reconnect
///
/// The client sends again, on the new connection:
///
/// - events without an answer, until their timeout. A relay that has already stored an event
///   answers `duplicate:`, which counts as success;
/// - counts without an answer;
/// - subscriptions. After EOSE, `since` is set to the time of the newest received event minus
///   [`SubscribeOptions::resume_overlap`], and `limit` is removed: it applies to the initial query,
///   and must not truncate missed events. Events that were received before are dropped. Before
///   EOSE, the original filters are sent again.
///
/// Reconciliations fail, because the relay has discarded their state.
#[derive(Clone)]
pub struct Relay {
    shared: Arc<Shared>,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
}

/// The answer of a relay that has stored an event.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PublishOutcome {
    /// Whether the relay already had the event, for example after a reconnect.
    pub duplicate: bool,
    /// The text of the answer, often empty.
    pub message: String,
}

impl Relay {
    /// Starts to connect to a relay, with default options: see [`Self::connect_with`].
    ///
    /// # Errors
    ///
    /// As [`RelayUrl::parse`].
    pub fn connect(url: &str) -> Result<Self, InvalidRelayUrl> {
        Ok(Self::connect_with(
            &RelayUrl::parse(url)?,
            RelayOptions::new(),
        ))
    }

    /// Starts to connect to a relay. Returns immediately; requests wait for the connection.
    ///
    /// # Panics
    ///
    /// If called outside of a tokio runtime.
    #[must_use]
    pub fn connect_with(url: &RelayUrl, options: RelayOptions) -> Self {
        let verifier = Arc::new(Verifier::new(options.verified_ids));
        Self::spawn(url.clone(), options, verifier)
    }

    pub(crate) fn spawn(url: RelayUrl, options: RelayOptions, verifier: Arc<Verifier>) -> Self {
        let shared = Arc::new(Shared::new(url, options));
        let (commands, receiver) = mpsc::unbounded_channel();
        tokio::spawn(Driver::new(Arc::clone(&shared), verifier, receiver).run());
        Self { shared, commands }
    }

    /// Returns the URL of the relay.
    #[must_use]
    pub fn url(&self) -> &RelayUrl {
        &self.shared.url
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        self.shared.current()
    }

    /// Returns a receiver of the state of the connection. It receives the latest state and can miss
    /// short-lived ones.
    #[must_use]
    pub fn watch_state(&self) -> watch::Receiver<ConnectionState> {
        self.shared.state.subscribe()
    }

    /// Waits for a connection. Returns `false` if the client was shut down or the URL is invalid.
    pub async fn wait_connected(&self) -> bool {
        let mut states = self.watch_state();
        let settled = states.wait_for(|state| {
            matches!(
                state,
                ConnectionState::Connected | ConnectionState::Closed { .. }
            )
        });
        settled.await.is_ok_and(|state| state.is_connected())
    }

    /// Returns the counters.
    #[must_use]
    pub fn stats(&self) -> RelayStats {
        self.shared.counters.stats()
    }

    /// Publishes an event, and waits for the answer (OK, NIP-01) for up to
    /// [`RelayOptions::request_timeout`]. The event is not verified.
    ///
    /// Cancel-safe: after the future is dropped, the event is not sent again. It may have been sent
    /// before.
    ///
    /// # Errors
    ///
    /// The relay rejects the event or does not answer in time, or it was shut down.
    pub async fn publish(&self, event: &Event) -> Result<PublishOutcome, PublishError> {
        self.publish_within(event, self.shared.options.request_timeout)
            .await
    }

    /// As [`Self::publish`], with a different timeout.
    ///
    /// # Errors
    ///
    /// As [`Self::publish`].
    pub async fn publish_within(
        &self,
        event: &Event,
        time: Duration,
    ) -> Result<PublishOutcome, PublishError> {
        let serial = self.shared.serial();
        let id = *event.as_ref().id();
        let cancel = Command::CancelPublish { serial, id };
        let event = event.clone();
        let answer = self.request(cancel, time, |reply| Command::Publish {
            serial,
            event,
            reply,
        });
        answer.await.map_err(|failure| match failure {
            Failure::Refused(refusal) => PublishError::Rejected(refusal),
            Failure::Timeout(state) => PublishError::Timeout { state },
            Failure::Shutdown => PublishError::Shutdown,
        })
    }

    /// Counts the events that match any of the filters (COUNT, NIP-45), of which NIP-45 requires at
    /// least one. Waits for up to [`RelayOptions::request_timeout`]. Cancel-safe.
    ///
    /// # Errors
    ///
    /// The relay rejects the query or does not answer in time, or it was shut down.
    pub async fn count(
        &self,
        filters: impl IntoIterator<Item = Filter>,
    ) -> Result<Count, CountError> {
        let serial = self.shared.serial();
        let filters = filters.into_iter().collect();
        let time = self.shared.options.request_timeout;
        let answer = self.request(Command::CancelCount { serial }, time, |reply| {
            Command::Count {
                serial,
                filters,
                reply,
            }
        });
        answer.await.map_err(|failure| match failure {
            Failure::Refused(refusal) => CountError::Refused(refusal),
            Failure::Timeout(state) => CountError::Timeout { state },
            Failure::Shutdown => CountError::Shutdown,
        })
    }

    /// Subscribes to the events that match any of the filters (REQ, NIP-01). Without filters, the
    /// subscription ends immediately.
    ///
    /// See [`Subscription`] for the received items and for back-pressure.
    #[must_use]
    pub fn subscribe(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        options: SubscribeOptions,
    ) -> Subscription {
        Subscription::begin([self.clone()], &filters.into_iter().collect(), &options)
    }

    /// Fetches the stored events that match any of the filters: subscribes until EOSE, for up to
    /// `time`. Returns each event once, in the order of receipt.
    ///
    /// # Errors
    ///
    /// The relay closes the subscription, does not send EOSE in time, or sends more than
    /// [`MAX_FETCHED_EVENTS`](crate::MAX_FETCHED_EVENTS) events, or it was shut down. The error
    /// contains the received events, except for [`FetchError::Shutdown`].
    pub async fn fetch(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        time: Duration,
    ) -> Result<Vec<Event>, FetchError> {
        let filters = filters.into_iter().collect();
        let outcome = FetchOutcome::collect([self.clone()], &filters, time).await;
        let events = outcome.events;
        if outcome.is_full {
            return Err(FetchError::TooMany { events });
        }
        if let Some((_, refusal)) = outcome.closed.into_iter().next() {
            return Err(FetchError::Closed { refusal, events });
        }
        match (outcome.is_complete, self.state()) {
            (true, _) => Ok(events),
            (false, ConnectionState::Closed { .. }) => Err(FetchError::Shutdown),
            (false, state) => Err(FetchError::Timeout { events, state }),
        }
    }

    /// Closes the connection for all handles, after sending the queued messages that fit in the
    /// queue of the connection. Pending requests fail, and subscriptions end.
    pub fn shutdown(&self) {
        // An error means that the task has already ended.
        let _ = self.commands.send(Command::Shutdown);
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Sends a command and waits for its reply. Sends `cancel` after a timeout, or if the future is
    /// dropped before the reply.
    async fn request<T>(
        &self,
        cancel: Command,
        time: Duration,
        command: impl FnOnce(oneshot::Sender<Result<T, Refusal>>) -> Command,
    ) -> Result<T, Failure> {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(command(reply)).is_err() {
            return Err(Failure::Shutdown);
        }
        let mut cancellation = Cancellation {
            relay: self,
            command: Some(cancel),
        };
        let answer = timeout(time, answer).await;
        if answer.is_ok() {
            cancellation.command = None;
        }
        match answer {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(refusal))) => Err(Failure::Refused(refusal)),
            Ok(Err(_)) => Err(Failure::Shutdown),
            Err(_) => Err(Failure::Timeout(self.state())),
        }
    }
}

enum Failure {
    Refused(Refusal),
    Timeout(ConnectionState),
    Shutdown,
}

/// Sends a command on drop.
pub(crate) struct Cancellation<'a> {
    pub(crate) relay: &'a Relay,
    pub(crate) command: Option<Command>,
}

impl Drop for Cancellation<'_> {
    fn drop(&mut self) {
        if let Some(command) = self.command.take() {
            // An error means that there is nothing left to cancel.
            let _ = self.relay.commands.send(command);
        }
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay")
            .field("url", self.url())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
