//! What a server knows of one client.

use super::token::Made;
use crate::{CallId, Flags, Time};

/// A client, from the first datagram that bore its token.
///
/// The counts of its slots are kept for as long as it is known, and take as little as can be, in pages: whoever has a
/// token can have all slots for some datagrams. What there is of a call stands apart, while it is open or its answer is
/// kept, and answers can be forgotten.
#[derive(Debug)]
pub(super) struct Peer<O, T, A> {
    pub(super) address: A,
    pub(super) token: u64,
    pub(super) made: Made,
    /// When it was last heard.
    pub(super) heard: Time,
    /// It makes no more calls.
    pub(super) left: bool,
    pages: Vec<Option<Page<T>>>,
    /// How many pages there are.
    paged: usize,
    /// What its numbers stand for, in their order.
    names: Vec<(u16, O)>,
    /// Calls that are being carried out.
    pub(super) open: u32,
    /// Bytes of their bodies.
    pub(super) open_bytes: u64,
    /// Bytes of kept answers, with their calls.
    pub(super) kept: usize,
    /// No open call has a deadline before this.
    pub(super) earliest: Time,
}

/// Slots that are there together.
type Page<T> = Box<[Slot<T>; PAGE]>;

const PAGE: usize = 32;

/// The last call of a slot.
#[derive(Debug)]
struct Slot<T> {
    /// If it is open or answered.
    entry: Option<Box<Entry<T>>>,
    count: u16,
    state: State,
}

/// A call that is open, or whose answer is kept.
#[derive(Debug)]
pub(super) struct Entry<T> {
    /// The answer as it was sent, or that of a call before. The room is used again.
    answer: Vec<u8>,
    /// When it began.
    pub(super) arrived: Time,
    /// When nobody waits for an open call any more; when an answered one was answered.
    time: Time,
    /// What is kept of it while it is open.
    pub(super) context: Option<T>,
    /// Of its body.
    bytes: u32,
    /// Of the datagram that began it.
    pub(super) again: Flags,
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
    /// Bytes of a call that is open or answered, but for its answer.
    const ENTRY: usize = size_of::<Entry<T>>();

    pub(super) const fn new(address: A, token: u64, made: Made, now: Time) -> Self {
        Self {
            address,
            token,
            made,
            heard: now,
            left: false,
            pages: Vec::new(),
            paged: 0,
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
            + self.open as usize * Self::ENTRY
            + self.pages.capacity() * size_of::<Option<Page<T>>>()
            + self.paged * size_of::<[Slot<T>; PAGE]>()
            + self.names.capacity() * size_of::<(u16, O)>()
    }

    #[inline]
    fn slot(&self, slot: u16) -> Option<&Slot<T>> {
        let slot = usize::from(slot);
        let page = self.pages.get(slot / PAGE)?.as_ref()?;
        Some(&page[slot % PAGE])
    }

    #[inline]
    fn slot_mut(&mut self, slot: u16) -> Option<&mut Slot<T>> {
        let slot = usize::from(slot);
        let page = self.pages.get_mut(slot / PAGE)?.as_mut()?;
        Some(&mut page[slot % PAGE])
    }

    fn slots(&self) -> impl Iterator<Item = (u16, &Slot<T>)> {
        let pages = self.pages.iter().enumerate();
        pages
            .filter_map(|(index, page)| Some((index, page.as_ref()?)))
            .flat_map(|(index, page)| {
                let slots = page.iter().enumerate();
                slots.map(move |(at, slot)| ((index * PAGE + at) as u16, slot))
            })
    }

    /// What the id is.
    pub(super) fn seen(&self, id: CallId) -> Seen<'_> {
        let Some(slot) = self.slot(id.slot()) else {
            return Seen::New;
        };
        match (id.count().wrapping_sub(slot.count), slot.state) {
            (_, State::Unused) => Seen::New,
            (0, State::Open) => Seen::Open,
            (0, State::Answered) => match &slot.entry {
                Some(entry) => Seen::Answered(&entry.answer),
                None => Seen::Forgotten,
            },
            (0, State::Forgotten) => Seen::Forgotten,
            (1..0x8000, _) => Seen::New,
            _ => Seen::Old,
        }
    }

