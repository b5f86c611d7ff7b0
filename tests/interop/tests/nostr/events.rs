//! Events: parsing, verification, ids and canonical forms.

use nostr::event::FinalizeEvent as _;
use polywire_interop::Case;
use polywire_nostr::{Event, EventRef, Limits, Profile, Reason};
use serde_json::{Value, json};

use crate::fixtures::{NOW, events, keys, secret_hex, texts, their_keys};

fn tags_of(event: &EventRef<'_>) -> Vec<Vec<String>> {
    let items = |tag: polywire_nostr::Tag<'_>| tag.items().map(Into::into).collect();
    event.tags().map(items).collect()
}

fn canonical(event: &EventRef<'_>) -> String {
    let mut out = Vec::new();
    event.push_canonical(&mut out);
    String::from_utf8(out).unwrap()
}

/// Copies of an event, each with one invalid member.
fn forged(event: &Event) -> Vec<String> {
    let json = event.as_ref().as_json();
    let event = event.as_ref();
    let flip = |digits: String| {
        let last = if digits.ends_with('0') { "1" } else { "0" };
        format!("{}{last}", &digits[..digits.len() - 1])
    };
    let (id, sig) = (event.id().to_string(), event.sig().to_string());
    let other = keys(9).public_key().to_string();
    let number = |name: &str, value: u64| format!("\"{name}\":{value}");
    let (kind, time) = (event.kind(), event.created_at());
    vec![
        json.replacen(&id, &flip(id.clone()), 1),
        json.replacen(&sig, &flip(sig.clone()), 1),
        json.replacen(&event.pubkey().to_string(), &other, 1),
        json.replacen(&number("kind", kind.into()), &number("kind", 7), 1),
        json.replacen(&number("created_at", time), &number("created_at", 7), 1),
        json.replacen("\"content\":\"", "\"content\":\" ", 1),
        json.replacen("\"tags\":[", "\"tags\":[[\"x\"],", 1),
    ]
}

#[test]
fn nostr_crate_reads_our_events() {
    let _case = Case::begin("nostr_crate_reads_our_events");
    for event in events(&keys(1)) {
        let ours = event.as_ref();
        let theirs = nostr::prelude::Event::from_json(ours.as_json()).unwrap();
        theirs.verify().unwrap();
        assert_eq!(theirs.id.to_hex(), ours.id().to_string());
        assert_eq!(theirs.content, ours.content());
        let tags: Vec<_> = theirs
            .tags
            .iter()
            .map(|tag| tag.as_slice().to_vec())
            .collect();
        assert_eq!(tags, tags_of(&ours));
        // Conversion in the other direction.
        let back = theirs.as_json();
        let back = EventRef::parse(&back).unwrap();
        assert_eq!(back, ours);
        back.verify().unwrap();
    }
}

#[test]
fn nostr_crate_events_are_read_by_us() {
    let _case = Case::begin("nostr_crate_events_are_read_by_us");
    let signer = their_keys(2);
    for (number, text) in texts().into_iter().enumerate() {
        let tag = |items: &[&str]| nostr::prelude::Tag::parse(items.iter().copied()).unwrap();
        let theirs = nostr::prelude::EventBuilder::new(
            nostr::prelude::Kind::from(number as u16),
            text.clone(),
        )
        .tag(tag(&["t", &text, "x"]))
        .tag(tag(&[&text]))
        .custom_created_at(nostr::prelude::Timestamp::from(NOW + number as u64))
        .finalize(&signer)
        .unwrap();
        let json = theirs.as_json();
        let ours = EventRef::parse(&json).unwrap();
        ours.verify().unwrap();
        assert_eq!(ours.content(), text);
        assert_eq!(
            tags_of(&ours),
            [vec!["t".into(), text.clone(), "x".into()], vec![text]]
        );
        assert_eq!(ours.id().as_bytes(), theirs.id.as_bytes());
    }
}

#[test]
fn nostr_crate_refuses_what_we_refuse() {
    let _case = Case::begin("nostr_crate_refuses_what_we_refuse");
    for event in events(&keys(1)).iter().take(20) {
        for (number, json) in forged(event).into_iter().enumerate() {
            assert_ne!(json, event.as_ref().as_json(), "{number}");
            let ours = EventRef::parse(&json).unwrap().verify().unwrap_err();
            let id_is_right = number == 1;
            assert_eq!(
                ours.reason == Reason::InvalidSignature,
                id_is_right,
                "{ours}"
            );
            assert!(
                nostr::prelude::Event::from_json(&json)
                    .unwrap()
                    .verify()
                    .is_err()
            );
        }
    }
}

