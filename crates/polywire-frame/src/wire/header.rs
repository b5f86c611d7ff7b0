//! The header of a frame, its kinds and its flags.

use std::fmt;

/// The length of a header in bytes.
pub const HEADER: usize = 16;

/// The 16 bytes in front of each body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// Length of the body in bytes, as sent.
    pub length: u32,
    /// What the frame is.
    pub kind: Kind,
    /// How the body is encoded.
    pub flags: Flags,
    /// Depends on the kind: an operation's number, a fault's code, a reason.
    pub code: u16,
    /// The call that the frame belongs to.
    pub id: u32,
    /// Depends on the kind: a time, credit, a count.
    pub value: u32,
}

impl Header {
    /// A header without flags, whose other fields are 0.
    #[inline]
    #[must_use]
    pub const fn new(kind: Kind, id: u32) -> Self {
        Self {
            length: 0,
            kind,
            flags: Flags::NONE,
            code: 0,
            id,
            value: 0,
        }
    }

    /// Decodes a header. Never fails: the fields are checked when the frame is read.
    ///
    /// ```
    /// use polywire_frame::{Header, Kind};
    ///
    /// let header = Header::read(&[11, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0xe8, 3, 0, 0]);
    /// assert_eq!((header.length, header.kind, header.value), (11, Kind::CALL, 1000));
    /// assert_eq!(header.bytes()[..6], [11, 0, 0, 0, 2, 1]);
    /// ```
    #[inline]
    #[must_use]
    pub const fn read(bytes: &[u8; HEADER]) -> Self {
        let [a, b, c, d, kind, flags, e, f, g, h, i, j, k, l, m, n] = *bytes;
        Self {
            length: u32::from_le_bytes([a, b, c, d]),
            kind: Kind(kind),
            flags: Flags(flags),
            code: u16::from_le_bytes([e, f]),
            id: u32::from_le_bytes([g, h, i, j]),
            value: u32::from_le_bytes([k, l, m, n]),
        }
    }

    /// Encodes the header.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> [u8; HEADER] {
        let [a, b, c, d] = self.length.to_le_bytes();
        let [e, f] = self.code.to_le_bytes();
        let [g, h, i, j] = self.id.to_le_bytes();
        let [k, l, m, n] = self.value.to_le_bytes();
        let (kind, flags) = (self.kind.0, self.flags.0);
        [a, b, c, d, kind, flags, e, f, g, h, i, j, k, l, m, n]
    }

    /// Appends a frame without a body.
    #[inline]
    pub fn append_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.bytes());
    }
}

/// What a frame is. See the table in `docs/frame.md`.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Kind(pub u8);

/// Which side may send a kind of frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Sender {
    Both,
    Client,
    Server,
}

