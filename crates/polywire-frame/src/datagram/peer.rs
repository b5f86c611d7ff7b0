//! What a server knows of one client.

use super::token::Made;
use crate::{CallId, Flags, Time};

/// A client, from the first datagram that bore its token.
#[derive(Debug)]
pub(super) struct Peer<O, T, A> {
    pub(super) address: A,
    pub(super) token: u64,
    pub(super) made: Made,
    /// When it was last heard.
    pub(super) heard: Time,
    /// It makes no more calls.
    pub(super) left: bool,
    slots: Vec<Slot<T>>,
    /// What the names of its numbers stand for; the first is 1.
    names: Vec<Option<O>>,
    /// Calls that are being carried out.
    pub(super) open: u32,
    /// Bytes of their bodies.
    pub(super) open_bytes: u64,
    /// Bytes of kept answers.
    pub(super) kept: usize,
    /// No open call has a deadline before this.
    pub(super) earliest: Time,
}

/// The last call of a slot.
#[derive(Debug)]
pub(super) struct Slot<T> {
    /// The answer as it was sent, if it is kept. The room is used again.
    answer: Vec<u8>,
    /// When it began.
    pub(super) arrived: Time,
    /// When nobody waits for an open call any more; when an answered one was answered.
    time: Time,
    /// What is kept of it while it is open.
    pub(super) context: Option<T>,
    /// Of its body.
    bytes: u32,
    count: u16,
    /// Of the datagram that began it.
    pub(super) again: Flags,
    state: State,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Unused,
    Open,
    Answered,
    /// Answered, but the answer is not there any more.
    Forgotten,
}

/// What a call's id is to a server.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Seen<'a> {
    New,
    /// It is being carried out.
    Open,
    /// It was answered so.
    Answered(&'a [u8]),
    /// It was answered, and nobody knows how.
    Forgotten,
    /// There was a later one in its slot.
    Old,
}

/// The least room that an answer is given, so that the next may have some more bytes.
const LEAST: usize = 32;

impl<O: Copy, T, A> Peer<O, T, A> {
    pub(super) const fn new(address: A, token: u64, made: Made, now: Time) -> Self {
        Self {
            address,
            token,
            made,
            heard: now,
            left: false,
            slots: Vec::new(),
            names: Vec::new(),
            open: 0,
            open_bytes: 0,
            kept: 0,
            earliest: Time::NEVER,
        }
    }

    /// Bytes that it takes, but for itself.
    pub(super) const fn memory(&self) -> usize {
        self.kept
            + self.slots.capacity() * size_of::<Slot<T>>()
            + self.names.capacity() * size_of::<Option<O>>()
    }

