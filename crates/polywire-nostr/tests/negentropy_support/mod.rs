//! Test data and sessions for reconciliation.
#![allow(dead_code, reason = "each test target uses some of the items")]

use std::collections::BTreeSet;

use polywire_nostr::EventId;
use polywire_nostr::negentropy::{FrameSizeLimit, Initiator, Record, Records, Responder};
use polywire_nostr::reference::negentropy as reference;
use proptest::prelude::*;

/// Decodes hexadecimal digits.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
    let pairs = text.as_bytes().chunks_exact(2);
    pairs
        .map(|pair| digit(pair[0]) << 4 | digit(pair[1]))
        .collect()
}

/// The records of both sides.
#[derive(Clone, Debug)]
pub(crate) struct Sets {
    pub(crate) ours: Vec<Record>,
    pub(crate) theirs: Vec<Record>,
}

/// Pseudo-random records, on average one per second.
pub(crate) fn records(count: usize, seed: u64) -> impl Iterator<Item = Record> {
    let mut random = Random(seed);
    (0..count).map(move |_| random.record(count as u64, 0))
}

/// Sets with up to `max` records in each part: common, only ours, only theirs. Many records have
/// equal timestamps and ids with equal first bytes.
pub(crate) fn sets(max: usize) -> impl Strategy<Value = Sets> {
    let part = 0..=max;
    let span = prop::sample::select(vec![1, 2, 30, 1000, 1 << 33]);
    let common_bytes = prop::sample::select(vec![0, 1, 15, 24]);
    (
        any::<u64>(),
        [part.clone(), part.clone(), part],
        span,
        common_bytes,
    )
        .prop_map(|(seed, [common, ours, theirs], span, common_bytes)| {
            let mut random = Random(seed);
            let mut part = |count| -> Vec<_> {
                (0..count)
                    .map(|_| random.record(span, common_bytes))
                    .collect()
            };
            let (common, ours, theirs) = (part(common), part(ours), part(theirs));
            Sets {
                ours: common.iter().chain(&ours).copied().collect(),
                theirs: common.iter().chain(&theirs).copied().collect(),
            }
        })
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn record(&mut self, span: u64, common_bytes: usize) -> Record {
        let created_at = 1_700_000_000 + self.next() % span;
        let mut id = [0; 32];
        for bytes in id.as_chunks_mut::<8>().0 {
            *bytes = self.next().to_le_bytes();
        }
        id[..common_bytes].fill(0xab);
        Record::new(created_at, EventId::from_bytes(id)).unwrap()
    }
}

/// Runs a session between both roles and checks the differences. Returns the number of messages of
/// the initiator.
pub(crate) fn sync(sets: &Sets, ours: FrameSizeLimit, theirs: FrameSizeLimit) -> usize {
    let our_records: Records = sets.ours.iter().copied().collect();
    let their_records: Records = sets.theirs.iter().copied().collect();
    let mut initiator = Initiator::new(&our_records).with_frame_size_limit(ours);
    let responder = Responder::new(&their_records).with_frame_size_limit(theirs);
    let mut found = Differences::default();
    let mut message = initiator.initial_message().unwrap();
    for messages in 1..10_000 {
        let step = initiator
            .reconcile(&responder.respond(&message).unwrap())
            .unwrap();
        found.add(step.have, step.need);
        match step.next_message {
            Some(next) => message = next,
            None => {
                found.check(sets);
                return messages;
            }
        }
    }
    panic!("the session does not end");
}

/// The differences that a session reported.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    have: BTreeSet<EventId>,
    need: BTreeSet<EventId>,
}

impl Differences {
    /// Adds the differences of a step. Panics if an id is reported twice.
    pub(crate) fn add(&mut self, have: Vec<EventId>, need: Vec<EventId>) {
        for id in have {
            assert!(self.have.insert(id), "{id} is reported twice");
        }
        for id in need {
            assert!(self.need.insert(id), "{id} is reported twice");
        }
    }

    /// Compares with the set differences.
    pub(crate) fn check(&self, sets: &Sets) {
        let (have, need) = reference::differences(&sets.ours, &sets.theirs);
        assert_eq!(self.have, have, "what only the initiator has");
        assert_eq!(self.need, need, "what only the responder has");
    }
}
