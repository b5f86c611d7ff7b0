//! The crates that people use for serde in each format.

use polywire_gate::groups::serde::{
    self as gate, Batch, BorrowedBatch, case_name, form_case_name, form_message, message, sample,
    search,
};
use polywire_gate::{Group, same, same_bytes};
use serde::de::DeserializeOwned;

type Read<T> = fn(&'static [u8]) -> Option<T>;

/// A crate for a format. `None` for what it cannot do.
struct Peer {
    name: &'static str,
    format: &'static str,
    read: Read<Batch>,
    read_borrowed: Option<Read<BorrowedBatch<'static>>>,
    write: fn(&Batch) -> Vec<u8>,
}

fn from_minicbor<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    minicbor_serde::from_slice(bytes).ok()
}

const PEERS: &[Peer] = &[
    Peer {
        name: "serde_json",
        format: "JSON",
        read: |bytes| serde_json::from_slice(bytes).ok(),
        read_borrowed: Some(|bytes| serde_json::from_slice(bytes).ok()),
        write: |batch| serde_json::to_vec(batch).unwrap_or_default(),
    },
    Peer {
        name: "sonic-rs",
        format: "JSON",
        read: |bytes| sonic_rs::from_slice(bytes).ok(),
        read_borrowed: Some(|bytes| sonic_rs::from_slice(bytes).ok()),
        write: |batch| sonic_rs::to_vec(batch).unwrap_or_default(),
    },
    Peer {
        name: "ciborium",
        format: "CBOR",
        read: |bytes| ciborium::from_reader(bytes).ok(),
        read_borrowed: None,
        write: |batch| {
            let mut out = Vec::new();
            match ciborium::into_writer(batch, &mut out) {
                Ok(()) => out,
                Err(_) => Vec::new(),
            }
        },
    },
    Peer {
        name: "minicbor-serde",
        format: "CBOR",
        read: from_minicbor,
        read_borrowed: Some(|bytes| minicbor_serde::from_slice(bytes).ok()),
        write: |batch| minicbor_serde::to_vec(batch).unwrap_or_default(),
    },
    Peer {
        name: "rmp-serde",
        format: "MessagePack",
        read: |bytes| rmp_serde::from_slice(bytes).ok(),
        read_borrowed: Some(|bytes| rmp_serde::from_slice(bytes).ok()),
        write: |batch| rmp_serde::to_vec_named(batch).unwrap_or_default(),
    },
    Peer {
        name: "quick-xml",
        format: "XML",
        read: |bytes| quick_xml::de::from_str(std::str::from_utf8(bytes).ok()?).ok(),
        read_borrowed: Some(|bytes| quick_xml::de::from_str(std::str::from_utf8(bytes).ok()?).ok()),
        write: |batch| {
            quick_xml::se::to_string(batch)
                .unwrap_or_default()
                .into_bytes()
        },
    },
];

fn form_cases(group: &mut Group) {
    const PEER: &str = "serde_urlencoded";
    let bytes = form_message();
    group.extend(&form_case_name("read"), |case| {
        case.peer(
            PEER,
            move || serde_urlencoded::from_bytes(bytes).ok(),
            |answer| same(answer, &Some(search())),
        )
        .target_ratio_time(PEER, 1.0);
    });
    let value = search();
    let expected = serde_urlencoded::to_string(&value).unwrap_or_default();
    group.extend(&form_case_name("write"), |case| {
        case.peer(
            PEER,
            move || serde_urlencoded::to_string(&value).unwrap_or_default(),
            move |written| same_bytes(written.as_bytes(), expected.as_bytes()),
        )
        .target_ratio_time(PEER, 1.0);
    });
}

pub(crate) fn cases(group: &mut Group) {
    gate::cases(group);
    form_cases(group);
    for peer in PEERS {
        let bytes = message(peer.format);
        group.extend(&case_name("read", peer.format), |case| {
            let expected = sample();
            case.peer(
                peer.name,
                move || (peer.read)(bytes),
                move |answer| same(answer, &Some(expected.clone())),
            )
            .target_ratio_time(peer.name, 1.0);
        });
        if let Some(read) = peer.read_borrowed {
            let expected = read(bytes);
            group.extend(&case_name("read borrowed", peer.format), |case| {
                case.peer(
                    peer.name,
                    move || read(bytes),
                    move |answer| same(answer, &expected),
                )
                .target_ratio_time(peer.name, 1.0);
            });
        }
        let batch = sample();
        let expected = (peer.write)(&batch);
        group.extend(&case_name("write", peer.format), |case| {
            case.peer(
                peer.name,
                move || (peer.write)(&batch),
                move |written| same_bytes(written, &expected),
            )
            .target_ratio_time(peer.name, 1.0);
        });
    }
}
