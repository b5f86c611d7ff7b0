//! Comparison of events with the reference implementation: valid, truncated and changed ones.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::reference::event::Event as Slow;
use polywire_nostr::{BinaryEvent, Event, EventRef, Limits, Profile, Reason};
use test_data::{Missing, data};

test_data::tests! {
    published_events,
    truncations_and_changes,
    changed_binary_form,
}

const KINDS: [&str; 3] = ["kind1", "kind3", "kind30023"];

fn events(kind: &str) -> Result<Vec<String>, Missing> {
    let text = std::fs::read_to_string(data(&format!("bench/nostr/events_{kind}.jsonl"))?).unwrap();
    Ok(text.lines().map(str::to_owned).collect())
}

/// All 2,000 published events survive every conversion.
fn published_events() -> Result<(), Missing> {
    let mut count = 0;
    let all = KINDS
        .map(events)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    for json in all.into_iter().flatten() {
        let event = EventRef::parse(&json).unwrap();
        event.check_id().unwrap();
        assert_eq!(EventRef::parse_id(&json).unwrap(), *event.id());
        compare(json.as_bytes(), Profile::STRICT);

        let mut compact = Vec::new();
        event.push_json(&mut compact);
        assert_eq!(EventRef::parse(&compact).unwrap(), event);

        let mut binary = Vec::new();
        assert!(event.push_binary(&mut binary));
        let stored = BinaryEvent::parse(&binary).unwrap();
        assert_eq!(stored.compute_id(), *event.id());
        let mut again = Vec::new();
        stored.push_json(&mut again);
        assert_eq!(again, compact);

        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_value(event).unwrap(), value);
        let read: Event = serde_json::from_value(value).unwrap();
        assert_eq!(read.as_ref(), event);
        assert!(read.as_ref().is_canonical());
        read.as_ref().check_id().unwrap();
        count += 1;
    }
    assert_eq!(count, 2000);
    Ok(())
}

/// Compares the results of both implementations for an input.
#[track_caller]
fn compare(json: &[u8], profile: Profile) {
    let limits = Limits::default();
    let fast = EventRef::parse_with(json, profile, &limits);
    let slow = Slow::parse(json, profile, &limits);
    let text = String::from_utf8_lossy(json);
    let (fast, slow) = match (fast, slow) {
        (Ok(fast), Some(slow)) => (fast, slow),
        (Err(error), None) => {
            assert!(error.offset <= json.len(), "{error}: {text}");
            assert!(!matches!(
                error.reason,
                Reason::IdMismatch | Reason::InvalidSignature
            ));
            return;
        }
        (fast, slow) => panic!("{fast:?}\n{slow:?}\n{text}"),
    };
    assert_eq!(fast.id().to_string(), slow.id);
    assert_eq!(fast.pubkey().to_string(), slow.pubkey);
    assert_eq!(fast.sig().to_string(), slow.sig);
    let mut canonical = Vec::new();
    fast.push_canonical(&mut canonical);
    assert_eq!(
        String::from_utf8(canonical).unwrap(),
        slow.canonical(),
        "{text}"
    );
    assert_eq!(fast.compute_id().to_string(), slow.compute_id());
}

/// Every truncation of 50 events, and three changes of each byte.
fn truncations_and_changes() -> Result<(), Missing> {
    const CHANGES: [u8; 6] = [b'"', b'\\', b' ', 0x01, 0xff, b'0'];
    // The shortest of each kind, because the time is quadratic in the length.
    let mut short = Vec::new();
    for (kind, count) in KINDS.into_iter().zip([48, 1, 1]) {
        let mut events = events(kind)?;
        events.sort_by_key(String::len);
        short.extend(events.into_iter().take(count));
    }
    assert_eq!(short.len(), 50);
    for (index, event) in short.iter().enumerate() {
        let mut bytes = event.clone().into_bytes();
        // Long events are changed only at some offsets.
        let step = 1 + bytes.len() / 1000 * 50;
        for at in (0..bytes.len()).step_by(step) {
            compare(&event.as_bytes()[..at], Profile::STRICT);
            let original = bytes[at];
            let random = (at as u8).wrapping_mul(151).wrapping_add(index as u8);
            for change in [CHANGES[(at + index) % 6], original ^ 0x20, random] {
                bytes[at] = change;
                compare(&bytes, Profile::STRICT);
                compare(&bytes, Profile::COMPATIBLE);
            }
            bytes[at] = original;
        }
    }
    Ok(())
}

/// A changed binary form is an error or another event. A truncated one is an error.
fn changed_binary_form() -> Result<(), Missing> {
    for json in &events("kind1")?[..50] {
        let mut bytes = Vec::new();
        assert!(EventRef::parse(json).unwrap().push_binary(&mut bytes));
        for at in 0..bytes.len() {
            assert!(BinaryEvent::parse(&bytes[..at]).is_err());
            for bit in 0..8 {
                bytes[at] ^= 1 << bit;
                if let Ok(event) = BinaryEvent::parse(&bytes) {
                    let mut json = Vec::new();
                    event.push_json(&mut json);
                    let tags: usize = event.tags().map(Iterator::count).sum();
                    assert!(tags <= bytes.len());
                }
                bytes[at] ^= 1 << bit;
            }
        }
    }
    Ok(())
}
