//! Gift wraps (NIP-59) and private messages (NIP-17).

use nostr::event::{FinalizeEvent as _, FinalizeUnsignedEvent as _};
use nostr::nips::nip17::PrivateDirectMessageBuilder;
use nostr::nips::nip59::{GiftWrapBuilder, UnwrappedGift};
use polywire_interop::Case;
use polywire_nostr::nip17::ChatMessage;
use polywire_nostr::nip59::{self, Nip59Error};
use polywire_nostr::{EventBuilder, EventId, EventRef};
use serde_json::json;

use crate::fixtures::{NOW, keys, secret_hex, texts, their_keys};

/// Texts that fit in a gift wrap: each layer of encryption expands them.
fn contents() -> Vec<String> {
    let mut contents = texts();
    contents.retain(|text| text.len() < 20_000);
    // Text for which the length prefix of the seal has six bytes.
    contents.push("long ".repeat(20_000));
    contents
}

#[test]
fn nostr_crate_unwraps_our_gift_wraps() {
    let _case = Case::begin("nostr_crate_unwraps_our_gift_wraps");
    for text in contents() {
        let rumor = EventBuilder::new(14, text.as_str(), NOW).tag(["p", &text]);
        let rumor = rumor.build(&keys(1).public_key());
        let wrap = nip59::gift_wrap(&rumor, &keys(1), &keys(2).public_key(), NOW).unwrap();
        let theirs = nostr::prelude::Event::from_json(wrap.as_ref().as_json()).unwrap();
        theirs.verify().unwrap();
        let gift = UnwrappedGift::from_gift_wrap(&their_keys(2), &theirs).unwrap();
        assert_eq!(gift.sender, their_keys(1).public_key());
        assert_eq!(gift.rumor.content, text);
        assert_eq!(gift.rumor.id.unwrap().as_bytes(), rumor.id().as_bytes());
        gift.rumor.verify_id().unwrap();
        // A different receiver cannot decrypt it.
        assert!(UnwrappedGift::from_gift_wrap(&their_keys(3), &theirs).is_err());
    }
}

#[test]
fn nostr_crate_gift_wraps_are_unwrapped_by_us() {
    let _case = Case::begin("nostr_crate_gift_wraps_are_unwrapped_by_us");
    for text in contents() {
        let rumor = nostr::prelude::EventBuilder::new(
            nostr::prelude::Kind::PrivateDirectMessage,
            text.clone(),
        )
        .tag(nostr::prelude::Tag::parse(["subject", &text]).unwrap())
        .finalize_unsigned(their_keys(1).public_key());
        let builder = GiftWrapBuilder::new(their_keys(2).public_key(), rumor);
        let wrap = builder.finalize(&their_keys(1)).unwrap().as_json();
        let wrap = EventRef::parse(&wrap).unwrap();
        wrap.verify().unwrap();
        let gift = nip59::unwrap_gift(&wrap, &keys(2)).unwrap();
        assert_eq!(gift.sender, keys(1).public_key());
        assert_eq!(gift.rumor.content(), text);
        assert!(matches!(
            nip59::unwrap_gift(&wrap, &keys(3)),
            Err(Nip59Error::Wrap(_))
        ));
    }
}

#[test]
fn nostr_crate_chat_messages_both_ways() {
    let _case = Case::begin("nostr_crate_chat_messages_both_ways");
    let reply = EventId::from_bytes([7; 32]);
    let message = ChatMessage::new("lunch?")
        .to(&keys(2).public_key())
        .to(&keys(3).public_key());
    let message = message.subject("food").reply_to(&reply);
    let wraps = message.gift_wraps(&keys(1), NOW).unwrap();
    assert_eq!(wraps.len(), 3);
    for (number, (_, wrap)) in [2, 3, 1].into_iter().zip(&wraps) {
        let wrap = nostr::prelude::Event::from_json(wrap.as_ref().as_json()).unwrap();
        let gift = UnwrappedGift::from_gift_wrap(&their_keys(number), &wrap).unwrap();
        assert_eq!(gift.rumor.kind, nostr::prelude::Kind::PrivateDirectMessage);
        assert_eq!(gift.rumor.content, "lunch?");
        let tags: Vec<_> = gift
            .rumor
            .tags
            .iter()
            .map(|tag| tag.as_slice().join(" "))
            .collect();
        let (two, three) = (keys(2).public_key(), keys(3).public_key());
        let expected = [
            format!("p {two}"),
            format!("p {three}"),
            format!("e {reply}"),
            "subject food".into(),
        ];
        assert_eq!(tags, expected);
    }

    let builder = PrivateDirectMessageBuilder::new(their_keys(2).public_key(), "yes");
    let wrap = builder.finalize(&their_keys(1)).unwrap().as_json();
    let gift = nip59::unwrap_gift(&EventRef::parse(&wrap).unwrap(), &keys(2)).unwrap();
    let rumor = &gift.rumor;
    assert_eq!(
        (rumor.kind(), &*rumor.content()),
        (polywire_nostr::nip17::CHAT_MESSAGE, "yes")
    );
}

