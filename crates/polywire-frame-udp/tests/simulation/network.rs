//! A network that loses, duplicates, delays and corrupts datagrams.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use polywire_frame::Time;

use crate::chance::Chance;

/// Probabilities, in thousandths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    lost: u64,
    doubled: u64,
    late: u64,
    spoilt: u64,
    /// The delay of all datagrams, and the bound of an additional random delay, in microseconds.
    trip: u64,
    differs: u64,
}

impl Weather {
    pub(crate) fn new(chance: &mut Chance) -> Self {
        Self {
            lost: chance.one(&[0, 0, 10, 100, 200, 400]),
            doubled: chance.one(&[0, 10, 200]),
            late: chance.one(&[0, 10, 100]),
            spoilt: chance.one(&[0, 0, 20]),
            trip: chance.one(&[20, 500, 40_000]),
            differs: chance.one(&[1, 300, 30_000]),
        }
    }
}

/// Events in order of time.
#[derive(Debug)]
pub(crate) struct Agenda<W> {
    /// Orders events of the same time by insertion.
    heap: BinaryHeap<Reverse<(Time, u64, usize)>>,
    whats: Vec<Option<W>>,
}

impl<W> Agenda<W> {
    pub(crate) const fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            whats: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, at: Time, what: W) {
        let number = self.whats.len();
        self.whats.push(Some(what));
        self.heap.push(Reverse((at, number as u64, number)));
    }

    pub(crate) fn next(&self) -> Time {
        self.heap
            .peek()
            .map_or(Time::NEVER, |Reverse((at, ..))| *at)
    }

    pub(crate) fn pop(&mut self) -> Option<W> {
        let Reverse((.., number)) = self.heap.pop()?;
        self.whats[number].take()
    }
}

impl Weather {
    /// Calls `arrives` with the time and the bytes of each copy that arrives.
    pub(crate) fn send(
        &self,
        chance: &mut Chance,
        now: Time,
        datagram: &[u8],
        mut arrives: impl FnMut(Time, Vec<u8>),
    ) {
        if chance.is(self.lost) {
            return;
        }
        let copies = if chance.is(self.doubled) {
            chance.within(2..4)
        } else {
            1
        };
        for _ in 0..copies {
            let mut micros = self.trip + chance.within(0..self.differs);
            if chance.is(self.late) {
                // Less than `DATAGRAM_LIFE`.
                micros += chance.within(0..5_000_000);
            }
            let mut datagram = datagram.to_vec();
            if chance.is(self.spoilt) {
                spoil(chance, &mut datagram);
            }
            arrives(now.after(Duration::from_micros(micros)), datagram);
        }
    }
}

/// Corrupts a datagram. The result is never a valid part of the same call, because the checksum of UDP would detect
/// that. It is like a datagram of an attacker.
pub(crate) fn spoil(chance: &mut Chance, datagram: &mut Vec<u8>) {
    match chance.within(0..3) {
        // A corrupted `HELLO` is dropped. An attacker that has seen a `HELLO` can answer it, and can do anything.
        0 | 2 if datagram.get(12) == Some(&0x01) => datagram.clear(),
        0 => {
            let len = chance.within(0..datagram.len() as u64 + 1);
            datagram.truncate(len as usize);
            // The token is changed, so that the server does not accept the truncated datagram as the whole call.
            datagram.iter_mut().take(8).for_each(|byte| *byte ^= 0x55);
        }
        1 => datagram
            .iter_mut()
            .for_each(|byte| *byte = chance.next() as u8),
        _ => {
            // A random token.
            for byte in datagram.iter_mut().take(8) {
                *byte = chance.next() as u8;
            }
        }
    }
}
