//! Messages from clients to relays.

use polywire_text::scan;

use super::parse::Items;
use super::write::MessageWriter;
use super::{MessageLimits, SubscriptionId};
use crate::json::{push_hex, to_string};
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
    /// Requests stored events and subscribes to new ones (NIP-01).
    Req {
        /// The subscription. It replaces an open subscription with this id.
        subscription: SubscriptionId<'a>,
        /// At least one. The relay sends events that match any of them.
        filters: Vec<Filter>,
    },
    /// Ends a subscription (NIP-01).
    Close(SubscriptionId<'a>),
    /// Authenticates the client (NIP-42). See [`auth::check`](crate::auth::check).
    Auth(EventRef<'a>),
    /// Requests the number of events (NIP-45).
    Count {
        /// The query id.
        subscription: SubscriptionId<'a>,
        /// At least one. The relay counts each event that matches any of them once.
        filters: Vec<Filter>,
    },
    /// Opens a reconciliation of two sets of events (NIP-77).
    NegOpen {
        /// The id of the reconciliation. It replaces an open reconciliation with this id. These ids
        /// are separate from those of REQ.
        subscription: SubscriptionId<'a>,
        /// Selects the events to reconcile.
        filter: Filter,
        /// The first message of the Negentropy protocol.
        message: Vec<u8>,
    },
    /// Continues a reconciliation (NIP-77).
    NegMsg {
        /// The id of the reconciliation.
        subscription: SubscriptionId<'a>,
        /// A message of the Negentropy protocol.
        message: Vec<u8>,
    },
    /// Closes a reconciliation (NIP-77).
    NegClose(SubscriptionId<'a>),
}

impl<'a> ClientMessage<'a> {
    /// Parses a message. Events are validated as in [`EventRef::parse_with`], which verifies
    /// neither the id nor the signature.
    ///
    /// # Errors
    ///
    /// The first error, with its byte offset in the message.
    /// [`Reason::UnknownMessage`](crate::Reason::UnknownMessage) if the message type is not one of
    /// these.
    pub fn parse(
        json: &'a (impl AsRef<[u8]> + ?Sized),
        profile: Profile,
        limits: &MessageLimits,
    ) -> Result<Self, Error> {
        let (message_type, mut items) = Items::begin(json.as_ref(), profile, limits)?;
        let message = match &*message_type {
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

    /// Reads only the event id of an EVENT message, to look up duplicates before full parsing.
    /// Returns `None` for other messages and for an error before the end of the id.
    ///
    /// The text after the id is ignored.
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

    /// Reads only the subscription id of a REQ or COUNT message, to answer a message that
    /// [`parse`](Self::parse) rejects. Returns `None` for other messages and for an error before
    /// the end of the id.
    ///
    /// The text after the id is ignored.
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
        let (message_type, mut items) =
            Items::begin(json.as_ref(), Profile::STRICT, &limits).ok()?;
        match &*message_type {
            "REQ" | "COUNT" => items.subscription().ok(),
            _ => None,
        }
    }

    /// Appends compact JSON. The original text of an event is copied.
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

    /// Returns the output of [`push_json`](Self::push_json).
    #[must_use]
    pub fn to_json(&self) -> String {
        to_string(|out| self.push_json(out))
    }
}

/// Appends `["EVENT",event]`. The text of the event is copied as it is.
pub fn push_event(out: &mut Vec<u8>, event: impl AsRef<[u8]>) {
    push_object(out, "EVENT", event.as_ref());
}

/// Appends `["AUTH",event]`. The text of the event is copied as it is.
pub fn push_auth(out: &mut Vec<u8>, event: impl AsRef<[u8]>) {
    push_object(out, "AUTH", event.as_ref());
}

/// Appends `["REQ",subscription,filters...]`. NIP-01 requires at least one filter.
pub fn push_req<'f>(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    filters: impl IntoIterator<Item = &'f Filter>,
) {
    push_filters(out, "REQ", subscription, filters);
}

/// Appends `["COUNT",subscription,filters...]`. NIP-45 requires at least one filter.
pub fn push_count<'f>(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    filters: impl IntoIterator<Item = &'f Filter>,
) {
    push_filters(out, "COUNT", subscription, filters);
}

/// Appends `["CLOSE",subscription]`.
pub fn push_close(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>) {
    MessageWriter::new(out, "CLOSE")
        .text(subscription.as_str())
        .end();
}

/// Appends `["NEG-OPEN",subscription,filter,message]`.
pub fn push_neg_open(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    filter: &Filter,
    message: &[u8],
) {
    MessageWriter::new(out, "NEG-OPEN")
        .text(subscription.as_str())
        .with(|out| filter.push_json(out))
        .with(|out| push_hex(out, message))
        .end();
}

/// Appends `["NEG-MSG",subscription,message]`. Clients and relays send the same text.
pub fn push_neg_msg(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>, message: &[u8]) {
    MessageWriter::new(out, "NEG-MSG")
        .text(subscription.as_str())
        .with(|out| push_hex(out, message))
        .end();
}

/// Appends `["NEG-CLOSE",subscription]`.
pub fn push_neg_close(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>) {
    MessageWriter::new(out, "NEG-CLOSE")
        .text(subscription.as_str())
        .end();
}

fn push_object(out: &mut Vec<u8>, message_type: &str, object: &[u8]) {
    out.reserve(message_type.len() + object.len() + 5);
    MessageWriter::new(out, message_type).json(object).end();
}

fn push_filters<'f>(
    out: &mut Vec<u8>,
    message_type: &str,
    subscription: &SubscriptionId<'_>,
    filters: impl IntoIterator<Item = &'f Filter>,
) {
    let mut message = MessageWriter::new(out, message_type).text(subscription.as_str());
    for filter in filters {
        message = message.with(|out| filter.push_json(out));
    }
    message.end();
}
