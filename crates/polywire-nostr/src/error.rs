//! Why JSON was rejected.

use std::fmt;

/// The rejection of an event, filter or message: why, in which member and where.
///
/// Its text has the form of a relay's response: it starts with `invalid: `, or with `unsupported: ` for
/// unknown members of filters and unknown messages (NIP-01):
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
    /// The JSON member with the fault. `None` if the fault is not in one member.
    pub member: Option<Member>,
    /// The byte offset of the fault in the input. Inside a string with escapes it is that of the
    /// opening quote. 0, and not part of the text, for faults of the id or the signature.
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

    /// Names the member, unless one is named already.
    #[cold]
    pub(crate) const fn in_member(mut self, member: Member) -> Self {
        if self.member.is_none() {
            self.member = Some(member);
        }
        self
    }

    /// Moves the offset, for a part of a larger input.
    #[cold]
    pub(crate) const fn behind(mut self, skipped: usize) -> Self {
        self.offset = self.offset.saturating_add(skipped);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // NIP-01 has a prefix of its own for what a relay does not know.
        f.write_str(match self.reason {
            Reason::UnknownMember | Reason::UnknownMessage => "unsupported: ",
            _ => "invalid: ",
        })?;
        if let Some(member) = self.member {
            write!(f, "{}: ", member.name())?;
        }
        f.write_str(self.reason.text())?;
        match self.reason {
            // Faults of the whole event.
            Reason::IdMismatch | Reason::InvalidPublicKey | Reason::InvalidSignature => Ok(()),
            _ => write!(f, ", at byte {}", self.offset),
        }
    }
}

impl std::error::Error for Error {}

/// A member of an event, of a filter or of a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
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
    /// The number of events in the answer to COUNT (NIP-45).
    Count,
    /// The condition of a filter on a tag, such as `#e`.
    Tag,
}

impl Member {
    /// Returns its name in JSON; `#` for the condition on a tag.
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
        /// The reason of a rejection.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// All reasons, in the order in which they are declared.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns a stable name for tables and metrics, such as `duplicate-key`.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// Returns what it means, as part of a sentence.
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
    TrailingBytes, "trailing-bytes", "unexpected bytes after the end";
    /// The bytes are not JSON (RFC 8259).
    Syntax, "syntax", "JSON syntax error";
    /// A control character (below 0x20) in a string that is not escaped.
    ControlCharacter, "control-character", "control character without an escape in a string";
    /// A backslash that does not begin an escape of JSON.
    UnknownEscape, "unknown-escape", "unknown escape in a string";
    /// An escape for one half of a surrogate pair.
    LoneSurrogate, "lone-surrogate", "escape of half a surrogate pair";
    /// A member comes twice.
    DuplicateKey, "duplicate-key", "member comes twice";
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
    /// A number is above its range.
    TooLarge, "too-large", "number is too large";
    /// A hexadecimal string has the wrong length.
    HexLength, "hex-length", "wrong number of hexadecimal digits";
    /// A hexadecimal string contains another character.
    NotHex, "not-hex", "not hexadecimal";
    /// Hexadecimal digits are in upper case.
    UpperCaseHex, "upper-case-hex", "hexadecimal in upper case";
    /// A tag is not an array.
    TagNotArray, "tag-not-array", "tag is not an array";
    /// An item of a tag is not a string.
    TagNotString, "tag-not-string", "item of a tag is not a string";
    /// A tag has no items.
    EmptyTag, "empty-tag", "tag without items";
    /// A subscription id is empty or has more than 64 characters.
    SubscriptionId, "subscription-id", "subscription id is empty or longer than 64 characters";
    /// The name of a tag condition is not one letter.
    TagName, "tag-name", "name of a tag is not one letter";
    /// A filter has a member that is not known. If it were ignored, the filter would match more
    /// events than were asked for.
    UnknownMember, "unknown-member", "filter contains an unknown member";
    /// A message has more items than its type has.
    ExtraItem, "extra-item", "more items than the message has";
    /// An array that begins with an unknown word.
    UnknownMessage, "unknown-message", "unknown type of message";
    /// The id is not the SHA-256 digest of the canonical form.
    IdMismatch, "id-mismatch", "id is not the SHA-256 of the event";
    /// The public key is not a point on the curve.
    InvalidPublicKey, "invalid-public-key", "public key is not on the curve";
    /// The signature is not one of the id by the public key.
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
