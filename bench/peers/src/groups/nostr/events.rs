//! Events: read, hashed, written, stored and verified.

use nostr::event::Event;
use notepack::{NoteBuf, NoteParser};
use polywire_gate::{Group, Quote};
use polywire_gate_nostr::events::{KINDS, Parts, canonical, read, signed, tag_bytes};
use secp256k1::{XOnlyPublicKey, schnorr};
use sha2::{Digest, Sha256};

/// For each kind: how many times as fast as the nostr crate reading is to be, and the largest part
/// of the time of "canonical form and id" that SHA-256 may leave.
const TARGETS: [(f64, f64); 3] = [(3.0, 1.5), (4.0, 1.5), (2.3, 1.65)];

/// Nanoseconds an event that orly (Go) takes for each kind: read, canonical form and id, JSON output,
/// binary form.
const ORLY: [[f64; 4]; 3] = [
    [3_098.0, 3_696.0, 2_220.0, 1_669.0],
    [226_000.0, 342_000.0, 180_000.0, 118_000.0],
    [50_000.0, 101_000.0, 65_000.0, 9_200.0],
];

#[expect(clippy::unwrap_used, reason = "a benchmark stops at wrong data")]
pub(crate) fn cases(group: &mut Group) {
    for (((kind, file, count), (parse, id)), orly) in KINDS.into_iter().zip(TARGETS).zip(ORLY) {
        let Ok(file) = group.data(file) else {
            continue;
        };
        let load = move || read(file, count);
        let texts = move || -> Vec<&'static str> {
            load().iter().map(|parts| parts.event.as_json()).collect()
        };
        let quote = move |what: usize| {
            Quote::new("orly", "measured in Go").nanoseconds(orly[what] * count as f64)
        };
        let tags: usize = load().iter().map(|parts| parts.tags.len()).sum();

        group.extend(&format!("{kind}: parse"), |case| {
            let (ours, sonic) = (texts(), texts());
            case.peer(
                "nostr crate",
                move || {
                    let events = ours.iter().filter_map(|json| Event::from_json(json).ok());
                    events.map(|event| event.tags.len()).sum::<usize>()
                },
                move |found| *found == tags,
            )
            .peer(
                "sonic-rs DOM",
                move || {
                    let events = sonic
                        .iter()
                        .map(|json| sonic_rs::from_str::<sonic_rs::Value>(json));
                    events.filter(Result::is_ok).count()
                },
                move |found| *found == count,
            )
            .quote(quote(0))
            .target_ratio_time("nostr crate", parse)
            .target_ratio_time("sonic-rs DOM", 1.0 / 0.9);
        });
        group.extend(&format!("{kind}: parse and read all tags"), |case| {
            let texts = texts();
            let expected = tag_bytes(&load());
            case.peer(
                "nostr crate",
                move || {
                    let events = texts.iter().filter_map(|json| Event::from_json(json).ok());
                    events
                        .map(|event| {
                            let items = event.tags.iter().flat_map(|tag| tag.as_slice());
                            items.map(String::len).sum::<usize>()
                        })
                        .sum::<usize>()
                },
                move |found| *found == expected,
            );
        });
        for (what, most) in [
            ("id of canonical text", 1.15),
            ("canonical form and id", id),
        ] {
            group.extend(&format!("{kind}: {what}"), |case| {
                let (forms, events) = (canonical(&load()), load());
                let owned: Vec<Event> = texts()
                    .iter()
                    .map(|json| Event::from_json(json).unwrap())
                    .collect();
                case.peer(
                    "SHA-256 alone",
                    move || {
                        forms.iter().zip(&events).all(|(form, parts)| {
                            Sha256::digest(form).as_slice() == parts.event.id().as_bytes()
                        })
                    },
                    |all| *all,
                )
                .peer(
                    "nostr crate",
                    move || owned.iter().all(Event::verify_id),
                    |all| *all,
                )
                .quote(quote(1))
                .target_ratio_time("SHA-256 alone", 1.0 / most);
            });
        }
        group.extend(&format!("{kind}: JSON output"), |case| {
            let owned: Vec<Event> = texts()
                .iter()
                .map(|json| Event::from_json(json).unwrap())
                .collect();
            let documents: Vec<sonic_rs::Value> = texts()
                .iter()
                .map(|json| sonic_rs::from_str(json).unwrap())
                .collect();
            let len: usize = texts().iter().map(|json| json.len() + 1).sum();
            case.peer_writes(
                "nostr crate",
                move |out| {
                    for event in &owned {
                        out.extend_from_slice(event.as_json().as_bytes());
                        out.push(b'\n');
                    }
                },
                move |out| out.len() == len,
            )
            .peer_writes(
                "sonic-rs DOM",
                move |out| {
                    for document in &documents {
                        let _ = sonic_rs::to_writer(&mut *out, document);
                        out.push(b'\n');
                    }
                },
                move |out| out.len() == len,
            )
            .quote(quote(2))
            .target_ratio_time("sonic-rs DOM", 1.0);
        });
        group.extend(
            &format!("{kind}: binary form, read with all tags"),
            |case| {
                let stored: Vec<Vec<u8>> = load()
                    .iter()
                    .map(|parts| notepack::pack_note(&note(parts)).unwrap())
                    .collect();
                let expected = tag_bytes(&load());
                case.peer(
                    "notepack",
                    move || {
                        stored
                            .iter()
                            .map(|note| notepack_tags(note).unwrap_or(0))
                            .sum::<usize>()
                    },
                    move |found| *found == expected,
                )
                .quote(quote(3))
                .target_ratio_time("notepack", 1.0);
            },
        );
    }
    signatures(group);
}

fn note(parts: &Parts) -> NoteBuf {
    NoteBuf {
        id: parts.event.id().to_string(),
        pubkey: parts.event.pubkey().to_string(),
        created_at: parts.event.created_at(),
        kind: u64::from(parts.event.kind()),
        tags: parts.tags.clone(),
        content: parts.content.clone(),
        sig: parts.event.sig().to_string(),
    }
}

/// The bytes of all items of all tags of a note.
fn notepack_tags(note: &[u8]) -> Result<usize, notepack::Error> {
    let mut note = NoteParser::new(note).into_note()?;
    let mut bytes = 0;
    while let Some(items) = note.tags.next_tag()? {
        for item in items {
            bytes += match item? {
                notepack::StringType::Str(text) => text.len(),
                notepack::StringType::Bytes(bytes) => 2 * bytes.len(),
            };
        }
    }
    Ok(bytes)
}

#[expect(clippy::unwrap_used, reason = "a benchmark stops at wrong data")]
fn signatures(group: &mut Group) {
    let json = signed();
    group.extend("read and verify an event", |case| {
        let event = polywire_nostr::EventRef::parse(json).unwrap();
        let (pubkey, sig, id) = (
            *event.pubkey().as_bytes(),
            *event.sig().as_bytes(),
            *event.id().as_bytes(),
        );
        case.peer(
            "libsecp256k1 alone",
            move || {
                let key = XOnlyPublicKey::from_byte_array(pubkey).unwrap();
                let sig = schnorr::Signature::from_byte_array(sig);
                schnorr::verify(&sig, &id, &key).is_ok()
            },
            |valid| *valid,
        )
        .peer(
            "nostr crate",
            move || Event::from_json(json).unwrap().verify().is_ok(),
            |valid| *valid,
        )
        .target_ratio_time("libsecp256k1 alone", 0.85);
    });
}
