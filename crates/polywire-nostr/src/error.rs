//! Errors of parsing and checking.

use std::fmt;

/// The error of parsing or checking an event, a filter or a message.
///
/// Its text can be sent to a client: it starts with a machine-readable prefix of NIP-01. The prefix
/// is `unsupported: ` for unknown filter members and unknown message types, otherwise `invalid: `.
///
/// ```
/// use polywire_nostr::{EventRef, Member, Reason};
///
/// let error = EventRef::parse(r#"{"kind":65536}"#).unwrap_err();
/// assert_eq!(error.reason, Reason::TooLarge);
/// assert_eq!(error.member, Some(Member::Kind));
/// assert_eq!(error.offset, 8);
/// assert_eq!(error.to_string(), "invalid: kind: number is too large, at byte 8");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Error {
    /// The reason.
    pub reason: Reason,
    /// The JSON member that contains the error. `None` if the error is not in one member.
    pub member: Option<Member>,
    /// The byte offset of the error in the input. For an error in a string with escapes: the offset
    /// of the opening quote. For an error of the id or the signature: 0, and not part of the text.
    pub offset: usize,
}

impl Error {
    #[cold]
    pub(crate) const fn new(reason: Reason, offset: usize) -> Self {
        Self {
            reason,
            member: None,
            offset,
        }
    }

    /// Sets the member if it is not set.
    #[cold]
    pub(crate) const fn in_member(mut self, member: Member) -> Self {
        if self.member.is_none() {
            self.member = Some(member);
        }
        self
    }

    /// Adds `skipped` bytes to the offset, for errors in a part of a larger input.
    #[cold]
    pub(crate) const fn offset_by(mut self, skipped: usize) -> Self {
        self.offset = self.offset.saturating_add(skipped);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // NIP-01 uses `unsupported` for filters with unknown members.
        f.write_str(match self.reason {
            Reason::UnknownMember | Reason::UnknownMessage => "unsupported: ",
            _ => "invalid: ",
        })?;
        if let Some(member) = self.member {
            write!(f, "{}: ", member.name())?;
        }
        f.write_str(self.reason.text())?;
        match self.reason {
            // These errors concern the whole event.
            Reason::IdMismatch | Reason::InvalidPublicKey | Reason::InvalidSignature => Ok(()),
            _ => write!(f, ", at byte {}", self.offset),
        }
    }
}

impl std::error::Error for Error {}

/// A JSON member of an event, a filter or a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
#[allow(
    missing_docs,
    reason = "the variants have the names of the JSON members"
)]
pub enum Member {
    Id,
    Pubkey,
    CreatedAt,
    Kind,
    Tags,
    Content,
    Sig,
    Ids,
    Authors,
    Kinds,
    Since,
    Until,
    Limit,
    Search,
    /// The number of events in the response to COUNT (NIP-45).
    Count,
    /// A tag condition of a filter, such as `#e`.
    Tag,
}

impl Member {
    /// Returns the name in JSON; `#` for tag conditions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Pubkey => "pubkey",
            Self::CreatedAt => "created_at",
            Self::Kind => "kind",
            Self::Tags => "tags",
            Self::Content => "content",
            Self::Sig => "sig",
            Self::Ids => "ids",
            Self::Authors => "authors",
            Self::Kinds => "kinds",
            Self::Since => "since",
            Self::Until => "until",
            Self::Limit => "limit",
            Self::Search => "search",
            Self::Count => "count",
            Self::Tag => "#",
        }
    }
}

/// Defines [`Reason`] as a table: the variant, its code and its text.
macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident, $code:literal, $text:literal;)*) => {
        /// The reason of an [`Error`].
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// All reasons, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns a stable name for tables and metrics, such as `duplicate-key`.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns a short description, without a final period.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

reasons! {
    /// More bytes than the limit.
    TooManyBytes, "too-many-bytes", "more bytes than the limit";
    /// More tags than the limit.
    TooManyTags, "too-many-tags", "more tags than the limit";
    /// More items in a list of a filter, or more filters, than the limit.
    TooManyItems, "too-many-items", "more items than the limit";
    /// Objects and arrays are nested deeper than the limit.
    TooDeep, "too-deep", "nested deeper than the limit";
    /// The input is not UTF-8.
    NotUtf8, "not-utf8", "not UTF-8";
    /// The input ends in the middle of a value.
    Truncated, "truncated", "input ends in the middle of a value";
    /// Something other than white space follows the value.
    TrailingBytes, "trailing-bytes", "unexpected bytes after the value";
    /// The bytes are not JSON (RFC 8259).
    Syntax, "syntax", "JSON syntax error";
    /// A string contains an unescaped control character (below U+0020).
    ControlCharacter, "control-character", "unescaped control character in a string";
    /// A string contains a backslash that does not start a JSON escape.
    UnknownEscape, "unknown-escape", "unknown escape in a string";
    /// A string contains an escape of a lone surrogate.
    LoneSurrogate, "lone-surrogate", "escape of a lone surrogate in a string";
    /// An object contains a member more than once.
    DuplicateKey, "duplicate-key", "duplicate member";
    /// A member is missing.
    Missing, "missing", "member is missing";
    /// A value has the wrong JSON type.
    WrongType, "wrong-type", "value of the wrong type";
    /// A number has a fraction or an exponent.
    NotInteger, "not-integer", "number with a fraction or an exponent";
    /// A number is negative.
    Negative, "negative", "negative number";
    /// A number has leading zeros.
    LeadingZero, "leading-zero", "number with a leading zero";
    /// A number is greater than its maximum.
    TooLarge, "too-large", "number is too large";
    /// A hexadecimal string has the wrong length.
    HexLength, "hex-length", "wrong number of hexadecimal digits";
    /// A hexadecimal string contains a character that is not a hexadecimal digit.
    NotHex, "not-hex", "not a hexadecimal digit";
    /// Hexadecimal digits are in upper case.
    UpperCaseHex, "upper-case-hex", "hexadecimal digit in upper case";
    /// A tag is not an array.
    TagNotArray, "tag-not-array", "tag is not an array";
    /// An item of a tag is not a string.
    TagNotString, "tag-not-string", "item of a tag is not a string";
    /// A tag has no items.
    EmptyTag, "empty-tag", "tag without items";
    /// A subscription id is empty or has more than 64 characters.
    SubscriptionId, "subscription-id", "subscription id is empty or longer than 64 characters";
    /// The name of a tag condition is not a single letter.
    TagName, "tag-name", "tag name is not a single letter";
    /// A filter contains an unknown member. Ignoring it could make the filter match more events
    /// than the client requested.
    UnknownMember, "unknown-member", "filter contains an unknown member";
    /// A message has more items than its type allows.
    ExtraItem, "extra-item", "more items than the message type allows";
    /// The type of a message is missing or unknown.
    UnknownMessage, "unknown-message", "unknown type of message";
    /// The id is not the SHA-256 digest of the canonical form.
    IdMismatch, "id-mismatch", "id is not the SHA-256 of the event";
    /// The public key is not the x coordinate of a point on the curve.
    InvalidPublicKey, "invalid-public-key", "public key is not on the curve";
    /// The signature is not valid for the id and the public key.
    InvalidSignature, "invalid-signature", "signature does not match";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = Reason::ALL.iter().map(|reason| reason.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Reason::ALL.len());
    }
}
