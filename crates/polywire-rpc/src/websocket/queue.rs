//! What the task of a connection and its users share: messages that came, and messages that wait to be sent.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;
use tokio::time::Instant;

use super::error::{SendError, TrySendError, WebSocketError};
use super::limits::WebSocketLimits;
use super::message::{CloseFrame, Message};
use crate::server::Held;
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// What a message costs beside its bytes.
const COST: usize = 64;

/// The messages and their bytes that come before their receiver takes any.
const MOST_CAME: usize = 64;
const MOST_CAME_BYTES: usize = 64 << 10;

/// Bytes of a connection that take no memory that counts.
const FREE: usize = 64 << 10;

/// The messages and bytes that leave the queue together.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Queue {
    messages: usize,
    bytes: usize,
    state: Mutex<State>,
    /// Told when there is room, and at the end.
    room: Notify,
}

#[derive(Debug, Default)]
struct State {
    came: VecDeque<Message>,
    came_bytes: usize,
    /// Bytes of a message that has not come whole.
    coming: usize,
    receiver: Option<Waker>,
    /// Nobody receives any more.
    deaf: bool,
    /// The task reads no more until some of what came is taken.
    full: bool,
    leaving: VecDeque<Message>,
    leaving_bytes: usize,
    /// Since when the queue has been full.
    crowded: Option<Instant>,
    /// Somebody waits for room.
    waited_for: bool,
    /// What all of it takes. Nothing, if it is not counted.
    held: Option<Held>,
    /// The task of the connection, while it waits.
    task: Option<Waker>,
    /// Something has changed while it did not.
    news: bool,
    /// How this side wants to close.
    closing: Option<CloseFrame>,
    /// No more messages will come.
    ended: bool,
    error: Option<WebSocketError>,
    /// How the connection was closed.
    closed: Option<CloseFrame>,
}

