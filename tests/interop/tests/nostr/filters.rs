//! Filters: parsing, writing and matching.

use nostr::filter::MatchEventOptions;
use polywire_interop::Case;
use polywire_nostr::{Event, EventBuilder, Filter, TagLetter};
use serde_json::{Value, json};

use crate::fixtures::{NOW, keys};

fn events() -> Vec<Event> {
    let (e, p) = ("ab".repeat(32), keys(2).public_key().to_string());
    let event = |kind, time| EventBuilder::new(kind, "Coffee", time);
    let mut events = vec![
        event(1, NOW).sign(&keys(1)),
        event(1, NOW - 1).tag(["t", "coffee"]).sign(&keys(1)),
        event(1, NOW + 1).tag(["t", "Coffee"]).sign(&keys(2)),
        event(1, NOW).tag(["t", "tea", "coffee"]).sign(&keys(1)),
        event(1, NOW).tag(["t"]).tag(["t", ""]).sign(&keys(1)),
        event(1, NOW).tag(["t"]).sign(&keys(3)),
        event(1, NOW)
            .tag(["tt", "coffee"])
            .tag(["T", "coffee"])
            .sign(&keys(1)),
        event(1, NOW)
            .tag(["t", "tea"])
            .tag(["t", "coffee"])
            .sign(&keys(2)),
        event(7, NOW).tag(["e", &e]).tag(["p", &p]).sign(&keys(2)),
        event(7, 0).tag(["e", &e[..62]]).sign(&keys(2)),
        event(0, NOW)
            .tag(["p", &p, "wss://relay.example"])
            .sign(&keys(1)),
        event(65_535, NOW).tag(["d", "x"]).sign(&keys(3)),
        event(30_023, NOW)
            .tag(["d", "a\"b\\\n\u{2028}😀\u{7f}"])
            .sign(&keys(3)),
        event(30_023, NOW).tag(["d", ""]).sign(&keys(3)),
        event(1, 1)
            .tag(["r", "https://example.com/?a=b&c"])
            .sign(&keys(2)),
    ];
    // Long values and similar values.
    for length in [1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 300] {
        events.push(event(4, NOW).tag(["x", &"v".repeat(length)]).sign(&keys(1)));
    }
    events
}

/// Filters as JSON in canonical form.
fn filters(events: &[Event]) -> Vec<String> {
    let ids: Vec<_> = events.iter().map(|event| *event.as_ref().id()).collect();
    let (one, two, three) = (
        keys(1).public_key(),
        keys(2).public_key(),
        keys(3).public_key(),
    );
    let tag = |letter: char, values: &[&str]| {
        let letter = TagLetter::new(letter).unwrap();
        Filter::new().with_tag(letter, values).unwrap()
    };
    let e = "ab".repeat(32);
    let mut filters = vec![
        Filter::new(),
        Filter::new().with_ids([ids[0]]),
        Filter::new().with_ids([ids[3], ids[9], ids[12]]),
        Filter::new().with_authors([one]),
        Filter::new().with_authors([two, three]),
        Filter::new().with_kinds([1]),
        Filter::new().with_kinds([0, 7, 30_023, 65_535]),
        Filter::new().with_since(NOW),
        Filter::new().with_until(NOW),
        Filter::new().with_since(NOW).with_until(NOW),
        Filter::new().with_since(NOW + 1).with_until(NOW - 1),
        Filter::new().with_since(0).with_until(1),
        Filter::new().with_since(1),
        Filter::new().with_limit(0),
        Filter::new().with_limit(5).with_kinds([7]),
        tag('t', &["coffee"]),
        tag('t', &["Coffee", "tea"]),
        tag('t', &["cof"]),
        tag('t', &["coffee2"]),
        tag('t', &[""]),
        tag('T', &["coffee"]),
        tag('e', &[&e]),
        tag('p', &[&two.to_string(), &one.to_string()]),
        tag('d', &["a\"b\\\n\u{2028}😀\u{7f}"]),
        tag('d', &["", "x"]),
        tag('r', &["https://example.com/?a=b&c"]),
        tag('e', &[&e])
            .with_tag(TagLetter::P, [two.to_string()])
            .unwrap(),
        tag('t', &["tea"])
            .with_authors([two])
            .with_kinds([1])
            .with_since(NOW),
        tag('t', &["tea"]).with_authors([one]).with_kinds([7]),
    ];
    for length in [1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 300] {
        filters.push(tag('x', &[&"v".repeat(length)]));
    }
    let json = filters.iter().map(Filter::to_json);
    json.collect()
}

/// For each filter, whether we match each event, with compiled and plain filters.
fn ours(filters: &[String], events: &[Event]) -> Vec<Vec<bool>> {
    let row = |json: &String| {
        let filter = Filter::parse(json).unwrap();
        let compiled = filter.compile();
        let matches = |event: &Event| {
            let found = filter.matches(&event.as_ref());
            assert_eq!(compiled.matches(&event.as_ref()), found, "{json}");
            found
        };
        events.iter().map(matches).collect()
    };
    filters.iter().map(row).collect()
}

fn crate_matches(filters: &[String], events: &[Event]) -> Vec<Vec<bool>> {
    let read = |event: &Event| nostr::prelude::Event::from_json(event.as_ref().as_json()).unwrap();
    let events: Vec<_> = events.iter().map(read).collect();
    let row = |json: &String| {
        let filter = nostr::prelude::Filter::from_json(json).unwrap();
        let matches = |event| filter.match_event(event, MatchEventOptions::new());
        events.iter().map(matches).collect()
    };
    filters.iter().map(row).collect()
}

