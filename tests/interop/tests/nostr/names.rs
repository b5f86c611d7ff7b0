//! NIP-19 entities and NIP-21 URIs.

use nostr::nips::nip01::Coordinate;
use nostr::nips::nip19 as theirs;
use nostr::nips::nip19::{FromBech32 as _, ToBech32 as _};
use nostr::types::RelayUrl;
use polywire_interop::Case;
use polywire_nostr::nip19::{self, AddressPointer, EventPointer, Nip19, ProfilePointer};
use polywire_nostr::{EventId, nip21};
use serde_json::{Value, json};

use crate::fixtures::{keys, secret, secret_hex};

const RELAYS: [&str; 3] = [
    "wss://relay.example",
    "wss://r.x.com",
    "ws://127.0.0.1:7777/path?x=1",
];

fn relays(count: usize) -> Vec<String> {
    RELAYS[..count]
        .iter()
        .map(|url| (*url).to_owned())
        .collect()
}

/// Entities of all types except `nrelay`, which the peers do not support.
fn names() -> Vec<Nip19> {
    let author = keys(1).public_key();
    let id = EventId::from_bytes(std::array::from_fn(|at| at as u8 * 7));
    let mut names = vec![
        Nip19::PublicKey(author),
        Nip19::SecretKey(secret(1)),
        Nip19::EventId(id),
    ];
    for count in 0..=3 {
        names.push(Nip19::Profile(ProfilePointer {
            public_key: author,
            relays: relays(count),
        }));
        for (author, kind) in [
            (None, None),
            (Some(author), None),
            (None, Some(0)),
            (Some(author), Some(65_535)),
        ] {
            names.push(Nip19::Event(EventPointer {
                id,
                relays: relays(count),
                author,
                kind,
            }));
        }
        for identifier in ["", "x", "grüezi 🌧 \"\\", &"i".repeat(255)] {
            names.push(Nip19::Address(AddressPointer {
                identifier: identifier.to_owned(),
                author,
                kind: 30_023 - count as u16,
                relays: relays(count),
            }));
        }
    }
    names
}

fn their_relays(urls: &[String]) -> Vec<RelayUrl> {
    urls.iter()
        .map(|url| RelayUrl::parse(url).unwrap())
        .collect()
}

