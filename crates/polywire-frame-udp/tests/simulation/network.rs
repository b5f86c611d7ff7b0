//! A network of datagrams: what it does to them, and when they arrive.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use polywire_frame::Time;

use crate::chance::Chance;

/// What happens to datagrams, in thousandths of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    lost: u64,
    doubled: u64,
    late: u64,
    spoilt: u64,
    /// Microseconds that all of them take, and that some take more.
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

/// What is to happen, and when.
#[derive(Debug)]
pub(crate) struct Agenda<W> {
    /// Of those of the same moment that which came first is the first.
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
    /// When the copies of a datagram arrive, and what they are then.
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
                // Less than a datagram's life.
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

/// Makes something else of a datagram that nobody takes for the same: sums of UDP see to that. What is
/// left is a datagram that somebody else has sent.
pub(crate) fn spoil(chance: &mut Chance, datagram: &mut Vec<u8>) {
    match chance.within(0..3) {
        // Who can answer a greeting has seen it, and can do what he likes.
        0 | 2 if datagram.get(12) == Some(&0x01) => datagram.clear(),
        0 => {
            let len = chance.within(0..datagram.len() as u64 + 1);
            datagram.truncate(len as usize);
            // A token that is not whole, so that the rest of the call is not taken for all of it.
            datagram.iter_mut().take(8).for_each(|byte| *byte ^= 0x55);
        }
        1 => datagram
            .iter_mut()
            .for_each(|byte| *byte = chance.next() as u8),
        _ => {
            // The token of somebody else.
            for byte in datagram.iter_mut().take(8) {
                *byte = chance.next() as u8;
            }
        }
    }
}
