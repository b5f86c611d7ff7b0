//! One relay.

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
use crate::subscription::{Fetched, Subscription};
use crate::verifier::Verifier;
use crate::{CountError, FetchError, PublishError, Refusal};

/// A connection to one relay, which is made again whenever it ends.
///
/// This is a handle: clones share the connection, which a task of tokio owns. The task ends, and the
/// connection with it, when all handles and subscriptions are gone or after [`Self::shutdown`].
///
/// # After a reconnect
///
/// The client sends again, on the new connection:
///
/// - events that the relay has not answered, until their time is up. A relay that has stored one of
///   them answers `duplicate:`, which counts as success;
/// - counts without an answer;
/// - subscriptions. One whose stored events have all come begins at the newest event less
///   [`SubscribeOptions::resume_overlap`], and without its `limit`: that bounds what is stored at the
///   beginning, and must not cut what was missed. Events that come again are duplicates, and are
///   dropped. One whose stored events have not all come begins from the start.
///
/// Reconciliations fail, since the relay has forgotten them.
#[derive(Clone)]
pub struct Relay {
    shared: Arc<Shared>,
    pub(crate) commands: mpsc::UnboundedSender<Command>,
}

/// What a relay answered to an event that it has stored.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PublishOutcome {
    /// Whether the relay had the event already, as it may after a reconnect.
    pub duplicate: bool,
    /// The text of its answer, often empty.
    pub message: String,
}

impl Relay {
    /// Begins to connect to a relay, with all defaults: see [`Self::connect_with`].
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

    /// Begins to connect to a relay. Returns at once; requests wait for the connection.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
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

    /// Returns a receiver of the states of the connection. It sees the latest one; states that last
    /// shortly may be missed.
    #[must_use]
    pub fn watch_state(&self) -> watch::Receiver<ConnectionState> {
        self.shared.state.subscribe()
    }

    /// Waits until there is a connection. False if there will be none any more.
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

    /// Returns what has been counted.
    #[must_use]
    pub fn stats(&self) -> RelayStats {
        self.shared.counters.stats()
    }

    /// Publishes an event, and waits for the answer (OK, NIP-01) for
    /// [`RelayOptions::request_timeout`]. The event is sent as it is; it is not verified.
    ///
    /// This is cancel-safe: an event whose publishing is given up is not sent again. It may have been
    /// sent before.
    ///
    /// # Errors
    ///
    /// The relay rejects the event or does not answer in time.
    pub async fn publish(&self, event: &Event) -> Result<PublishOutcome, PublishError> {
        self.publish_within(event, self.shared.options.request_timeout)
            .await
    }

    /// As [`Self::publish`], with another time.
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
        let answer = self.ask(cancel, time, |reply| Command::Publish {
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

    /// Counts the events that match one of the filters at least (COUNT, NIP-45); there should be one filter
    /// at least. Waits for
    /// [`RelayOptions::request_timeout`]. This is cancel-safe.
    ///
    /// # Errors
    ///
    /// The relay refuses or does not answer in time.
    pub async fn count(
        &self,
        filters: impl IntoIterator<Item = Filter>,
    ) -> Result<Count, CountError> {
        let serial = self.shared.serial();
        let filters = filters.into_iter().collect();
        let time = self.shared.options.request_timeout;
        let answer = self.ask(Command::CancelCount { serial }, time, |reply| {
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

    /// Subscribes to the events that match one of the filters at least (REQ, NIP-01). Without filters the
    /// subscription has ended.
    ///
    /// See [`Subscription`] for what comes, and for what happens when it is received slowly.
    #[must_use]
    pub fn subscribe(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        options: SubscribeOptions,
    ) -> Subscription {
        Subscription::begin([self.clone()], &filters.into_iter().collect(), &options)
    }

    /// Fetches the stored events that match one of the filters at least, in the order in which they
    /// come: a subscription until EOSE, for `time` at most. Each event comes once.
    ///
    /// # Errors
    ///
    /// The relay ends the subscription, does not send EOSE in time, or sends more than
    /// [`MAX_FETCHED_EVENTS`](crate::MAX_FETCHED_EVENTS) events. The error contains what has come.
    pub async fn fetch(
        &self,
        filters: impl IntoIterator<Item = Filter>,
        time: Duration,
    ) -> Result<Vec<Event>, FetchError> {
        let filters = filters.into_iter().collect();
        let fetched = Fetched::collect([self.clone()], &filters, time).await;
        let events = fetched.events;
        if fetched.is_full {
            return Err(FetchError::TooMany { events });
        }
        if let Some((_, refusal)) = fetched.closed.into_iter().next() {
            return Err(FetchError::Closed { refusal, events });
        }
        match (fetched.is_complete, self.state()) {
            (true, _) => Ok(events),
            (false, ConnectionState::Closed { .. }) => Err(FetchError::Shutdown),
            (false, state) => Err(FetchError::Timeout { events, state }),
        }
    }

    /// Closes the connection for all handles, after the messages that have been sent. Requests end
    /// with an error, subscriptions end.
    pub fn shutdown(&self) {
        // An error means that it has ended already.
        let _ = self.commands.send(Command::Shutdown);
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    async fn ask<T>(
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

/// Sends a command when it is dropped.
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
