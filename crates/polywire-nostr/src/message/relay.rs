//! Messages from relays to clients.

use std::borrow::Cow;

use polywire_text::number;

pub use super::client::push_neg_msg;
use super::parse::Items;
use super::write::MessageWriter;
use super::{Count, MessageLimits, SubscriptionId};
use crate::json::{push_hex, to_string};
use crate::{Error, EventId, EventRef, Member, Profile};

/// A message from a relay to a client.
///
/// ```
/// use polywire_nostr::message::MachineReadablePrefix;
/// use polywire_nostr::{MessageLimits, Profile, RelayMessage};
///
/// let text = r#"["CLOSED","feed","error: shutting down"]"#;
/// let message = RelayMessage::parse(text, Profile::STRICT, &MessageLimits::default())?;
/// let RelayMessage::Closed { message: text, .. } = &message else { panic!() };
/// let (prefix, text) = MachineReadablePrefix::split(text);
/// assert_eq!((prefix, text), (Some(MachineReadablePrefix::Error), "shutting down"));
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RelayMessage<'a> {
    /// An event that matches a subscription (NIP-01).
    Event {
        /// The subscription.
        subscription: SubscriptionId<'a>,
        /// The event.
        event: EventRef<'a>,
    },
    /// The response to EVENT or AUTH (NIP-01).
    Ok {
        /// The id of the event in EVENT or AUTH.
        id: EventId,
        /// Whether the relay accepted the event.
        accepted: bool,
        /// The reason, for
        /// [`MachineReadablePrefix::split`](super::MachineReadablePrefix::split). May be empty if
        /// `accepted` is true.
        message: Cow<'a, str>,
    },
    /// End of stored events: the relay sends only new events from here on (NIP-01).
    Eose(SubscriptionId<'a>),
    /// The relay closed or rejected a subscription (NIP-01).
    Closed {
        /// The subscription.
        subscription: SubscriptionId<'a>,
        /// The reason, for
        /// [`MachineReadablePrefix::split`](super::MachineReadablePrefix::split).
        message: Cow<'a, str>,
    },
    /// A human-readable message (NIP-01).
    Notice(Cow<'a, str>),
    /// An authentication challenge (NIP-42).
    Auth {
        /// The text to put into the signed event.
        challenge: Cow<'a, str>,
    },
    /// The number of events (NIP-45).
    Count {
        /// The query id.
        subscription: SubscriptionId<'a>,
        /// The result.
        count: Count,
    },
    /// Continues a reconciliation (NIP-77).
    NegMsg {
        /// The id of the reconciliation.
        subscription: SubscriptionId<'a>,
        /// A message of the Negentropy protocol.
        message: Vec<u8>,
    },
    /// The relay closed or rejected a reconciliation (NIP-77).
    NegErr {
        /// The id of the reconciliation.
        subscription: SubscriptionId<'a>,
        /// The reason, for
        /// [`MachineReadablePrefix::split`](super::MachineReadablePrefix::split).
        message: Cow<'a, str>,
        /// The maximum number of events that the relay reconciles, if it sends that.
        max_records: Option<u64>,
    },
}

impl<'a> RelayMessage<'a> {
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
            "EVENT" => Self::Event {
                subscription: items.subscription()?,
                event: items.event()?,
            },
            "OK" => Self::Ok {
                id: {
                    items.next()?;
                    let id = items.reader.hex();
                    EventId::from_bytes(id.map_err(|error| error.in_member(Member::Id))?)
                },
                accepted: {
                    items.next()?;
                    items.reader.bool()?
                },
                message: items.text()?,
            },
            "EOSE" => Self::Eose(items.subscription()?),
            "CLOSED" => Self::Closed {
                subscription: items.subscription()?,
                message: items.text()?,
            },
            "NOTICE" => Self::Notice(items.text()?),
            "AUTH" => Self::Auth {
                challenge: items.text()?,
            },
            "COUNT" => Self::Count {
                subscription: items.subscription()?,
                count: {
                    items.next()?;
                    Count::read(&mut items.reader)?
                },
            },
            "NEG-MSG" => Self::NegMsg {
                subscription: items.subscription()?,
                message: items.bytes()?,
            },
            "NEG-ERR" => {
                return Ok(Self::NegErr {
                    subscription: items.subscription()?,
                    message: items.text()?,
                    max_records: items.optional_number()?,
                });
            }
            _ => return Err(items.unknown()),
        };
        items.end()?;
        Ok(message)
    }

    /// Appends compact JSON. The original text of an event is copied.
    pub fn push_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Event {
                subscription,
                event,
            } => push_event(out, subscription, event.as_json()),
            Self::Ok {
                id,
                accepted,
                message,
            } => push_ok(out, id, *accepted, message),
            Self::Eose(subscription) => push_eose(out, subscription),
            Self::Closed {
                subscription,
                message,
            } => push_closed(out, subscription, message),
            Self::Notice(message) => push_notice(out, message),
            Self::Auth { challenge } => push_auth(out, challenge),
            Self::Count {
                subscription,
                count,
            } => push_count(out, subscription, count),
            Self::NegMsg {
                subscription,
                message,
            } => push_neg_msg(out, subscription, message),
            Self::NegErr {
                subscription,
                message,
                max_records,
            } => push_neg_err(out, subscription, message, *max_records),
        }
    }

    /// Returns the output of [`push_json`](Self::push_json).
    #[must_use]
    pub fn to_json(&self) -> String {
        to_string(|out| self.push_json(out))
    }
}

