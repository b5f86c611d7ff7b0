//! What clients send.

use polywire_text::scan;

use super::parse::Items;
use super::{MessageLimits, SubscriptionId};
use crate::json::{push_hex, push_string, to_string};
use crate::{Error, EventId, EventRef, Filter, Profile};

/// A message from a client to a relay.
///
/// ```
/// use polywire_nostr::{ClientMessage, MessageLimits, Profile, Reason};
///
/// let limits = MessageLimits::default();
/// let message = ClientMessage::parse(r#"["CLOSE","feed"]"#, Profile::STRICT, &limits)?;
/// assert!(matches!(message, ClientMessage::Close(id) if id.as_str() == "feed"));
/// let error = ClientMessage::parse(r#"["CLOSED","feed",""]"#, Profile::STRICT, &limits).unwrap_err();
/// assert_eq!((error.reason, error.offset), (Reason::UnknownMessage, 1));
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientMessage<'a> {
    /// Publishes an event (NIP-01).
    Event(EventRef<'a>),
    /// Asks for events, and subscribes to new ones (NIP-01).
    Req {
        /// The subscription; it replaces another one of this id.
        subscription: SubscriptionId<'a>,
        /// One at least. An event that matches any of them is asked for.
        filters: Vec<Filter>,
    },
    /// Ends a subscription (NIP-01).
    Close(SubscriptionId<'a>),
    /// Authenticates the client (NIP-42). See [`auth::check`](crate::auth::check).
    Auth(EventRef<'a>),
    /// Asks for the number of events (NIP-45).
    Count {
        /// The id of the question.
        subscription: SubscriptionId<'a>,
        /// One at least. Events that match any of them are counted, each once.
        filters: Vec<Filter>,
    },
    /// Begins to reconcile sets of events (NIP-77).
    NegOpen {
        /// The reconciliation; it replaces another one of this id. These ids are not those of REQ.
        subscription: SubscriptionId<'a>,
        /// Which events are reconciled.
        filter: Filter,
        /// The first message of the Negentropy protocol.
        message: Vec<u8>,
    },
    /// Continues to reconcile sets of events (NIP-77).
    NegMsg {
        /// The reconciliation.
        subscription: SubscriptionId<'a>,
        /// A message of the Negentropy protocol.
        message: Vec<u8>,
    },
    /// Ends a reconciliation (NIP-77).
    NegClose(SubscriptionId<'a>),
}

impl<'a> ClientMessage<'a> {
    /// Reads a message. Events are checked as [`EventRef::parse_with`] does: neither their id nor
    /// their signature.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its offset in the whole message.
    /// [`Reason::UnknownMessage`](crate::Reason::UnknownMessage) if the array begins with another word.
    pub fn parse(
        json: &'a (impl AsRef<[u8]> + ?Sized),
        profile: Profile,
        limits: &MessageLimits,
    ) -> Result<Self, Error> {
        let (word, mut items) = Items::begin(json.as_ref(), profile, limits)?;
        let message = match &*word {
            "EVENT" => Self::Event(items.event()?),
            "REQ" => {
                return Ok(Self::Req {
                    subscription: items.subscription()?,
                    filters: items.filters()?,
                });
            }
            "CLOSE" => Self::Close(items.subscription()?),
            "AUTH" => Self::Auth(items.event()?),
            "COUNT" => {
                return Ok(Self::Count {
                    subscription: items.subscription()?,
                    filters: items.filters()?,
                });
            }
            "NEG-OPEN" => Self::NegOpen {
                subscription: items.subscription()?,
                filter: items.filter()?,
                message: items.bytes()?,
            },
            "NEG-MSG" => Self::NegMsg {
                subscription: items.subscription()?,
                message: items.bytes()?,
            },
            "NEG-CLOSE" => Self::NegClose(items.subscription()?),
            _ => return Err(items.unknown()),
        };
        items.end()?;
        Ok(message)
    }

    /// Reads the id of the event of an EVENT message alone, for a look-up of duplicates before
    /// anything else is done. `None` if the message is another one, or if it is not valid as far as
    /// it has been read.
    ///
    /// Stops behind the id: what follows is not looked at.
    ///
    /// ```
    /// use polywire_nostr::ClientMessage;
    ///
    /// let text = r#"["EVENT",{"id":"0000000000000000000000000000000000000000000000000000000000000001","pub"#;
    /// assert_eq!(ClientMessage::peek_event_id(text).unwrap().as_bytes()[31], 1);
    /// assert_eq!(ClientMessage::peek_event_id(r#"["CLOSE","feed"]"#), None);
    /// ```
    #[must_use]
    pub fn peek_event_id(json: &(impl AsRef<[u8]> + ?Sized)) -> Option<EventId> {
        let mut rest = json.as_ref();
        for token in [&b"["[..], b"\"EVENT\"", b","] {
            rest = &rest[scan::white_space(rest)..];
            rest = rest.strip_prefix(token)?;
        }
        EventRef::parse_id(rest).ok()
    }

    /// Reads the subscription of a REQ or COUNT message alone, for the answer to one that
    /// [`parse`](Self::parse) does not read. `None` if the message is another one, or if it is not valid
    /// as far as it has been read.
    ///
    /// Stops behind the id: what follows is not looked at.
    ///
    /// ```
    /// use polywire_nostr::ClientMessage;
    ///
    /// let text = r#"["REQ","feed",{"kinds":"none"}]"#;
    /// assert_eq!(ClientMessage::peek_subscription(text).unwrap().as_str(), "feed");
    /// assert_eq!(ClientMessage::peek_subscription(r#"["CLOSE","feed"]"#), None);
    /// ```
    #[must_use]
    pub fn peek_subscription(json: &(impl AsRef<[u8]> + ?Sized)) -> Option<SubscriptionId<'_>> {
        let limits = MessageLimits::DEFAULT.with_bytes(usize::MAX);
        let (word, mut items) = Items::begin(json.as_ref(), Profile::STRICT, &limits).ok()?;
        match &*word {
            "REQ" | "COUNT" => items.subscription().ok(),
            _ => None,
        }
    }

    /// Appends compact JSON; an event as it was read.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Event(event) => push_event(out, event.as_json()),
            Self::Req {
                subscription,
                filters,
            } => push_req(out, subscription, filters),
            Self::Close(subscription) => push_close(out, subscription),
            Self::Auth(event) => push_auth(out, event.as_json()),
            Self::Count {
                subscription,
                filters,
            } => push_count(out, subscription, filters),
            Self::NegOpen {
                subscription,
                filter,
                message,
            } => push_neg_open(out, subscription, filter, message),
            Self::NegMsg {
                subscription,
                message,
            } => push_neg_msg(out, subscription, message),
            Self::NegClose(subscription) => push_neg_close(out, subscription),
        }
    }

    /// Returns compact JSON, as [`push_json`](Self::push_json) writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_string(|out| self.push_json(out))
    }
}

