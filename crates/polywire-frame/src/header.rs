//! The header of a frame, and the two numbers in it that are lists: kinds and flags.

use std::fmt;

/// The length of a header in bytes.
pub const HEADER: usize = 16;

/// The 16 bytes in front of each body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// Bytes of the body.
    pub length: u32,
    /// What the frame is.
    pub kind: Kind,
    /// How the body is put together.
    pub flags: Flags,
    /// An operation's number, a fault's code, and the like.
    pub code: u16,
    /// The call it belongs to.
    pub id: u32,
    /// Time, credit, and the like.
    pub value: u32,
}

impl Header {
    /// Reads a header. Any 16 bytes are one; which of them mean something is seen later.
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

    /// Its bytes.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> [u8; HEADER] {
        let [a, b, c, d] = self.length.to_le_bytes();
        let [e, f] = self.code.to_le_bytes();
        let [g, h, i, j] = self.id.to_le_bytes();
        let [k, l, m, n] = self.value.to_le_bytes();
        [
            a,
            b,
            c,
            d,
            self.kind.0,
            self.flags.0,
            e,
            f,
            g,
            h,
            i,
            j,
            k,
            l,
            m,
            n,
        ]
    }
}

/// A header of a kind and an id, with nothing else.
#[inline]
pub(crate) const fn header(kind: Kind, id: u32) -> Header {
    Header {
        length: 0,
        kind,
        flags: Flags::NONE,
        code: 0,
        id,
        value: 0,
    }
}

/// What a frame is.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Kind(pub u8);

/// Who may send a kind of frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum From {
    Both,
    Client,
    Server,
}

/// What the page says of a kind: its name, who sends it, the flags it may have, whether it has
/// a body, and whether that is a payload.
struct Rule(&'static str, From, Flags, bool);

impl Kind {
    /// The server takes what is sent from now on to a topic.
    pub const ACCEPT: Self = Self(0x0b);
    /// A call.
    pub const CALL: Self = Self(0x02);
    /// A call is not wanted any more.
    pub const CANCEL: Self = Self(0x06);
    /// More may be sent.
    pub const CREDIT: Self = Self(0x09);
    /// The client's stream has ended.
    pub const END: Self = Self(0x08);
    /// The answer to a call that failed.
    pub const FAULT: Self = Self(0x05);
    /// The connection is about to end.
    pub const GOAWAY: Self = Self(0x10);
    /// The first frame of each side.
    pub const HELLO: Self = Self(0x01);
    /// An item of a stream.
    pub const ITEM: Self = Self(0x07);
    /// A call without an answer.
    pub const ONEWAY: Self = Self(0x03);
    /// Is anybody there?
    pub const PING: Self = Self(0x0e);
    /// Yes.
    pub const PONG: Self = Self(0x0f);
    /// A message for a topic.
    pub const PUBLISH: Self = Self(0x0c);
    /// The answer to a call.
    pub const REPLY: Self = Self(0x04);
    /// All that is published to a topic is wanted.
    pub const SUBSCRIBE: Self = Self(0x0a);
    /// And now no more.
    pub const UNSUBSCRIBE: Self = Self(0x0d);

    /// Whether who does not know this kind passes it over.
    #[must_use]
    pub const fn may_be_ignored(self) -> bool {
        self.0 >= 0x80
    }

    const fn rule(self) -> Option<Rule> {
        let again = Flags::AGAIN;
        let none = Flags::NONE;
        let extended = Flags::EXTENSION;
        let payload = extended.with(Flags::DEFLATE);
        let call = payload.with(Flags::OPEN).with(again);
        let fault = payload.with(Flags::UNSTARTED).with(again);
        Some(match self {
            Self::HELLO => Rule("HELLO", From::Both, extended.with(again), true),
            Self::CALL => Rule("CALL", From::Client, call, true),
            Self::ONEWAY => Rule("ONEWAY", From::Client, payload, true),
            Self::REPLY => Rule("REPLY", From::Server, payload.with(again), true),
            Self::FAULT => Rule("FAULT", From::Server, fault, true),
            Self::CANCEL => Rule("CANCEL", From::Client, again, false),
            Self::ITEM => Rule("ITEM", From::Both, Flags::DEFLATE, true),
            Self::END => Rule("END", From::Client, none, false),
            Self::CREDIT => Rule("CREDIT", From::Both, none, false),
            Self::SUBSCRIBE => Rule("SUBSCRIBE", From::Client, extended, true),
            Self::ACCEPT => Rule("ACCEPT", From::Server, again, false),
            Self::PUBLISH => Rule("PUBLISH", From::Client, payload, true),
            Self::UNSUBSCRIBE => Rule("UNSUBSCRIBE", From::Client, none, false),
            Self::PING => Rule("PING", From::Both, none, false),
            Self::PONG => Rule("PONG", From::Both, none, false),
            Self::GOAWAY => Rule("GOAWAY", From::Both, none, true),
            _ => return None,
        })
    }

    /// Whether this page has the kind.
    #[inline]
    pub(crate) const fn is_known(self) -> bool {
        self.0 >= 0x01 && self.0 <= 0x10
    }

    #[inline]
    pub(crate) fn comes_from(self, side: From) -> bool {
        self.rule()
            .is_some_and(|Rule(_, from, ..)| from == From::Both || from == side)
    }

    pub(crate) fn flags(self) -> Flags {
        self.rule()
            .map_or(Flags::default(), |Rule(_, _, flags, _)| flags)
    }

    #[inline]
    pub(crate) fn has_body(self) -> bool {
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

/// How the body of a frame is put together. Bits `0x04` and `0x80` are reserved: no kind has them.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Flags(pub u8);

impl Flags {
    /// In datagrams, two bits: how often a datagram was sent before, modulo 4, and which of them is answered.
    pub const AGAIN: Self = Self(0x60);
    /// The payload is compressed.
    pub const DEFLATE: Self = Self(0x02);
    /// The body begins with an extension.
    pub const EXTENSION: Self = Self(0x01);
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Items of a stream follow.
    pub const OPEN: Self = Self(0x08);
    /// Nothing of the call was carried out.
    pub const UNSTARTED: Self = Self(0x10);

    /// Whether all flags of `other` are set.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and those of `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// [`Self::AGAIN`] of a datagram that was sent so often before.
    pub(crate) const fn again(times: u32) -> Self {
        Self((times % 4) as u8 * (Self::AGAIN.0 / 3))
    }

    /// Those that are in `other`, too.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those that are not in `other`.
    pub(crate) const fn beyond(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_page() {
        for number in 0..=u8::MAX {
            let kind = Kind(number);
            assert_eq!(kind.is_known(), kind.rule().is_some(), "{kind}");
            assert_eq!(kind.has_body(), kind.rule().is_some_and(|rule| rule.3));
            // Bit 0x04 is reserved.
            assert_eq!(kind.flags().and(Flags(0x04)), Flags::NONE);
        }
    }
}
