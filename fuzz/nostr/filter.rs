//! A filter in the first line, and events in the others: comparison with the reference
//! implementation.

use polywire_nostr::reference::filter::{PlainEvent, PlainFilter, matches};
use polywire_nostr::{
    BinaryEvent, CompiledFilters, EventBuilder, EventId, EventRef, Filter, FilterLimits, Limits,
    Profile, PublicKey, Signature,
};

use super::{check_error, profiles, tags_of};

pub(crate) fn any(data: &[u8]) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let events: Vec<&[u8]> = lines.take(8).collect();
    let small = FilterLimits::DEFAULT
        .with_items(2)
        .with_tag_conditions(1)
        .with_tag_value_bytes(8)
        .with_search_bytes(4);
    let mut seen: Option<Filter> = None;
    for profile in profiles() {
        match Filter::parse_with(line, profile, &FilterLimits::DEFAULT) {
            Ok(filter) => {
                // With smaller limits, the filter is rejected or equal.
                if let Ok(bounded) = Filter::parse_with(line, profile, &small) {
                    assert_eq!(bounded, filter);
                    assert!(
                        bounded
                            .tags()
                            .iter()
                            .all(|tag| tag.values().all(|value| value.len() <= 8))
                    );
                }
                if seen.as_ref() != Some(&filter) {
                    check(&filter, &events);
                    seen = Some(filter);
                }
            }
            Err(error) => {
                check_error(&error, line);
                Filter::parse_with(line, profile, &small).unwrap_err();
                // The compatible profile accepts every filter that another profile accepts.
                assert!(seen.is_none() || profile != Profile::COMPATIBLE);
            }
        }
    }
}

fn check(filter: &Filter, events: &[&[u8]]) {
    let json = filter.to_json();
    let again = Filter::parse(&json).unwrap();
    assert_eq!(again, *filter);
    assert_eq!(again.to_json(), json);

    let plain = plain_filter(filter);
    for event in events {
        for profile in [Profile::STRICT, Profile::COMPATIBLE] {
            if let Ok(event) = EventRef::parse_with(*event, profile, &Limits::DEFAULT) {
                compare(filter, &plain, &event);
            }
        }
    }
    // Events that match, or miss one condition.
    for without in 0..8 {
        let json = likely(filter, without);
        compare(filter, &plain, &EventRef::parse(&json).unwrap());
        // The same event with escapes for all characters of the tags.
        let event = EventRef::parse(&json).unwrap();
        let spelled = escaped(&event);
        let spelled = EventRef::parse(&spelled).unwrap();
        assert_eq!(spelled, event);
        compare(filter, &plain, &spelled);
    }
}

fn plain_filter(filter: &Filter) -> PlainFilter {
    let texts = |values: Vec<String>| values;
    PlainFilter {
        ids: filter
            .ids()
            .map(|ids| texts(ids.iter().map(EventId::to_string).collect())),
        authors: filter
            .authors()
            .map(|keys| keys.iter().map(PublicKey::to_string).collect()),
        kinds: filter.kinds().map(<[u16]>::to_vec),
        tags: filter
            .tags()
            .iter()
            .map(|tag| {
                let values = tag.values().map(str::to_owned).collect();
                (tag.letter().as_char().to_string(), values)
            })
            .collect(),
        since: filter.since(),
        until: filter.until(),
    }
}

fn compare(filter: &Filter, plain: &PlainFilter, event: &EventRef<'_>) {
    let plain_event = PlainEvent {
        id: event.id().to_string(),
        pubkey: event.pubkey().to_string(),
        created_at: event.created_at(),
        kind: event.kind(),
        tags: tags_of(event),
    };
    let expected = matches(plain, &plain_event);
    assert_eq!(
        filter.matches(event),
        expected,
        "{} {event:?}",
        filter.to_json()
    );
    assert_eq!(
        filter.compile().matches(event),
        expected,
        "{} {event:?}",
        filter.to_json()
    );
    let mut stored = Vec::new();
    if event.push_binary(&mut stored) {
        let stored = BinaryEvent::parse(&stored).unwrap();
        assert_eq!(
            filter.compile().matches_binary(&stored),
            expected,
            "{} {event:?}",
            filter.to_json()
        );
    }
    let nothing = Filter::new().with_kinds([]);
    assert_eq!(
        CompiledFilters::new([&nothing, filter]).matches(event),
        expected
    );
    assert!(!expected || !filter.matches_nothing());
}

/// Returns an event that misses the condition number `without`. 7 means that it misses none if
/// possible.
fn likely(filter: &Filter, without: usize) -> String {
    let last = |values: Option<&[u16]>| values.and_then(|values| values.last().copied());
    let kind = last(filter.kinds()).unwrap_or(1);
    let kind = if without == 0 { kind ^ 1 } else { kind };
    let time = filter
        .since()
        .or(filter.until())
        .unwrap_or(0)
        .min((1 << 53) - 1);
    let time = if without == 1 {
        time.saturating_sub(1)
    } else {
        time
    };
    let author = filter.authors().and_then(|keys| keys.last().copied());
    let author = author
        .filter(|_| without != 2)
        .unwrap_or(PublicKey::from_bytes([9; 32]));
    let mut event = EventBuilder::new(kind, "", time);
    // Matching tags, or similar tags that do not match.
    for tag in filter.tags() {
        let name = tag.letter().as_char().to_string();
        event = event.tag([name.as_str()]);
        for (number, value) in tag.values().enumerate().take(3) {
            let name = name.as_str();
            event = match (without, number) {
                (3, _) => event.tag([name, &format!("{value}x")]),
                (4, _) => event.tag([name, value.get(1..).unwrap_or("y")]),
                (5, _) => event.tag([name, "z", value]),
                (6, _) => event.tag([&format!("{name}{name}"), value]),
                _ => event.tag([name, value, "more"]),
            };
        }
    }
    let event = event
        .build(&author)
        .with_signature(&Signature::from_bytes([7; 64]));
    let json = event.as_ref().as_json();
    match filter.ids().and_then(|ids| ids.last()) {
        Some(id) if without != 6 => {
            json.replacen(&event.as_ref().id().to_string(), &id.to_string(), 1)
        }
        _ => json.to_owned(),
    }
}

/// Returns the event with escapes for all characters of the tags.
fn escaped(event: &EventRef<'_>) -> String {
    let item = |item: &String| {
        let units = item.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
        format!("\"{}\"", units.collect::<String>())
    };
    let tag = |tag: &Vec<String>| {
        format!(
            "[ {} ]",
            tag.iter().map(item).collect::<Vec<_>>().join(" ,")
        )
    };
    let tags = tags_of(event)
        .iter()
        .map(tag)
        .collect::<Vec<_>>()
        .join(", ");
    format!(
        r#"{{"id":"{}","pubkey":"{}","created_at":{},"kind":{},"tags":[{tags}],"content":"","sig":"{}"}}"#,
        event.id(),
        event.pubkey(),
        event.created_at(),
        event.kind(),
        event.sig(),
    )
}
