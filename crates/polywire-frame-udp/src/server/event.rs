//! What clients have sent.

use polywire_frame::CallId;

/// A call of one of the clients.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Call {
    /// The client's index in the table.
    pub(super) peer: u32,
    /// How often the index was used before.
    pub(super) generation: u32,
    pub(super) id: CallId,
}

impl Call {
    /// Its id among the calls of its client.
    #[must_use]
    pub const fn id(&self) -> CallId {
        self.id
    }
}

/// What a client has sent: `Call` (without a stream), `Cancelled`, `OneWay` or `Unknown`.
pub type Event<'a, O, T> = polywire_frame::Event<'a, O, T, Call>;