/// Converts an entity to the type of the crate.
fn to_theirs(name: &Nip19) -> theirs::Nip19 {
    let key = |key: &polywire_nostr::PublicKey| {
        nostr::prelude::PublicKey::from_slice(key.as_bytes()).unwrap()
    };
    let id = |id: &EventId| nostr::prelude::EventId::from_slice(id.as_bytes()).unwrap();
    match name {
        Nip19::PublicKey(public) => theirs::Nip19::Pubkey(key(public)),
        Nip19::SecretKey(secret) => {
            theirs::Nip19::Secret(nostr::prelude::SecretKey::from_slice(secret.as_bytes()).unwrap())
        }
        Nip19::EventId(event) => theirs::Nip19::EventId(id(event)),
        Nip19::Profile(profile) => theirs::Nip19::Profile(theirs::Nip19Profile::new(
            key(&profile.public_key),
            their_relays(&profile.relays),
        )),
        Nip19::Event(event) => {
            let mut theirs =
                theirs::Nip19Event::new(id(&event.id)).relays(their_relays(&event.relays));
            theirs.author = event.author.as_ref().map(key);
            theirs.kind = event.kind.map(nostr::prelude::Kind::from);
            theirs::Nip19::Event(theirs)
        }
        Nip19::Address(address) => theirs::Nip19::Coordinate(theirs::Nip19Coordinate::new(
            Coordinate {
                kind: address.kind.into(),
                public_key: key(&address.author),
                identifier: address.identifier.clone(),
            },
            their_relays(&address.relays),
        )),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nostr_crate_names_are_read_both_ways() {
    let _case = Case::begin("nostr_crate_names_are_read_both_ways");
    for name in names() {
        let ours = name.encode().unwrap();
        let theirs = to_theirs(&name);
        assert_eq!(theirs::Nip19::from_bech32(&ours).unwrap(), theirs, "{ours}");
        let text = theirs.to_bech32().unwrap();
        assert_eq!(nip19::decode(&text).unwrap(), name, "{text}");
        // BIP-173 allows upper case, but the crate rejects it.
        let upper = text.to_uppercase();
        assert_eq!(nip19::decode(&upper).unwrap(), name);
        assert!(theirs::Nip19::from_bech32(&upper).is_err());

        let uri = nip21::encode(&name);
        if matches!(name, Nip19::SecretKey(_)) {
            uri.unwrap_err();
            assert!(nostr::nips::nip21::Nip21::parse(&format!("nostr:{ours}")).is_err());
            continue;
        }
        let uri = uri.unwrap();
        let read = nostr::nips::nip21::Nip21::parse(&uri).unwrap();
        assert_eq!(nip21::decode(&read.to_nostr_uri().unwrap()).unwrap(), name);
    }
}

#[test]
fn nostr_crate_refuses_names_that_we_refuse() {
    let _case = Case::begin("nostr_crate_refuses_names_that_we_refuse");
    for name in names().iter().step_by(3) {
        let text = name.encode().unwrap();
        let last = if text.ends_with('q') { 'p' } else { 'q' };
        let wrong = [
            format!("{}{last}", &text[..text.len() - 1]),
            text[..text.len() - 1].to_owned(),
            format!("{}{}", text[..6].to_uppercase(), &text[6..]),
            text.replacen('1', "", 1),
            text.replacen('n', "m", 1),
            String::new(),
        ];
        for wrong in wrong {
            nip19::decode(&wrong).unwrap_err();
            assert!(theirs::Nip19::from_bech32(&wrong).is_err(), "{wrong}");
        }
    }
}

/// The type and data of an entity in nostr-tools.
fn to_tools(name: &Nip19) -> Value {
    match name {
        Nip19::PublicKey(key) => json!({ "type": "npub", "data": key.to_string() }),
        Nip19::SecretKey(_) => json!({ "type": "nsec", "data": secret_hex(1) }),
        Nip19::EventId(id) => json!({ "type": "note", "data": id.to_string() }),
        Nip19::Profile(profile) => json!({ "type": "nprofile", "data": {
            "pubkey": profile.public_key.to_string(), "relays": profile.relays,
        }}),
        Nip19::Event(event) => {
            let mut data = json!({ "id": event.id.to_string(), "relays": event.relays });
            if let Some(author) = event.author {
                data["author"] = json!(author.to_string());
            }
            if let Some(kind) = event.kind {
                data["kind"] = json!(kind);
            }
            json!({ "type": "nevent", "data": data })
        }
        Nip19::Address(address) => json!({ "type": "naddr", "data": {
            "identifier": address.identifier, "pubkey": address.author.to_string(),
            "kind": address.kind, "relays": address.relays,
        }}),
        other => panic!("{other:?}"),
    }
}

#[test]
fn nostr_tools_names_are_read_both_ways() {
    let case = Case::begin("nostr_tools_names_are_read_both_ways");
    let Some(tools) = case.nostr_tools() else {
        return;
    };
    for name in names() {
        let ours = name.encode().unwrap();
        let theirs = to_tools(&name);
        assert_eq!(tools.call("decode", &json!(ours)), theirs, "{ours}");
        // nostr-tools writes TLVs in a different order.
        let text = tools.text("encode", &theirs);
        assert_eq!(nip19::decode(&text).unwrap(), name, "{text}");
        let upper = ours.to_uppercase();
        assert_eq!(tools.call("decode", &json!(upper)), theirs);

        let Ok(uri) = nip21::encode(&name) else {
            // nostr-tools accepts URIs of secret keys.
            assert_eq!(
                tools.call("uri", &json!(format!("nostr:{ours}")))["type"],
                "nsec"
            );
            continue;
        };
        let read = tools.call("uri", &json!(uri));
        assert_eq!(read, json!({ "value": ours, "type": theirs["type"] }));
        assert_eq!(nip21::decode(&format!("nostr:{text}")).unwrap(), name);
    }
}
