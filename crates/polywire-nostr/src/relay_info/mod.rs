//! The relay information document (NIP-11).

mod parse;

use polywire_text::number;

use crate::PublicKey;
use crate::json::{Object, push_hex, to_string};

/// The relay information document (NIP-11): the response body to GET with `Accept:
/// application/nostr+json`.
///
/// Members that are `None`, and empty lists, are omitted. Create values with
/// `..RelayInfo::default()`: fields for new members of NIP-11 are added without a breaking release.
///
/// ```
/// use polywire_nostr::{Limitation, RelayInfo};
///
/// let info = RelayInfo {
///     name: Some("Harbour".into()),
///     supported_nips: vec![1, 11, 42],
///     limitation: Limitation { max_subscriptions: Some(20), ..Limitation::default() },
///     ..RelayInfo::default()
/// };
/// assert_eq!(
///     info.to_json(),
///     r#"{"name":"Harbour","supported_nips":[1,11,42],"limitation":{"max_subscriptions":20}}"#,
/// );
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RelayInfo {
    /// The name. Clients may truncate it to 30 characters.
    pub name: Option<String>,
    /// The description in plain text.
    pub description: Option<String>,
    /// The URL of a banner.
    pub banner: Option<String>,
    /// The URL of an icon, which should be square.
    pub icon: Option<String>,
    /// The public key of the administrator.
    pub pubkey: Option<PublicKey>,
    /// The public key of the relay itself, which NIP-11 calls `self`.
    pub relay_pubkey: Option<PublicKey>,
    /// An alternative contact of the administrator, as a URI.
    pub contact: Option<String>,
    /// The numbers of the NIPs that the relay implements.
    pub supported_nips: Vec<u16>,
    /// The URL of the software's homepage.
    pub software: Option<String>,
    /// The version of the software.
    pub version: Option<String>,
    /// The URL of the terms of service.
    pub terms_of_service: Option<String>,
    /// The URL of the page for payments.
    pub payments_url: Option<String>,
    /// The limits that clients must respect.
    pub limitation: Limitation,
}

/// The limits that clients must respect (NIP-11). Members that are `None` are omitted. Create
/// values with `..Limitation::default()`, like [`RelayInfo`].
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Limitation {
    /// The maximum length of a message in bytes.
    pub max_message_length: Option<u64>,
    /// The maximum number of subscriptions per connection.
    pub max_subscriptions: Option<u64>,
    /// The maximum number of filters per subscription.
    pub max_filters: Option<u64>,
    /// The maximum `limit` of a filter.
    pub max_limit: Option<u64>,
    /// The `limit` that the relay uses for filters without one.
    pub default_limit: Option<u64>,
    /// The maximum length of a subscription id in characters.
    pub max_subid_length: Option<u64>,
    /// The maximum number of tags of an event.
    pub max_event_tags: Option<u64>,
    /// The maximum length of the content of an event in characters.
    pub max_content_length: Option<u64>,
    /// The required proof of work of events, in leading zero bits (NIP-13).
    pub min_pow_difficulty: Option<u64>,
    /// Whether clients must authenticate before other requests (NIP-42).
    pub auth_required: Option<bool>,
    /// Whether clients must pay before they can use the relay.
    pub payment_required: Option<bool>,
    /// Whether the relay accepts only some events.
    pub restricted_writes: Option<bool>,
    /// The maximum age of `created_at` in seconds.
    pub created_at_lower_limit: Option<u64>,
    /// The maximum number of seconds that `created_at` may be in the future.
    pub created_at_upper_limit: Option<u64>,
}

impl RelayInfo {
    /// The media type of the document.
    pub const MEDIA_TYPE: &'static str = "application/nostr+json";

    /// Appends compact JSON.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        let string = |object: &mut Object<'_>, name, text: &Option<String>| {
            if let Some(text) = text {
                object.string(name, text);
            }
        };
        string(&mut object, "name", &self.name);
        string(&mut object, "description", &self.description);
        string(&mut object, "banner", &self.banner);
        string(&mut object, "icon", &self.icon);
        for (name, pubkey) in [("pubkey", &self.pubkey), ("self", &self.relay_pubkey)] {
            if let Some(pubkey) = pubkey {
                object.name(name);
                push_hex(object.out, pubkey.as_bytes());
            }
        }
        string(&mut object, "contact", &self.contact);
        if !self.supported_nips.is_empty() {
            object.list("supported_nips", &self.supported_nips, |out, nip| {
                number::push_u64(out, u64::from(*nip));
            });
        }
        string(&mut object, "software", &self.software);
        string(&mut object, "version", &self.version);
        string(&mut object, "terms_of_service", &self.terms_of_service);
        string(&mut object, "payments_url", &self.payments_url);
        if self.limitation != Limitation::default() {
            object.name("limitation");
            self.limitation.push_json(object.out);
        }
        object.end();
    }

    /// Returns compact JSON, as [`push_json`](Self::push_json) writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_string(|out| self.push_json(out))
    }
}

impl Limitation {
    fn push_json(&self, out: &mut Vec<u8>) {
        let mut object = Object::new(out);
        let numbers = [
            ("max_message_length", self.max_message_length),
            ("max_subscriptions", self.max_subscriptions),
            ("max_filters", self.max_filters),
            ("max_limit", self.max_limit),
            ("default_limit", self.default_limit),
            ("max_subid_length", self.max_subid_length),
            ("max_event_tags", self.max_event_tags),
            ("max_content_length", self.max_content_length),
            ("min_pow_difficulty", self.min_pow_difficulty),
            ("created_at_lower_limit", self.created_at_lower_limit),
            ("created_at_upper_limit", self.created_at_upper_limit),
        ];
        for (name, number) in numbers {
            if let Some(number) = number {
                object.number(name, number);
            }
        }
        let flags = [
            ("auth_required", self.auth_required),
            ("payment_required", self.payment_required),
            ("restricted_writes", self.restricted_writes),
        ];
        for (name, flag) in flags {
            if let Some(flag) = flag {
                object.bool(name, flag);
            }
        }
        object.end();
    }
}
