//! Set reconciliation (NIP-77).

use std::fmt;

use polywire_nostr::negentropy::{self, FrameSizeLimit, Initiator, Storage};
use polywire_nostr::{EventId, Filter};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::driver::{Command, SyncMessage};
use crate::relay::{Cancellation, Relay};
use crate::{ConnectionState, Refusal};

/// Limits on a reconciliation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SyncOptions {
    /// The maximum length of a sent message, before hexadecimal encoding. Default: 60,000 bytes.
    pub frame_size: FrameSizeLimit,
    /// The maximum number of messages of the relay. Default: 1,024.
    pub max_rounds: usize,
    /// The maximum number of reported ids, `have` and `need` together. An id takes about 100 bytes.
    /// Default: 1,000,000.
    pub max_differences: usize,
}

impl SyncOptions {
    /// Returns the defaults, which the fields document.
    #[must_use]
    pub fn new() -> Self {
        Self {
            frame_size: FrameSizeLimit::default(),
            max_rounds: 1024,
            max_differences: 1_000_000,
        }
    }

    /// Sets [`Self::frame_size`].
    #[must_use]
    pub const fn with_frame_size(mut self, limit: FrameSizeLimit) -> Self {
        self.frame_size = limit;
        self
    }

    /// Sets [`Self::max_rounds`].
    #[must_use]
    pub const fn with_max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Sets [`Self::max_differences`].
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

/// The differences between the events of the client and those of the relay.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Difference {
    /// The ids that only the client has.
    pub have: Vec<EventId>,
    /// The ids that only the relay has. [`Relay::fetch`] fetches their events.
    pub need: Vec<EventId>,
}

/// The error of [`Relay::sync`]. `E` is the error of the storage.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SyncError<E> {
    /// The relay rejected or ended the reconciliation (NEG-ERR or CLOSED).
    Refused {
        /// The reason.
        refusal: Refusal,
        /// The maximum number of events that the relay reconciles, if it sends that.
        max_records: Option<u64>,
    },
    /// The relay sent an invalid message, or the storage failed.
    Negentropy(negentropy::Error<E>),
    /// There was no connection, or no answer to a message, within
    /// [`RelayOptions::request_timeout`](crate::RelayOptions::request_timeout). Relays without
    /// NIP-77 do not answer.
    Timeout {
        /// The state of the connection at the timeout.
        state: ConnectionState,
    },
    /// The reconciliation is not finished after [`SyncOptions::max_rounds`] messages.
    TooManyRounds,
    /// There are more differences than [`SyncOptions::max_differences`].
    TooManyDifferences,
    /// The connection ended, or the relay sent several messages at once.
    Disconnected,
    /// The client was shut down, or the URL of the relay is invalid: see [`Relay::state`].
    Shutdown,
}

impl<E: fmt::Display> fmt::Display for SyncError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { refusal, .. } => {
                write!(f, "the relay rejected the reconciliation: {refusal}")
            }
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
    /// Finds the events matching `filter` that only the client has, and those that only the relay
    /// has (NEG-OPEN and NEG-MSG, NIP-77). Transfers no events.
    ///
    /// `storage` contains the records of the client that match the filter. Cancel-safe: dropping
    /// the future closes the reconciliation.
    ///
    /// # Errors
    ///
    /// See [`SyncError`]. Differences found before the error are lost.
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
        // A relay sends one message for each message of the client.
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
