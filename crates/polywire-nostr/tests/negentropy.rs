//! Negentropy: published vectors, malformed messages, and comparison with the reference
//! implementation.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod negentropy_support;

use std::convert::Infallible;

use negentropy_support::{Sets, hex, records, sets, sync};
use polywire_nostr::EventId;
use polywire_nostr::negentropy::{
    Accumulator, Bound, Error, FrameSizeLimit, Initiator, InvalidMessage, Reason, Record, Records,
    Responder, Storage,
};
use polywire_nostr::reference::negentropy as reference;
use proptest::prelude::*;

/// Three events. The events and the expected values are test data of the Kotlin implementation, in
/// `NegentropyBasicTest.kt` and `FingerprintTest.kt` of hoytech/negentropy.
const PUBLISHED: [(u64, &str); 3] = [
    (
        1_678_011_277,
        "eb6b05c2e3b008592ac666594d78ed83e7b9ab30f825b9b08878128f7500008c",
    ),
    (
        1_678_011_278,
        "39b916432333e069a4386917609215cc688eb99f06fed01aadc29b1b4b92d6f0",
    ),
    (
        1_678_011_279,
        "abc81d58ebe3b9a87100d47f58bf15e9b1cbf62d38623f11d0f0d17179f5f3ba",
    ),
];

fn published() -> Records {
    let record = |(at, id): (u64, &str)| Record::new(at, EventId::from_hex(id).unwrap()).unwrap();
    PUBLISHED.into_iter().map(record).collect()
}

#[test]
fn published_fingerprints() {
    let records = published();
    for (count, expected) in [
        (1, "6d74e1212fcafc8a81d090f0ffbde8b0"),
        (2, "96b26d110825d4b1805fc56988a3e65d"),
        (3, "c15ce60f185fd24ae341076caa93daa5"),
    ] {
        let fingerprint = records.accumulate(0..count).unwrap().fingerprint();
        assert_eq!(fingerprint.as_bytes()[..], hex(expected), "of {count}");
    }
}

#[test]
fn published_initial_message() {
    let message = Initiator::new(published()).initial_message().unwrap();
    let ids: String = PUBLISHED.iter().map(|(_, id)| *id).collect();
    assert_eq!(message, hex(&format!("6100000203{ids}")));
}

#[test]
fn published_answer_to_another_version() {
    let responder = Responder::new(published());
    assert_eq!(responder.respond(&hex("62aabbccddeeff")).unwrap(), [0x61]);
}

#[test]
fn published_message_of_an_empty_set() {
    let message = Initiator::new(Records::default())
        .initial_message()
        .unwrap();
    assert_eq!(message, hex("6100000200"));
}

#[test]
fn initiator_reports_the_version_of_the_responder() {
    let mut initiator = Initiator::new(published());
    let error = initiator.reconcile(&hex("62")).unwrap_err();
    assert_eq!(error, Error::Version { highest: 2 });
    assert_eq!(
        error.to_string(),
        "the peer supports version 2 of negentropy, not 1"
    );
    assert_eq!(
        initiator.reconcile(&hex("60")).unwrap_err(),
        Error::Version { highest: 0 }
    );
}

#[test]
fn equal_sets_take_one_message() {
    let records: Records = records(1000, 7).collect();
    let message = Initiator::new(&records).initial_message().unwrap();
    assert_eq!(Responder::new(&records).respond(&message).unwrap(), [0x61]);
    let step = Initiator::new(&records).reconcile(&[0x61]).unwrap();
    assert_eq!(step, Default::default());
}

#[test]
fn malformed_messages_have_an_offset_and_a_reason() {
    let cases: &[(&str, usize, Reason)] = &[
        ("", 0, Reason::Truncated),
        ("00", 0, Reason::VersionByte(0)),
        ("70", 0, Reason::VersionByte(0x70)),
        // An incomplete bound.
        ("6181", 2, Reason::Truncated),
        ("6101", 2, Reason::Truncated),
        ("610102aa", 4, Reason::Truncated),
        ("610000", 3, Reason::Truncated),
        // Numbers.
        ("618001", 1, Reason::VarintPadding),
        ("618000", 1, Reason::VarintPadding),
        ("6182808080808080808000", 1, Reason::VarintOverflow),
        ("61ffffffffffffffffffff", 1, Reason::VarintOverflow),
        // The maximum timestamp twice, then one more.
        (
            "6181ffffffffffffffff7f00000100000000",
            18,
            Reason::Truncated,
        ),
        (
            "6181ffffffffffffffff7f0000020000",
            13,
            Reason::TimestampOverflow,
        ),
        // Bounds.
        ("6101210000", 2, Reason::PrefixLength(33)),
        ("61000100", 2, Reason::InfinityWithId),
        ("6105010900010108000000", 5, Reason::BoundOrder),
        ("6100000002000000", 4, Reason::TimestampOverflow),
        // Modes.
        ("61000003", 3, Reason::Mode(3)),
        ("6100008100", 3, Reason::Mode(128)),
        ("610000010011", 6, Reason::Truncated),
        // A list that is longer than the message, and one whose length in bytes overflows.
        ("6100000201aabb", 7, Reason::Truncated),
        ("61000002c080808000", 9, Reason::Truncated),
        ("6100000281ffffffffffffffff7f", 14, Reason::Truncated),
    ];
    for &(message, offset, reason) in cases {
        let expected = InvalidMessage { offset, reason };
        let error = Responder::new(published())
            .respond(&hex(message))
            .unwrap_err();
        assert_eq!(error, Error::Message(expected), "responder, {message}");
        let error = Initiator::new(published())
            .reconcile(&hex(message))
            .unwrap_err();
        assert_eq!(error, Error::Message(expected), "initiator, {message}");
    }
    let error = InvalidMessage {
        offset: 3,
        reason: Reason::Mode(3),
    };
    assert_eq!(
        error.to_string(),
        "invalid negentropy message at byte 3: unknown mode 3"
    );
}

