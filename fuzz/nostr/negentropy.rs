//! Reconciliation: any message is answered or rejected, and any two sets are reconciled.

use std::collections::BTreeSet;

use polywire_nostr::EventId;
use polywire_nostr::negentropy::{Error, FrameSizeLimit, Initiator, Record, Records, Responder};
use polywire_nostr::reference::negentropy::differences;

pub(crate) fn any(data: &[u8]) {
    let Some((count, message)) = data.split_first() else {
        return;
    };
    // Enough records for lists, splits and full frames.
    let stored: Records = (0..u64::from(*count) * 9)
        .map(|number| record(number, number))
        .collect();
    check_answers(&stored, message);
    // With a version byte.
    check_answers(&stored, &[&[0x61], message].concat());
    check_session(data);
}

/// Returns a record whose id shares its first bytes with others. The last bytes are pseudo-random,
/// because fingerprints are sums of ids and must not collide by chance.
fn record(time: u64, number: u64) -> Record {
    let mut id = [0; 32];
    id[(number % 16) as usize] = number as u8;
    let mut state = number;
    for part in id[16..].chunks_exact_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        part.copy_from_slice(&(mixed ^ mixed >> 31).to_be_bytes());
    }
    Record::new(time / 7, EventId::from_bytes(id)).unwrap()
}

fn check_answers(stored: &Records, message: &[u8]) {
    let limit = FrameSizeLimit::new(FrameSizeLimit::MIN).unwrap();
    let answers = [limit, FrameSizeLimit::UNLIMITED].map(|limit| {
        let answer = Responder::new(stored)
            .with_frame_size_limit(limit)
            .respond(message);
        if let Ok(answer) = &answer {
            assert!(answer.len() <= limit.bytes());
            assert_eq!(answer[0], 0x61);
        }
        answer
    });
    match answers {
        [Err(Error::Message(first)), Err(Error::Message(second))] => {
            assert_eq!(first, second);
            assert!(first.offset <= message.len(), "{first}");
        }
        // A limited answer can end before the responder reaches the error.
        [Ok(_), Err(Error::Message(_))] | [Ok(_), Ok(_)] => {}
        other => panic!("{other:?}"),
    }
    let mut initiator = Initiator::new(stored).with_frame_size_limit(limit);
    match initiator.reconcile(message) {
        Ok(step) => {
            let ids = stored.as_slice().iter().map(|record| *record.id());
            let ids: BTreeSet<EventId> = ids.collect();
            assert!(step.have.iter().all(|id| ids.contains(id)));
            assert!(
                step.next_message
                    .is_none_or(|next| next.len() <= limit.bytes())
            );
        }
        Err(Error::Message(error)) => assert!(error.offset <= message.len(), "{error}"),
        Err(Error::Version { highest }) => assert!(highest < 16 && highest != 1),
        Err(other) => panic!("{other:?}"),
    }
}

/// Each pair of bytes is a record: its sets, its time and its number.
fn check_session(data: &[u8]) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (at, pair) in data.chunks_exact(2).take(1_000).enumerate() {
        let time = u64::from(pair[0] >> 2) * 7;
        // The time is part of the number, so that equal ids have equal times.
        let record = record(
            time,
            u64::from(pair[1]) + 256 * (at as u64 % 5) + (time << 16),
        );
        if pair[0] & 1 == 0 {
            ours.push(record);
        }
        if pair[0] & 3 != 2 {
            theirs.push(record);
        }
    }
    let (only_ours, only_theirs) = differences(&ours, &theirs);
    let limit = FrameSizeLimit::new(FrameSizeLimit::MIN).unwrap();
    let ours: Records = ours.into_iter().collect();
    let theirs: Records = theirs.into_iter().collect();
    let mut initiator = Initiator::new(ours).with_frame_size_limit(limit);
    let responder = Responder::new(theirs).with_frame_size_limit(limit);
    let (mut have, mut need) = (BTreeSet::new(), BTreeSet::new());
    let mut message = initiator.initial_message().unwrap();
    for _ in 0..200 {
        let step = initiator
            .reconcile(&responder.respond(&message).unwrap())
            .unwrap();
        // Each id is reported once.
        assert!(step.have.into_iter().all(|id| have.insert(id)));
        assert!(step.need.into_iter().all(|id| need.insert(id)));
        match step.next_message {
            Some(next) => message = next,
            None => {
                assert_eq!((have, need), (only_ours, only_theirs));
                return;
            }
        }
    }
    panic!("the session does not end");
}