    /// Bytes that are needed beyond what there is, for a call of that slot.
    pub(super) fn needs(&self, slot: u16) -> usize {
        let page = usize::from(slot) / PAGE;
        let pages = Self::directory(page).saturating_sub(self.pages.capacity());
        match self.slot(slot) {
            Some(Slot { entry: Some(_), .. }) => 0,
            Some(_) => Self::ENTRY,
            None => {
                pages * size_of::<Option<Page<T>>>() + size_of::<[Slot<T>; PAGE]>() + Self::ENTRY
            }
        }
    }

    /// How many pages there is room for if there is this one.
    const fn directory(page: usize) -> usize {
        (page + 1).next_power_of_two()
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
        self.close(id.slot());
        let index = usize::from(id.slot());
        let number = index / PAGE;
        if self.pages.len() <= number {
            let room = Self::directory(number) - self.pages.len();
            self.pages.reserve_exact(room);
            self.pages.resize_with(number + 1, || None);
        }
        let paged = &mut self.paged;
        let page = self.pages[number].get_or_insert_with(|| {
            *paged += 1;
            let unused = || Slot {
                entry: None,
                count: 0,
                state: State::Unused,
            };
            Box::new(std::array::from_fn(|_| unused()))
        });
        let slot = &mut page[index % PAGE];
        if slot.entry.is_some() {
            self.kept -= Self::ENTRY;
        }
        let entry = slot.entry.get_or_insert_with(|| {
            Box::new(Entry {
                answer: Vec::new(),
                arrived: now,
                time: deadline,
                context: None,
                bytes,
                again,
            })
        });
        slot.count = id.count();
        slot.state = State::Open;
        entry.again = again;
        entry.arrived = now;
        entry.time = deadline;
        entry.bytes = bytes;
        self.open += 1;
        self.open_bytes += u64::from(bytes);
        self.earliest = self.earliest.min(deadline);
    }

    /// The call that is open.
    #[inline]
    pub(super) fn open_mut(&mut self, id: CallId) -> Option<&mut Entry<T>> {
        let slot = self.slot_mut(id.slot())?;
        match slot.count == id.count() && slot.state == State::Open {
            true => slot.entry.as_deref_mut(),
            false => None,
        }
    }

    /// The call of a slot is not open any more.
    fn close(&mut self, slot: u16) -> Option<T> {
        let slot = self.slot_mut(slot)?;
        if slot.state != State::Open {
            return None;
        }
        slot.state = State::Answered;
        let entry = slot.entry.as_mut()?;
        let (bytes, context) = (entry.bytes, entry.context.take());
        self.open -= 1;
        self.open_bytes -= u64::from(bytes);
        self.kept += Self::ENTRY;
        context
    }

    /// Ends an open call, and keeps its answer.
    #[inline]
    pub(super) fn answer(&mut self, now: Time, id: CallId, answer: &[u8]) {
        drop(self.close(id.slot()));
        let slot = self.slot_mut(id.slot());
        let Some(entry) = slot.and_then(|slot| slot.entry.as_mut()) else {
            return;
        };
        let before = entry.answer.capacity();
        let room = answer.len().max(LEAST);
        if before < room || before > 4 * room {
            entry.answer = Vec::with_capacity(room);
        }
        entry.answer.clear();
        entry.answer.extend_from_slice(answer);
        entry.time = now;
        let after = entry.answer.capacity();
        self.kept = self.kept - before + after;
    }

    /// Forgets the older half of the answers that are kept.
    pub(super) fn forget_half(&mut self) {
        // The room of an open call is of an answer that has arrived.
        let age = |slot: &Slot<T>| match (slot.state, &slot.entry) {
            (State::Answered, Some(entry)) => Some(entry.time),
            (_, Some(entry)) if entry.answer.capacity() > 0 => Some(Time::ZERO),
            _ => None,
        };
        let mut times: Vec<_> = self.slots().filter_map(|(_, slot)| age(slot)).collect();
        if times.is_empty() {
            return;
        }
        let middle = (times.len() - 1) / 2;
        let (_, until, _) = times.select_nth_unstable(middle);
        let until = *until;
        for slot in self.pages.iter_mut().flatten().flat_map(|page| &mut **page) {
            if age(slot).is_none_or(|age| age > until) {
                continue;
            }
            let Some(entry) = &mut slot.entry else {
                continue;
            };
            self.kept -= entry.answer.capacity();
            entry.answer = Vec::new();
            if slot.state == State::Answered {
                self.kept -= Self::ENTRY;
                slot.entry = None;
                slot.state = State::Forgotten;
            }
        }
    }

