//! Events with random escapes, white space, order of members and unknown members.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use polywire_nostr::reference::event::Event as Slow;
use polywire_nostr::{EventBuilder, EventRef, Limits, Profile, PublicKey, Signature, event_id};
use proptest::collection::vec;
use proptest::prelude::*;

/// Text with many characters that need escapes.
fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => prop::char::range(' ', '~'),
        2 => prop::sample::select(vec!['"', '\\', '/', '\n', '\t', '\r', '\u{8}', '\u{c}', '\0', '\u{1f}', '\u{7f}']),
        1 => prop::sample::select(vec!['é', '\u{2028}', '€', '\u{ffff}', '😀', '\u{10ffff}']),
    ];
    prop_oneof![
        vec(character, 0..80).prop_map(String::from_iter),
        "[0-9a-f]{64}",
        "[a-z]",
    ]
}

/// Writes text as a JSON string. `choices` selects the escape of each character.
fn spell(text: &str, choices: &mut impl Iterator<Item = u8>) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        let must = matches!(character, '"' | '\\' | '\0'..='\x1f');
        let choice = choices.next().unwrap_or(0);
        let short = match character {
            '"' => Some('"'),
            '\\' => Some('\\'),
            '/' => Some('/'),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            _ => None,
        };
        match short {
            Some(short) if choice > 40 && (must || choice > 220) => {
                out.push('\\');
                out.push(short);
            }
            _ if must || choice > 235 => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    if choice.is_multiple_of(2) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    } else {
                        out.push_str(&format!("\\u{unit:04X}"));
                    }
                }
            }
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

fn space(choices: &mut impl Iterator<Item = u8>) -> &'static str {
    match choices.next().unwrap_or(0) {
        250.. => " \n",
        240.. => "\t",
        _ => "",
    }
}

proptest! {
    #[test]
    fn parsing_does_not_depend_on_spelling(
        pubkey in any::<[u8; 32]>(),
        sig in vec(any::<u8>(), 64),
        created_at in 0_u64..1 << 53,
        kind in any::<u16>(),
        tags in vec(vec(text(), 1..5), 0..6),
        content in text(),
        order in Just((0..8).collect::<Vec<_>>()).prop_shuffle(),
        choices in vec(any::<u8>(), 2000),
    ) {
        let pubkey = PublicKey::from_bytes(pubkey);
        let sig = Signature::from_bytes(sig.try_into().unwrap());
        let id = event_id(&pubkey, created_at, kind, &tags, &content);
        let mut choices = choices.into_iter();
        let choices = &mut choices;
        let mut spelled_tags = String::from("[");
        for (index, tag) in tags.iter().enumerate() {
            if index > 0 {
                spelled_tags.push(',');
            }
            spelled_tags += space(choices);
            spelled_tags.push('[');
            for (index, item) in tag.iter().enumerate() {
                if index > 0 {
                    spelled_tags.push(',');
                }
                spelled_tags += space(choices);
                spelled_tags += &spell(item, choices);
                spelled_tags += space(choices);
            }
            spelled_tags.push(']');
        }
        spelled_tags.push(']');
        let members = [
            format!("\"id\":\"{id}\""),
            format!("\"pubkey\" : \"{pubkey}\""),
            format!("\"created_at\":{created_at}"),
            format!("\"kind\": {kind}"),
            format!("\"tags\":{spelled_tags}"),
            format!("\"content\":{}", spell(&content, choices)),
            format!("\"sig\":\"{sig}\""),
            "\"relay\":[{\"a\":[1e3,null]},\"x\"]".to_owned(),
        ];
        let members: Vec<_> = order.into_iter().map(|index| members[index].clone()).collect();
        let json = format!("{}{{{}}}", space(choices), members.join(","));

        let event = EventRef::parse(&json).unwrap();
        event.check_id().unwrap();
        prop_assert_eq!(&event.content(), &content);
        let read: Vec<Vec<_>> = event.tags().map(|tag| tag.items().collect()).collect();
        prop_assert_eq!(read, tags.clone());
        let mut canonical = Vec::new();
        event.push_canonical(&mut canonical);
        let slow = Slow::parse(json.as_bytes(), Profile::STRICT, &Limits::default()).unwrap();
        prop_assert_eq!(String::from_utf8(canonical).unwrap(), slow.canonical());
        // `is_canonical` is `true` for canonical text only.
        let stringify = |value| {
            let mut out = String::new();
            polywire_nostr::reference::json::stringify(value, &mut out);
            out
        };
        let tags_spelled = json.contains(&format!("\"tags\":{}", stringify(&slow.tags)));
        let content_spelled = format!("\"{}\"", event.raw_content()) == stringify(&slow.content);
        prop_assert_eq!(event.is_canonical(), tags_spelled && content_spelled);
        let respelled = event.to_canonical();
        prop_assert!(EventRef::parse(respelled.as_ref().as_json()).unwrap().is_canonical());
        prop_assert_eq!(respelled.as_ref(), event);

        let unsigned = EventBuilder::new(kind, content, created_at).tags(tags).build(&pubkey);
        prop_assert_eq!(unsigned.id(), &id);
        let built = unsigned.with_signature(&sig);
        prop_assert_eq!(built.as_ref(), event);
        let reparsed = EventRef::parse(built.as_ref().as_json()).unwrap();
        prop_assert!(reparsed.is_canonical() && built.as_ref().is_canonical());
        prop_assert_eq!(reparsed, event);
    }
}

/// Repeated members are all validated, also those that a later one replaces.
#[test]
fn repeated_members_are_validated() {
    let event = EventBuilder::new(1, "twice", 7).tag(["t", "x"]);
    let event = event.build(&PublicKey::from_bytes([9; 32]));
    let event = event.with_signature(&Signature::from_bytes([7; 64]));
    let json = event.as_ref().as_json();
    let limits = Limits::DEFAULT.with_tags(2);
    let cases = [
        ("\"kind\":2", true),
        ("\"kind\":65536", false),
        ("\"kind\":null", false),
        ("\"created_at\":-1", false),
        ("\"content\":\"once\"", true),
        ("\"content\":1", false),
        ("\"id\":\"abc\"", false),
        ("\"pubkey\":[]", false),
        ("\"sig\":\"\"", false),
        ("\"tags\":[[\"a\"],[\"b\"]]", true),
        ("\"tags\":[[\"a\"],[\"b\"],[\"c\"]]", false),
        ("\"tags\":[1]", false),
    ];
    for (first, is_valid) in cases {
        let json = json.replacen('{', &format!("{{{first},"), 1);
        let fast = EventRef::parse_with(&json, Profile::COMPATIBLE, &limits);
        let slow = Slow::parse(json.as_bytes(), Profile::COMPATIBLE, &limits);
        assert_eq!(
            (fast.is_ok(), slow.is_some()),
            (is_valid, is_valid),
            "{first}"
        );
        assert!(EventRef::parse_with(&json, Profile::STRICT, &limits).is_err());
        if let Ok(fast) = fast {
            assert_eq!(fast, event.as_ref());
        }
    }
}