#[test]
fn a_second_infinite_bound_is_allowed() {
    // The reference implementation sends this when a list up to infinity uses up its frame.
    let message = hex("61000000000000");
    assert_eq!(
        Responder::new(published()).respond(&message).unwrap(),
        [0x61]
    );
}

#[test]
fn repeated_ids_are_reported_once() {
    let mut initiator = Initiator::new(Records::default());
    let id = "11".repeat(32);
    let message = hex(&format!("6105000202{id}{id}00000201{id}"));
    let expected = [EventId::from_hex(&id).unwrap()];
    assert_eq!(initiator.reconcile(&message).unwrap().need, expected);
    assert!(initiator.reconcile(&message).unwrap().need.is_empty());
}

#[test]
fn reserved_timestamp_is_rejected() {
    let id = EventId::from_bytes([0; 32]);
    assert!(Record::new(u64::MAX, id).is_err());
    // The maximum valid timestamp survives a session.
    let newest = Record::new(u64::MAX - 1, id).unwrap();
    let sets = Sets {
        ours: vec![newest],
        theirs: records(100, 3).collect(),
    };
    sync(&sets, FrameSizeLimit::UNLIMITED, FrameSizeLimit::UNLIMITED);
}

#[test]
fn answers_stay_within_the_limit() {
    // An empty list of the initiator requests all records.
    let records: Records = records(10_000, 1).collect();
    let message = hex("6100000200");
    for bytes in [4096, 4097, 4111, 5000, 60_000] {
        let limit = FrameSizeLimit::new(bytes).unwrap();
        let responder = Responder::new(&records).with_frame_size_limit(limit);
        let answer = responder.respond(&message).unwrap();
        assert!(
            answer.len() <= bytes && answer.len() > bytes - 250,
            "{} of {bytes}",
            answer.len()
        );
    }
    assert_eq!(FrameSizeLimit::new(4095), None);
}

#[test]
fn bounds_compare_with_records() {
    let record = Record::new(5, EventId::from_bytes([7; 32])).unwrap();
    assert!(Bound::INFINITY.is_above(&record));
    assert!(Bound::new(6, &[]).unwrap().is_above(&record));
    assert!(!Bound::new(5, &[7; 32]).unwrap().is_above(&record));
    assert!(!Bound::new(5, &[7]).unwrap().is_above(&record));
    assert!(Bound::new(5, &[8]).unwrap().is_above(&record));
    assert!(Bound::new(5, &[0; 33]).is_none());
}

/// A storage with the default methods.
struct Slow(Vec<Record>);

impl Storage for Slow {
    type Error = Infallible;

    fn count(&self) -> Result<usize, Infallible> {
        Ok(self.0.len())
    }

    fn record(&self, position: usize) -> Result<Record, Infallible> {
        Ok(self.0[position])
    }
}

/// A storage whose records cannot be read.
struct Failing;

impl Storage for Failing {
    type Error = &'static str;

    fn count(&self) -> Result<usize, Self::Error> {
        Ok(100)
    }

    fn record(&self, _: usize) -> Result<Record, Self::Error> {
        Err("the disk is gone")
    }
}

#[test]
fn errors_of_the_storage_are_returned() {
    let error = Responder::new(Failing)
        .respond(&hex("6100000200"))
        .unwrap_err();
    assert_eq!(error, Error::Storage("the disk is gone"));
    assert_eq!(
        error.to_string(),
        "the records could not be read: the disk is gone"
    );
    assert!(Initiator::new(Failing).initial_message().is_err());
    assert!(
        Initiator::new(Failing)
            .reconcile(&hex("6100000200"))
            .is_err()
    );
}

