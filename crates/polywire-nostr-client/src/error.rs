//! Errors of requests.

use std::fmt;

use crate::{ConnectionState, Refusal};
use polywire_nostr::Event;

/// The error of [`Relay::publish`](crate::Relay::publish).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PublishError {
    /// The relay rejected the event (OK with `false`, NIP-01).
    Rejected(Refusal),
    /// The relay did not answer in time. It may still have stored the event.
    Timeout {
        /// The state of the connection at the timeout.
        state: ConnectionState,
    },
    /// The client was shut down, or the URL of the relay is invalid: see
    /// [`Relay::state`](crate::Relay::state).
    Shutdown,
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected(refusal) => write!(f, "the relay rejected the event: {refusal}"),
            Self::Timeout { state } => write!(f, "no answer in time, {state}"),
            Self::Shutdown => SHUTDOWN.fmt(f),
        }
    }
}

impl std::error::Error for PublishError {}

/// The error of [`Relay::count`](crate::Relay::count).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CountError {
    /// The relay rejected the query (CLOSED, NIP-45).
    Refused(Refusal),
    /// The relay did not answer in time. Relays without NIP-45 do not answer.
    Timeout {
        /// The state of the connection at the timeout.
        state: ConnectionState,
    },
    /// The client was shut down, or the URL of the relay is invalid: see
    /// [`Relay::state`](crate::Relay::state).
    Shutdown,
}

impl fmt::Display for CountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "the relay rejected the count: {refusal}"),
            Self::Timeout { state } => write!(f, "no answer in time, {state}"),
            Self::Shutdown => SHUTDOWN.fmt(f),
        }
    }
}

impl std::error::Error for CountError {}

/// The error of [`Relay::fetch`](crate::Relay::fetch). The variants contain the events that were
/// received before the error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FetchError {
    /// The relay closed or rejected the subscription (CLOSED, NIP-01).
    Closed {
        /// The reason.
        refusal: Refusal,
        /// The received events.
        events: Vec<Event>,
    },
    /// The relay did not send EOSE in time.
    Timeout {
        /// The received events.
        events: Vec<Event>,
        /// The state of the connection at the timeout.
        state: ConnectionState,
    },
    /// The relay sent more than [`MAX_FETCHED_EVENTS`](crate::MAX_FETCHED_EVENTS).
    TooMany {
        /// The first [`MAX_FETCHED_EVENTS`](crate::MAX_FETCHED_EVENTS) events.
        events: Vec<Event>,
    },
    /// The client was shut down, or the URL of the relay is invalid: see
    /// [`Relay::state`](crate::Relay::state).
    Shutdown,
}

impl FetchError {
    /// Returns the events that were received before the error.
    #[must_use]
    pub fn into_events(self) -> Vec<Event> {
        match self {
            Self::Closed { events, .. }
            | Self::Timeout { events, .. }
            | Self::TooMany { events } => events,
            Self::Shutdown => Vec::new(),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed { refusal, events } => {
                let count = events.len();
                write!(
                    f,
                    "the relay closed the subscription after {count} events: {refusal}"
                )
            }
            Self::Timeout { events, state } => {
                write!(f, "no EOSE in time, after {} events, {state}", events.len())
            }
            Self::TooMany { events } => write!(f, "more than {} events", events.len()),
            Self::Shutdown => SHUTDOWN.fmt(f),
        }
    }
}

impl std::error::Error for FetchError {}

pub(crate) const SHUTDOWN: &str = "the client no longer connects to the relay";
