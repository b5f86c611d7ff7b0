//! The state shared by the task of a connection and the application: received messages, and messages to send.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::error::{SendError, TrySendError, WebSocketError};
use super::limits::WebSocketLimits;
use super::message::{CloseFrame, Message};
use crate::call::memory::MemoryReservation;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// The size that a message counts in addition to its payload.
const MESSAGE_OVERHEAD: usize = 64;

/// Reading pauses when this number of messages or bytes was received and not taken.
const MAX_INBOUND: usize = 64;
const MAX_INBOUND_BYTES: usize = 64 << 10;

/// The bytes of a connection that do not count against the memory limit of the server.
const UNCOUNTED_BYTES: usize = 64 << 10;

/// The maximum of messages, and of bytes before the last message, that are taken for writing at once.
const MAX_BATCH: usize = 256;
const MAX_BATCH_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Queue {
    max_messages: usize,
    max_bytes: usize,
    state: Mutex<State>,
    /// Notified when the send queue has space, and when it is closed.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    inbound: VecDeque<Message>,
    inbound_bytes: usize,
    /// The received bytes of an incomplete message.
    partial_bytes: usize,
    receiver: Option<Waker>,
    /// The application has dropped the receiver. Received messages are discarded.
    receiver_dropped: bool,
    /// The task does not read until the application takes messages.
    inbound_full: bool,
    outbound: VecDeque<Message>,
    outbound_bytes: usize,
    /// When the send queue became full.
    full_since: Option<Instant>,
    /// At least one sender waits for space.
    has_blocked_sender: bool,
    /// The memory reserved for all messages. `None` if the memory is not limited, as on a client.
    reservation: Option<MemoryReservation>,
    /// The waker of the task of the connection while the task waits.
    task: Option<Waker>,
    /// The state has changed since the task last registered its waker or checked this flag.
    wake_pending: bool,
    /// The close frame that the application wants to send, and when it first wanted to.
    closing: Option<CloseFrame>,
    closing_since: Option<Instant>,
    /// No more messages are received or sent.
    closed: bool,
    error: Option<WebSocketError>,
    /// The close frame of the side that closed first.
    close_frame: Option<CloseFrame>,
}

/// Since when messages have waited for the peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    /// When the send queue became full. `None` if it is not full.
    pub(super) full_since: Option<Instant>,
    /// When the application closed the connection. `None` if it has not.
    pub(super) closing_since: Option<Instant>,
}

impl Queue {
    pub(super) fn new(limits: &WebSocketLimits, reservation: Option<MemoryReservation>) -> Self {
        Self {
            max_messages: limits.max_queued_messages,
            max_bytes: limits.max_queued_bytes,
            state: Mutex::new(State {
                reservation,
                ..State::default()
            }),
            changed: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // The sender side.

    pub(super) fn try_send(&self, message: Message) -> Result<(), TrySendError> {
        let mut state = self.lock();
        if state.closing.is_some() || state.closed {
            return Err(TrySendError::Closed(message));
        }
        let cost = message.len() + MESSAGE_OVERHEAD;
        let fits = state.outbound.len() < self.max_messages
            && state.outbound_bytes.saturating_add(cost) <= self.max_bytes;
        // An empty queue accepts a message of any size, otherwise a large message could never be sent.
        let is_first = state.outbound.is_empty();
        if !(is_first || fits && state.reserve(cost)) {
            // The task is woken to start the timeout for slow readers.
            if state.full_since.is_none() {
                state.full_since = Some(Instant::now());
                wake(state);
            }
            return Err(TrySendError::Full(message));
        }
        state.outbound.push_back(message);
        state.outbound_bytes += cost;
        wake(state);
        Ok(())
    }

    pub(super) async fn send(&self, mut message: Message) -> Result<(), SendError> {
        loop {
            match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(message)) => return Err(SendError(message)),
                Err(TrySendError::Full(refused)) => message = refused,
            }
            let mut changed = std::pin::pin!(self.changed.notified());
            // It is enabled before the state is checked again, so that no notification is missed.
            changed.as_mut().enable();
            {
                let mut state = self.lock();
                state.has_blocked_sender = true;
                let has_room = state.outbound.len() < self.max_messages
                    && state.outbound_bytes < self.max_bytes
                    || state.outbound.is_empty();
                let closed = state.closing.is_some() || state.closed;
                if closed || has_room && state.full_since.is_none() {
                    continue;
                }
            }
            changed.await;
        }
    }

    /// Closes the connection after all queued messages have been sent, or after the write timeout. Only the first call
    /// sets the frame.
    pub(super) fn close(&self, frame: CloseFrame) {
        let mut state = self.lock();
        if !state.closed && state.closing.is_none() {
            state.closing = Some(frame);
            state.closing_since = Some(Instant::now());
        }
        self.changed.notify_waiters();
        wake(state);
    }

    /// The number of messages in the send queue, and the sum of their payloads in bytes.
    pub(super) fn queued(&self) -> (usize, usize) {
        let state = self.lock();
        let count = state.outbound.len();
        (count, state.outbound_bytes - count * MESSAGE_OVERHEAD)
    }

    pub(super) fn is_open(&self) -> bool {
        let state = self.lock();
        state.closing.is_none() && !state.closed
    }

    pub(super) fn close_frame(&self) -> Option<CloseFrame> {
        self.lock().close_frame.clone()
    }