/// Asserts that two tables of matches are equal.
fn compare(peer: &str, filters: &[String], ours: &[Vec<bool>], theirs: &[Vec<bool>]) {
    for ((filter, ours), theirs) in filters.iter().zip(ours).zip(theirs) {
        assert_eq!(ours, theirs, "{peer}: {filter}");
    }
    // The tables must contain both results often enough.
    let found = ours.iter().flatten().filter(|found| **found).count();
    let all = ours.iter().flatten().count();
    assert!(found > 200 && all - found > 700, "{found} of {all}");
}

#[test]
fn nostr_crate_filters_match_alike() {
    let _case = Case::begin("nostr_crate_filters_match_alike");
    let events = events();
    let filters = filters(&events);
    let (ours, theirs) = (ours(&filters, &events), crate_matches(&filters, &events));
    compare("nostr", &filters, &ours, &theirs);
}

#[test]
fn nostr_crate_filters_are_read_both_ways() {
    let _case = Case::begin("nostr_crate_filters_are_read_both_ways");
    for json in filters(&events()) {
        let theirs = nostr::prelude::Filter::from_json(&json).unwrap();
        // The crate sorts values, and writes tags last.
        let back = Filter::parse(&theirs.as_json()).unwrap();
        assert_eq!(
            nostr::prelude::Filter::from_json(back.to_json()).unwrap(),
            theirs,
            "{json}"
        );
        let ours: Value = serde_json::from_str(&json).unwrap();
        let theirs: Value = serde_json::from_str(&theirs.as_json()).unwrap();
        let (ours, theirs) = (ours.as_object().unwrap(), theirs.as_object().unwrap());
        assert_eq!(
            ours.keys().collect::<std::collections::BTreeSet<_>>(),
            theirs.keys().collect()
        );
    }
    // A filter of the crate with all members.
    let key = nostr::prelude::PublicKey::from_slice(keys(1).public_key().as_bytes()).unwrap();
    let theirs = nostr::prelude::Filter::new()
        .id(nostr::prelude::EventId::from_slice(&[0xab; 32]).unwrap())
        .author(key)
        .kinds([
            nostr::prelude::Kind::TextNote,
            nostr::prelude::Kind::from(65_535),
        ])
        .pubkey(key)
        .hashtags(["b", "a\"\n"])
        .search("two words")
        .since(nostr::prelude::Timestamp::from(1))
        .until(nostr::prelude::Timestamp::from(NOW))
        .limit(7);
    let ours = Filter::parse(&theirs.as_json()).unwrap();
    assert_eq!(ours.kinds(), Some(&[1, 65_535][..]));
    assert_eq!(
        (ours.since(), ours.until(), ours.limit()),
        (Some(1), Some(NOW), Some(7))
    );
    assert_eq!(ours.search(), Some("two words"));
    let values: Vec<_> = ours.tag(TagLetter::T).unwrap().values().collect();
    assert_eq!(values, ["a\"\n", "b"]);
    assert_eq!(
        nostr::prelude::Filter::from_json(ours.to_json()).unwrap(),
        theirs
    );
}

/// The crate ignores empty lists of ids, authors and kinds, and matches events against `search`.
/// Our filters do neither.
#[test]
fn nostr_crate_filters_that_match_otherwise() {
    let _case = Case::begin("nostr_crate_filters_that_match_otherwise");
    let events = events();
    let all = vec![true; events.len()];
    let none = vec![false; events.len()];
    for json in [r#"{"ids":[]}"#, r#"{"authors":[]}"#, r#"{"kinds":[]}"#] {
        let filters = [json.to_owned()];
        assert_eq!(ours(&filters, &events), [none.as_slice()], "{json}");
        assert_eq!(crate_matches(&filters, &events), [all.as_slice()], "{json}");
    }
    let filters = [r##"{"#t":[]}"##.to_owned()];
    assert_eq!(ours(&filters, &events), [none.as_slice()]);
    assert_eq!(crate_matches(&filters, &events), [none.as_slice()]);
    let filters = [
        r#"{"search":"coffee"}"#.to_owned(),
        r#"{"search":"tea"}"#.to_owned(),
    ];
    assert_eq!(ours(&filters, &events), [all.as_slice(), &all]);
    assert_eq!(crate_matches(&filters, &events), [all.as_slice(), &none]);
}

#[test]
fn nostr_tools_filters_match_alike() {
    let case = Case::begin("nostr_tools_filters_match_alike");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let events = events();
    let filters = filters(&events);
    let ours = ours(&filters, &events);
    let texts: Vec<_> = events
        .iter()
        .map(|event| event.as_ref().as_json().to_owned())
        .collect();
    let ask = |filters: &[String]| {
        let answer = tools.call("matches", &json!({ "filters": filters, "events": texts }));
        serde_json::from_value::<Vec<Vec<bool>>>(answer).unwrap()
    };
    compare("nostr-tools", &filters, &ours, &ask(&filters));
    for filter in &filters {
        let theirs = tools.text("rewrite", &json!(filter));
        assert_eq!(Filter::parse(&theirs).unwrap().to_json(), *filter);
    }
    // In nostr-tools, empty lists also match no event. It ignores a zero.
    let none = vec![vec![false; events.len()]];
    for json in [
        r#"{"ids":[]}"#,
        r#"{"authors":[]}"#,
        r#"{"kinds":[]}"#,
        r##"{"#t":[]}"##,
    ] {
        assert_eq!(ask(&[json.to_owned()]), none, "{json}");
    }
    let zero = [r#"{"until":0}"#.to_owned()];
    let found = |table: &[Vec<bool>]| table[0].iter().filter(|found| **found).count();
    assert_eq!(found(&super::filters::ours(&zero, &events)), 1);
    assert_eq!(found(&ask(&zero)), events.len());
}
