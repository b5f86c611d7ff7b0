//! Filters: 100 events against four subscriptions.

use polywire_nostr::{BinaryEvent, CompiledFilters, Filter};

use crate::events::{KINDS, Parts, binary, len, read};
use polywire_gate::Group;

/// The name of the case.
pub const NAME: &str = "filters: 100 events of kind 1 against four filters";

/// Returns filters as JSON: by kind and time, by 50 authors, by a hexadecimal tag value, and by
/// topics. Their values are taken from the events, so that each filter matches some of them.
#[must_use]
pub fn filters(events: &[Parts]) -> [String; 4] {
    let authors = events
        .iter()
        .take(50)
        .map(|parts| format!("\"{}\"", parts.event.pubkey()));
    let authors: Vec<_> = authors.collect();
    let tagged = events.iter().flat_map(|parts| &parts.tags);
    let mentions: Vec<_> = tagged
        .filter(|tag| tag[0] == "p")
        .step_by(7)
        .map(|tag| format!("\"{}\"", tag[1]))
        .collect();
    [
        r#"{"kinds":[1,6,7],"since":1600000000}"#.to_owned(),
        format!(r#"{{"authors":[{}],"kinds":[1]}}"#, authors.join(",")),
        format!(r##"{{"#p":[{}]}}"##, mentions.join(",")),
        r##"{"kinds":[1],"#t":["coffee","people","bitcoin"]}"##.to_owned(),
    ]
}

fn compiled(events: &[Parts]) -> [CompiledFilters; 4] {
    filters(events).map(|json| {
        #[expect(clippy::unwrap_used, reason = "the filters are constants of this file")]
        let filter = Filter::parse(&json).unwrap();
        CompiledFilters::new([&filter])
    })
}

/// Counts the matching pairs of an event and a filter with a simple implementation.
#[must_use]
pub fn matches(events: &[Parts]) -> usize {
    let [_, _, mentions, _] = filters(events);
    let value = |parts: &Parts, name: &str, test: &dyn Fn(&str) -> bool| {
        parts
            .tags
            .iter()
            .any(|tag| tag[0] == name && tag.get(1).is_some_and(|value| test(value)))
    };
    let first = &events[..50.min(events.len())];
    let pairs = events.iter().map(|parts| {
        let event = &parts.event;
        let author = first
            .iter()
            .any(|first| first.event.pubkey() == event.pubkey());
        let mention = value(parts, "p", &|key| mentions.contains(&format!("\"{key}\"")));
        let topic = value(parts, "t", &|topic| {
            matches!(topic, "coffee" | "people" | "bitcoin")
        });
        usize::from(event.created_at() >= 1_600_000_000)
            + usize::from(author)
            + usize::from(mention)
            + usize::from(topic)
    });
    pairs.sum()
}

pub(super) fn cases(group: &mut Group) {
    let (_, file, count) = KINDS[0];
    group.case_from(NAME, [file], |case, [file]| {
        let events = read(file, count);
        let expected = matches(&events);
        let filters = compiled(&events);
        case.bytes(len(&events))
            .polywire(
                move || {
                    let pairs = events.iter().map(|parts| {
                        filters
                            .iter()
                            .filter(|filter| filter.matches(&parts.event))
                            .count()
                    });
                    pairs.sum::<usize>()
                },
                move |count| *count == expected,
            )
            .target_allocations(0);
    });
    let name = "filters: 100 stored events of kind 1, read from the binary form";
    group.case_from(name, [file], |case, [file]| {
        let events = read(file, count);
        let expected = matches(&events);
        let filters = compiled(&events);
        let stored: Vec<_> = events.iter().map(|parts| binary(&parts.event)).collect();
        case.bytes(stored.iter().map(Vec::len).sum())
            .polywire(
                move || {
                    let events = stored
                        .iter()
                        .filter_map(|bytes| BinaryEvent::parse(bytes).ok());
                    let pairs = events.map(|event| {
                        filters
                            .iter()
                            .filter(|filter| filter.matches_binary(&event))
                            .count()
                    });
                    pairs.sum::<usize>()
                },
                move |count| *count == expected,
            )
            .target_allocations(0);
    });
}
