//! Parsing, hashing, writing and storing events of three kinds.

use polywire_nostr::{
    BinaryEvent, BinaryItem, EventBuilder, EventRef, KeyPair, SecretKey, event_id,
};

use polywire_gate::{Group, same};

/// For each kind of event: the name in cases, the file, and the number of events per call.
pub const KINDS: [(&str, &str, usize); 3] = [
    ("kind 1", "bench/nostr/events_kind1.jsonl", 100),
    ("kind 3", "bench/nostr/events_kind3.jsonl", 10),
    ("kind 30023", "bench/nostr/events_kind30023.jsonl", 20),
];

/// An event in the form in which a program may keep it in memory.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The event as text.
    pub event: EventRef<'static>,
    /// The tags.
    pub tags: Vec<Vec<String>>,
    /// The content.
    pub content: String,
}

/// Reads the first events of a file. Panics if they are invalid, because all cases need valid
/// events.
#[must_use]
pub fn read(file: &'static [u8], count: usize) -> Vec<Parts> {
    let lines = file.split(|byte| *byte == b'\n').take(count);
    lines
        .map(|line| {
            #[expect(clippy::unwrap_used, reason = "a benchmark stops at wrong data")]
            let event = EventRef::parse(line).unwrap();
            assert!(event.check_id().is_ok());
            let items =
                |tag: polywire_nostr::Tag<'_>| tag.items().map(|item| item.into_owned()).collect();
            Parts {
                event,
                tags: event.tags().map(items).collect(),
                content: event.content().into_owned(),
            }
        })
        .collect()
}

/// Returns the canonical forms of the events.
#[must_use]
pub fn canonical(events: &[Parts]) -> Vec<Vec<u8>> {
    let forms = events.iter().map(|parts| {
        let mut out = Vec::new();
        parts.event.push_canonical(&mut out);
        out
    });
    forms.collect()
}

pub(super) fn cases(group: &mut Group) {
    for (kind, file, count) in KINDS {
        group.case_from(format!("{kind}: parse"), [file], |case, [file]| {
            let events = read(file, count);
            let expected: usize = events.iter().map(|parts| parts.tags.len()).sum();
            case.bytes(len(&events))
                .polywire(
                    move || {
                        let mut tags = 0;
                        for parts in &events {
                            let event = EventRef::parse(parts.event.as_json());
                            tags += event.map_or(0, |event| event.tags().len());
                        }
                        tags
                    },
                    move |tags| *tags == expected,
                )
                .target_allocations(0);
        });
        group.case_from(
            format!("{kind}: parse and read all tags"),
            [file],
            |case, [file]| {
                let events = read(file, count);
                let expected = tag_bytes(&events);
                case.bytes(len(&events)).polywire(
                    move || {
                        let mut bytes = 0;
                        for parts in &events {
                            let Ok(event) = EventRef::parse(parts.event.as_json()) else {
                                return 0;
                            };
                            let items = event.tags().flat_map(|tag| tag.items());
                            bytes += items.map(|item| item.len()).sum::<usize>();
                        }
                        bytes
                    },
                    move |bytes| *bytes == expected,
                );
            },
        );
        group.case_from(
            format!("{kind}: id of canonical text"),
            [file],
            |case, [file]| {
                let events = read(file, count);
                case.bytes(canonical(&events).iter().map(Vec::len).sum())
                    .polywire(
                        move || events.iter().all(|parts| parts.event.check_id().is_ok()),
                        |all| *all,
                    )
                    .target_allocations(0);
            },
        );
        group.case_from(
            format!("{kind}: canonical form and id"),
            [file],
            |case, [file]| {
                let events = read(file, count);
                case.bytes(canonical(&events).iter().map(Vec::len).sum())
                    .polywire(
                        move || {
                            events.iter().all(
                                |Parts {
                                     event,
                                     tags,
                                     content,
                                 }| {
                                    let (created_at, kind) = (event.created_at(), event.kind());
                                    event_id(event.pubkey(), created_at, kind, tags, content)
                                        == *event.id()
                                },
                            )
                        },
                        |all| *all,
                    )
                    .target_allocations(0);
            },
        );
        group.case_from(format!("{kind}: JSON output"), [file], |case, [file]| {
            let events = read(file, count);
            let expected: Vec<u8> = file
                .split_inclusive(|byte| *byte == b'\n')
                .take(count)
                .flatten()
                .copied()
                .collect();
            case.bytes(len(&events)).polywire_writes(
                move |out| {
                    for parts in &events {
                        parts.event.push_json(out);
                        out.push(b'\n');
                    }
                },
                move |out| same(out, &expected),
            );
        });
        group.case_from(
            format!("{kind}: binary form, read with all tags"),
            [file],
            |case, [file]| {
                let events = read(file, count);
                let expected = tag_bytes(&events);
                let stored: Vec<Vec<u8>> =
                    events.iter().map(|parts| binary(&parts.event)).collect();
                case.bytes(stored.iter().map(Vec::len).sum())
                    .polywire(
                        move || {
                            let mut bytes = 0;
                            for event in &stored {
                                let Ok(event) = BinaryEvent::parse(event) else {
                                    return 0;
                                };
                                for item in event.tags().flatten() {
                                    bytes += match item {
                                        BinaryItem::Text(text) => text.len(),
                                        BinaryItem::Hex(digits) => 2 * digits.len(),
                                    };
                                }
                            }
                            bytes
                        },
                        move |bytes| *bytes == expected,
                    )
                    .target_allocations(0);
            },
        );
    }
    signatures(group);
}

/// Returns the total length of all tag items in bytes.
#[must_use]
pub fn tag_bytes(events: &[Parts]) -> usize {
    let items = events.iter().flat_map(|parts| parts.tags.iter().flatten());
    items.map(String::len).sum()
}

/// Returns the total length of the JSON texts in bytes.
#[must_use]
pub fn len(events: &[Parts]) -> usize {
    events.iter().map(|parts| parts.event.as_json().len()).sum()
}

pub(crate) fn binary(event: &EventRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    assert!(event.push_binary(&mut out));
    out
}

/// Returns a signed event as JSON.
#[must_use]
pub fn signed() -> &'static str {
    #[expect(clippy::unwrap_used, reason = "a constant that is in range")]
    let keys = KeyPair::from(SecretKey::from_bytes([7; 32]).unwrap());
    let builder = EventBuilder::new(1, "when ship bitcoin sats morning", 1_709_600_104);
    let event = builder.tag(["t", "coffee"]).build(&keys.public_key());
    let sig = keys.sign_with_aux(event.id(), &[0; 32]);
    String::from(event.with_signature(&sig).as_ref().as_json()).leak()
}

fn signatures(group: &mut Group) {
    let json = signed();
    group
        .case("read and verify an event")
        .bytes(json.len())
        .polywire(
            move || {
                EventRef::parse(json)
                    .and_then(|event| event.verify())
                    .is_ok()
            },
            |valid| *valid,
        )
        .target_allocations(0);
}