    /// Forgets all but the client itself: it makes no more calls. What was kept of open ones.
    pub(super) fn leave(&mut self) {
        self.left = true;
        self.pages = Vec::new();
        self.paged = 0;
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
        for (index, slot) in self.slots() {
            let Some(entry) = slot.entry.as_ref().filter(|_| slot.state == State::Open) else {
                continue;
            };
            match entry.time <= now {
                true => late.push(CallId::new(index, slot.count)),
                false => earliest = earliest.min(entry.time),
            }
        }
        self.earliest = earliest;
    }

    /// What an operation's number stands for; nothing if it has no name.
    #[inline]
    pub(super) fn named(&self, number: u16) -> Option<O> {
        // Mostly they are given out one by one.
        let expected = self.names.get(usize::from(number).checked_sub(1)?);
        if let Some((found, operation)) = expected
            && *found == number
        {
            return Some(*operation);
        }
        let at = self.names.binary_search_by_key(&number, |name| name.0);
        Some(self.names[at.ok()?].1)
    }

    /// Bytes that one more name needs.
    pub(super) fn needs_for_name(&self) -> usize {
        let room = self.names.capacity();
        match self.names.len() < room {
            true => 0,
            // As a vector grows.
            false => room.max(4) * size_of::<(u16, O)>(),
        }
    }

    /// Gives a number a name, which has none.
    pub(super) fn name(&mut self, number: u16, operation: O) {
        if let Err(at) = self.names.binary_search_by_key(&number, |name| name.0) {
            self.names.insert(at, (number, operation));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What there is, looked for.
    fn found(peer: &Peer<u32, u64, ()>) -> (usize, usize) {
        let entry = size_of::<Entry<u64>>();
        let (mut memory, mut kept) = (0, 0);
        for (_, slot) in peer.slots() {
            memory += size_of::<Slot<u64>>();
            let Some(there) = &slot.entry else {
                assert_ne!(slot.state, State::Open);
                continue;
            };
            assert!([State::Open, State::Answered].contains(&slot.state));
            kept += there.answer.capacity();
            memory += there.answer.capacity() + entry;
            if slot.state == State::Answered {
                kept += entry;
            }
        }
        let tables = peer.pages.capacity() * 8 + peer.names.capacity() * 8;
        (memory + tables, kept)
    }

    #[test]
    fn memory_is_what_there_is() {
        let mut made = super::super::token::Mint::new();
        let key = std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default();
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
        let token = made.token(Time::ZERO, address, &key).unwrap();
        let made = Made::of(token, Time::ZERO, address, &key).unwrap();
        let mut peer = Peer::<u32, u64, ()>::new((), token, made, Time::ZERO);
        let mut number = 1_u64;
        let mut counts = [0_u16; 512];
        for round in 0..20_000_u64 {
            number = number.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(9);
            let chance = (number >> 33) as usize;
            let slot = chance % 7 * 73 % 512;
            let now = Time::from_nanos(round);
            let id = CallId::new(slot as u16, counts[slot]);
            let before = peer.memory();
            match chance / 512 % 8 {
                0..3 => {
                    counts[slot] = counts[slot].wrapping_add(1);
                    let needs = peer.needs(slot as u16);
                    let id = CallId::new(slot as u16, counts[slot]);
                    peer.begin(now, id, Time::NEVER, (9, Flags::NONE));
                    assert_eq!(peer.memory(), before + needs);
                    assert_eq!(peer.seen(id), Seen::Open);
                }
                3..6 => {
                    if peer.open_mut(id).is_some() {
                        peer.answer(now, id, &vec![1; chance % 3_000]);
                        assert!(matches!(peer.seen(id), Seen::Answered(_)));
                    }
                }
                6 => {
                    let needs = peer.needs_for_name();
                    peer.name((chance % 50 + 1) as u16, 7);
                    assert!(peer.memory() <= before + needs);
                }
                _ => {
                    peer.forget_half();
                    assert!(peer.memory() <= before);
                }
            }
            assert_eq!((peer.memory(), peer.kept), found(&peer));
        }
        for _ in 0..20 {
            peer.forget_half();
        }
        assert_eq!(peer.kept, 0);
        assert_eq!((1..=50).filter_map(|name| peer.named(name)).count(), 50);
        assert_eq!(peer.named(51), None);
    }
}