    /// What the id is.
    pub(super) fn seen(&self, id: CallId) -> Seen<'_> {
        let Some(slot) = self.slots.get(usize::from(id.slot())) else {
            return Seen::New;
        };
        match (id.count().wrapping_sub(slot.count), slot.state) {
            (_, State::Unused) => Seen::New,
            (0, State::Open) => Seen::Open,
            (0, State::Answered) => Seen::Answered(&slot.answer),
            (0, State::Forgotten) => Seen::Forgotten,
            (1..0x8000, _) => Seen::New,
            _ => Seen::Old,
        }
    }

    /// Bytes that the table needs beyond what it has, for a call of that slot.
    pub(super) fn needs(&self, slot: usize) -> usize {
        let room = self.slots.capacity();
        match slot < room {
            true => 0,
            false => ((slot + 1).max(2 * room) - room) * size_of::<Slot<T>>(),
        }
    }

    /// Begins a call that is new. What was in its slot is over: an answer has arrived, and a call that
    /// is still being carried out is given up.
    pub(super) fn begin(
        &mut self,
        now: Time,
        id: CallId,
        deadline: Time,
        (bytes, again): (u32, Flags),
    ) {
        let index = usize::from(id.slot());
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || Slot {
                answer: Vec::new(),
                arrived: now,
                time: now,
                context: None,
                bytes: 0,
                count: 0,
                again: Flags::NONE,
                state: State::Unused,
            });
        }
        self.close(id.slot());
        let slot = &mut self.slots[index];
        slot.count = id.count();
        slot.again = again;
        slot.state = State::Open;
        slot.arrived = now;
        slot.time = deadline;
        slot.bytes = bytes;
        self.open += 1;
        self.open_bytes += u64::from(bytes);
        self.earliest = self.earliest.min(deadline);
    }

    /// The slot of a call that is open.
    #[inline]
    pub(super) fn open_mut(&mut self, id: CallId) -> Option<&mut Slot<T>> {
        let slot = self.slots.get_mut(usize::from(id.slot()))?;
        (slot.count == id.count() && slot.state == State::Open).then_some(slot)
    }

    /// The call of a slot is not open any more.
    fn close(&mut self, slot: u16) -> Option<T> {
        let slot = &mut self.slots[usize::from(slot)];
        if slot.state != State::Open {
            return None;
        }
        slot.state = State::Forgotten;
        self.open -= 1;
        self.open_bytes -= u64::from(slot.bytes);
        slot.context.take()
    }

    /// Ends an open call, and keeps its answer.
    #[inline]
    pub(super) fn answer(&mut self, now: Time, id: CallId, answer: &[u8]) {
        drop(self.close(id.slot()));
        let slot = &mut self.slots[usize::from(id.slot())];
        let before = slot.answer.capacity();
        let room = answer.len().max(LEAST);
        if before < room || before > 4 * room {
            slot.answer = Vec::with_capacity(room);
            self.kept = self.kept - before + slot.answer.capacity();
        }
        slot.answer.clear();
        slot.answer.extend_from_slice(answer);
        slot.state = State::Answered;
        slot.time = now;
    }

    /// Forgets the older half of the answers that are kept.
    pub(super) fn forget_half(&mut self) {
        let kept = |slot: &Slot<T>| slot.answer.capacity() > 0;
        let mut times: Vec<_> = self
            .slots
            .iter()
            .filter(|slot| kept(slot))
            // The room of an open call is of an answer that has arrived.
            .map(|slot| match slot.state {
                State::Answered => slot.time,
                _ => Time::ZERO,
            })
            .collect();
        if times.is_empty() {
            return;
        }
        let middle = (times.len() - 1) / 2;
        let (_, until, _) = times.select_nth_unstable(middle);
        let until = *until;
        for slot in &mut self.slots {
            if !kept(slot) || slot.state == State::Answered && slot.time > until {
                continue;
            }
            self.kept -= slot.answer.capacity();
            slot.answer = Vec::new();
            if slot.state == State::Answered {
                slot.state = State::Forgotten;
            }
        }
    }

    /// Forgets all but the client itself: it makes no more calls. What was kept of open ones.
    pub(super) fn leave(&mut self) {
        self.left = true;
        self.slots = Vec::new();
        self.names = Vec::new();
        self.open = 0;
        self.open_bytes = 0;
        self.kept = 0;
        self.earliest = Time::NEVER;
    }

    /// The open calls whose time is over.
    pub(super) fn late(&mut self, now: Time, late: &mut Vec<CallId>) {
        if now < self.earliest {
            return;
        }
        let mut earliest = Time::NEVER;
        for (index, slot) in self.slots.iter().enumerate() {
            match slot.state {
                State::Open if slot.time <= now => {
                    late.push(CallId::new(index as u16, slot.count));
                }
                State::Open => earliest = earliest.min(slot.time),
                _ => {}
            }
        }
        self.earliest = earliest;
    }

    /// What an operation's number stands for; nothing if it has no name.
    #[inline]
    pub(super) fn named(&self, number: u16) -> Option<O> {
        *self.names.get(usize::from(number).checked_sub(1)?)?
    }

    /// Gives a number a name.
    pub(super) fn name(&mut self, number: u16, operation: O) {
        let Some(index) = usize::from(number).checked_sub(1) else {
            return;
        };
        if self.names.len() <= index {
            self.names.resize(index + 1, None);
        }
        self.names[index] = Some(operation);
    }
}
