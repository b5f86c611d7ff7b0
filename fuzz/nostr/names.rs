//! NIP-19 and NIP-21: the input as an entity, and as the contents of an entity of each prefix.

use polywire_nostr::nip19::{self, Nip19, Nip19Error};
use polywire_nostr::nip21::{self, Nip21Error};
use polywire_nostr::reference::bech32;

const PREFIXES: [&str; 8] = [
    "npub", "nsec", "note", "nprofile", "nevent", "naddr", "nrelay", "nothing",
];

pub(crate) fn any(data: &[u8]) {
    if let Ok(text) = str::from_utf8(data) {
        name(text);
    }
    for prefix in PREFIXES {
        let text = bech32::encode(prefix, data);
        name(&text);
        name(&text.to_uppercase());
    }
}

fn name(text: &str) {
    let found = nip19::decode(text);
    let uri = nip21::decode(&format!("nOsTr:{text}"));
    match &found {
        Ok(name) => {
            let (prefix, contents) = bech32::decode(text).unwrap();
            assert!(PREFIXES[..7].contains(&prefix.as_str()), "{prefix}");
            assert_eq!(values(&prefix, &contents).as_ref(), Some(name), "{text}");
            let written = name.encode().unwrap();
            assert!(written.len() <= text.len());
            assert_eq!(nip19::decode(&written).as_ref(), Ok(name));
            let is_secret = matches!(name, Nip19::SecretKey(_));
            assert_eq!(
                uri,
                if is_secret {
                    Err(Nip21Error::Secret)
                } else {
                    Ok(name.clone())
                }
            );
            assert_eq!(nip21::encode(name).is_err(), is_secret);
        }
        Err(error) => {
            let Nip19Error { reason, offset } = *error;
            assert!(offset <= text.len(), "{error}");
            assert!(error.to_string().len() < 100);
            match uri {
                Err(Nip21Error::Secret) => {}
                Err(Nip21Error::Name(error)) => {
                    assert_eq!((error.reason, error.offset), (reason, offset + 6));
                }
                other => panic!("{other:?}"),
            }
            // If the text is valid bech32 within the limit, its contents are invalid.
            if text.len() <= nip19::MAX_CHARACTERS
                && let Some((prefix, contents)) = bech32::decode(text)
            {
                assert_eq!(values(&prefix, &contents), None, "{error}: {text}");
            }
        }
    }
}

/// Parses the contents of an entity with a simple implementation.
fn values(prefix: &str, contents: &[u8]) -> Option<Nip19> {
    let key = |bytes: &[u8]| {
        bytes
            .try_into()
            .ok()
            .map(polywire_nostr::PublicKey::from_bytes)
    };
    let id = |bytes: &[u8]| {
        bytes
            .try_into()
            .ok()
            .map(polywire_nostr::EventId::from_bytes)
    };
    match prefix {
        "npub" => return key(contents).map(Nip19::PublicKey),
        "note" => return id(contents).map(Nip19::EventId),
        "nsec" => {
            let secret = polywire_nostr::SecretKey::from_bytes(contents.try_into().ok()?);
            return secret.ok().map(Nip19::SecretKey);
        }
        _ => {}
    }
    let mut of_type: [Vec<&[u8]>; 4] = Default::default();
    let mut rest = contents;
    while !rest.is_empty() {
        let (kind, len) = (*rest.first()?, usize::from(*rest.get(1)?));
        let value = rest.get(2..2 + len)?;
        if let Some(values) = of_type.get_mut(usize::from(kind)) {
            values.push(value);
        }
        rest = &rest[2 + len..];
    }
    let [special, relays, authors, kinds] = of_type;
    let url = |bytes: &&[u8]| {
        let text = str::from_utf8(bytes).ok()?;
        text.is_ascii().then(|| text.to_owned())
    };
    let kind = |bytes: &[u8]| u16::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok();
    // The special value must occur exactly once.
    let [first] = special[..] else { return None };
    let relays = || relays.iter().map(url).collect::<Option<Vec<String>>>();
    Some(match prefix {
        "nprofile" => Nip19::Profile(nip19::ProfilePointer {
            public_key: key(first)?,
            relays: relays()?,
        }),
        "nevent" => Nip19::Event(nip19::EventPointer {
            id: id(first)?,
            relays: relays()?,
            author: match authors[..] {
                [] => None,
                [author] => Some(key(author)?),
                _ => return None,
            },
            kind: match kinds[..] {
                [] => None,
                [value] => Some(kind(value)?),
                _ => return None,
            },
        }),
        "naddr" => {
            let ([author], [value]) = (&authors[..], &kinds[..]) else {
                return None;
            };
            Nip19::Address(nip19::AddressPointer {
                identifier: str::from_utf8(first).ok()?.to_owned(),
                author: key(author)?,
                kind: kind(value)?,
                relays: relays()?,
            })
        }
        "nrelay" => Nip19::Relay(url(&first)?),
        _ => return None,
    })
}