#[test]
fn nostr_tools_reads_our_events() {
    let case = Case::begin("nostr_tools_reads_our_events");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    for event in events(&keys(1)) {
        let ours = event.as_ref();
        let theirs = tools.call("read", &json!(ours.as_json()));
        assert_eq!(theirs["valid"], true, "{ours:?}");
        assert_eq!(theirs["id"], ours.id().to_string());
        assert_eq!(theirs["canonical"], canonical(&ours));
        assert_eq!(theirs["content"], *ours.content());
        assert_eq!(theirs["tags"], json!(tags_of(&ours)));
        assert_eq!(theirs["kind"], ours.kind());
        assert_eq!(theirs["created_at"], ours.created_at());
        // nostr-tools writes the same JSON text.
        let spelled = tools.text("rewrite", &json!(ours.as_json()));
        assert_eq!(spelled, ours.as_json());
    }
}

#[test]
fn nostr_tools_events_are_read_by_us() {
    let case = Case::begin("nostr_tools_events_are_read_by_us");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    for (number, text) in texts().into_iter().enumerate() {
        let template = json!({
            "secret": secret_hex(2), "kind": number, "created_at": NOW + number as u64,
            "tags": [["t", text, "x"], [text], ["empty", ""]], "content": text,
        });
        let json = tools.text("sign", &template);
        let ours = EventRef::parse(&json).unwrap();
        ours.verify().unwrap();
        assert_eq!(*ours.pubkey(), keys(2).public_key());
        assert!(ours.is_canonical(), "{json}");
        assert_eq!(ours.content(), text);
        assert_eq!(json!(tags_of(&ours)), template["tags"]);
        assert_eq!(
            tools.call("read", &json!(json))["canonical"],
            canonical(&ours)
        );
    }
}

#[test]
fn nostr_tools_refuses_what_we_refuse() {
    let case = Case::begin("nostr_tools_refuses_what_we_refuse");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    for event in events(&keys(1)).iter().take(5) {
        for json in forged(event) {
            assert!(EventRef::parse(&json).unwrap().verify().is_err());
            assert_eq!(tools.call("read", &json!(json))["valid"], false, "{json}");
        }
    }
}

/// JavaScript strings can contain lone surrogates, which are hashed as escapes.
#[test]
fn nostr_tools_halves_of_surrogate_pairs() {
    let case = Case::begin("nostr_tools_halves_of_surrogate_pairs");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    for units in [
        vec![0xd83d],
        vec![0x61, 0xdc00, 0x62],
        vec![0xdc00, 0xd800],
        vec![0xd800, 0xd83d, 0xde00],
    ] {
        let template = json!({
            "secret": secret_hex(2), "kind": 1, "created_at": NOW, "tags": [], "units": units,
        });
        let json = tools.text("sign", &template);
        assert_eq!(
            EventRef::parse(&json).unwrap_err().reason,
            Reason::LoneSurrogate
        );
        let ours = EventRef::parse_with(&json, Profile::COMPATIBLE, &Limits::DEFAULT).unwrap();
        ours.verify().unwrap();
        assert!(ours.content().contains('\u{fffd}'));
        // The crate rejects lone surrogates.
        assert!(nostr::prelude::Event::from_json(&json).is_err());
    }
}

/// Deviations that only lenient profiles accept, and the results of the peers.
#[test]
fn nostr_peers_and_deviations() {
    let case = Case::begin("nostr_peers_and_deviations");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let event = polywire_nostr::EventBuilder::new(1, "hi", 1_700_000_000).sign(&keys(3));
    let json = event.as_ref().as_json();
    let id = event.as_ref().id().to_string();
    // The text, and whether nostr and nostr-tools accept it.
    let cases: [(String, Reason, bool, bool); 5] = [
        (
            json.replacen(&id, &id.to_uppercase(), 1),
            Reason::UpperCaseHex,
            true,
            false,
        ),
        (
            json.replacen("1700000000", "1700000000.0", 1),
            Reason::NotInteger,
            false,
            true,
        ),
        (
            json.replacen("1700000000", "17e8", 1),
            Reason::NotInteger,
            false,
            true,
        ),
        (
            json.replacen("{", "{\"kind\":2,", 1),
            Reason::DuplicateKey,
            false,
            true,
        ),
        (
            json.replacen("\"kind\":1", "\"kind\":-1", 1),
            Reason::Negative,
            false,
            false,
        ),
    ];
    for (json, reason, crate_reads, tools_reads) in cases {
        assert_eq!(EventRef::parse(&json).unwrap_err().reason, reason, "{json}");
        let lenient = EventRef::parse_with(&json, Profile::COMPATIBLE, &Limits::DEFAULT);
        let lenient = lenient.is_ok_and(|event| event.verify().is_ok());
        assert_eq!(lenient, reason != Reason::Negative, "{json}");
        let theirs =
            nostr::prelude::Event::from_json(&json).is_ok_and(|event| event.verify().is_ok());
        assert_eq!(theirs, crate_reads, "nostr: {json}");
        let theirs = tools.try_call("read", &json!(json));
        let theirs = theirs.is_ok_and(|read| read["valid"] == Value::Bool(true));
        assert_eq!(theirs, tools_reads, "nostr-tools: {json}");
    }
}
