//! Comparison with the crate `negentropy`: both must produce the same messages and differences.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod negentropy_support;

use negentropy_support::{Differences, Sets, sets, sync};
use polywire_nostr::negentropy::{FrameSizeLimit, Initiator, Record, Records, Responder};
use proptest::prelude::*;

type Peer<'a> = negentropy::Negentropy<'a, negentropy::NegentropyStorageVector>;

fn peer_storage(records: &[Record]) -> negentropy::NegentropyStorageVector {
    let mut storage = negentropy::NegentropyStorageVector::new();
    for record in records {
        let id = negentropy::Id::from_byte_array(*record.id().as_bytes());
        storage.insert(record.created_at(), id).unwrap();
    }
    storage.seal().unwrap();
    storage
}

/// The limit for the crate `negentropy`, where 0 means no limit.
fn peer_limit(limit: FrameSizeLimit) -> u64 {
    if limit == FrameSizeLimit::UNLIMITED {
        return 0;
    }
    limit.bytes() as u64
}

/// Runs a session in which both implementations play both roles, on the same messages. Returns the
/// number of messages of the initiator.
fn compare(sets: &Sets, initiator_limit: FrameSizeLimit, responder_limit: FrameSizeLimit) -> usize {
    let our_records: Records = sets.ours.iter().copied().collect();
    let their_records: Records = sets.theirs.iter().copied().collect();
    let mut initiator = Initiator::new(&our_records).with_frame_size_limit(initiator_limit);
    let responder = Responder::new(&their_records).with_frame_size_limit(responder_limit);

    let (our_storage, their_storage) = (peer_storage(&sets.ours), peer_storage(&sets.theirs));
    let mut peer_initiator = Peer::borrowed(&our_storage, peer_limit(initiator_limit)).unwrap();
    let mut peer_responder = Peer::borrowed(&their_storage, peer_limit(responder_limit)).unwrap();

    let mut found = Differences::default();
    let mut message = initiator.initial_message().unwrap();
    assert_eq!(
        message,
        peer_initiator.initiate().unwrap(),
        "the initial message"
    );
    for messages in 1..10_000 {
        let answer = responder.respond(&message).unwrap();
        assert!(answer.len() <= responder_limit.bytes());
        let peer_answer = peer_responder.reconcile(&message).unwrap();
        assert_eq!(answer, peer_answer, "answer {messages}");

        let step = initiator.reconcile(&answer).unwrap();
        found.add(step.have, step.need);
        let next = peer_initiator
            .reconcile_with_ids(&answer, &mut Vec::new(), &mut Vec::new())
            .unwrap();
        assert_eq!(step.next_message, next, "message {}", messages + 1);
        match next {
            Some(next) => message = next,
            None => {
                found.check(sets);
                return messages;
            }
        }
        assert!(message.len() <= initiator_limit.bytes());
    }
    panic!("the session does not end");
}

fn limits() -> impl Strategy<Value = FrameSizeLimit> {
    prop_oneof![
        Just(FrameSizeLimit::UNLIMITED),
        Just(FrameSizeLimit::default()),
        (FrameSizeLimit::MIN..5000).prop_map(|bytes| FrameSizeLimit::new(bytes).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn small_sets(sets in sets(40), ours in limits(), theirs in limits()) {
        compare(&sets, ours, theirs);
    }

    #[test]
    fn medium_sets(sets in sets(700), ours in limits(), theirs in limits()) {
        compare(&sets, ours, theirs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn large_sets(sets in sets(8000), ours in limits(), theirs in limits()) {
        compare(&sets, ours, theirs);
    }
}

/// One side is empty. Tests frame limits from the minimum on.
#[test]
fn one_side_is_empty() {
    let full: Vec<Record> = negentropy_support::records(500, 11).collect();
    for bytes in 4096..4096 + 40 {
        let limit = FrameSizeLimit::new(bytes).unwrap();
        for (ours, theirs) in [(full.clone(), vec![]), (vec![], full.clone())] {
            compare(&Sets { ours, theirs }, limit, limit);
        }
    }
}

/// Issue 15 of nostrdevkit/negentropy: a truncated frame ended sessions early, because sender and
/// receiver used different ranges for its last fingerprint.
#[test]
fn truncated_frames_lose_no_differences() {
    let mut sets = Sets {
        ours: vec![],
        theirs: vec![],
    };
    let common = negentropy_support::records(1500, 1);
    for record in common {
        sets.ours.push(record);
        sets.theirs.push(record);
    }
    sets.ours.extend(negentropy_support::records(900, 2));
    sets.theirs
        .extend(negentropy_support::records(900, 3).step_by(30));
    let (ours, theirs) = (
        FrameSizeLimit::new(4096).unwrap(),
        FrameSizeLimit::new(4767).unwrap(),
    );
    assert!(compare(&sets, ours, theirs) > 5);
    let sets = Sets {
        ours: sets.theirs,
        theirs: sets.ours,
    };
    assert!(compare(&sets, ours, theirs) > 5);
}

/// Few differences in many records take few messages.
#[test]
fn number_of_messages_is_logarithmic() {
    let ours: Vec<Record> = negentropy_support::records(100_000, 4).collect();
    let theirs = ours.iter().copied().step_by(99_999 / 3).collect::<Vec<_>>();
    let theirs: Vec<Record> = ours
        .iter()
        .copied()
        .filter(|record| !theirs.contains(record))
        .collect();
    let messages = sync(
        &Sets { ours, theirs },
        FrameSizeLimit::default(),
        FrameSizeLimit::default(),
    );
    assert!(messages <= 3, "{messages}");
}