impl Queue {
    pub(super) fn new(limits: &WebSocketLimits, held: Option<Held>) -> Self {
        Self {
            messages: limits.queue_messages,
            bytes: limits.queue_bytes,
            state: Mutex::new(State {
                held,
                ..State::default()
            }),
            room: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // For those who send.

    pub(super) fn try_send(&self, message: Message) -> Result<(), TrySendError> {
        let mut state = self.lock();
        if state.closing.is_some() || state.ended {
            return Err(TrySendError::Closed(message));
        }
        let cost = message.len() + COST;
        let fits = state.leaving.len() < self.messages
            && state.leaving_bytes.saturating_add(cost) <= self.bytes;
        let first = state.leaving.is_empty();
        if !(first || fits && state.hold(cost)) {
            // The task has to know since when.
            if state.crowded.is_none() {
                state.crowded = Some(Instant::now());
                wake(state);
            }
            return Err(TrySendError::Full(message));
        }
        state.leaving.push_back(message);
        state.leaving_bytes += cost;
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
            let mut room = std::pin::pin!(self.room.notified());
            // Before it is looked for again, so that nothing is missed.
            room.as_mut().enable();
            {
                let mut state = self.lock();
                state.waited_for = true;
                let has_room = state.leaving.len() < self.messages
                    && state.leaving_bytes < self.bytes
                    || state.leaving.is_empty();
                let over = state.closing.is_some() || state.ended;
                if over || has_room && state.crowded.is_none() {
                    continue;
                }
            }
            room.await;
        }
    }

    /// Closes, once all that waits has been sent. The first word holds.
    pub(super) fn close(&self, frame: CloseFrame) {
        let mut state = self.lock();
        if !state.ended {
            state.closing.get_or_insert(frame);
        }
        self.room.notify_waiters();
        wake(state);
    }

    /// How many messages wait to be sent, and their bytes.
    pub(super) fn waiting(&self) -> (usize, usize) {
        let state = self.lock();
        let count = state.leaving.len();
        (count, state.leaving_bytes - count * COST)
    }

    pub(super) fn is_open(&self) -> bool {
        let state = self.lock();
        state.closing.is_none() && !state.ended
    }

    pub(super) fn close_frame(&self) -> Option<CloseFrame> {
        self.lock().closed.clone()
    }

    pub(super) async fn ended(&self) {
        loop {
            let mut told = std::pin::pin!(self.room.notified());
            told.as_mut().enable();
            if self.lock().ended {
                return;
            }
            told.await;
        }
    }

    // For who receives.

    pub(super) fn poll_next(
        &self,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Message, WebSocketError>>> {
        let mut state = self.lock();
        let Some(message) = state.came.pop_front() else {
            if state.ended {
                return Poll::Ready(state.error.take().map(Err));
            }
            state.receiver = Some(cx.waker().clone());
            return Poll::Pending;
        };
        state.came_bytes -= message.len() + COST;
        if state.full
            && state.came_bytes <= MOST_CAME_BYTES / 2
            && state.came.len() <= MOST_CAME / 2
        {
            state.full = false;
            wake(state);
        }
        Poll::Ready(Some(Ok(message)))
    }

    /// Nobody receives any more. The peer is told so, unless it was told something else.
    pub(super) fn leave(&self, frame: CloseFrame) {
        {
            let mut state = self.lock();
            state.deaf = true;
            state.came = VecDeque::new();
            state.came_bytes = 0;
            state.full = false;
        }
        self.close(frame);
    }

    // For the task of the connection, which has the receiver's turn after its own.

    /// Whether there is room for what comes. If not, the task is woken once there is.
    pub(super) fn has_room(&self) -> bool {
        let mut state = self.lock();
        let enough = state.came.len() >= MOST_CAME || state.came_bytes >= MOST_CAME_BYTES;
        state.full = enough || !state.came.is_empty() && !state.hold(0);
        !state.full
    }

    /// Messages have come, and these bytes of another one. False if there is no memory for it.
    ///
    /// A receiver in the task of the connection is not woken: it has its turn next.
    pub(super) fn arrive(
        &self,
        messages: &mut Vec<Message>,
        coming: usize,
        cx: &Context<'_>,
    ) -> bool {
        let mut state = self.lock();
        state.coming = coming;
        if state.deaf {
            messages.clear();
        }
        let some = !messages.is_empty();
        for message in messages.drain(..) {
            state.came_bytes += message.len() + COST;
            state.came.push_back(message);
        }
        let held = state.hold(0);
        let receiver = match some {
            true => state.receiver.take(),
            false => None,
        };
        drop(state);
        if let Some(receiver) = receiver
            && !receiver.will_wake(cx.waker())
        {
            receiver.wake();
        }
        held || coming <= FREE
    }

    /// Takes messages out that are to be written.
    pub(super) fn depart(&self, batch: &mut VecDeque<Message>) {
        let mut state = self.lock();
        let mut bytes = 0;
        while batch.len() < BATCH
            && bytes < BATCH_BYTES
            && let Some(message) = state.leaving.pop_front()
        {
            bytes += message.len();
            state.leaving_bytes -= message.len() + COST;
            batch.push_back(message);
        }
        state.hold(0);
        let room = state.leaving.is_empty()
            || state.leaving.len() <= self.messages / 2 && state.leaving_bytes <= self.bytes / 2;
        if room {
            state.crowded = None;
            if std::mem::take(&mut state.waited_for) {
                drop(state);
                self.room.notify_waiters();
            }
        }
    }

    /// Since when the queue has been full.
    pub(super) fn crowded(&self) -> Option<Instant> {
        self.lock().crowded
    }

    /// How this side wants to close, once all has left.
    pub(super) fn closing(&self) -> Option<CloseFrame> {
        let state = self.lock();
        match state.leaving.is_empty() {
            true => state.closing.clone(),
            false => None,
        }
    }

    /// The task waits, and is woken when something changes; false if something has changed already.
    pub(super) fn park(&self, cx: &Context<'_>) -> bool {
        let mut state = self.lock();
        if std::mem::take(&mut state.news) {
            return false;
        }
        match &mut state.task {
            Some(task) => task.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        true
    }

    /// No more comes or goes.
    pub(super) fn end(&self, frame: CloseFrame, error: Option<WebSocketError>) {
        let mut state = self.lock();
        if !state.ended {
            state.ended = true;
            state.error = error;
            state.closed = Some(frame);
        }
        state.leaving = VecDeque::new();
        state.leaving_bytes = 0;
        state.coming = 0;
        state.crowded = None;
        state.hold(0);
        let receiver = state.receiver.take();
        drop(state);
        receiver.into_iter().for_each(Waker::wake);
        self.room.notify_waiters();
    }
}

impl State {
    /// Takes memory for all that is there and so many bytes more.
    fn hold(&mut self, more: usize) -> bool {
        let all = self.came_bytes + self.leaving_bytes + self.coming;
        let counted = all.saturating_add(more).saturating_sub(FREE);
        self.held.as_mut().is_none_or(|held| held.resize(counted))
    }
}

fn wake(mut state: MutexGuard<'_, State>) {
    match state.task.take() {
        None => state.news = true,
        Some(task) => {
            drop(state);
            task.wake();
        }
    }
}
