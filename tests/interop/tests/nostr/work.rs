//! Proof of work (NIP-13).

use std::num::NonZeroU8;

use nostr::event::FinalizeUnsignedEvent as _;
use nostr::nips::nip13::{SingleThreadPow, get_leading_zero_bits};
use polywire_interop::Case;
use polywire_nostr::{EventBuilder, EventId, EventRef, nip13};
use serde_json::json;

use crate::fixtures::{NOW, keys, secret_hex, their_keys};

/// Ids with each number of leading zero bits.
fn ids() -> impl Iterator<Item = (u32, EventId)> {
    (0..256).flat_map(|bits| {
        [0_u8, 0xff].map(|rest| {
            let mut id = [0; 32];
            id[bits / 8] = 0x80 >> (bits % 8) | rest >> (bits % 8);
            id[bits / 8 + 1..].fill(rest);
            (bits as u32, EventId::from_bytes(id))
        })
    })
}

#[test]
fn nostr_crate_counts_work_alike() {
    let _case = Case::begin("nostr_crate_counts_work_alike");
    for (bits, id) in ids() {
        assert_eq!(nip13::difficulty(&id), bits);
        assert_eq!(u32::from(get_leading_zero_bits(id.as_bytes())), bits);
    }
    // The crate counts in a `u8`.
    assert_eq!(nip13::difficulty(&EventId::from_bytes([0; 32])), 256);
    assert_eq!(get_leading_zero_bits([0; 32]), 255);

    let ours = nip13::mine(
        &EventBuilder::new(1, "work", NOW),
        &keys(1).public_key(),
        10,
        0,
        1 << 20,
    )
    .unwrap();
    assert!(
        nostr::prelude::EventId::from_slice(ours.id().as_bytes())
            .unwrap()
            .check_pow(10)
    );
    let theirs = nostr::prelude::EventBuilder::new(nostr::prelude::Kind::TextNote, "work")
        .finalize_unsigned(their_keys(1).public_key())
        .mine(&SingleThreadPow, NonZeroU8::new(10).unwrap())
        .unwrap();
    let sig = their_keys(1).sign_schnorr(theirs.compute_id().to_bytes());
    let theirs = theirs.add_signature(sig).unwrap();
    let json = theirs.as_json();
    let read = EventRef::parse(&json).unwrap();
    read.verify().unwrap();
    assert_eq!(
        nip13::check(read.id(), nip13::committed(read.tags()), 10),
        Ok(())
    );
    assert_eq!(nip13::committed(read.tags()), Some(10));
}

#[test]
fn nostr_tools_counts_work_alike() {
    let case = Case::begin("nostr_tools_counts_work_alike");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    for (bits, id) in ids() {
        assert_eq!(tools.call("difficulty", &json!(id.to_string())), bits);
        assert_eq!(nip13::difficulty(&id), bits);
    }
    assert_eq!(tools.call("difficulty", &json!("0".repeat(64))), 256);

    let with = json!({ "secret": secret_hex(1), "target": 10, "kind": 1, "content": "work" });
    let json = tools.text("mine", &with);
    let read = EventRef::parse(&json).unwrap();
    read.verify().unwrap();
    assert_eq!(
        nip13::check(read.id(), nip13::committed(read.tags()), 10),
        Ok(())
    );
    assert_eq!(nip13::committed(read.tags()), Some(10));
}
