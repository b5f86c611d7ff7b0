//! Parsing of the relay information document.

use polywire_text::utf8;

use super::{Limitation, RelayInfo};
use crate::json::Reader;
use crate::{Error, Limits, Profile, PublicKey, Reason};

impl RelayInfo {
    /// Parses a document (NIP-11).
    ///
    /// Published documents often contain mistakes. Therefore unknown members and values of the
    /// wrong type are ignored. The caller must limit the length of the text.
    ///
    /// # Errors
    ///
    /// The text is not a JSON object in UTF-8, or objects and arrays are nested deeper than 32
    /// levels.
    ///
    /// ```
    /// use polywire_nostr::RelayInfo;
    ///
    /// let text = r#"{"name":"Harbour","pubkey":"","supported_nips":[1,"11",42],"retention":[{"time":1}]}"#;
    /// let info = RelayInfo::parse(text)?;
    /// assert_eq!(info.name.as_deref(), Some("Harbour"));
    /// assert_eq!(info.pubkey, None);
    /// assert_eq!(info.supported_nips, [1, 42]);
    /// # Ok::<(), polywire_nostr::Error>(())
    /// ```
    pub fn parse(json: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        read(json.as_ref())
    }
}

fn read(json: &[u8]) -> Result<RelayInfo, Error> {
    let text = utf8::validate(json).map_err(|error| Error::new(Reason::NotUtf8, error.offset))?;
    let mut reader = Reader::new(text, Profile::COMPATIBLE);
    reader.skip_space();
    let mut info = RelayInfo::default();
    members(&mut reader, |name, value| match name {
        "name" => info.name = string(value),
        "description" => info.description = string(value),
        "banner" => info.banner = string(value),
        "icon" => info.icon = string(value),
        "pubkey" => info.pubkey = pubkey(value),
        "self" => info.relay_pubkey = pubkey(value),
        "contact" => info.contact = string(value),
        "supported_nips" => info.supported_nips = nips(value),
        "software" => info.software = string(value),
        "version" => info.version = string(value),
        "terms_of_service" => info.terms_of_service = string(value),
        "payments_url" => info.payments_url = string(value),
        "limitation" => info.limitation = limitation(value),
        _ => {}
    })?;
    reader.end()?;
    Ok(info)
}

fn pubkey(value: &str) -> Option<PublicKey> {
    let bytes = Reader::new(value, Profile::COMPATIBLE).hex().ok()?;
    Some(PublicKey::from_bytes(bytes))
}

fn limitation(object: &str) -> Limitation {
    let mut limits = Limitation::default();
    let mut reader = Reader::new(object, Profile::COMPATIBLE);
    // The value is valid JSON, so the only possible error is that it is not an object.
    let _ = members(&mut reader, |name, value| match name {
        "max_message_length" => limits.max_message_length = number(value),
        "max_subscriptions" => limits.max_subscriptions = number(value),
        "max_filters" => limits.max_filters = number(value),
        "max_limit" => limits.max_limit = number(value),
        "default_limit" => limits.default_limit = number(value),
        "max_subid_length" => limits.max_subid_length = number(value),
        "max_event_tags" => limits.max_event_tags = number(value),
        "max_content_length" => limits.max_content_length = number(value),
        "min_pow_difficulty" => limits.min_pow_difficulty = number(value),
        "auth_required" => limits.auth_required = flag(value),
        "payment_required" => limits.payment_required = flag(value),
        "restricted_writes" => limits.restricted_writes = flag(value),
        "created_at_lower_limit" => limits.created_at_lower_limit = number(value),
        "created_at_upper_limit" => limits.created_at_upper_limit = number(value),
        _ => {}
    });
    limits
}

/// Calls `visit` with the name and the JSON text of each member of an object.
fn members<'a>(reader: &mut Reader<'a>, mut visit: impl FnMut(&str, &'a str)) -> Result<(), Error> {
    if !reader.take(b'{') {
        return Err(reader.wrong_type());
    }
    reader.skip_space();
    let mut more = !reader.take(b'}');
    while more {
        let name = reader.key()?.decode();
        let start = reader.at();
        reader.skip_value(Limits::DEFAULT.depth)?;
        visit(&name, reader.text_from(start));
        more = reader.next_item(b'}')?;
    }
    Ok(())
}

fn nips(list: &str) -> Vec<u16> {
    let mut nips = Vec::new();
    let mut reader = Reader::new(list, Profile::COMPATIBLE);
    let mut more = reader.take(b'[') && {
        reader.skip_space();
        !reader.take(b']')
    };
    while more {
        let start = reader.at();
        more = reader.skip_value(Limits::DEFAULT.depth).is_ok() && {
            let nip = number(reader.text_from(start)).and_then(|nip| u16::try_from(nip).ok());
            nips.extend(nip);
            reader.next_item(b']') == Ok(true)
        };
    }
    nips
}

fn string(value: &str) -> Option<String> {
    let mut reader = Reader::new(value, Profile::COMPATIBLE);
    Some(reader.string().ok()?.decode().into_owned())
}

fn number(value: &str) -> Option<u64> {
    let mut reader = Reader::new(value, Profile::COMPATIBLE);
    Some(reader.unsigned(u64::MAX).ok()?.0)
}

fn flag(value: &str) -> Option<bool> {
    Reader::new(value, Profile::COMPATIBLE).bool().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let info = RelayInfo {
            name: Some("Harbour \"1\"\n".into()),
            description: Some(String::new()),
            pubkey: Some(PublicKey::from_bytes([7; 32])),
            contact: Some("mailto:a@example.com".into()),
            supported_nips: vec![1, 11, 42],
            limitation: Limitation {
                max_limit: Some(9_999_999_999_999_999_999),
                auth_required: Some(false),
                created_at_upper_limit: Some(900),
                ..Limitation::default()
            },
            ..RelayInfo::default()
        };
        assert_eq!(RelayInfo::parse(&info.to_json()), Ok(info));
    }

    #[test]
    fn ignores_unknown_members_and_wrong_types() {
        for text in [
            "{}",
            r#"{"name":null,"icon":3,"supported_nips":{},"limitation":[]}"#,
            r#"{"supported_nips":[ ],"limitation":{"max_limit":-1,"auth_required":"no"}}"#,
            r#" {"supported_nips":["1",70000,1.5,[2]],"fees":{"admission":[{"amount":1}]}} "#,
        ] {
            assert_eq!(RelayInfo::parse(text), Ok(RelayInfo::default()), "{text}");
        }
        for text in ["", "[]", "{", r#"{"name":}"#, "{} x", r#"{"name":"a" "b"}"#] {
            assert!(RelayInfo::parse(text).is_err(), "{text}");
        }
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(33), "]".repeat(33));
        assert_eq!(RelayInfo::parse(&deep).unwrap_err().reason, Reason::TooDeep);
        assert_eq!(
            RelayInfo::parse(b"{\xff}").unwrap_err().reason,
            Reason::NotUtf8
        );
    }
}
