//! Reconciliation of sets of events (NIP-77).

use std::fmt;

use polywire_nostr::negentropy::{self, FrameSizeLimit, Initiator, Storage};
use polywire_nostr::{EventId, Filter};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::driver::{Command, SyncMessage};
use crate::relay::{Cancellation, Relay};
use crate::{ConnectionState, Refusal};

/// What a reconciliation may cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SyncOptions {
    /// The largest message that this side sends, before it is written as hexadecimal. 60,000 bytes.
    pub frame_size: FrameSizeLimit,
    /// The most messages of the relay. 1,024.
    pub max_rounds: usize,
    /// The most ids that are reported, of both kinds together. 1,000,000, of about 100 bytes each.
    pub max_differences: usize,
}

impl SyncOptions {
    /// The defaults that the fields name.
    #[must_use]
    pub fn new() -> Self {
        Self {
            frame_size: FrameSizeLimit::default(),
            max_rounds: 1024,
            max_differences: 1_000_000,
        }
    }

    /// The same with another limit of messages.
    #[must_use]
    pub const fn with_frame_size(mut self, limit: FrameSizeLimit) -> Self {
        self.frame_size = limit;
        self
    }

    /// The same with another number of messages.
    #[must_use]
    pub const fn with_max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// The same with another number of ids.
    #[must_use]
    pub const fn with_max_differences(mut self, ids: usize) -> Self {
        self.max_differences = ids;
        self
    }
}

impl Default for SyncOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// How the events of a relay and those of this side differ.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Difference {
    /// The ids that only this side has.
    pub have: Vec<EventId>,
    /// The ids that only the relay has. [`Relay::fetch`] gets their events.
    pub need: Vec<EventId>,
}

/// Why sets were not reconciled. `E` is the error of the storage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SyncError<E> {
    /// The relay refused (NEG-ERR or CLOSED).
    Refused {
        /// Why.
        refusal: Refusal,
        /// How many events the relay reconciles at most, if it says so.
        max_records: Option<u64>,
    },
    /// The relay sent a message that is not valid, or the storage failed.
    Negentropy(negentropy::Error<E>),
    /// The relay did not answer a message within
    /// [`RelayOptions::request_timeout`](crate::RelayOptions::request_timeout), or there was no
    /// connection for as long. Relays without NIP-77 do not answer.
    Timeout {
        /// The state of the connection when the time was up.
        state: ConnectionState,
    },
    /// There is no end after [`SyncOptions::max_rounds`] messages.
    TooManyRounds,
    /// There are more differences than [`SyncOptions::max_differences`].
    TooManyDifferences,
    /// The connection ended.
    Disconnected,
    /// The relay was shut down on this side, or its URL is not one to connect to: see
    /// [`Relay::state`].
    Shutdown,
}

impl<E: fmt::Display> fmt::Display for SyncError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { refusal, .. } => write!(f, "the relay refused to reconcile: {refusal}"),
            Self::Negentropy(error) => error.fmt(f),
            Self::Timeout { state } => write!(f, "no answer in time, {state}"),
            Self::TooManyRounds => f.write_str("the reconciliation takes too many messages"),
            Self::TooManyDifferences => f.write_str("the sets differ in too many events"),
            Self::Disconnected => f.write_str("the connection ended during the reconciliation"),
            Self::Shutdown => f.write_str(crate::error::SHUTDOWN),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for SyncError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Negentropy(error) => Some(error),
            _ => None,
        }
    }
}

impl Relay {
    /// Finds out which events that match `filter` only this side has, and which only the relay
    /// (NEG-OPEN and NEG-MSG, NIP-77). Transfers no events.
    ///
    /// `storage` has the records of this side that match the filter. This is cancel-safe: a
    /// reconciliation that is given up is closed.
    ///
    /// # Errors
    ///
    /// See [`SyncError`]. What was found before an error is lost.
    pub async fn sync<S: Storage>(
        &self,
        filter: Filter,
        storage: S,
        options: SyncOptions,
    ) -> Result<Difference, SyncError<S::Error>> {
        let time = self.shared().options.request_timeout;
        let connected = timeout(time, self.wait_connected()).await;
        match connected {
            Err(_) => {
                let state = self.state();
                return Err(SyncError::Timeout { state });
            }
            Ok(false) => return Err(SyncError::Shutdown),
            Ok(true) => {}
        }
        let mut initiator = Initiator::new(storage).with_frame_size_limit(options.frame_size);
        let storage_failed = |error| SyncError::Negentropy(negentropy::Error::Storage(error));
        let message = initiator.initial_message().map_err(storage_failed)?;
        let serial = self.shared().serial();
        // A relay answers one message with one.
        let (replies, mut answers) = mpsc::channel(1);
        let filter = Box::new(filter);
        let open = Command::OpenSync {
            serial,
            filter,
            message,
            replies,
        };
        let _closing = Cancellation {
            relay: self,
            command: Some(Command::CloseSync { serial }),
        };
        self.commands.send(open).map_err(|_| SyncError::Shutdown)?;
        let mut difference = Difference::default();
        for _ in 0..options.max_rounds {
            let answer = match timeout(time, answers.recv()).await {
                Ok(Some(SyncMessage::Message(answer))) => answer,
                Ok(Some(SyncMessage::Refused {
                    refusal,
                    max_records,
                })) => {
                    return Err(SyncError::Refused {
                        refusal,
                        max_records,
                    });
                }
                Ok(None) => return Err(SyncError::Disconnected),
                Err(_) => {
                    let state = self.state();
                    return Err(SyncError::Timeout { state });
                }
            };
            let step = initiator
                .reconcile(&answer)
                .map_err(SyncError::Negentropy)?;
            difference.have.extend(step.have);
            difference.need.extend(step.need);
            if difference.have.len() + difference.need.len() > options.max_differences {
                return Err(SyncError::TooManyDifferences);
            }
            let Some(message) = step.next_message else {
                return Ok(difference);
            };
            let next = Command::ContinueSync { serial, message };
            self.commands.send(next).map_err(|_| SyncError::Shutdown)?;
        }
        Err(SyncError::TooManyRounds)
    }
}
