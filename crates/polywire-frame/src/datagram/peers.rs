//! The clients that a server knows, and how much memory they may have.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher;

use super::Address;
use super::peer::Peer;
use super::server::Limits;
use crate::Time;

/// The clients of a server by their addresses.
///
/// `memory` is the sum of what all of them have.
#[derive(Debug)]
pub(super) struct Peers<O, T, H, A: Address> {
    by_address: HashMap<A, u32, H>,
    /// How many each host has.
    by_host: BTreeMap<A::Host, usize>,
    places: Vec<Place<O, T, A>>,
    free: Vec<u32>,
    memory: usize,
    kept: usize,
    /// Where the next is looked for that has to forget something.
    next: usize,
    /// When the next may be forgotten.
    expiry: Time,
}

/// A place in the table: calls name it, and how often it was used before.
#[derive(Debug)]
struct Place<O, T, A> {
    generation: u32,
    peer: Option<Box<Peer<O, T, A>>>,
}

impl<O: Copy, T, H: BuildHasher, A: Address> Peers<O, T, H, A> {
    pub(super) fn new(hasher: H) -> Self {
        Self {
            by_address: HashMap::with_hasher(hasher),
            by_host: BTreeMap::new(),
            places: Vec::new(),
            free: Vec::new(),
            memory: 0,
            kept: 0,
            next: 0,
            expiry: Time::NEVER,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_address.len()
    }

    /// Whether there is room for one more there.
    pub(super) fn has_room(&self, address: A, limits: &Limits) -> bool {
        let of_host = self.by_host.get(&address.host());
        self.len() < limits.peers && of_host.is_none_or(|count| *count < limits.peers_per_host)
    }

    pub(super) const fn memory(&self) -> usize {
        self.memory
    }

    /// Bytes of it that answers take, which can be forgotten.
    pub(super) const fn kept(&self) -> usize {
        self.kept
    }

    /// The keyed hash.
    pub(super) fn hasher(&self) -> &H {
        self.by_address.hasher()
    }

    /// The place of a client.
    #[inline]
    pub(super) fn find(&self, address: A) -> Option<u32> {
        self.by_address.get(&address).copied()
    }

    /// The client of a place that [`Self::find`] gave out.
    #[inline]
    pub(super) fn at(&mut self, place: u32) -> Option<(u32, &mut Peer<O, T, A>)> {
        let place = self.places.get_mut(place as usize)?;
        Some((place.generation, place.peer.as_deref_mut()?))
    }

    /// The client of a call.
    #[inline]
    pub(super) fn of(&mut self, place: u32, generation: u32) -> Option<&mut Peer<O, T, A>> {
        let (known, peer) = self.at(place)?;
        (known == generation).then_some(peer)
    }

    pub(super) fn insert(&mut self, peer: Peer<O, T, A>, expires: Time) -> u32 {
        let address = peer.address;
        self.expiry = self.expiry.min(expires);
        let peer = Some(Box::new(peer));
        let place = match self.free.pop() {
            Some(place) => {
                self.places[place as usize].peer = peer;
                place
            }
            None => {
                self.places.push(Place {
                    generation: 0,
                    peer,
                });
                (self.places.len() - 1) as u32
            }
        };
        self.by_address.insert(address, place);
        *self.by_host.entry(address.host()).or_default() += 1;
        place
    }

    pub(super) fn remove(&mut self, place: u32) {
        let entry = &mut self.places[place as usize];
        if let Some(peer) = entry.peer.take() {
            entry.generation = entry.generation.wrapping_add(1);
            self.memory -= peer.memory();
            self.kept -= peer.kept;
            self.by_address.remove(&peer.address);
            let host = peer.address.host();
            if let Some(count) = self.by_host.get_mut(&host) {
                *count -= 1;
                if *count == 0 {
                    self.by_host.remove(&host);
                }
            }
            self.free.push(place);
        }
    }

    /// Does something to a client that may change how much memory it has.
    #[inline]
    pub(super) fn change<R>(
        &mut self,
        place: u32,
        change: impl FnOnce(&mut Peer<O, T, A>) -> R,
    ) -> Option<R> {
        let peer = self.places.get_mut(place as usize)?.peer.as_deref_mut()?;
        let before = (peer.memory(), peer.kept);
        let result = change(peer);
        self.memory = self.memory - before.0 + peer.memory();
        self.kept = self.kept - before.1 + peer.kept;
        Some(result)
    }

    /// Has clients forget answers until there is as much memory as there may be, or no answer: he
    /// who has too much first, then those who have more than others.
    #[inline]
    pub(super) fn fit(&mut self, place: u32, limits: &Limits) {
        let over = |peer: &Peer<O, T, A>| peer.kept > limits.memory_of_one;
        if self.at(place).is_some_and(|(_, peer)| over(peer)) {
            self.change(place, Peer::forget_half);
        }
        while self.memory > limits.memory && self.kept > 0 {
            self.forget(place);
        }
    }

    #[cold]
    fn forget(&mut self, place: u32) {
        let share = self.kept / self.len().max(1);
        let mut place = place as usize;
        // One of them has at least what they have on average.
        for _ in 0..=self.places.len() {
            let peer = self.places[place].peer.as_ref();
            if peer.is_some_and(|peer| peer.kept > 0 && peer.kept >= share) {
                break;
            }
            self.next = (self.next + 1) % self.places.len();
            place = self.next;
        }
        self.change(place as u32, Peer::forget_half);
    }

    /// When [`Self::expire`] may find somebody.
    pub(super) const fn expiry(&self) -> Time {
        self.expiry
    }

    /// Forgets clients that have not been heard for as long as the limits say. Who looks through all
    /// of them does so seldom.
    pub(super) fn expire(&mut self, now: Time, limits: &Limits) {
        if now < self.expiry {
            return;
        }
        let mut next = Time::NEVER;
        for place in 0..self.places.len() {
            let Some(peer) = &self.places[place].peer else {
                continue;
            };
            let expires = peer.heard.after(limits.idle);
            if expires <= now {
                self.remove(place as u32);
            } else {
                next = next.min(expires);
            }
        }
        self.expiry = next.max(now.after(limits.idle / 16));
    }

    /// All clients.
    pub(super) fn each(&mut self) -> impl Iterator<Item = (u32, u32, &mut Peer<O, T, A>)> {
        let places = self.places.iter_mut().enumerate();
        places.filter_map(|(index, place)| {
            let peer = place.peer.as_deref_mut()?;
            Some((index as u32, place.generation, peer))
        })
    }
}
