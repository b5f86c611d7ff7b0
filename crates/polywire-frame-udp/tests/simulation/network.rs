//! A network that loses, duplicates, delays and corrupts datagrams.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use polywire_frame::Time;

use crate::rng::Rng;

/// Probabilities, in thousandths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NetworkConditions {
    lost: u64,
    duplicated: u64,
    delayed: u64,
    corrupted: u64,
    /// The delay of all datagrams, and the bound of an additional random delay, in microseconds.
    delay: u64,
    jitter: u64,
}

impl NetworkConditions {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        Self {
            lost: rng.choose(&[0, 0, 10, 100, 200, 400]),
            duplicated: rng.choose(&[0, 10, 200]),
            delayed: rng.choose(&[0, 10, 100]),
            corrupted: rng.choose(&[0, 0, 20]),
            delay: rng.choose(&[20, 500, 40_000]),
            jitter: rng.choose(&[1, 300, 30_000]),
        }
    }
}

/// Events in order of time.
#[derive(Debug)]
pub(crate) struct Schedule<W> {
    /// Orders events of the same time by insertion.
    heap: BinaryHeap<Reverse<(Time, u64, usize)>>,
    actions: Vec<Option<W>>,
}

impl<W> Schedule<W> {
    pub(crate) const fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            actions: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, at: Time, action: W) {
        let number = self.actions.len();
        self.actions.push(Some(action));
        self.heap.push(Reverse((at, number as u64, number)));
    }

    pub(crate) fn next(&self) -> Time {
        self.heap
            .peek()
            .map_or(Time::NEVER, |Reverse((at, ..))| *at)
    }

    pub(crate) fn pop(&mut self) -> Option<W> {
        let Reverse((.., number)) = self.heap.pop()?;
        self.actions[number].take()
    }
}

impl NetworkConditions {
    /// Calls `arrives` with the time and the bytes of each copy that arrives.
    pub(crate) fn send(
        &self,
        rng: &mut Rng,
        now: Time,
        datagram: &[u8],
        mut arrives: impl FnMut(Time, Vec<u8>),
    ) {
        if rng.chance(self.lost) {
            return;
        }
        let copies = if rng.chance(self.duplicated) {
            rng.in_range(2..4)
        } else {
            1
        };
        for _ in 0..copies {
            let mut micros = self.delay + rng.in_range(0..self.jitter);
            if rng.chance(self.delayed) {
                // Less than `DATAGRAM_LIFE`.
                micros += rng.in_range(0..5_000_000);
            }
            let mut datagram = datagram.to_vec();
            if rng.chance(self.corrupted) {
                corrupt(rng, &mut datagram);
            }
            arrives(now.after(Duration::from_micros(micros)), datagram);
        }
    }
}

/// Corrupts a datagram. The result is never a valid part of the same call, because the checksum of UDP would detect
/// that. It is like a datagram of an attacker.
pub(crate) fn corrupt(rng: &mut Rng, datagram: &mut Vec<u8>) {
    match rng.in_range(0..3) {
        // A corrupted `HELLO` is dropped. An attacker that has seen a `HELLO` can answer it, and can do anything.
        0 | 2 if datagram.get(12) == Some(&0x01) => datagram.clear(),
        0 => {
            let len = rng.in_range(0..datagram.len() as u64 + 1);
            datagram.truncate(len as usize);
            // The token is changed, so that the server does not accept the truncated datagram as the whole call.
            datagram.iter_mut().take(8).for_each(|byte| *byte ^= 0x55);
        }
        1 => datagram
            .iter_mut()
            .for_each(|byte| *byte = rng.next() as u8),
        _ => {
            // A random token.
            for byte in datagram.iter_mut().take(8) {
                *byte = rng.next() as u8;
            }
        }
    }
}