/// Appends `["EVENT",event]`. The text of the event is copied as it is.
pub fn push_event(out: &mut Vec<u8>, event: impl AsRef<[u8]>) {
    push_object(out, b"[\"EVENT\",", event.as_ref());
}

/// Appends `["AUTH",event]`. The text of the event is copied as it is.
pub fn push_auth(out: &mut Vec<u8>, event: impl AsRef<[u8]>) {
    push_object(out, b"[\"AUTH\",", event.as_ref());
}

/// Appends `["REQ",subscription,filters...]`. There should be one filter at least.
pub fn push_req<'f>(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    filters: impl IntoIterator<Item = &'f Filter>,
) {
    push_filters(out, b"[\"REQ\",", subscription, filters);
}

/// Appends `["COUNT",subscription,filters...]`. There should be one filter at least.
pub fn push_count<'f>(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    filters: impl IntoIterator<Item = &'f Filter>,
) {
    push_filters(out, b"[\"COUNT\",", subscription, filters);
}

/// Appends `["CLOSE",subscription]`.
pub fn push_close(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>) {
    push_filters(out, b"[\"CLOSE\",", subscription, []);
}

/// Appends `["NEG-OPEN",subscription,filter,message]`.
pub fn push_neg_open(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    filter: &Filter,
    message: &[u8],
) {
    out.extend_from_slice(b"[\"NEG-OPEN\",");
    push_string(out, subscription.as_str());
    out.push(b',');
    filter.push_json(out);
    out.push(b',');
    push_hex(out, message);
    out.push(b']');
}

/// Appends `["NEG-MSG",subscription,message]`. Relays send the same.
pub fn push_neg_msg(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>, message: &[u8]) {
    out.extend_from_slice(b"[\"NEG-MSG\",");
    push_string(out, subscription.as_str());
    out.push(b',');
    push_hex(out, message);
    out.push(b']');
}

/// Appends `["NEG-CLOSE",subscription]`.
pub fn push_neg_close(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>) {
    push_filters(out, b"[\"NEG-CLOSE\",", subscription, []);
}

fn push_object(out: &mut Vec<u8>, begin: &[u8], object: &[u8]) {
    out.reserve(begin.len() + object.len() + 1);
    out.extend_from_slice(begin);
    out.extend_from_slice(object);
    out.push(b']');
}

fn push_filters<'f>(
    out: &mut Vec<u8>,
    begin: &[u8],
    subscription: &SubscriptionId<'_>,
    filters: impl IntoIterator<Item = &'f Filter>,
) {
    out.extend_from_slice(begin);
    push_string(out, subscription.as_str());
    for filter in filters {
        out.push(b',');
        filter.push_json(out);
    }
    out.push(b']');
}