/// The properties of a kind: its name, its senders, its flags, and whether it has a body.
struct Rule(&'static str, Sender, Flags, bool);

impl Kind {
    /// Accepts a subscription; over datagrams, confirms that a call has arrived.
    pub const ACCEPT: Self = Self(0x0b);
    /// A call.
    pub const CALL: Self = Self(0x02);
    /// Cancels a call.
    pub const CANCEL: Self = Self(0x06);
    /// Raises or sets a limit of the receiver.
    pub const CREDIT: Self = Self(0x09);
    /// Ends the client's stream of a call.
    pub const END: Self = Self(0x08);
    /// The answer to a call that failed.
    pub const FAULT: Self = Self(0x05);
    /// Announces the end of the connection.
    pub const GOAWAY: Self = Self(0x10);
    /// The first frame of each side, with its settings.
    pub const HELLO: Self = Self(0x01);
    /// An item of a stream.
    pub const ITEM: Self = Self(0x07);
    /// A call without an answer.
    pub const ONEWAY: Self = Self(0x03);
    /// Requests a `PONG`.
    pub const PING: Self = Self(0x0e);
    /// The answer to a `PING`.
    pub const PONG: Self = Self(0x0f);
    /// A message for a topic.
    pub const PUBLISH: Self = Self(0x0c);
    /// The answer to a call that succeeded.
    pub const REPLY: Self = Self(0x04);
    /// Subscribes to a topic.
    pub const SUBSCRIBE: Self = Self(0x0a);
    /// Ends a subscription.
    pub const UNSUBSCRIBE: Self = Self(0x0d);

    /// Whether a receiver that does not know this kind skips the frame.
    #[must_use]
    pub const fn may_be_ignored(self) -> bool {
        self.0 >= 0x80
    }

    const fn rule(self) -> Option<Rule> {
        let none = Flags::NONE;
        let resent = Flags::AGAIN;
        let extended = Flags::EXTENSION;
        let payload = extended.union(Flags::DEFLATE);
        let call = payload.union(Flags::OPEN).union(resent);
        let fault = payload.union(Flags::UNSTARTED).union(resent);
        Some(match self {
            Self::HELLO => Rule("HELLO", Sender::Both, extended.union(resent), true),
            Self::CALL => Rule("CALL", Sender::Client, call, true),
            Self::ONEWAY => Rule("ONEWAY", Sender::Client, payload, true),
            Self::REPLY => Rule("REPLY", Sender::Server, payload.union(resent), true),
            Self::FAULT => Rule("FAULT", Sender::Server, fault, true),
            Self::CANCEL => Rule("CANCEL", Sender::Client, resent, false),
            Self::ITEM => Rule("ITEM", Sender::Both, Flags::DEFLATE, true),
            Self::END => Rule("END", Sender::Client, none, false),
            Self::CREDIT => Rule("CREDIT", Sender::Both, none, false),
            Self::SUBSCRIBE => Rule("SUBSCRIBE", Sender::Client, extended, true),
            Self::ACCEPT => Rule("ACCEPT", Sender::Server, resent, false),
            Self::PUBLISH => Rule("PUBLISH", Sender::Client, payload, true),
            Self::UNSUBSCRIBE => Rule("UNSUBSCRIBE", Sender::Client, none, false),
            Self::PING => Rule("PING", Sender::Both, none, false),
            Self::PONG => Rule("PONG", Sender::Both, none, false),
            Self::GOAWAY => Rule("GOAWAY", Sender::Both, none, true),
            _ => return None,
        })
    }

    /// Whether this version of the protocol defines the kind.
    #[inline]
    pub(super) const fn is_known(self) -> bool {
        self.0 >= 0x01 && self.0 <= 0x10
    }

    #[inline]
    pub(super) fn comes_from(self, side: Sender) -> bool {
        self.rule()
            .is_some_and(|Rule(_, sender, ..)| sender == Sender::Both || sender == side)
    }

    pub(super) fn flags(self) -> Flags {
        self.rule()
            .map_or(Flags::default(), |Rule(_, _, flags, _)| flags)
    }

    #[inline]
    pub(super) fn has_body(self) -> bool {
        self.rule().is_some_and(|Rule(.., body)| body)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule() {
            Some(Rule(name, ..)) => f.write_str(name),
            None => write!(f, "kind 0x{:02x}", self.0),
        }
    }
}

/// How the body of a frame is encoded. Bits `0x04` and `0x80` are reserved: no kind has them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Flags(pub u8);

impl Flags {
    /// Datagrams only, two bits: how often a datagram was sent before, modulo 4; in an answer, that of the datagram
    /// that it answers.
    pub const AGAIN: Self = Self(0x60);
    /// The payload is compressed.
    pub const DEFLATE: Self = Self(0x02);
    /// The body begins with an extension.
    pub const EXTENSION: Self = Self(0x01);
    /// No flag.
    pub const NONE: Self = Self(0);
    /// The client sends a stream of items after the call.
    pub const OPEN: Self = Self(0x08);
    /// No part of the call was executed.
    pub const UNSTARTED: Self = Self(0x10);

    /// Whether all flags of `other` are set.
    #[inline]
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags that are in either.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags that are in both.
    #[inline]
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The flags that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// [`Self::AGAIN`] of a datagram that was sent this many times before.
    #[must_use]
    pub const fn again(times: u32) -> Self {
        Self((times % 4) as u8 * (Self::AGAIN.0 / 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_specification() {
        for number in 0..=u8::MAX {
            let kind = Kind(number);
            assert_eq!(kind.is_known(), kind.rule().is_some(), "{kind}");
            assert_eq!(kind.has_body(), kind.rule().is_some_and(|rule| rule.3));
            // Bit 0x04 is reserved.
            assert_eq!(kind.flags().intersection(Flags(0x04)), Flags::NONE);
        }
    }
}
