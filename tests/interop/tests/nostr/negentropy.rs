//! Reconciliation (NIP-77) with nostr-tools, which implements only the initiator. The tests of
//! polywire-nostr compare with the crate `negentropy`.

use std::collections::BTreeSet;

use polywire_interop::{Case, NostrTools};
use polywire_nostr::EventId;
use polywire_nostr::negentropy::{FrameSizeLimit, Initiator, Record, Records, Responder};
use serde_json::{Value, json};

use crate::fixtures::NOW;

/// Records of these numbers, with repeated timestamps and pseudo-random ids.
fn records(numbers: impl IntoIterator<Item = u64>) -> Vec<Record> {
    let record = |number: u64| {
        let mut id = [0; 32];
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        for part in id.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            part.copy_from_slice(&state.to_le_bytes());
        }
        Record::new(NOW + number / 5, EventId::from_bytes(id)).unwrap()
    };
    numbers.into_iter().map(record).collect()
}

fn to_json(records: &[Record]) -> Value {
    let record = |record: &Record| json!([record.created_at(), record.id().to_string()]);
    records.iter().map(record).collect()
}

fn ids(records: &[Record]) -> BTreeSet<String> {
    records
        .iter()
        .map(|record| record.id().to_string())
        .collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Adds a JSON array of ids to a set.
fn add(set: &mut BTreeSet<String>, ids: &Value) {
    set.extend(
        ids.as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap().to_owned()),
    );
}

/// Runs a session that nostr-tools initiates. Returns the number of messages.
fn session(tools: &NostrTools, theirs: &[Record], ours: &[Record], frame: usize) -> usize {
    let with = json!({ "records": to_json(theirs), "frame": frame });
    let session = tools.call("reconciler", &with);
    let stored: Records = ours.iter().copied().collect();
    let limit = FrameSizeLimit::new(frame).unwrap();
    let responder = Responder::new(stored).with_frame_size_limit(limit);
    let (mut have, mut need) = (BTreeSet::new(), BTreeSet::new());
    let mut message = tools.text("initiate", &session);
    // Our initial message is the same.
    let initiator: Records = theirs.iter().copied().collect();
    assert_eq!(
        hex(&Initiator::new(initiator).initial_message().unwrap()),
        message
    );
    for count in 1..1_000 {
        let answer = responder.respond(&unhex(&message)).unwrap();
        assert!(answer.len() <= frame);
        let step = tools.call(
            "reconcile",
            &json!({ "session": session, "message": hex(&answer) }),
        );
        add(&mut have, &step["have"]);
        add(&mut need, &step["need"]);
        let Some(next) = step["next"].as_str() else {
            let (theirs, ours) = (ids(theirs), ids(ours));
            assert_eq!(have, &theirs - &ours);
            assert_eq!(need, &ours - &theirs);
            return count;
        };
        message = next.to_owned();
    }
    panic!("the session does not end");
}

#[test]
fn nostr_tools_reconciles_with_us() {
    let case = Case::begin("nostr_tools_reconciles_with_us");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let all = |count| records(0..count);
    let sets = [
        (vec![], vec![]),
        (all(1), vec![]),
        (vec![], all(40)),
        (all(31), all(32)),
        (all(33), records((0..33).map(|number| number * 2))),
        (
            all(2_000),
            records((0..2_000).filter(|number| number % 500 != 3)),
        ),
        (records(100..1_500), records(0..1_200)),
        (all(600), records(600..1_200)),
    ];
    for (theirs, ours) in &sets {
        session(&tools, theirs, ours, 60_000);
    }
    // A session with a frame size limit that is too small for one answer.
    let (theirs, ours) = (records(0..1_500), records(750..2_500));
    assert!(session(&tools, &theirs, &ours, 4_096) > 5);
}

/// nostr-tools has no responder: it does not answer a list of ids. In a session that we initiate,
/// only nostr-tools learns the differences.
#[test]
fn nostr_tools_does_not_answer_lists() {
    let case = Case::begin("nostr_tools_does_not_answer_lists");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let (ours, theirs) = (records(0..20), records(10..31));
    let session = tools.call(
        "reconciler",
        &json!({ "records": to_json(&theirs), "frame": 60_000 }),
    );
    let stored: Records = ours.iter().copied().collect();
    let message = Initiator::new(stored).initial_message().unwrap();
    let step = tools.call(
        "reconcile",
        &json!({ "session": session, "message": hex(&message) }),
    );
    assert_eq!(step["next"], Value::Null);
    let (mut have, mut need) = (BTreeSet::new(), BTreeSet::new());
    add(&mut have, &step["have"]);
    add(&mut need, &step["need"]);
    let (ours, theirs) = (ids(&ours), ids(&theirs));
    assert_eq!((have, need), (&theirs - &ours, &ours - &theirs));
}

/// nostr-tools truncates timestamps to 32 bits: after 2106 it sends wrong timestamps, and does not
/// understand our messages.
#[test]
fn nostr_tools_reconciles_no_times_after_2106() {
    let case = Case::begin("nostr_tools_reconciles_no_times_after_2106");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let late = |number: u64| {
        let id = EventId::from_bytes([number as u8; 32]);
        Record::new((1 << 32) + number, id).unwrap()
    };
    let records: Vec<_> = (0..64).map(late).collect();
    let session = tools.call(
        "reconciler",
        &json!({ "records": to_json(&records), "frame": 60_000 }),
    );
    let message = tools.text("initiate", &session);
    let stored: Records = records.iter().copied().collect();
    let ours = Initiator::new(&stored).initial_message().unwrap();
    assert_ne!(message, hex(&ours));
    assert_eq!(Responder::new(&stored).respond(&ours).unwrap().len(), 1);
    // Not the empty answer, although the sets are equal.
    assert_ne!(
        Responder::new(&stored)
            .respond(&unhex(&message))
            .map(|answer| answer.len()),
        Ok(1)
    );
}
