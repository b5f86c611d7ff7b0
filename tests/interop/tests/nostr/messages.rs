//! Messages of clients and of relays.

use nostr::message::{ClientMessage as TheirClient, RelayMessage as TheirRelay};
use polywire_interop::Case;
use polywire_nostr::message::{ClientMessage, Count, RelayMessage};
use polywire_nostr::{
    Error, Event, EventBuilder, EventRef, Filter, MessageLimits, Profile, Reason, RelayUrl,
    SubscriptionId, TagLetter, auth,
};
use serde_json::{Value, json};

use crate::fixtures::{NOW, events, keys, secret_hex, texts};

const LIMITS: MessageLimits = MessageLimits::DEFAULT;

fn client(json: &str) -> Result<ClientMessage<'_>, Error> {
    ClientMessage::parse(json, Profile::STRICT, &LIMITS)
}

fn relay(json: &str) -> Result<RelayMessage<'_>, Error> {
    RelayMessage::parse(json, Profile::STRICT, &LIMITS)
}

/// Subscription ids, some with characters that must be escaped.
fn subscriptions() -> Vec<SubscriptionId<'static>> {
    let texts = [
        "a",
        "feed:1",
        "\"quoted\" \\ \n\t",
        "ünï\u{2028}😀\u{7f}",
        &"x".repeat(64),
    ];
    let id = |text: &&str| SubscriptionId::new((*text).to_owned()).unwrap();
    texts.iter().map(id).collect()
}

fn filters() -> Vec<Filter> {
    let author = keys(1).public_key();
    vec![
        Filter::new(),
        Filter::new()
            .with_kinds([1, 65_535])
            .with_authors([author])
            .with_limit(0),
        Filter::new()
            .with_tag(TagLetter::T, ["a\"b\n", "\u{2028}"])
            .unwrap()
            .with_since(NOW),
    ]
}

/// Short texts for OK, CLOSED and NOTICE.
fn lines() -> impl Iterator<Item = String> {
    let texts_of_relays = [
        "",
        "duplicate: already have it",
        "auth-required: log in first",
        "pow: 25 of 24 bits",
    ];
    let texts_of_relays = texts_of_relays.into_iter().map(str::to_owned);
    texts_of_relays.chain(texts().into_iter().filter(|text| text.len() < 5_000))
}

/// The messages of a client, with each subscription id and this event.
fn our_client_messages(event: &Event) -> Vec<String> {
    let mut messages = vec![
        ClientMessage::Event(event.as_ref()).to_json(),
        ClientMessage::Auth(event.as_ref()).to_json(),
    ];
    for subscription in subscriptions() {
        let all = [
            ClientMessage::Req {
                subscription: subscription.clone(),
                filters: filters(),
            },
            ClientMessage::Req {
                subscription: subscription.clone(),
                filters: vec![Filter::new()],
            },
            ClientMessage::Count {
                subscription: subscription.clone(),
                filters: vec![filters().remove(1)],
            },
            ClientMessage::Close(subscription.clone()),
            ClientMessage::NegOpen {
                subscription: subscription.clone(),
                filter: filters().remove(2),
                message: vec![0x61, 0, 0xff],
            },
            ClientMessage::NegMsg {
                subscription: subscription.clone(),
                message: vec![0x61, 1],
            },
            ClientMessage::NegClose(subscription),
        ];
        for message in all {
            let json = message.to_json();
            assert_eq!(client(&json).unwrap(), message);
            messages.push(json);
        }
    }
    messages
}

fn our_relay_messages(event: &Event) -> Vec<String> {
    let id = *event.as_ref().id();
    let mut messages = Vec::new();
    for subscription in subscriptions() {
        let all = [
            RelayMessage::Event {
                subscription: subscription.clone(),
                event: event.as_ref(),
            },
            RelayMessage::Eose(subscription.clone()),
            RelayMessage::Count {
                subscription: subscription.clone(),
                count: Count::new(0),
            },
            RelayMessage::Count {
                subscription: subscription.clone(),
                count: Count {
                    count: 1 << 40,
                    approximate: Some(true),
                    hll: Some(Box::new([9; 256])),
                },
            },
            RelayMessage::NegMsg {
                subscription: subscription.clone(),
                message: vec![0x61, 2],
            },
            RelayMessage::NegErr {
                subscription: subscription.clone(),
                message: "blocked: too many".into(),
                max_records: Some(500),
            },
        ];
        for message in all {
            let json = message.to_json();
            assert_eq!(relay(&json).unwrap(), message);
            messages.push(json);
        }
    }
    let subscription = SubscriptionId::new("s").unwrap();
    for line in lines() {
        let all = [
            RelayMessage::Ok {
                id,
                accepted: true,
                message: line.as_str().into(),
            },
            RelayMessage::Ok {
                id,
                accepted: false,
                message: line.as_str().into(),
            },
            RelayMessage::Closed {
                subscription: subscription.clone(),
                message: line.as_str().into(),
            },
            RelayMessage::Notice(line.as_str().into()),
            RelayMessage::Auth {
                challenge: line.as_str().into(),
            },
        ];
        for message in all {
            let json = message.to_json();
            assert_eq!(relay(&json).unwrap(), message);
            messages.push(json);
        }
    }
    messages
}

