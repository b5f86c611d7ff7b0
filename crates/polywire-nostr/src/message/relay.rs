//! What relays send.

use std::borrow::Cow;

use polywire_text::number;

pub use super::client::push_neg_msg;
use super::parse::Items;
use super::{Count, MessageLimits, SubscriptionId};
use crate::json::{push_hex, push_string, to_string};
use crate::{Error, EventId, EventRef, Member, Profile};

/// A message from a relay to a client.
///
/// ```
/// use polywire_nostr::message::Prefix;
/// use polywire_nostr::{MessageLimits, Profile, RelayMessage};
///
/// let text = r#"["CLOSED","feed","error: shutting down"]"#;
/// let message = RelayMessage::parse(text, Profile::STRICT, &MessageLimits::default())?;
/// let RelayMessage::Closed { message: text, .. } = &message else { panic!() };
/// assert_eq!(Prefix::split(text), (Some(Prefix::Error), "shutting down"));
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RelayMessage<'a> {
    /// An event that a subscription asked for (NIP-01).
    Event {
        /// The subscription.
        subscription: SubscriptionId<'a>,
        /// The event.
        event: EventRef<'a>,
    },
    /// Whether an event was accepted (NIP-01).
    Ok {
        /// The event of EVENT or AUTH.
        id: EventId,
        /// Whether it was accepted.
        accepted: bool,
        /// Why; see [`Prefix::split`](super::Prefix::split). May be empty if it was accepted.
        message: Cow<'a, str>,
    },
    /// All stored events of a subscription have been sent (NIP-01).
    Eose(SubscriptionId<'a>),
    /// The relay ended a subscription, or refused it (NIP-01).
    Closed {
        /// The subscription.
        subscription: SubscriptionId<'a>,
        /// Why; see [`Prefix::split`](super::Prefix::split).
        message: Cow<'a, str>,
    },
    /// Text for a person (NIP-01).
    Notice(Cow<'a, str>),
    /// The challenge that the client must sign (NIP-42).
    Auth {
        /// What the client has to sign.
        challenge: Cow<'a, str>,
    },
    /// The number of events (NIP-45).
    Count {
        /// The id of the question.
        subscription: SubscriptionId<'a>,
        /// The answer.
        count: Count,
    },
    /// Continues to reconcile sets of events (NIP-77).
    NegMsg {
        /// The reconciliation.
        subscription: SubscriptionId<'a>,
        /// A message of the Negentropy protocol.
        message: Vec<u8>,
    },
    /// The relay ended a reconciliation, or refused it (NIP-77).
    NegErr {
        /// The reconciliation.
        subscription: SubscriptionId<'a>,
        /// Why; see [`Prefix::split`](super::Prefix::split).
        message: Cow<'a, str>,
        /// How many events the relay reconciles at most, if it says so.
        max_records: Option<u64>,
    },
}

impl<'a> RelayMessage<'a> {
    /// Reads a message. Events are checked as [`EventRef::parse_with`] does: neither their id nor
    /// their signature.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong, with its offset in the whole message.
    /// [`Reason::UnknownMessage`](crate::Reason::UnknownMessage) if the array begins with another
    /// word.
    pub fn parse(
        json: &'a (impl AsRef<[u8]> + ?Sized),
        profile: Profile,
        limits: &MessageLimits,
    ) -> Result<Self, Error> {
        let (word, mut items) = Items::begin(json.as_ref(), profile, limits)?;
        let message = match &*word {
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

    /// Appends compact JSON; an event as it was read.
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

    /// Returns compact JSON, as [`push_json`](Self::push_json) writes it.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_string(|out| self.push_json(out))
    }
}

/// Appends `["EVENT",subscription,event]`. The text of the event is copied as it is: a relay
/// forwards what it received.
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
    begin(out, b"[\"EVENT\",", subscription);
    out.push(b',');
    out.extend_from_slice(event);
    out.push(b']');
}

/// Appends `["OK",id,accepted,message]`. If the event was not accepted, the message should begin
/// with a [`Prefix`](super::Prefix), as the text of an [`Error`] does.
pub fn push_ok(out: &mut Vec<u8>, id: &EventId, accepted: bool, message: &str) {
    out.extend_from_slice(b"[\"OK\",");
    push_hex(out, id.as_bytes());
    out.extend_from_slice(if accepted { b",true," } else { b",false," });
    push_string(out, message);
    out.push(b']');
}

/// Appends `["EOSE",subscription]`.
pub fn push_eose(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>) {
    begin(out, b"[\"EOSE\",", subscription);
    out.push(b']');
}

/// Appends `["CLOSED",subscription,message]`. The message should begin with a
/// [`Prefix`](super::Prefix).
pub fn push_closed(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>, message: &str) {
    begin(out, b"[\"CLOSED\",", subscription);
    out.push(b',');
    push_string(out, message);
    out.push(b']');
}

/// Appends `["NOTICE",message]`.
pub fn push_notice(out: &mut Vec<u8>, message: &str) {
    out.extend_from_slice(b"[\"NOTICE\",");
    push_string(out, message);
    out.push(b']');
}

/// Appends `["AUTH",challenge]`.
pub fn push_auth(out: &mut Vec<u8>, challenge: &str) {
    out.extend_from_slice(b"[\"AUTH\",");
    push_string(out, challenge);
    out.push(b']');
}

/// Appends `["COUNT",subscription,count]`.
pub fn push_count(out: &mut Vec<u8>, subscription: &SubscriptionId<'_>, count: &Count) {
    begin(out, b"[\"COUNT\",", subscription);
    out.push(b',');
    count.push_json(out);
    out.push(b']');
}

/// Appends `["NEG-ERR",subscription,message]`, with the number of events that the relay reconciles
/// at most behind it if there is one. The message should begin with a [`Prefix`](super::Prefix).
pub fn push_neg_err(
    out: &mut Vec<u8>,
    subscription: &SubscriptionId<'_>,
    message: &str,
    max_records: Option<u64>,
) {
    begin(out, b"[\"NEG-ERR\",", subscription);
    out.push(b',');
    push_string(out, message);
    if let Some(max_records) = max_records {
        out.push(b',');
        number::push_u64(out, max_records);
    }
    out.push(b']');
}

fn begin(out: &mut Vec<u8>, word: &[u8], subscription: &SubscriptionId<'_>) {
    out.extend_from_slice(word);
    push_string(out, subscription.as_str());
}
