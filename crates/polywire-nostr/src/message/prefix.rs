//! Words at the beginning of a relay's answers.

use std::fmt;

/// Defines [`Prefix`] as a table: the variant and its word.
macro_rules! prefixes {
    ($($(#[$doc:meta])* $name:ident, $word:literal;)*) => {
        /// The machine-readable word at the beginning of the text of OK, CLOSED and NEG-ERR
        /// (NIP-01, NIP-42, NIP-77).
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Prefix {
            $($(#[$doc])* $name,)*
        }

        impl Prefix {
            /// All words, in the order in which they are declared.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the word, such as `rate-limited`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

prefixes! {
    /// The client must authenticate first (NIP-42).
    AuthRequired, "auth-required";
    /// The client or the author is blocked, or a set is too large to reconcile (NIP-77).
    Blocked, "blocked";
    /// A reconciliation took too long (NIP-77).
    Closed, "closed";
    /// The relay has the event already.
    Duplicate, "duplicate";
    /// A failure for which no other prefix fits.
    Error, "error";
    /// The event or filter is not valid.
    Invalid, "invalid";
    /// The relay ignored an ephemeral event that has no subscriber (NIP-01).
    Mute, "mute";
    /// Proof of work (NIP-13).
    Pow, "pow";
    /// Too many requests.
    RateLimited, "rate-limited";
    /// The client is authenticated but not authorized (NIP-42).
    Restricted, "restricted";
    /// The relay does not support what a filter asks for.
    Unsupported, "unsupported";
}

impl Prefix {
    /// Splits a relay's text into its word and what follows the colon and space.
    ///
    /// Text without a known word is returned whole.
    ///
    /// ```
    /// use polywire_nostr::message::Prefix;
    ///
    /// assert_eq!(Prefix::split("pow: 25 of 24 bits"), (Some(Prefix::Pow), "25 of 24 bits"));
    /// assert_eq!(Prefix::split("note: hello"), (None, "note: hello"));
    /// ```
    #[must_use]
    pub fn split(text: &str) -> (Option<Self>, &str) {
        let Some((word, rest)) = text.split_once(':') else {
            return (None, text);
        };
        match Self::from_word(word) {
            None => (None, text),
            prefix => (prefix, rest.strip_prefix(' ').unwrap_or(rest)),
        }
    }

    /// Returns text for a person behind the word: `word: text`.
    #[must_use]
    pub fn with(self, text: &str) -> String {
        format!("{self}: {text}")
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
