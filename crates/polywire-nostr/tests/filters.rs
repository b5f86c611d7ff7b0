//! Filters: parsing, writing and matching.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{event, key};
use polywire_nostr::reference::filter::{self as slow, PlainEvent, PlainFilter};
use polywire_nostr::{
    BinaryEvent, CompiledFilters, EventRef, Filter, FilterLimits, Member, Profile, PublicKey,
    Reason, TagLetter,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Whether an event matches. Checks that all implementations agree.
#[track_caller]
fn matches(filter: &str, event: &str) -> bool {
    let parsed = Filter::parse(filter).unwrap();
    let read = EventRef::parse(event).unwrap();
    let expected = slow::matches(&plain_filter(filter), &plain_event(event));
    assert_eq!(parsed.matches(&read), expected, "{filter} {event}");
    assert_eq!(
        parsed.compile().matches(&read),
        expected,
        "compiled: {filter} {event}"
    );
    let mut stored = Vec::new();
    if read.push_binary(&mut stored) {
        let stored = BinaryEvent::parse(&stored).unwrap();
        assert_eq!(
            parsed.compile().matches_binary(&stored),
            expected,
            "binary: {filter} {event}"
        );
    }
    expected
}

fn plain_event(json: &str) -> PlainEvent {
    let value: Value = serde_json::from_str(json).unwrap();
    let string = |name: &str| value[name].as_str().unwrap().to_owned();
    PlainEvent {
        id: string("id"),
        pubkey: string("pubkey"),
        created_at: value["created_at"].as_u64().unwrap(),
        kind: value["kind"].as_u64().unwrap() as u16,
        tags: serde_json::from_value(value["tags"].clone()).unwrap(),
    }
}

fn plain_filter(json: &str) -> PlainFilter {
    let value: Value = serde_json::from_str(json).unwrap();
    let strings = |list: &Value| serde_json::from_value::<Option<Vec<String>>>(list.clone());
    PlainFilter {
        ids: strings(&value["ids"]).unwrap(),
        authors: strings(&value["authors"]).unwrap(),
        kinds: serde_json::from_value(value["kinds"].clone()).unwrap(),
        tags: value
            .as_object()
            .unwrap()
            .iter()
            .filter_map(|(name, list)| Some((name.strip_prefix('#')?, list)))
            .map(|(name, list)| (name.to_owned(), strings(list).unwrap().unwrap()))
            .collect(),
        since: value["since"].as_u64(),
        until: value["until"].as_u64(),
    }
}

#[track_caller]
fn rejects(filter: &str, reason: Reason, member: Option<Member>, offset: usize) {
    let error = Filter::parse(filter).unwrap_err();
    assert_eq!(
        (error.reason, error.member, error.offset),
        (reason, member, offset),
        "{filter}"
    );
}

#[test]
fn prefixes_do_not_match() {
    // With prefix matching, a relay would send events that the client did not request.
    let note = event(1, 2, 10, 1, r#"[["t","coffee"],["e","abababab"]]"#);
    assert!(!matches(r##"{"#t":["cof"]}"##, &note));
    assert!(!matches(r##"{"#t":["coffees"]}"##, &note));
    assert!(!matches(r##"{"#t":[""]}"##, &note));
    for name in ["ids", "authors", "#e", "#p"] {
        let filter = format!(r#"{{"{name}":["abababab"]}}"#);
        let error = Filter::parse(&filter).unwrap_err();
        assert_eq!(error.reason, Reason::HexLength, "{filter}");
    }
}

#[test]
fn hexadecimal_is_exact() {
    let upper = key(0xcd).to_uppercase();
    for (name, member) in [
        ("ids", Member::Ids),
        ("authors", Member::Authors),
        ("#e", Member::Tag),
        ("#p", Member::Tag),
    ] {
        let filter = format!(r#"{{"{name}":["{upper}"]}}"#);
        let at = filter.find('A').unwrap();
        rejects(&filter, Reason::UpperCaseHex, Some(member), at);
        let lenient = Filter::parse_with(&filter, Profile::COMPATIBLE, &FilterLimits::DEFAULT);
        let error = lenient.unwrap_err();
        assert_eq!((error.reason, error.offset), (Reason::UpperCaseHex, at));
        let filter = format!(r#"{{"{name}":["{}"]}}"#, "z".repeat(64));
        let at = filter.find('z').unwrap();
        rejects(&filter, Reason::NotHex, Some(member), at);
    }
    // Values of other letters are not restricted.
    assert!(Filter::parse(r##"{"#E":["x"]}"##).is_ok());
}

#[test]
fn digits_may_be_escaped() {
    let escaped = key(7).replacen('a', "\\u0061", 1);
    let note = event(7, 7, 10, 1, "[]");
    assert!(matches(&format!(r#"{{"ids":["{escaped}"]}}"#), &note));
    assert!(matches(
        &format!(r#"{{"aut\u0068ors":["{escaped}"]}}"#),
        &note
    ));
}

#[test]
fn kinds_and_times() {
    let note = event(1, 2, 1000, 1, "[]");
    assert!(matches("{}", &note));
    assert!(matches(r#"{"kinds":[7,1]}"#, &note));
    assert!(!matches(r#"{"kinds":[7,11]}"#, &note));
    assert!(matches(r#"{"since":1000,"until":1000}"#, &note));
    assert!(!matches(r#"{"since":1001}"#, &note));
    assert!(!matches(r#"{"until":999}"#, &note));
    assert!(!matches(r#"{"since":1001,"until":999}"#, &note));
    assert!(
        matches(r#"{"limit":0}"#, &note),
        "limit is for stored events"
    );
    assert!(
        matches(r#"{"search":"none"}"#, &note),
        "search is for relays"
    );
    let kinds: Vec<u16> = (0..40).map(|n| n * 3).collect();
    let many = Filter::new().with_kinds(kinds).compile();
    for kind in 0..130 {
        let json = event(1, 2, 1000, kind, "[]");
        let expected = kind < 120 && kind % 3 == 0;
        assert_eq!(many.matches(&EventRef::parse(&json).unwrap()), expected);
    }
}

#[test]
fn empty_lists_match_nothing() {
    let note = event(1, 2, 1000, 1, r#"[["t",""],["t"]]"#);
    for filter in [
        r#"{"ids":[]}"#,
        r#"{"authors":[]}"#,
        r#"{"kinds":[]}"#,
        r##"{"#t":[]}"##,
        r#"{"kinds":[1],"authors":[]}"#,
    ] {
        assert!(!matches(filter, &note), "{filter}");
        let parsed = Filter::parse(filter).unwrap();
        assert!(parsed.matches_nothing());
        assert!(Filter::parse(&parsed.to_json()).unwrap().matches_nothing());
    }
}

#[test]
fn tags_of_one_letter_and_their_first_value() {
    let tags = format!(
        r#"[["alt","x"],["t"],["t","one","two"],["p","{}"],["tt","four"],["","five"],["T","six"]]"#,
        key(9)
    );
    let note = event(1, 2, 1000, 1, &tags);
    assert!(matches(r##"{"#t":["one"]}"##, &note));
    assert!(!matches(r##"{"#t":["two"]}"##, &note), "second value");
    assert!(
        !matches(r##"{"#t":["four"]}"##, &note),
        "name of two letters"
    );
    assert!(!matches(r##"{"#t":["five"]}"##, &note), "empty name");
    assert!(!matches(r##"{"#t":["six"]}"##, &note), "upper case");
    assert!(matches(r##"{"#T":["six"]}"##, &note));
    assert!(!matches(r##"{"#a":["x"]}"##, &note), "alt");
    assert!(
        !matches(r##"{"#t":["t"]}"##, &note),
        "a name is not a value"
    );
    let both = format!(r##"{{"#t":["zero","one"],"#p":["{}"]}}"##, key(9));
    assert!(matches(&both, &note));
    let other = format!(r##"{{"#t":["one"],"#p":["{}"]}}"##, key(8));
    assert!(!matches(&other, &note));
}

#[test]
fn items_that_look_like_tags() {
    let tags =
        r#"[["x","[\"t\",\"one\"]"],["x","a","t","one"],["x[","t","one"],["x","]","[","t"]]"#;
    let note = event(1, 2, 1000, 1, tags);
    assert!(!matches(r##"{"#t":["one"]}"##, &note));
}

#[test]
fn tags_with_escapes_and_white_space() {
    let tags = r#" [ [ "\u0074" , "caf\u00e9" , "x" ] , [ "d" , "a\"b\\c\n\/" ],["r","\ud83d\ude00"] ,["g","\u0000"]] "#;
    let note = event(1, 2, 1000, 1, tags.trim());
    assert!(matches(r##"{"#t":["café"]}"##, &note));
    assert!(matches(r##"{"#t":["caf\u00e9"]}"##, &note));
    assert!(!matches(r##"{"#t":["caf\\u00e9"]}"##, &note));
    assert!(matches(r##"{"#d":["a\"b\\c\n/"]}"##, &note));
    assert!(matches(r##"{"#r":["😀"],"#g":["\u0000"]}"##, &note));
    assert!(!matches(r##"{"#r":["😁"]}"##, &note));
}

#[test]
fn lone_surrogates_match_the_replacement_character() {
    let json = event(1, 2, 1000, 1, r#"[["t","\ud800"]]"#);
    let limits = polywire_nostr::Limits::default();
    let note = EventRef::parse_with(&json, Profile::COMPATIBLE, &limits).unwrap();
    let filter = Filter::parse(r##"{"#t":["\ufffd"]}"##).unwrap();
    assert!(filter.matches(&note));
    assert!(filter.compile().matches(&note));
}

#[test]
fn tags_without_items() {
    let json = event(1, 2, 1000, 1, r#"[[],["t","x"],[]]"#);
    let limits = polywire_nostr::Limits::default();
    let note = EventRef::parse_with(&json, Profile::COMPATIBLE, &limits).unwrap();
    let filter = Filter::parse(r##"{"#t":["x"]}"##).unwrap();
    assert!(filter.matches(&note));
    assert!(filter.compile().matches(&note));
}

#[test]
fn hexadecimal_values() {
    // The binary form stores values of 32 or more digits as bytes.
    for digits in [30, 32, 64, 66, 200] {
        let value = "a0".repeat(digits / 2);
        let note = event(1, 2, 10, 1, &format!(r#"[["t","{value}"]]"#));
        assert!(matches(&format!(r##"{{"#t":["{value}"]}}"##), &note));
        let other = format!("{}1", &value[1..]);
        assert!(!matches(&format!(r##"{{"#t":["{other}","x"]}}"##), &note));
        let upper = value.to_uppercase();
        assert!(!matches(&format!(r##"{{"#t":["{upper}"]}}"##), &note));
        let note = event(1, 2, 10, 1, &format!(r#"[["t","{upper}"]]"#));
        assert!(!matches(&format!(r##"{{"#t":["{value}"]}}"##), &note));
    }
}

#[test]
fn many_authors_and_tag_values() {
    let authors: Vec<PublicKey> = (0..2000_u64)
        .map(|n| {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            // Half of the keys have the same last bytes, which makes their hashes collide.
            bytes[24..].copy_from_slice(&(n / 2 * (n % 2)).to_be_bytes());
            PublicKey::from_bytes(bytes)
        })
        .collect();
    let (included, others) = authors.split_at(1000);
    let filter = Filter::new()
        .with_authors(included.iter().copied())
        .compile();
    let digits = included.iter().map(ToString::to_string);
    let tagged = Filter::new().with_tag(TagLetter::P, digits).unwrap();
    let tagged = tagged.compile();
    for (keys, expected) in [(included, true), (others, false)] {
        for author in keys {
            let json = event(1, 2, 10, 1, &format!(r#"[["p","{author}"]]"#));
            let json = json.replace(&key(2), &author.to_string());
            let note = EventRef::parse(&json).unwrap();
            assert_eq!(filter.matches(&note), expected, "{author}");
            assert_eq!(tagged.matches(&note), expected, "{author}");
        }
    }
}

#[test]
fn any_of_several_filters() {
    let json = event(1, 2, 1000, 1, "[]");
    let note = EventRef::parse(&json).unwrap();
    let filters = [Filter::new().with_kinds([7]), Filter::new().with_kinds([1])];
    assert!(CompiledFilters::new(&filters).matches(&note));
    assert!(!CompiledFilters::new(&filters[..1]).matches(&note));
    assert!(!CompiledFilters::default().matches(&note));
}

#[test]
fn rejected_filters() {
    rejects("", Reason::Truncated, None, 0);
    rejects("[]", Reason::WrongType, None, 0);
    rejects("{", Reason::Truncated, None, 1);
    rejects("{} x", Reason::TrailingBytes, None, 3);
    rejects(r#"{"kinds":[1],}"#, Reason::Syntax, None, 13);
    rejects(r#"{"kind":[1]}"#, Reason::UnknownMember, None, 1);
    rejects(r##"{"#tt":["x"]}"##, Reason::TagName, Some(Member::Tag), 1);
    rejects(r##"{"#":["x"]}"##, Reason::TagName, Some(Member::Tag), 1);
    rejects(r##"{"#1":["x"]}"##, Reason::TagName, Some(Member::Tag), 1);
    rejects(r##"{"#é":["x"]}"##, Reason::TagName, Some(Member::Tag), 1);
    rejects(r##"{"&t":["x"]}"##, Reason::UnknownMember, None, 1);
    let duplicate = r#"{"kinds":[1],"kinds":[2]}"#;
    rejects(duplicate, Reason::DuplicateKey, Some(Member::Kinds), 13);
    let duplicate = r##"{"#t":["x"],"#\u0074":["y"]}"##;
    rejects(duplicate, Reason::DuplicateKey, Some(Member::Tag), 12);
    rejects(r#"{"kinds":1}"#, Reason::WrongType, Some(Member::Kinds), 9);
    rejects(
        r#"{"kinds":["1"]}"#,
        Reason::WrongType,
        Some(Member::Kinds),
        10,
    );
    rejects(
        r#"{"kinds":[65536]}"#,
        Reason::TooLarge,
        Some(Member::Kinds),
        10,
    );
    rejects(
        r#"{"kinds":[-1]}"#,
        Reason::Negative,
        Some(Member::Kinds),
        10,
    );
    rejects(
        r#"{"kinds":[1.5]}"#,
        Reason::NotInteger,
        Some(Member::Kinds),
        10,
    );
    rejects(
        r#"{"kinds":[01]}"#,
        Reason::LeadingZero,
        Some(Member::Kinds),
        10,
    );
    rejects(r#"{"kinds":[1,]}"#, Reason::Syntax, Some(Member::Kinds), 12);
    rejects(r#"{"kinds":[1"#, Reason::Truncated, Some(Member::Kinds), 11);
    rejects(
        r#"{"since":null}"#,
        Reason::WrongType,
        Some(Member::Since),
        9,
    );
    rejects(
        r#"{"until":"1"}"#,
        Reason::WrongType,
        Some(Member::Until),
        9,
    );
    rejects(
        r#"{"limit":9223372036854775808}"#,
        Reason::TooLarge,
        Some(Member::Limit),
        9,
    );
    rejects(
        r#"{"search":[]}"#,
        Reason::WrongType,
        Some(Member::Search),
        10,
    );
    rejects(r##"{"#t":"x"}"##, Reason::WrongType, Some(Member::Tag), 6);
    rejects(r##"{"#t":[1]}"##, Reason::WrongType, Some(Member::Tag), 7);
}

#[test]
fn limits_are_inclusive() {
    let limits = FilterLimits::default()
        .with_items(3)
        .with_tag_conditions(1)
        .with_tag_value_bytes(3)
        .with_search_bytes(2);
    let parse = |json: &str| {
        Filter::parse_with(json, Profile::STRICT, &limits).map_err(|error| error.reason)
    };
    assert!(parse(r##"{"kinds":[1,2],"#t":["abc"],"search":"\u00e9"}"##).is_ok());
    assert_eq!(parse(r#"{"kinds":[1,2,3,4]}"#), Err(Reason::TooManyItems));
    // The limit applies to all lists together.
    assert_eq!(
        parse(r##"{"kinds":[1,2,3],"#t":["a"]}"##),
        Err(Reason::TooManyItems)
    );
    assert_eq!(
        parse(r##"{"#t":["a"],"#d":["a"]}"##),
        Err(Reason::TooManyItems)
    );
    assert_eq!(parse(r##"{"#t":["abcd"]}"##), Err(Reason::TooManyBytes));
    assert_eq!(parse(r#"{"search":"abc"}"#), Err(Reason::TooManyBytes));
}

#[test]
fn members_are_written_in_a_fixed_order() {
    let text = format!(
        r##"{{ "search":"a\"b", "limit":5, "#t":["y","x"], "#E":[], "until":9, "since":8, "kinds":[2,1], "authors":["{0}"], "ids":["{0}"] }}"##,
        key(1)
    );
    let filter = Filter::parse(&text).unwrap();
    let printed = format!(
        r##"{{"ids":["{0}"],"authors":["{0}"],"kinds":[2,1],"#E":[],"#t":["y","x"],"since":8,"until":9,"limit":5,"search":"a\"b"}}"##,
        key(1)
    );
    assert_eq!(filter.to_json(), printed);
    assert_eq!(Filter::parse(&printed).unwrap(), filter);
    assert_eq!(serde_json::to_string(&filter).unwrap(), printed);
    assert_eq!(serde_json::from_str::<Filter>(&text).unwrap(), filter);
    assert_eq!(Filter::new().to_json(), "{}");
}

#[test]
fn accessors() {
    let filter = Filter::new()
        .with_kinds([1])
        .with_tag(TagLetter::T, ["a", "b"])
        .unwrap()
        .with_tag(TagLetter::D, [""])
        .unwrap()
        .with_since(u64::MAX)
        .with_limit(3);
    assert_eq!(filter.kinds(), Some(&[1][..]));
    assert_eq!(filter.ids(), None);
    assert_eq!(filter.limit(), Some(3));
    assert_eq!(filter.since(), Some(Filter::MAX_NUMBER));
    let letters: Vec<_> = filter.tags().iter().map(|tag| tag.letter()).collect();
    assert_eq!(letters, [TagLetter::D, TagLetter::T]);
    let values: Vec<_> = filter.tag(TagLetter::T).unwrap().values().collect();
    assert_eq!(values, ["a", "b"]);
    let wrong = Filter::new().with_tag(TagLetter::E, ["short"]).unwrap_err();
    assert_eq!(wrong.reason, Reason::HexLength);
    assert_eq!(Filter::parse(&filter.to_json()).unwrap(), filter);
}

#[test]
fn serde_rejects_the_same_filters() {
    for text in [
        r#"{"kinds":[1],"kinds":[1]}"#.to_owned(),
        r#"{"genre":1}"#.to_owned(),
        r##"{"#tt":["x"]}"##.to_owned(),
        r##"{"#e":["x"]}"##.to_owned(),
        r##"{"#t":["x"],"#t":["x"]}"##.to_owned(),
        r#"{"since":null}"#.to_owned(),
        r#"{"since":9223372036854775808}"#.to_owned(),
        format!(r#"{{"ids":["{}"]}}"#, key(1).to_uppercase()),
    ] {
        assert!(Filter::parse(&text).is_err(), "{text}");
        assert!(serde_json::from_str::<Filter>(&text).is_err(), "{text}");
    }
}

/// Strings from a small set, so that filters often match.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,2}",
        Just("é".to_owned()),
        Just("\"\\\n".to_owned()),
        Just("😀[\"t\",".to_owned()),
        Just("[".to_owned()),
        Just("],[".to_owned()),
        Just("\u{1}\u{7f}\u{fffd}".to_owned()),
        (0..3_u8).prop_map(key),
    ]
}

fn tag() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof!["[edptT]", Just("tt".to_owned()), Just(String::new())];
    (name, proptest::collection::vec(word(), 0..3)).prop_map(|(name, mut items)| {
        items.insert(0, name);
        items
    })
}

/// Writes text as a JSON string. Each set bit of `choice` adds escapes; 0 is the canonical form.
fn spell(text: &str, choice: u64) -> String {
    if choice == 0 {
        return serde_json::to_string(text).unwrap();
    }
    let mut out = String::from("\"");
    for (at, unit) in text.encode_utf16().enumerate() {
        let plain = char::from_u32(u32::from(unit)).filter(|c| !"\"\\\n\u{1}".contains(*c));
        match plain {
            Some(plain) if choice >> (at % 64) & 1 == 0 => out.push(plain),
            _ => out += &format!("\\u{unit:04x}"),
        }
    }
    out + "\""
}

fn any_filter() -> impl Strategy<Value = Value> {
    let keys = || proptest::option::of(proptest::collection::vec((0..4_u8).prop_map(key), 0..12));
    let values = || proptest::option::of(proptest::collection::vec(word(), 0..12));
    let number = || proptest::option::of(0..5_u64);
    let kinds = proptest::option::of(proptest::collection::vec(0..4_u16, 0..20));
    let tags = (keys(), values(), values(), values());
    (keys(), keys(), kinds, tags, number(), number()).prop_map(
        |(ids, authors, kinds, (e, d, t, upper), since, until)| {
            let mut filter = json!({
                "ids": ids, "authors": authors, "kinds": kinds, "#e": e, "#d": d, "#t": t,
                "#T": upper, "since": since, "until": until,
            });
            filter
                .as_object_mut()
                .unwrap()
                .retain(|_, value| !value.is_null());
            filter
        },
    )
}

proptest! {
    #[test]
    fn matches_like_the_reference(
        filter in any_filter(),
        fields in (0..4_u8, 0..4_u8, 0..5_u64, 0..4_u16),
        tags in proptest::collection::vec(tag(), 0..5),
        choice in prop_oneof![Just(0), any::<u64>()],
    ) {
        let tags: Vec<String> = tags
            .iter()
            .map(|tag| {
                let items: Vec<String> = tag.iter().map(|item| spell(item, choice)).collect();
                format!("[{}]", items.join(if choice & 2 == 0 { "," } else { " , " }))
            })
            .collect();
        let (id, author, created_at, kind) = fields;
        let note = event(id, author, created_at, kind, &format!("[{}]", tags.join(",")));
        matches(&filter.to_string(), &note);
        let read = EventRef::parse(&note).unwrap();
        prop_assert!(choice != 0 || read.is_canonical());
        // A single condition matches more often than all conditions together.
        for (name, value) in filter.as_object().unwrap() {
            matches(&json!({ name: value }).to_string(), &note);
        }
    }

    #[test]
    fn round_trip(filter in any_filter()) {
        let text = filter.to_string();
        let parsed = Filter::parse(&text).unwrap();
        let printed = parsed.to_json();
        prop_assert_eq!(&serde_json::from_str::<Value>(&printed).unwrap(), &filter);
        prop_assert_eq!(&Filter::parse(&printed).unwrap(), &parsed);
        prop_assert_eq!(&serde_json::from_str::<Filter>(&text).unwrap(), &parsed);
        prop_assert_eq!(serde_json::to_string(&parsed).unwrap(), printed);
    }

    #[test]
    fn random_text_is_parsed_or_rejected(text in r#"\{("(ids|kinds|#t|since)":(\[[^\]]{0,4}\]|[0-9x."-]{0,5}),?){0,3}\}?"#) {
        if let Ok(filter) = Filter::parse(&text) {
            prop_assert_eq!(Filter::parse(&filter.to_json()).unwrap(), filter);
        }
    }
}
