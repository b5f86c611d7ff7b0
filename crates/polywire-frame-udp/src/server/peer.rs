//! What a server stores of one client.

use polywire_frame::{CallId, Flags, Time};

use crate::token::TokenTime;

/// A client, from the first datagram with its token.
///
/// The counts of its slots are stored for as long as it is known. They are small and in pages, since a client with a token
/// can use all slots with few datagrams. The other data of a call is in an [`Entry`], which exists while the call is
/// open or its answer is stored. Stored answers can be dropped.
#[derive(Debug)]
pub(super) struct Peer<O, T, A> {
    pub(super) address: A,
    pub(super) token: u64,
    pub(super) token_time: TokenTime,
    /// When a datagram was last received.
    pub(super) last_received: Time,
    /// Whether it has sent `GOAWAY`.
    pub(super) is_going_away: bool,
    pages: Vec<Option<Page<T>>>,
    /// The number of pages.
    paged: usize,
    /// Its numbers of operations, in order.
    names: Vec<(u16, O)>,
    /// The number of open calls.
    pub(super) open: u32,
    /// Bytes of the bodies of open calls.
    pub(super) open_bytes: u64,
    /// Bytes of stored answers, with their entries.
    pub(super) answer_bytes: usize,
    /// No open call has a deadline before this.
    pub(super) earliest: Time,
}

/// A page of slots.
type Page<T> = Box<[Slot<T>; PAGE]>;

const PAGE: usize = 32;

/// The last call of a slot.
#[derive(Debug)]
struct Slot<T> {
    /// If the call is open or answered.
    entry: Option<Box<Entry<T>>>,
    count: u16,
    state: SlotState,
}

/// A call that is open, or whose answer is stored.
#[derive(Debug)]
pub(super) struct Entry<T> {
    /// The datagram of the answer, or of an earlier call's. The capacity is reused.
    answer: Vec<u8>,
    /// When the call arrived.
    pub(super) arrived: Time,
    /// Of an open call its deadline, of an answered call the time of the answer.
    deadline_or_answered: Time,
    /// What is stored with an open call.
    pub(super) context: Option<T>,
    /// Length of its body.
    bytes: u32,
    /// [`Flags::AGAIN`] of the datagram that began it.
    pub(super) again: Flags,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SlotState {
    Unused,
    Open,
    Answered,
    /// Answered, and the answer was forgotten.
    Forgotten,
}

/// What a server knows of a call.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum CallState<'a> {
    New,
    /// It has no answer yet.
    Open,
    /// It has this answer.
    Answered(&'a [u8]),
    /// It was answered, and the answer was forgotten.
    Forgotten,
    /// Its slot has had a later call.
    Old,
}

/// The least capacity of an answer, so that the next one may be a little longer.
const LEAST: usize = 32;

impl<O: Copy, T, A> Peer<O, T, A> {
    /// Bytes of an entry, without its answer.
    const ENTRY: usize = size_of::<Entry<T>>();

    pub(super) const fn new(address: A, token: u64, token_time: TokenTime, now: Time) -> Self {
        Self {
            address,
            token,
            token_time,
            last_received: now,
            is_going_away: false,
            pages: Vec::new(),
            paged: 0,
            names: Vec::new(),
            open: 0,
            open_bytes: 0,
            answer_bytes: 0,
            earliest: Time::NEVER,
        }
    }

    /// Bytes that are stored of the client, without this structure.
    pub(super) const fn memory(&self) -> usize {
        self.answer_bytes
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

    /// What is known of a call.
    pub(super) fn state(&self, id: CallId) -> CallState<'_> {
        let Some(slot) = self.slot(id.slot()) else {
            return CallState::New;
        };
        match (id.count().wrapping_sub(slot.count), slot.state) {
            (_, SlotState::Unused) => CallState::New,
            (0, SlotState::Open) => CallState::Open,
            (0, SlotState::Answered) => match &slot.entry {
                Some(entry) => CallState::Answered(&entry.answer),
                None => CallState::Forgotten,
            },
            (0, SlotState::Forgotten) => CallState::Forgotten,
            (1..0x8000, _) => CallState::New,
            _ => CallState::Old,
        }
    }

    /// Additional bytes for a call in this slot.
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

    /// The capacity of the directory if it contains this page.
    const fn directory(page: usize) -> usize {
        (page + 1).next_power_of_two()
    }

