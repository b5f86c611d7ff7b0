//! Parsing of public keys, ids and NIP-19 entities in arguments.

use polywire_nostr::nip19::{self, Nip19};
use polywire_nostr::{EventId, PublicKey, nip21};

/// Parses a public key: npub1..., nprofile1..., a URI of these, or hexadecimal.
pub(super) fn public_key(text: &str) -> Result<PublicKey, String> {
    if let Ok(key) = PublicKey::from_hex(text) {
        return Ok(key);
    }
    match name(text)
        .map_err(|error| expected("a public key is npub1... or 64 hexadecimal digits", &error))?
    {
        Nip19::PublicKey(key) => Ok(key),
        Nip19::Profile(profile) => Ok(profile.public_key),
        _ => Err(
            "a public key is npub1... or 64 hexadecimal digits, and this is another entity"
                .to_owned(),
        ),
    }
}

/// Parses the id of an event: note1..., nevent1..., a URI of these, or hexadecimal.
pub(super) fn event_id(text: &str) -> Result<EventId, String> {
    if let Ok(id) = EventId::from_hex(text) {
        return Ok(id);
    }
    match name(text)
        .map_err(|error| expected("an id is note1... or 64 hexadecimal digits", &error))?
    {
        Nip19::EventId(id) => Ok(id),
        Nip19::Event(event) => Ok(event.id),
        _ => {
            Err("an id is note1... or 64 hexadecimal digits, and this is another entity".to_owned())
        }
    }
}

fn expected(expected: &str, error: &str) -> String {
    format!("{expected}; as a NIP-19 entity: {error}")
}

/// Decodes a NIP-19 entity or a `nostr:` URI.
pub(super) fn name(text: &str) -> Result<Nip19, String> {
    let scheme = text.get(..6).unwrap_or_default();
    match scheme.eq_ignore_ascii_case("nostr:") {
        true => nip21::decode(text).map_err(|error| error.to_string()),
        false => nip19::decode(text).map_err(|error| error.to_string()),
    }
}
