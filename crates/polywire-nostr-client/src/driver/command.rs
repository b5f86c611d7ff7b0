//! Commands from handles to the connection task.

use polywire_nostr::message::Count;
use polywire_nostr::{Event, EventId, Filter};
use tokio::sync::{mpsc, oneshot};

use super::feed::Feed;
use crate::Refusal;
use crate::relay::PublishOutcome;

/// The sender of the result of a request.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

pub(crate) enum Command {
    Publish {
        serial: u64,
        event: Event,
        reply: Reply<PublishOutcome>,
    },
    /// The caller no longer waits.
    CancelPublish {
        serial: u64,
        id: EventId,
    },
    Subscribe {
        serial: u64,
        feed: Box<Feed>,
    },
    Unsubscribe {
        serial: u64,
    },
    Count {
        serial: u64,
        filters: Vec<Filter>,
        reply: Reply<Count>,
    },
    CancelCount {
        serial: u64,
    },
    OpenSync {
        serial: u64,
        filter: Box<Filter>,
        message: Vec<u8>,
        replies: mpsc::Sender<SyncMessage>,
    },
    ContinueSync {
        serial: u64,
        message: Vec<u8>,
    },
    CloseSync {
        serial: u64,
    },
    Shutdown,
}

/// A message of the relay to a reconciliation.
pub(crate) enum SyncMessage {
    Message(Vec<u8>),
    Refused {
        refusal: Refusal,
        max_records: Option<u64>,
    },
}