    /// Opens a new call. The previous call of its slot ends: its answer has arrived, or its caller has abandoned it.
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
                state: SlotState::Unused,
            };
            Box::new(std::array::from_fn(|_| unused()))
        });
        let slot = &mut page[index % PAGE];
        if slot.entry.is_some() {
            self.answer_bytes -= Self::ENTRY;
        }
        let entry = slot.entry.get_or_insert_with(|| {
            Box::new(Entry {
                answer: Vec::new(),
                arrived: now,
                deadline_or_answered: deadline,
                context: None,
                bytes,
                again,
            })
        });
        slot.count = id.count();
        slot.state = SlotState::Open;
        entry.again = again;
        entry.arrived = now;
        entry.deadline_or_answered = deadline;
        entry.bytes = bytes;
        self.open += 1;
        self.open_bytes += u64::from(bytes);
        self.earliest = self.earliest.min(deadline);
    }

    /// The entry of an open call.
    #[inline]
    pub(super) fn open_mut(&mut self, id: CallId) -> Option<&mut Entry<T>> {
        let slot = self.slot_mut(id.slot())?;
        match slot.count == id.count() && slot.state == SlotState::Open {
            true => slot.entry.as_deref_mut(),
            false => None,
        }
    }

    /// Ends the open call of a slot, if there is one. The caller stores the answer.
    fn close(&mut self, slot: u16) -> Option<T> {
        let slot = self.slot_mut(slot)?;
        if slot.state != SlotState::Open {
            return None;
        }
        slot.state = SlotState::Answered;
        let entry = slot.entry.as_mut()?;
        let (bytes, context) = (entry.bytes, entry.context.take());
        self.open -= 1;
        self.open_bytes -= u64::from(bytes);
        self.answer_bytes += Self::ENTRY;
        context
    }

    /// Ends an open call, and stores its answer.
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
        entry.deadline_or_answered = now;
        let after = entry.answer.capacity();
        self.answer_bytes = self.answer_bytes - before + after;
    }

    /// Forgets the older half of the stored answers.
    pub(super) fn forget_half(&mut self) {
        // The answer in an open call's entry is that of an earlier call, which has arrived.
        let age = |slot: &Slot<T>| match (slot.state, &slot.entry) {
            (SlotState::Answered, Some(entry)) => Some(entry.deadline_or_answered),
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
            self.answer_bytes -= entry.answer.capacity();
            entry.answer = Vec::new();
            if slot.state == SlotState::Answered {
                self.answer_bytes -= Self::ENTRY;
                slot.entry = None;
                slot.state = SlotState::Forgotten;
            }
        }
    }

    /// The client makes no more calls: forgets all but the client itself.
    pub(super) fn leave(&mut self) {
        self.is_going_away = true;
        self.pages = Vec::new();
        self.paged = 0;
        self.names = Vec::new();
        self.open = 0;
        self.open_bytes = 0;
        self.answer_bytes = 0;
        self.earliest = Time::NEVER;
    }

    /// Adds the open calls whose deadline has passed to `expired`.
    pub(super) fn expired(&mut self, now: Time, expired: &mut Vec<CallId>) {
        if now < self.earliest {
            return;
        }
        let mut earliest = Time::NEVER;
        for (index, slot) in self.slots() {
            let Some(entry) = slot
                .entry
                .as_ref()
                .filter(|_| slot.state == SlotState::Open)
            else {
                continue;
            };
            match entry.deadline_or_answered <= now {
                true => expired.push(CallId::new(index, slot.count)),
                false => earliest = earliest.min(entry.deadline_or_answered),
            }
        }
        self.earliest = earliest;
    }

    /// The operation with this number, if it has a name.
    #[inline]
    pub(super) fn named(&self, number: u16) -> Option<O> {
        // Most clients use consecutive numbers.
        let expected = self.names.get(usize::from(number).checked_sub(1)?);
        if let Some((found, operation)) = expected
            && *found == number
        {
            return Some(*operation);
        }
        let at = self.names.binary_search_by_key(&number, |name| name.0);
        Some(self.names[at.ok()?].1)
    }

    /// Additional bytes for one more name.
    pub(super) fn needs_for_name(&self) -> usize {
        let room = self.names.capacity();
        match self.names.len() < room {
            true => 0,
            // The growth of `Vec`.
            false => room.max(4) * size_of::<(u16, O)>(),
        }
    }

    /// Gives a name to a number that has none.
    pub(super) fn name(&mut self, number: u16, operation: O) {
        if let Err(at) = self.names.binary_search_by_key(&number, |name| name.0) {
            self.names.insert(at, (number, operation));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts all bytes that the peer uses, and those of its stored answers.
    fn found(peer: &Peer<u32, u64, ()>) -> (usize, usize) {
        let entry = size_of::<Entry<u64>>();
        let (mut memory, mut answer_bytes) = (0, 0);
        for (_, slot) in peer.slots() {
            memory += size_of::<Slot<u64>>();
            let Some(there) = &slot.entry else {
                assert_ne!(slot.state, SlotState::Open);
                continue;
            };
            assert!([SlotState::Open, SlotState::Answered].contains(&slot.state));
            answer_bytes += there.answer.capacity();
            memory += there.answer.capacity() + entry;
            if slot.state == SlotState::Answered {
                answer_bytes += entry;
            }
        }
        let tables = peer.pages.capacity() * 8 + peer.names.capacity() * 8;
        (memory + tables, answer_bytes)
    }

    #[test]
    fn memory_is_counted() {
        let mut made = crate::token::TokenMint::new();
        let key = std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default();
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
        let token = made.token(Time::ZERO, address, &key).unwrap();
        let made = TokenTime::of(token, Time::ZERO, address, &key).unwrap();
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
                    assert_eq!(peer.state(id), CallState::Open);
                }
                3..6 => {
                    if peer.open_mut(id).is_some() {
                        peer.answer(now, id, &vec![1; chance % 3_000]);
                        assert!(matches!(peer.state(id), CallState::Answered(_)));
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
            assert_eq!((peer.memory(), peer.answer_bytes), found(&peer));
        }
        for _ in 0..20 {
            peer.forget_half();
        }
        assert_eq!(peer.answer_bytes, 0);
        assert_eq!((1..=50).filter_map(|name| peer.named(name)).count(), 50);
        assert_eq!(peer.named(51), None);
    }
}