/// An event of moderate size with tags and escapes.
fn event() -> Event {
    events(&keys(1)).into_iter().nth(15).unwrap()
}

/// The crate `nostr` parses each message and writes an equivalent one.
#[test]
fn nostr_crate_client_messages_both_ways() {
    let _case = Case::begin("nostr_crate_client_messages_both_ways");
    for json in our_client_messages(&event()) {
        let theirs =
            TheirClient::from_json(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
        let back = theirs.as_json();
        assert_eq!(
            TheirClient::from_json(client(&back).unwrap().to_json()).unwrap(),
            theirs
        );
        let (ours, back) = (client(&json).unwrap(), client(&back).unwrap());
        match (&ours, &back) {
            // The crate sorts the values of filters.
            (
                ClientMessage::Req {
                    subscription,
                    filters,
                },
                ClientMessage::Req {
                    subscription: id,
                    filters: back,
                },
            )
            | (
                ClientMessage::Count {
                    subscription,
                    filters,
                },
                ClientMessage::Count {
                    subscription: id,
                    filters: back,
                },
            ) => {
                assert_eq!((subscription, filters.len()), (id, back.len()));
            }
            _ => assert_eq!(ours, back, "{json}"),
        }
    }
    // The crate supports only one filter in COUNT, where NIP-45 allows several.
    let json = r#"["COUNT","s",{"kinds":[1]},{"kinds":[7]}]"#;
    let ClientMessage::Count { filters, .. } = client(json).unwrap() else {
        panic!()
    };
    assert_eq!(filters.len(), 2);
    let back = TheirClient::from_json(json).unwrap().as_json();
    assert_eq!(back, r#"["COUNT","s",{"kinds":[1]}]"#);
}

#[test]
fn nostr_crate_relay_messages_both_ways() {
    let _case = Case::begin("nostr_crate_relay_messages_both_ways");
    for json in our_relay_messages(&event()) {
        let theirs = TheirRelay::from_json(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
        let back = theirs.as_json();
        match (relay(&json).unwrap(), relay(&back).unwrap()) {
            // The crate drops `approximate`, `hll` and `max_records`.
            (RelayMessage::Count { count, .. }, RelayMessage::Count { count: back, .. }) => {
                assert_eq!(back, Count::new(count.count));
            }
            (
                RelayMessage::NegErr { message, .. },
                RelayMessage::NegErr {
                    message: back,
                    max_records,
                    ..
                },
            ) => {
                assert_eq!((message, None), (back, max_records));
            }
            (ours, back) => assert_eq!(ours, back, "{json}"),
        }
    }
}

/// The crate also rejects the messages that we reject, except for members that it does not check.
#[test]
fn nostr_crate_rejects_messages_that_we_reject() {
    let _case = Case::begin("nostr_crate_rejects_messages_that_we_reject");
    let wrong = [
        "",
        "[]",
        "{}",
        "null",
        r#"["REQ"]"#,
        r#"["REQ","s"]"#,
        r#"["REQ","s",1]"#,
        r#"["REQ",1,{}]"#,
        r#"["CLOSE"]"#,
        r#"["EVENT",{}]"#,
        r#"["UNKNOWN","s"]"#,
        r#"["COUNT","s"]"#,
        r#"["CLOSE","s"#,
        r#"["REQ","s",{"kinds":["1"]}]"#,
        r#"["REQ","s",{"ids":["abc"]}]"#,
        r#"["req","s",{}]"#,
        r#"["REQ","s",{"kinds":[65536]}]"#,
        r#"["REQ","s",{"since":-1}]"#,
    ];
    for json in wrong {
        client(json).unwrap_err();
        assert!(TheirClient::from_json(json).is_err(), "{json}");
    }
    let wrong = [
        r#"["OK"]"#,
        r#"["OK","abc",true,""]"#,
        r#"["EOSE"]"#,
        r#"["NOTICE",1]"#,
        r#"["EVENT","s"]"#,
        r#"["COUNT","s",{}]"#,
        r#"["COUNT","s",{"count":-1}]"#,
        r#"["AUTH"]"#,
        r#"["CLOSED","s"]"#,
    ];
    for json in wrong {
        relay(json).unwrap_err();
        assert!(TheirRelay::from_json(json).is_err(), "{json}");
    }
    // The crate accepts unknown members, extra items and long subscription ids.
    let long = format!(r#"["CLOSE","{}"]"#, "x".repeat(65));
    let only_theirs = [
        (r#"["CLOSE","s",1]"#, Reason::ExtraItem),
        (r#"["CLOSE",""]"#, Reason::SubscriptionId),
        (&long, Reason::SubscriptionId),
        (r#"["REQ","s",{"genre":"jazz"}]"#, Reason::UnknownMember),
        (r##"["REQ","s",{"#long":["x"]}]"##, Reason::TagName),
        (r##"["REQ","s",{"#e":["abc"]}]"##, Reason::HexLength),
    ];
    for (json, reason) in only_theirs {
        assert_eq!(client(json).unwrap_err().reason, reason, "{json}");
        assert!(TheirClient::from_json(json).is_ok(), "{json}");
    }
}

#[test]
fn nostr_tools_client_messages_are_read_by_us() {
    let case = Case::begin("nostr_tools_client_messages_are_read_by_us");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let event = event();
    let spelled: Vec<Value> = filters()
        .iter()
        .map(|filter| serde_json::from_str(&filter.to_json()).unwrap())
        .collect();
    let challenge = "a \"challenge\" \u{2028}\n";
    let sent = tools.call(
        "sends",
        &json!({
            "subscription": "feed", "filters": spelled, "event": event.as_ref().as_json(),
            "secret": secret_hex(2), "challenge": challenge,
        }),
    );
    let sent: Vec<&str> = sent
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect();
    let [req, publish, count, authenticate, close] = sent[..] else {
        panic!("{sent:?}")
    };
    let feed = SubscriptionId::new("feed").unwrap();
    let expected = ClientMessage::Req {
        subscription: feed.clone(),
        filters: filters(),
    };
    assert_eq!(client(req).unwrap(), expected);
    assert_eq!(
        client(publish).unwrap(),
        ClientMessage::Event(event.as_ref())
    );
    let expected = ClientMessage::Count {
        subscription: feed.clone(),
        filters: filters(),
    };
    assert_eq!(client(count).unwrap(), expected);
    assert_eq!(client(close).unwrap(), ClientMessage::Close(feed));
    // Our check for relays accepts the answer to the challenge.
    let ClientMessage::Auth(answer) = client(authenticate).unwrap() else {
        panic!("{authenticate}")
    };
    answer.verify().unwrap();
    let now = answer.created_at();
    assert_eq!(*answer.pubkey(), keys(2).public_key());
    let relay = &RelayUrl::parse("ws://relay.example").unwrap();
    assert_eq!(auth::check(&answer, challenge, relay, now, 600), Ok(()));
    let another = auth::check(&answer, "another", relay, now, 600);
    assert_eq!(another, Err(auth::AuthError::Challenge));
}

#[test]
fn nostr_tools_receives_our_relay_messages() {
    let case = Case::begin("nostr_tools_receives_our_relay_messages");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let mut messages = Vec::new();
    let mut published = Vec::new();
    let mut expected: Vec<Value> = Vec::new();
    let subscription = SubscriptionId::new("feed").unwrap();
    let mut push = |message: RelayMessage<'_>, received: Value| {
        messages.push(message.to_json());
        expected.push(received);
    };
    let all = events(&keys(1));
    for event in all.iter().step_by(3) {
        let message = RelayMessage::Event {
            subscription: subscription.clone(),
            event: event.as_ref(),
        };
        let (id, content) = (event.as_ref().id().to_string(), event.as_ref().content());
        push(message, json!(["event", id, content]));
    }
    // A forged event.
    let event = EventBuilder::new(1, "right", NOW).sign(&keys(1));
    let forged = event.as_ref().as_json().replacen("right", "wrong", 1);
    let message = RelayMessage::Event {
        subscription: subscription.clone(),
        event: EventRef::parse(&forged).unwrap(),
    };
    push(message, json!(["invalid", event.as_ref().id().to_string()]));
    for (number, line) in lines().enumerate() {
        let id = polywire_nostr::EventId::from_bytes([number as u8; 32]);
        published.push(id.to_string());
        let (accepted, word) = if number % 2 == 0 {
            (true, "ok")
        } else {
            (false, "rejected")
        };
        let message = RelayMessage::Ok {
            id,
            accepted,
            message: line.as_str().into(),
        };
        push(message, json!([word, id.to_string(), line]));
        push(
            RelayMessage::Notice(line.as_str().into()),
            json!(["notice", line]),
        );
    }
    push(RelayMessage::Eose(subscription.clone()), json!(["eose"]));
    let count = Count {
        count: 12,
        approximate: Some(false),
        hll: Some(Box::new([7; 256])),
    };
    let message = RelayMessage::Count {
        subscription: SubscriptionId::new("count").unwrap(),
        count,
    };
    let hll = "07".repeat(256);
    push(
        message,
        json!(["count", { "count": 12, "approximate": false, "hll": hll }]),
    );
    let challenge = "\"\\\u{2028}";
    push(
        RelayMessage::Auth {
            challenge: challenge.into(),
        },
        json!(["auth", challenge]),
    );
    let closed = "restricted: \"no\"\n";
    push(
        RelayMessage::Closed {
            subscription: subscription.clone(),
            message: closed.into(),
        },
        json!(["closed", closed]),
    );

    let with = json!({ "subscription": "feed", "published": published, "messages": messages });
    let received = tools.call("receives", &with);
    for (received, expected) in received.as_array().unwrap().iter().zip(&expected) {
        assert_eq!(received, expected);
    }
    assert_eq!(received.as_array().unwrap().len(), expected.len());
}
