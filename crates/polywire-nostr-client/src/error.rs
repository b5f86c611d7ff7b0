//! What goes wrong.

use std::fmt;

use crate::{ConnectionState, Refusal};
use polywire_nostr::Event;

/// Why an event was not published.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PublishError {
    /// The relay did not accept the event (OK with `false`, NIP-01).
    Rejected(Refusal),
    /// The relay did not answer in time. It may have stored the event nevertheless.
    Timeout {
        /// The state of the connection when the time was up.
        state: ConnectionState,
    },
    /// The relay was shut down on this side, or its URL is not one to connect to: see
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

/// Why events were not counted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CountError {
    /// The relay refused the question (CLOSED, NIP-45).
    Refused(Refusal),
    /// The relay did not answer in time. Relays without NIP-45 do not answer.
    Timeout {
        /// The state of the connection when the time was up.
        state: ConnectionState,
    },
    /// The relay was shut down on this side, or its URL is not one to connect to: see
    /// [`Relay::state`](crate::Relay::state).
    Shutdown,
}

impl fmt::Display for CountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "the relay refused to count: {refusal}"),
            Self::Timeout { state } => write!(f, "no answer in time, {state}"),
            Self::Shutdown => SHUTDOWN.fmt(f),
        }
    }
}

impl std::error::Error for CountError {}

/// Why not all stored events were fetched. The variants contain those that were.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FetchError {
    /// The relay ended the subscription (CLOSED, NIP-01).
    Closed {
        /// Why.
        refusal: Refusal,
        /// What came before.
        events: Vec<Event>,
    },
    /// The relay did not send EOSE in time.
    Timeout {
        /// What came before.
        events: Vec<Event>,
        /// The state of the connection when the time was up.
        state: ConnectionState,
    },
    /// The relay sent more than [`MAX_FETCHED_EVENTS`](crate::MAX_FETCHED_EVENTS).
    TooMany {
        /// As many as are allowed.
        events: Vec<Event>,
    },
    /// The relay was shut down on this side, or its URL is not one to connect to: see
    /// [`Relay::state`](crate::Relay::state).
    Shutdown,
}

impl FetchError {
    /// Returns the events that came before the error.
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
                    "the relay ended the subscription after {count} events: {refusal}"
                )
            }
            Self::Timeout { events, state } => {
                write!(f, "no end of {} events in time, {state}", events.len())
            }
            Self::TooMany { events } => write!(f, "more than {} events", events.len()),
            Self::Shutdown => SHUTDOWN.fmt(f),
        }
    }
}

impl std::error::Error for FetchError {}

pub(crate) const SHUTDOWN: &str = "the client does not connect to the relay any more";
