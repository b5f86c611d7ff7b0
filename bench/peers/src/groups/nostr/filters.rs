//! Filters beside the nostr crate.

use nostr::event::Event;
use nostr::filter::{Filter, MatchEventOptions};
use polywire_gate::Group;
use polywire_gate_nostr::events::{KINDS, read};
use polywire_gate_nostr::filters::{NAME, filters, matches};

#[expect(clippy::unwrap_used, reason = "a benchmark stops at wrong data")]
pub(crate) fn cases(group: &mut Group) {
    let (_, file, count) = KINDS[0];
    let Ok(file) = group.data(file) else {
        return;
    };
    let events = read(file, count);
    let expected = matches(&events);
    let filters = filters(&events).map(|json| Filter::from_json(&json).unwrap());
    let events: Vec<Event> = events
        .iter()
        .map(|parts| Event::from_json(parts.event.as_json()).unwrap())
        .collect();
    group.extend(NAME, |case| {
        case.peer(
            "nostr crate",
            move || {
                let pairs = events.iter().map(|event| {
                    let options = MatchEventOptions::new();
                    filters
                        .iter()
                        .filter(|filter| filter.match_event(event, options))
                        .count()
                });
                pairs.sum::<usize>()
            },
            move |count| *count == expected,
        )
        .target_ratio_time("nostr crate", 1.0 / 0.7);
    });
}