/// Appends `["EVENT",subscription,event]`. The text of the event is copied as it is, so a relay
/// forwards the original text.
///
/// ```
/// use polywire_nostr::SubscriptionId;
/// use polywire_nostr::message::relay;
///
/// let mut out = Vec::new();
/// relay::push_event(&mut out, &SubscriptionId::new("feed")?, r#"{ "kind": 1 }"#);
/// assert_eq!(out, br#"["EVENT","feed",{ "kind": 1 }]"#);
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
pub fn push_event(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>, event: impl AsRef<[u8]>) {
    let event = event.as_ref();
    out.reserve(event.len() + subscription.as_str().len() + 13);
    MessageWriter::new(out, "EVENT")
        .text(subscription.as_str())
        .json(event)
        .end();
}

/// Appends `["OK",id,accepted,message]`. If the event was not accepted, the message should begin
/// with a [`MachineReadablePrefix`](super::MachineReadablePrefix), as the text of an [`Error`]
/// does.
pub fn push_ok(out: &mut Vec<u8>, id: &EventId, accepted: bool, message: &str) {
    MessageWriter::new(out, "OK")
        .with(|out| push_hex(out, id.as_bytes()))
        .json(if accepted { b"true" } else { b"false" })
        .text(message)
        .end();
}

/// Appends `["EOSE",subscription]`.
pub fn push_eose(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>) {
    MessageWriter::new(out, "EOSE")
        .text(subscription.as_str())
        .end();
}

/// Appends `["CLOSED",subscription,message]`. The message should begin with a
/// [`MachineReadablePrefix`](super::MachineReadablePrefix).
pub fn push_closed(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>, message: &str) {
    MessageWriter::new(out, "CLOSED")
        .text(subscription.as_str())
        .text(message)
        .end();
}

/// Appends `["NOTICE",message]`.
pub fn push_notice(out: &mut Vec<u8>, message: &str) {
    MessageWriter::new(out, "NOTICE").text(message).end();
}

/// Appends `["AUTH",challenge]`.
pub fn push_auth(out: &mut Vec<u8>, challenge: &str) {
    MessageWriter::new(out, "AUTH").text(challenge).end();
}

/// Appends `["COUNT",subscription,count]`.
pub fn push_count(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>, count: &Count) {
    MessageWriter::new(out, "COUNT")
        .text(subscription.as_str())
        .with(|out| count.push_json(out))
        .end();
}

/// Appends `["NEG-ERR",subscription,message]`, followed by the maximum number of events that the
/// relay reconciles, if given. The message should begin with a
/// [`MachineReadablePrefix`](super::MachineReadablePrefix).
pub fn push_neg_err(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    message: &str,
    max_records: Option<u64>,
) {
    let writer = MessageWriter::new(out, "NEG-ERR")
        .text(subscription.as_str())
        .text(message);
    match max_records {
        Some(max_records) => writer.with(|out| number::push_u64(out, max_records)).end(),
        None => writer.end(),
    }
}
