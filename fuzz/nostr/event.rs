//! Events: comparison with the reference implementation, with every profile.

use polywire_nostr::reference::event::Event as Slow;
use polywire_nostr::reference::json::Json;
use polywire_nostr::{
    BinaryEvent, EventBuilder, EventRef, Limits, Profile, Signature, UnsignedEvent, event_id,
};

use super::{check_error, profiles, tags_of};

pub(crate) fn any(data: &[u8]) {
    let small = Limits::DEFAULT.with_bytes(700).with_tags(2).with_depth(2);
    for profile in profiles() {
        for limits in [Limits::DEFAULT, small] {
            let fast = EventRef::parse_with(data, profile, &limits);
            let slow = Slow::parse(data, profile, &limits);
            match (&fast, &slow) {
                (Ok(fast), Some(slow)) => compare(fast, slow, profile),
                (Err(error), None) => check_error(error, data),
                _ => panic!("{profile:?} {limits:?}: {fast:?}, {slow:?}"),
            }
        }
    }
    // `parse_id` returns the id of every valid event.
    match (EventRef::parse_id(data), EventRef::parse(data)) {
        (id, Ok(event)) => assert_eq!(id.as_ref(), Ok(event.id())),
        (Err(error), Err(_)) => check_error(&error, data),
        (Ok(_), Err(_)) => {}
    }
    // Unsigned events.
    match UnsignedEvent::parse(data) {
        Ok(event) => {
            let again = UnsignedEvent::parse(event.as_json()).unwrap();
            assert_eq!(again, event);
            let signed = event
                .clone()
                .with_signature(&Signature::from_bytes([0; 64]));
            assert_eq!(signed.as_ref().compute_id(), *event.id());
        }
        Err(error) => check_error(&error, data),
    }
}

/// Decodes a string of the reference implementation.
fn text(json: &Json) -> String {
    let Json::String(units) = json else {
        panic!("{json:?}")
    };
    let character = |unit: &u32| char::from_u32(*unit).unwrap_or('\u{fffd}');
    units.iter().map(character).collect()
}

fn has_lone_surrogates(json: &Json) -> bool {
    match json {
        Json::String(units) => units.iter().any(|unit| char::from_u32(*unit).is_none()),
        Json::Array(items) => items.iter().any(has_lone_surrogates),
        _ => false,
    }
}

fn compare(fast: &EventRef<'_>, slow: &Slow, profile: Profile) {
    assert_eq!(fast.id().to_string(), slow.id);
    assert_eq!(fast.pubkey().to_string(), slow.pubkey);
    assert_eq!(fast.sig().to_string(), slow.sig);
    assert_eq!(
        (fast.created_at(), fast.kind()),
        (slow.created_at, slow.kind)
    );
    assert_eq!(fast.content(), text(&slow.content));
    let Json::Array(slow_tags) = &slow.tags else {
        panic!("{slow:?}")
    };
    let tags = tags_of(fast);
    assert_eq!(
        (tags.len(), fast.tags().len()),
        (slow_tags.len(), tags.len())
    );
    for (fast, slow) in tags.iter().zip(slow_tags) {
        let Json::Array(slow) = slow else {
            panic!("{slow:?}")
        };
        assert!(
            fast.iter()
                .eq(slow.iter().map(text).collect::<Vec<_>>().iter())
        );
    }
    let first = tags
        .iter()
        .find(|tag| tag.first().is_some_and(|name| name == "d"));
    let identifier = first.and_then(|tag| tag.get(1));
    assert_eq!(fast.identifier(), identifier.map_or("", String::as_str));

    let mut canonical = Vec::new();
    fast.push_canonical(&mut canonical);
    let canonical = String::from_utf8(canonical).unwrap();
    assert_eq!(canonical, slow.canonical());
    assert_eq!(fast.compute_id().to_string(), slow.compute_id());
    assert_eq!(fast.check_id().is_ok(), slow.id == slow.compute_id());
    if fast.is_canonical() {
        // The raw content is hashed without changes.
        assert!(canonical.ends_with(&format!(",\"{}\"]", fast.raw_content())));
    }

    // Round trip through JSON, and the owned event.
    let mut json = Vec::new();
    fast.push_json(&mut json);
    let read = EventRef::parse_with(&json, profile, &super::wide()).unwrap();
    assert_eq!(read, *fast);
    assert!(read.is_canonical() || !fast.is_canonical());
    assert_eq!(read.compute_id(), fast.compute_id());
    assert_eq!(fast.to_owned().as_ref(), *fast);

    let lone = has_lone_surrogates(&slow.tags) || has_lone_surrogates(&slow.content);
    let mut binary = Vec::new();
    assert_eq!(fast.push_binary(&mut binary), !lone);
    if lone {
        assert!(binary.is_empty());
        return;
    }
    let stored = BinaryEvent::parse(&binary).unwrap();
    assert_eq!(stored.compute_id(), fast.compute_id());
    let mut from_binary = Vec::new();
    stored.push_json(&mut from_binary);
    assert_eq!(from_binary, json);
    let id = event_id(
        fast.pubkey(),
        fast.created_at(),
        fast.kind(),
        &tags,
        &fast.content(),
    );
    assert_eq!(id, fast.compute_id());
    if tags.iter().all(|tag| !tag.is_empty()) {
        let builder = EventBuilder::new(fast.kind(), fast.content(), fast.created_at());
        let built = builder.tags(&tags).build(fast.pubkey());
        assert_eq!(*built.id(), id);
        let mut again = Vec::new();
        let built = built.with_signature(fast.sig());
        built.as_ref().push_canonical(&mut again);
        assert_eq!(again, canonical.as_bytes());
    }
}