#[test]
fn nostr_tools_opens_our_gift_wraps() {
    let case = Case::begin("nostr_tools_opens_our_gift_wraps");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    for text in contents() {
        let rumor = EventBuilder::new(14, text.as_str(), NOW).tag(["p", &text]);
        let rumor = rumor.build(&keys(1).public_key());
        let wrap = nip59::gift_wrap(&rumor, &keys(1), &keys(2).public_key(), NOW).unwrap();
        let wrap = wrap.as_ref().as_json();
        let gift = tools.call("unwrap", &json!({ "wrap": wrap, "secret": secret_hex(2) }));
        assert_eq!(gift["pubkey"], keys(1).public_key().to_string());
        assert_eq!(gift["content"], text);
        assert_eq!(gift["id"], rumor.id().to_string());
        let refused = tools.try_call("unwrap", &json!({ "wrap": wrap, "secret": secret_hex(3) }));
        assert_eq!(refused.unwrap_err(), "invalid MAC");
    }
}

#[test]
fn nostr_tools_gift_wraps_are_unwrapped_by_us() {
    let case = Case::begin("nostr_tools_gift_wraps_are_unwrapped_by_us");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let pubkey = keys(2).public_key().to_string();
    for text in contents() {
        let rumor =
            json!({ "kind": 14, "content": text, "tags": [["subject", text]], "created_at": NOW });
        let with = json!({ "rumor": rumor, "secret": secret_hex(1), "pubkey": pubkey });
        let wrap = tools.text("wrap", &with);
        let wrap = EventRef::parse(&wrap).unwrap();
        wrap.verify().unwrap();
        let gift = nip59::unwrap_gift(&wrap, &keys(2)).unwrap();
        assert_eq!(gift.sender, keys(1).public_key());
        assert_eq!(gift.rumor.content(), text);
        assert_eq!(gift.rumor.created_at(), NOW);
    }
}

#[test]
fn nostr_tools_chat_messages_both_ways() {
    let case = Case::begin("nostr_tools_chat_messages_both_ways");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    let (two, three) = (keys(2).public_key(), keys(3).public_key());
    let reply = EventId::from_bytes([7; 32]);
    let with = json!({
        "secret": secret_hex(1), "receivers": [two.to_string(), three.to_string()],
        "text": "lunch?", "subject": "food", "reply": reply.to_string(),
    });
    let wraps = tools.call("chat", &with);
    let wraps = wraps.as_array().unwrap();
    // The gift wrap for the sender is the first.
    assert_eq!(wraps.len(), 3);
    for (number, wrap) in [1, 2, 3].into_iter().zip(wraps) {
        let wrap = wrap.as_str().unwrap();
        let gift = nip59::unwrap_gift(&EventRef::parse(wrap).unwrap(), &keys(number)).unwrap();
        assert_eq!(gift.sender, keys(1).public_key());
        let rumor = &gift.rumor;
        assert_eq!((rumor.kind(), &*rumor.content()), (14, "lunch?"));
        assert!(rumor.tags().any(|tag| tag.items().eq(["subject", "food"])));
    }

    let message = ChatMessage::new("yes")
        .to(&two)
        .subject("food")
        .reply_to(&reply);
    for (receiver, wrap) in message.gift_wraps(&keys(1), NOW).unwrap() {
        let number = if receiver == two { 2 } else { 1 };
        let with = json!({ "wrap": wrap.as_ref().as_json(), "secret": secret_hex(number) });
        let gift = tools.call("unwrap", &with);
        assert_eq!(
            (&gift["kind"], &gift["content"]),
            (&json!(14), &json!("yes"))
        );
        let tags = json!([
            ["p", two.to_string()],
            ["e", reply.to_string()],
            ["subject", "food"]
        ]);
        assert_eq!(gift["tags"], tags);
    }
}
