//! The clients that a server knows, and their memory.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use polywire_frame::Time;

use super::Limits;
use super::peer::Peer;
use crate::Address;

/// The clients of a server by their addresses.
///
/// Invariant: `memory` and `answer_bytes` are the sums of those of all clients.
#[derive(Debug)]
pub(super) struct Peers<O, T, H, A: Address> {
    by_address: HashMap<A, u32, H>,
    /// The number of clients of each host.
    by_host: BTreeMap<A::Host, usize>,
    slots: Vec<Slot<O, T, A>>,
    free: Vec<u32>,
    memory: usize,
    answer_bytes: usize,
    /// Where to look for the next client that has to forget answers.
    next: usize,
    /// When the next client may have to be forgotten.
    expiry: Time,
}

/// An entry of the table. Calls contain its index and its generation.
#[derive(Debug)]
struct Slot<O, T, A> {
    generation: u32,
    peer: Option<Box<Peer<O, T, A>>>,
}

impl<O: Copy, T, H: BuildHasher, A: Address> Peers<O, T, H, A> {
    pub(super) fn new(hasher: H) -> Self {
        Self {
            by_address: HashMap::with_hasher(hasher),
            by_host: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            memory: 0,
            answer_bytes: 0,
            next: 0,
            expiry: Time::NEVER,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_address.len()
    }

    /// Whether there is room for one more client at this address.
    pub(super) fn has_room(&self, address: A, limits: &Limits) -> bool {
        let of_host = self.by_host.get(&address.host());
        self.len() < limits.peers && of_host.is_none_or(|count| *count < limits.peers_per_host)
    }

    pub(super) const fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes of answers, which can be forgotten.
    pub(super) const fn answer_bytes(&self) -> usize {
        self.answer_bytes
    }

    /// The keyed hash.
    pub(super) fn hasher(&self) -> &H {
        self.by_address.hasher()
    }

    /// The index of a client.
    #[inline]
    pub(super) fn find(&self, address: A) -> Option<u32> {
        self.by_address.get(&address).copied()
    }

    /// The generation and the client of an index that [`Self::find`] returned.
    #[inline]
    pub(super) fn at(&mut self, index: u32) -> Option<(u32, &mut Peer<O, T, A>)> {
        let slot = self.slots.get_mut(index as usize)?;
        Some((slot.generation, slot.peer.as_deref_mut()?))
    }

    /// The client of a call.
    #[inline]
    pub(super) fn of(&mut self, index: u32, generation: u32) -> Option<&mut Peer<O, T, A>> {
        let (known, peer) = self.at(index)?;
        (known == generation).then_some(peer)
    }

    pub(super) fn insert(&mut self, peer: Peer<O, T, A>, expires: Time) -> u32 {
        let address = peer.address;
        self.expiry = self.expiry.min(expires);
        let peer = Some(Box::new(peer));
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize].peer = peer;
                index
            }
            None => {
                self.slots.push(Slot {
                    generation: 0,
                    peer,
                });
                (self.slots.len() - 1) as u32
            }
        };
        self.by_address.insert(address, index);
        *self.by_host.entry(address.host()).or_default() += 1;
        index
    }

    pub(super) fn remove(&mut self, index: u32) {
        let entry = &mut self.slots[index as usize];
        if let Some(peer) = entry.peer.take() {
            entry.generation = entry.generation.wrapping_add(1);
            self.memory -= peer.memory();
            self.answer_bytes -= peer.answer_bytes;
            self.by_address.remove(&peer.address);
            let host = peer.address.host();
            if let Some(count) = self.by_host.get_mut(&host) {
                *count -= 1;
                if *count == 0 {
                    self.by_host.remove(&host);
                }
            }
            self.free.push(index);
        }
    }

    /// Changes a client, and updates the sums.
    #[inline]
    pub(super) fn change<R>(
        &mut self,
        index: u32,
        change: impl FnOnce(&mut Peer<O, T, A>) -> R,
    ) -> Option<R> {
        let peer = self.slots.get_mut(index as usize)?.peer.as_deref_mut()?;
        let before = (peer.memory(), peer.answer_bytes);
        let result = change(peer);
        self.memory = self.memory - before.0 + peer.memory();
        self.answer_bytes = self.answer_bytes - before.1 + peer.answer_bytes;
        Some(result)
    }

    /// Forgets answers until memory is below its limit or no answer is left: first of this client if it has too much, then
    /// of clients with more than others.
    #[inline]
    pub(super) fn fit(&mut self, index: u32, limits: &Limits) {
        let over = |peer: &Peer<O, T, A>| peer.answer_bytes > limits.memory_of_one;
        if self.at(index).is_some_and(|(_, peer)| over(peer)) {
            self.change(index, Peer::forget_half);
        }
        while self.memory > limits.memory && self.answer_bytes > 0 {
            self.forget(index);
        }
    }

    #[cold]
    fn forget(&mut self, index: u32) {
        let share = self.answer_bytes / self.len().max(1);
        let mut index = index as usize;
        // At least one client has as much as the average.
        for _ in 0..=self.slots.len() {
            let peer = self.slots[index].peer.as_ref();
            if peer.is_some_and(|peer| peer.answer_bytes > 0 && peer.answer_bytes >= share) {
                break;
            }
            self.next = (self.next + 1) % self.slots.len();
            index = self.next;
        }
        self.change(index as u32, Peer::forget_half);
    }

    /// When [`Self::expire`] may find a client.
    pub(super) const fn expiry(&self) -> Time {
        self.expiry
    }

    /// Forgets clients that have been silent for too long. Visits all clients, so it runs rarely.
    pub(super) fn expire(&mut self, now: Time, limits: &Limits) {
        if now < self.expiry {
            return;
        }
        let mut next = Time::NEVER;
        for index in 0..self.slots.len() {
            let Some(peer) = &self.slots[index].peer else {
                continue;
            };
            let expires = peer.last_received.after(limits.idle);
            if expires <= now {
                self.remove(index as u32);
            } else {
                next = next.min(expires);
            }
        }
        self.expiry = next.max(now.after(limits.idle / 16));
    }

    /// All clients.
    pub(super) fn each(&mut self) -> impl Iterator<Item = (u32, u32, &mut Peer<O, T, A>)> {
        let slots = self.slots.iter_mut().enumerate();
        slots.filter_map(|(index, slot)| {
            let peer = slot.peer.as_deref_mut()?;
            Some((index as u32, slot.generation, peer))
        })
    }
}