    pub(super) async fn closed(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.lock().closed {
                return;
            }
            changed.await;
        }
    }

    // The receiver side.

    pub(super) fn poll_next(
        &self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Message, WebSocketError>>> {
        let mut state = self.lock();
        let Some(message) = state.inbound.pop_front() else {
            if state.closed {
                return Poll::Ready(state.error.take().map(Err));
            }
            state.receiver = Some(cx.waker().clone());
            return Poll::Pending;
        };
        state.inbound_bytes -= message.len() + MESSAGE_OVERHEAD;
        if state.inbound_full
            && state.inbound_bytes <= MAX_INBOUND_BYTES / 2
            && state.inbound.len() <= MAX_INBOUND / 2
        {
            state.inbound_full = false;
            wake(state);
        }
        Poll::Ready(Some(Ok(message)))
    }

    /// Discards received messages, now and later, and closes the connection.
    pub(super) fn drop_receiver(&self, frame: CloseFrame) {
        {
            let mut state = self.lock();
            state.receiver_dropped = true;
            state.inbound = VecDeque::new();
            state.inbound_bytes = 0;
            state.inbound_full = false;
        }
        self.close(frame);
    }

    // The task of the connection. On a server it polls the receiver (the handler) after the driver.

    /// Returns whether received messages can be stored. If not, the task is woken when they can.
    pub(super) fn can_receive(&self) -> bool {
        let mut state = self.lock();
        let at_limit =
            state.inbound.len() >= MAX_INBOUND || state.inbound_bytes >= MAX_INBOUND_BYTES;
        state.inbound_full = at_limit || !state.inbound.is_empty() && !state.reserve(0);
        !state.inbound_full
    }

    /// Stores received messages, and the size of the incomplete message after them. Returns false if the memory limit
    /// does not allow the incomplete message.
    ///
    /// A receiver on the task of the connection is not woken: it is polled next.
    pub(super) fn push_inbound(
        &self,
        messages: &mut Vec<Message>,
        partial_bytes: usize,
        cx: &Context<'_>,
    ) -> bool {
        let mut state = self.lock();
        state.partial_bytes = partial_bytes;
        if state.receiver_dropped {
            messages.clear();
        }
        let has_messages = !messages.is_empty();
        for message in messages.drain(..) {
            state.inbound_bytes += message.len() + MESSAGE_OVERHEAD;
            state.inbound.push_back(message);
        }
        let is_reserved = state.reserve(0);
        let receiver = match has_messages {
            true => state.receiver.take(),
            false => None,
        };
        drop(state);
        if let Some(receiver) = receiver
            && !receiver.will_wake(cx.waker())
        {
            receiver.wake();
        }
        is_reserved || partial_bytes <= UNCOUNTED_BYTES
    }

    /// Takes messages from the send queue for writing.
    pub(super) fn take_batch(&self, batch: &mut VecDeque<Message>) {
        let mut state = self.lock();
        let mut bytes = 0;
        while batch.len() < MAX_BATCH
            && bytes < MAX_BATCH_BYTES
            && let Some(message) = state.outbound.pop_front()
        {
            bytes += message.len();
            state.outbound_bytes -= message.len() + MESSAGE_OVERHEAD;
            batch.push_back(message);
        }
        state.reserve(0);
        // Half of the queue must be free before senders continue, so that they are not woken for each message.
        let has_room = state.outbound.is_empty()
            || state.outbound.len() <= self.max_messages / 2
                && state.outbound_bytes <= self.max_bytes / 2;
        if has_room {
            state.full_since = None;
            if std::mem::take(&mut state.has_blocked_sender) {
                drop(state);
                self.changed.notify_waiters();
            }
        }
    }

    /// What the write timeout applies to.
    pub(super) fn waits(&self) -> Waits {
        let state = self.lock();
        Waits {
            full_since: state.full_since,
            closing_since: state.closing_since,
        }
    }

    /// Drops the messages that have not been taken for writing.
    pub(super) fn drop_unsent(&self) {
        let mut state = self.lock();
        state.drop_unsent();
        drop(state);
        self.changed.notify_waiters();
    }

    /// The close frame that the application wants to send, after all messages have been taken for writing.
    pub(super) fn closing(&self) -> Option<CloseFrame> {
        let state = self.lock();
        match state.outbound.is_empty() {
            true => state.closing.clone(),
            false => None,
        }
    }

    /// Registers the waker of the task. Returns false, without registering it, if the state has changed already.
    pub(super) fn register_waker(&self, cx: &Context<'_>) -> bool {
        let mut state = self.lock();
        if std::mem::take(&mut state.wake_pending) {
            return false;
        }
        match &mut state.task {
            Some(task) => task.clone_from(cx.waker()),
            empty => *empty = Some(cx.waker().clone()),
        }
        true
    }

    /// Closes the queue. The first call sets the close frame and the error. Unsent messages are dropped.
    pub(super) fn close_now(&self, frame: CloseFrame, error: Option<WebSocketError>) {
        let mut state = self.lock();
        if !state.closed {
            state.closed = true;
            state.error = error;
            state.close_frame = Some(frame);
        }
        state.partial_bytes = 0;
        state.drop_unsent();
        let receiver = state.receiver.take();
        drop(state);
        receiver.into_iter().for_each(Waker::wake);
        self.changed.notify_waiters();
    }
}

impl State {
    fn drop_unsent(&mut self) {
        self.outbound = VecDeque::new();
        self.outbound_bytes = 0;
        self.full_since = None;
        self.reserve(0);
    }

    /// Adjusts the memory reservation to all messages and `additional` bytes. Returns false if the limit does not allow
    /// it.
    fn reserve(&mut self, additional: usize) -> bool {
        let total = self.inbound_bytes + self.outbound_bytes + self.partial_bytes;
        let counted = total
            .saturating_add(additional)
            .saturating_sub(UNCOUNTED_BYTES);
        self.reservation
            .as_mut()
            .is_none_or(|reservation| reservation.resize(counted))
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    match state.task.take() {
        None => state.wake_pending = true,
        Some(task) => {
            drop(state);
            task.wake();
        }
    }
}
