//! What handles tell the task of a relay.

use polywire_nostr::message::Count;
use polywire_nostr::{Event, EventId, Filter};
use tokio::sync::{mpsc, oneshot};

use super::feed::Feed;
use crate::Refusal;
use crate::relay::PublishOutcome;

/// Where an answer goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

pub(crate) enum Command {
    Publish {
        serial: u64,
        event: Event,
        reply: Reply<PublishOutcome>,
    },
    /// The caller does not wait any more.
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
    /// Begins a reconciliation.
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

/// What a relay says in a reconciliation.
pub(crate) enum SyncMessage {
    Message(Vec<u8>),
    Refused {
        refusal: Refusal,
        max_records: Option<u64>,
    },
}