proptest! {
    #[test]
    fn fingerprints_match_their_definition(
        seed in any::<u64>(), count in 0_usize..100, start in 0.0..1.0, len in 0.0..1.0,
    ) {
        let records: Records = records(count, seed).collect();
        let count = records.as_slice().len();
        let start = (count as f64 * start) as usize;
        let end = start + ((count - start) as f64 * len) as usize;
        let ids: Vec<_> = records.as_slice()[start..end].iter().map(|r| *r.id()).collect();
        let sum = records.accumulate(start..end).unwrap();
        prop_assert_eq!(sum.count(), ids.len() as u64);
        prop_assert_eq!(sum.fingerprint(), reference::fingerprint(&ids));
    }

    #[test]
    fn carries_match_their_definition(
        ids in prop::collection::vec(prop::array::uniform32(prop::sample::select(vec![0_u8, 1, 0xfe, 0xff])), 0..20),
    ) {
        let ids: Vec<_> = ids.into_iter().map(EventId::from_bytes).collect();
        let (mut sum, mut pieces) = (Accumulator::default(), Accumulator::default());
        for id in &ids {
            sum.add(id);
            let mut piece = Accumulator::default();
            piece.add(id);
            pieces += piece;
        }
        prop_assert_eq!(sum, pieces);
        prop_assert_eq!(sum.fingerprint(), reference::fingerprint(&ids));
    }

    #[test]
    fn default_methods_of_a_storage_give_the_same_messages(sets in sets(200), limit in 4096_usize..6000) {
        let limit = FrameSizeLimit::new(limit).unwrap();
        let fast: Records = sets.ours.iter().copied().collect();
        let slow = Slow(fast.as_slice().to_vec());
        let theirs: Records = sets.theirs.iter().copied().collect();
        let question = Initiator::new(&theirs).initial_message().unwrap();
        let answers = (
            Responder::new(&fast).with_frame_size_limit(limit).respond(&question).unwrap(),
            Responder::new(&slow).with_frame_size_limit(limit).respond(&question).unwrap(),
        );
        prop_assert_eq!(&answers.0, &answers.1);
    }

    #[test]
    fn damaged_messages_never_panic(
        sets in sets(150), cut in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let ours: Records = sets.ours.iter().copied().collect();
        let theirs: Records = sets.theirs.iter().copied().collect();
        let question = Initiator::new(&ours).initial_message().unwrap();
        let answer = Responder::new(&theirs).respond(&question).unwrap();
        for message in [question, answer] {
            let mut changed = message.clone();
            let place = place.index(changed.len());
            changed[place] = byte;
            for damaged in [&message[..cut.index(message.len())], &changed] {
                check_damaged(&ours, damaged);
            }
        }
    }

    #[test]
    fn arbitrary_ranges_never_panic(
        ranges in prop::collection::vec((0_u8..4, prop::collection::vec(any::<u8>(), 0..3), 0_u8..3), 0..12),
        seed in any::<u64>(),
    ) {
        let records: Records = records(200, seed).collect();
        let mut message = vec![0x61];
        for (timestamp, prefix, mode) in ranges {
            message.extend([timestamp, prefix.len() as u8]);
            message.extend(prefix);
            message.push(mode);
            match mode {
                1 => message.extend([9; 16]),
                2 => message.push(0),
                _ => {}
            }
        }
        check_damaged(&records, &message);
    }
}

/// Every truncation, and a few changes of every byte.
#[test]
fn damage_at_every_byte_never_panics() {
    let ours: Records = records(100, 5).collect();
    let theirs: Records = ours.as_slice().iter().copied().step_by(2).collect();
    let question = Initiator::new(&ours).initial_message().unwrap();
    let answer = Responder::new(&theirs).respond(&question).unwrap();
    for message in [question, answer] {
        for place in 0..message.len() {
            check_damaged(&ours, &message[..place]);
            for byte in [0, 1, 2, 0x7f, 0x80, 0xff, message[place] ^ 1] {
                let mut changed = message.clone();
                changed[place] = byte;
                check_damaged(&ours, &changed);
            }
        }
    }
}

/// Both roles answer, or return an error with an offset in the message.
fn check_damaged(records: &Records, message: &[u8]) {
    let limit = FrameSizeLimit::new(FrameSizeLimit::MIN).unwrap();
    match Responder::new(records)
        .with_frame_size_limit(limit)
        .respond(message)
    {
        Ok(answer) => assert!(answer.len() <= limit.bytes()),
        Err(Error::Message(error)) => assert!(error.offset <= message.len()),
        Err(error) => panic!("{error}"),
    }
    match Initiator::new(records)
        .with_frame_size_limit(limit)
        .reconcile(message)
    {
        Ok(step) => assert!(step.next_message.unwrap_or_default().len() <= limit.bytes()),
        Err(Error::Message(error)) => assert!(error.offset <= message.len()),
        Err(error) => assert!(matches!(error, Error::Version { .. })),
    }
}
