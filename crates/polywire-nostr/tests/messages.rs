//! Messages of clients and relays, authentication, expiration and deletion.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{event, key};
use polywire_nostr::auth::{self, AuthError};
use polywire_nostr::message::{Count, MachineReadablePrefix, client, relay};
use polywire_nostr::{
    ClientMessage, Deletion, EventId, EventRef, FilterLimits, Limits, MessageLimits, Profile,
    Reason, RelayMessage, RelayUrl, SubscriptionId,
};
use proptest::prelude::*;

const LIMITS: MessageLimits = MessageLimits::DEFAULT;

fn client(text: &str) -> Result<ClientMessage<'_>, polywire_nostr::Error> {
    ClientMessage::parse(text, Profile::STRICT, &LIMITS)
}

fn relay(text: &str) -> Result<RelayMessage<'_>, polywire_nostr::Error> {
    RelayMessage::parse(text, Profile::STRICT, &LIMITS)
}

/// One message of each type, in the form that `to_json` writes.
fn client_messages() -> Vec<String> {
    let note = event(1, 2, 10, 1, r#"[["t","\u0061"]]"#);
    vec![
        format!(r#"["EVENT",{note}]"#),
        r##"["REQ","feed \"1\"",{"kinds":[1],"#t":["a","b"],"limit":5},{}]"##.to_owned(),
        r#"["CLOSE","\\é"]"#.to_owned(),
        format!(r#"["AUTH",{note}]"#),
        r#"["COUNT","c",{"kinds":[3]}]"#.to_owned(),
        r#"["NEG-OPEN","n",{"since":1},"6100"]"#.to_owned(),
        r#"["NEG-MSG","n","61"]"#.to_owned(),
        r#"["NEG-CLOSE","n"]"#.to_owned(),
    ]
}

fn relay_messages() -> Vec<String> {
    let note = event(1, 2, 10, 1, "[]");
    let id = key(1);
    vec![
        format!(r#"["EVENT","feed",{note}]"#),
        format!(r#"["OK","{id}",true,""]"#),
        format!(r#"["OK","{id}",false,"pow: more \"work\""]"#),
        r#"["EOSE","feed"]"#.to_owned(),
        r#"["CLOSED","feed","error: bye"]"#.to_owned(),
        r#"["NOTICE","hello\n"]"#.to_owned(),
        r#"["AUTH","7f3a"]"#.to_owned(),
        r#"["COUNT","c",{"count":238}]"#.to_owned(),
        format!(
            r#"["COUNT","c",{{"count":1,"approximate":true,"hll":"{}"}}]"#,
            "0a".repeat(256)
        ),
        r#"["NEG-MSG","n",""]"#.to_owned(),
        r#"["NEG-ERR","n","blocked: too many"]"#.to_owned(),
        r#"["NEG-ERR","n","blocked: too many",500000]"#.to_owned(),
    ]
}

#[test]
fn messages_round_trip() {
    for text in client_messages() {
        assert_eq!(client(&text).unwrap().to_json(), text);
    }
    for text in relay_messages() {
        assert_eq!(relay(&text).unwrap().to_json(), text);
    }
}

#[test]
fn white_space_and_escapes() {
    let text = " [ \"C\\u004cOSE\" , \"a\" ] \n";
    let ClientMessage::Close(id) = client(text).unwrap() else {
        panic!()
    };
    assert_eq!(id.as_str(), "a");
    let text = r#" [ "COUNT" , "c" , { "more" : [ { } ] , "count" : 2 } ] "#;
    let RelayMessage::Count { count, .. } = relay(text).unwrap() else {
        panic!()
    };
    assert_eq!(count, Count::new(2));
    let text = r#"[ "NEG-ERR" , "n" , "x" , 1 ] "#;
    assert!(relay(text).is_ok());
}

/// Removes the mark `<` from the text, and returns its offset.
fn marked(text: &str) -> (String, usize) {
    (text.replacen('<', "", 1), text.find('<').unwrap())
}

#[test]
fn rejected_client_messages() {
    let bad_event = event(1, 2, 10, 1, r#"[["t",<7]]"#);
    for (text, reason) in [
        ("<", Reason::Truncated),
        ("<{}", Reason::WrongType),
        ("[<]", Reason::UnknownMessage),
        ("[<1]", Reason::WrongType),
        (r#"[<"EOSE","a"]"#, Reason::UnknownMessage),
        (r#"[<"event",{}]"#, Reason::UnknownMessage),
        (r#"["CLOSE"]<"#, Reason::Missing),
        (r#"["CLOSE",<""]"#, Reason::SubscriptionId),
        (r#"["CLOSE",<1]"#, Reason::WrongType),
        (r#"["CLOSE","a"<,1]"#, Reason::ExtraItem),
        (r#"["CLOSE","a"] <x"#, Reason::TrailingBytes),
        (r#"["CLOSE","a"<"#, Reason::Truncated),
        (r#"["CLOSE","a"<}"#, Reason::Syntax),
        (r#"["EVENT",<[]]"#, Reason::WrongType),
        (r#"["REQ","a"]<"#, Reason::Missing),
        (r#"["REQ","a",{"kinds":[<"x"]}]"#, Reason::WrongType),
        (r#"["REQ","a",{},{<"genre":1}]"#, Reason::UnknownMember),
        (r#"["REQ","a",{},<1]"#, Reason::WrongType),
        (r#"["NEG-OPEN","n",{},"<0"]"#, Reason::HexLength),
        (r#"["NEG-OPEN","n",{},"00<zz"]"#, Reason::NotHex),
        (r#"["NEG-OPEN","n",{}]<"#, Reason::Missing),
        (r#"["NEG-OPEN","n",{},"00"<,16]"#, Reason::ExtraItem),
        (&format!(r#"["EVENT",{bad_event}]"#), Reason::TagNotString),
    ] {
        let (text, offset) = marked(text);
        let error = client(&text).unwrap_err();
        assert_eq!((error.reason, error.offset), (reason, offset), "{text}");
    }
    let long = format!(r#"["CLOSE","{}"]"#, "é".repeat(65));
    assert_eq!(client(&long).unwrap_err().reason, Reason::SubscriptionId);
    let long = format!(r#"["CLOSE","{}"]"#, "é".repeat(64));
    assert!(client(&long).is_ok());
    let error = ClientMessage::parse(b"[\"CLOSE\",\"\xff\"]", Profile::STRICT, &LIMITS);
    let error = error.unwrap_err();
    assert_eq!((error.reason, error.offset), (Reason::NotUtf8, 10));
}

#[test]
fn rejected_relay_messages() {
    let id = key(1);
    for (text, reason) in [
        (r#"[<"REQ","a",{}]"#.to_owned(), Reason::UnknownMessage),
        (format!(r#"["OK","{id}",<1,""]"#), Reason::WrongType),
        (format!(r#"["OK","{id}",tru<,""]"#), Reason::Syntax),
        (format!(r#"["OK","{id}",true]<"#), Reason::Missing),
        (r#"["OK","<abcd",true,""]"#.to_owned(), Reason::HexLength),
        (r#"["COUNT","c",{}<]"#.to_owned(), Reason::Missing),
        (
            r#"["COUNT","c",{"count":<-1}]"#.to_owned(),
            Reason::Negative,
        ),
        (
            r#"["COUNT","c",{"count":1,<"count":1}]"#.to_owned(),
            Reason::DuplicateKey,
        ),
        (
            r#"["COUNT","c",{"count":1,"hll":"<00"}]"#.to_owned(),
            Reason::HexLength,
        ),
        (r#"["NEG-ERR","n","x",<"y"]"#.to_owned(), Reason::WrongType),
        (r#"["NOTICE",<null]"#.to_owned(), Reason::WrongType),
    ] {
        let (text, offset) = marked(&text);
        let error = relay(&text).unwrap_err();
        assert_eq!((error.reason, error.offset), (reason, offset), "{text}");
    }
}

#[test]
fn limits_of_messages() {
    let reason = |text: &str, limits: &MessageLimits| {
        let parsed = ClientMessage::parse(text, Profile::STRICT, limits);
        parsed.err().map(|error| (error.reason, error.offset))
    };
    let two = r#"["REQ","a",{},{}]"#;
    let one = LIMITS.with_filter(FilterLimits::default().with_filters(1));
    assert_eq!(reason(two, &one), Some((Reason::TooManyItems, 14)));
    assert_eq!(reason(r#"["REQ","a",{}]"#, &one), None);
    // The limit applies to the items of all filters together.
    let lists = r#"["REQ","a",{"kinds":[1,2]},{"kinds":[3]}]"#;
    let items = |items| LIMITS.with_filter(FilterLimits::default().with_items(items));
    assert_eq!(reason(lists, &items(3)), None);
    assert_eq!(reason(lists, &items(2)), Some((Reason::TooManyItems, 37)));
    assert_eq!(reason(two, &LIMITS.with_bytes(17)), None);
    let too_many = Some((Reason::TooManyBytes, 16));
    assert_eq!(reason(two, &LIMITS.with_bytes(16)), too_many);
    let note = event(1, 2, 10, 1, "[]");
    let text = format!(r#"["EVENT",{note}]"#);
    let of_event = |bytes| LIMITS.with_event(Limits::default().with_bytes(bytes));
    assert_eq!(reason(&text, &of_event(note.len())), None);
    let too_many = Some((Reason::TooManyBytes, 9 + note.len() - 1));
    assert_eq!(reason(&text, &of_event(note.len() - 1)), too_many);
}

#[test]
fn events_are_forwarded_unchanged() {
    let spelled = event(1, 2, 10, 1, r#" [ [ "t" , "\u0061" ] ] "#);
    let text = format!(r#"["EVENT", {spelled} ]"#);
    let ClientMessage::Event(note) = client(&text).unwrap() else {
        panic!()
    };
    let feed = SubscriptionId::new("feed").unwrap();
    let mut out = Vec::new();
    relay::push_event(&mut out, &feed, note.as_json());
    assert_eq!(out, format!(r#"["EVENT","feed",{spelled}]"#).as_bytes());
    let RelayMessage::Event { event: read, .. } =
        RelayMessage::parse(&out, Profile::STRICT, &LIMITS).unwrap()
    else {
        panic!()
    };
    assert_eq!(read, note);
    let mut again = Vec::new();
    client::push_event(&mut again, read.as_json());
    assert_eq!(again, format!(r#"["EVENT",{spelled}]"#).as_bytes());
}

#[test]
fn peek_event_id() {
    let note = event(7, 2, 10, 1, "[]");
    let id = EventId::from_hex(key(7)).unwrap();
    let text = format!(" [ \"EVENT\" , {note}]");
    assert_eq!(ClientMessage::peek_event_id(&text), Some(id));
    let end = text.find("pubkey").unwrap();
    assert_eq!(ClientMessage::peek_event_id(&text[..end]), Some(id));
    for other in [
        "",
        "[",
        r#"["EVENT""#,
        r#"["EVENT",{"kind":1}]"#,
        r#"["AUTH",{}]"#,
    ] {
        assert_eq!(ClientMessage::peek_event_id(other), None, "{other}");
    }
}

#[test]
fn prefixes() {
    for prefix in MachineReadablePrefix::ALL {
        let text = prefix.with("some: text");
        assert_eq!(
            MachineReadablePrefix::split(&text),
            (Some(*prefix), "some: text")
        );
    }
    assert_eq!(
        MachineReadablePrefix::split("duplicate:"),
        (Some(MachineReadablePrefix::Duplicate), "")
    );
    assert_eq!(
        MachineReadablePrefix::split("duplicate"),
        (None, "duplicate")
    );
    assert_eq!(
        MachineReadablePrefix::split("Duplicate: x"),
        (None, "Duplicate: x")
    );
    // A relay can answer an invalid message with the text of the error.
    let error = client(r#"["REQ","a",{"genre":1}]"#)
        .unwrap_err()
        .to_string();
    assert_eq!(
        MachineReadablePrefix::split(&error).0,
        Some(MachineReadablePrefix::Unsupported)
    );
    let error = client(r#"["REQ","a",{"kinds":1}]"#)
        .unwrap_err()
        .to_string();
    assert_eq!(
        MachineReadablePrefix::split(&error).0,
        Some(MachineReadablePrefix::Invalid)
    );
}

#[test]
fn authentication() {
    let read = |kind, tags: &str| event(1, 2, 1000, kind, tags);
    let good = r#"[["relay","wss://r.example/"],["challenge","c"]]"#;
    let relay = RelayUrl::parse("wss://r.example").unwrap();
    let check = |json: &str, now| {
        let event = EventRef::parse(json).unwrap();
        auth::check(&event, "c", &relay, now, 600)
    };
    let answer = read(auth::KIND, good);
    for (now, result) in [
        (400, Ok(())),
        (1600, Ok(())),
        (1601, Err(AuthError::TooOld)),
        (399, Err(AuthError::InFuture)),
        (0, Err(AuthError::InFuture)),
        (u64::MAX, Err(AuthError::TooOld)),
    ] {
        assert_eq!(check(&answer, now), result, "{now}");
    }
    assert_eq!(check(&read(1, good), 1000), Err(AuthError::Kind));
    for (tags, error) in [
        (r#"[["relay","wss://r.example/"]]"#, AuthError::Challenge),
        (r#"[["challenge"]]"#, AuthError::Challenge),
        (r#"[["challenge","C"]]"#, AuthError::Challenge),
        (r#"[["challenge","c"]]"#, AuthError::Relay),
        (
            r#"[["challenge","c"],["relay","wss://s.example/"]]"#,
            AuthError::Relay,
        ),
    ] {
        assert_eq!(check(&read(auth::KIND, tags), 1000), Err(error), "{tags}");
    }
}

#[test]
fn expirations() {
    for (tags, expiration) in [
        (r#"[]"#, None),
        (r#"[["expiration"]]"#, None),
        (r#"[["expiration","soon"]]"#, None),
        (r#"[["expiration","+5"]]"#, None),
        (r#"[["expiration",""]]"#, None),
        (r#"[["expiration","99999999999999999999"]]"#, None),
        (
            r#"[["t","x"],["expiration","5"],["expiration","6"]]"#,
            Some(5),
        ),
    ] {
        let json = event(1, 2, 10, 1, tags);
        let note = EventRef::parse(&json).unwrap();
        assert_eq!(note.expiration(), expiration, "{tags}");
        assert_eq!(note.is_expired(5), expiration.is_some());
        assert!(!note.is_expired(4));
    }
}

#[test]
fn deletions() {
    let (own, other) = (key(2), key(3));
    let tags = format!(
        r#"[["e","{own}","wss://r"],["e","short"],["e"],["E","{own}"],["a","30023:{own}:a:b"],["a","0:{own}:"],["a","30023:{other}:x"],["a","+1:{own}:x"],["a","65536:{own}:x"],["a","1:{own}"],["a","30023:{own}:\u0061"],["k","1"]]"#
    );
    let json = event(1, 2, 10, 5, &tags);
    let found: Vec<_> = EventRef::parse(&json).unwrap().deletions().collect();
    let address = |kind, identifier: &'static str| Deletion::Address {
        kind,
        identifier: identifier.into(),
    };
    let expected = [
        Deletion::Event(EventId::from_hex(&own).unwrap()),
        address(30023, "a:b"),
        address(0, ""),
        address(30023, "a"),
    ];
    assert_eq!(found, expected);
    let json = event(1, 2, 10, 1, &tags);
    assert_eq!(EventRef::parse(&json).unwrap().deletions().count(), 0);
}

/// Parses bytes as each kind of message. Error offsets must be in the text, and messages must
/// round-trip.
fn parse_all(bytes: &[u8]) {
    for profile in [Profile::STRICT, Profile::COMPATIBLE] {
        match ClientMessage::parse(bytes, profile, &LIMITS) {
            Ok(message) => {
                let printed = message.to_json();
                let again = ClientMessage::parse(&printed, profile, &LIMITS).unwrap();
                assert_eq!(again, message);
            }
            Err(error) => assert!(error.offset <= bytes.len()),
        }
        match RelayMessage::parse(bytes, profile, &LIMITS) {
            Ok(message) => {
                let printed = message.to_json();
                let again = RelayMessage::parse(&printed, profile, &LIMITS).unwrap();
                assert_eq!(again, message);
            }
            Err(error) => assert!(error.offset <= bytes.len()),
        }
    }
    let _ = ClientMessage::peek_event_id(bytes);
}

#[test]
fn truncated_messages() {
    for text in client_messages().into_iter().chain(relay_messages()) {
        for end in 0..text.len() {
            let part = &text.as_bytes()[..end];
            parse_all(part);
            assert!(ClientMessage::parse(part, Profile::STRICT, &LIMITS).is_err());
            assert!(RelayMessage::parse(part, Profile::STRICT, &LIMITS).is_err());
        }
    }
}

#[test]
fn changed_bytes() {
    for text in client_messages().into_iter().chain(relay_messages()) {
        let mut bytes = text.into_bytes();
        for at in 0..bytes.len() {
            let before = bytes[at];
            for other in b"\"\\[]{},:0aAeu-. \n\x00\x7f\xc3\xff" {
                bytes[at] = *other;
                parse_all(&bytes);
            }
            bytes[at] = before ^ 0x20;
            parse_all(&bytes);
            bytes[at] = before;
        }
    }
}

proptest! {
    #[test]
    fn subscription_ids_and_texts_round_trip(id in ".{1,64}", text in ".*", data in any::<Vec<u8>>()) {
        let subscription = SubscriptionId::new(&*id).unwrap();
        let mut out = Vec::new();
        relay::push_closed(&mut out, &subscription, &text);
        let read = RelayMessage::parse(&out, Profile::STRICT, &LIMITS).unwrap();
        let expected = RelayMessage::Closed { subscription: subscription.clone(), message: (&*text).into() };
        prop_assert_eq!(read, expected);
        out.clear();
        client::push_neg_msg(&mut out, &subscription, &data);
        let read = ClientMessage::parse(&out, Profile::STRICT, &LIMITS).unwrap();
        prop_assert_eq!(read, ClientMessage::NegMsg { subscription, message: data });
    }

    #[test]
    fn any_bytes(bytes in any::<Vec<u8>>()) {
        parse_all(&bytes);
    }
}
