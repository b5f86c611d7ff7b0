//! Machine-readable prefixes of relay messages.

use std::fmt;

/// Defines [`MachineReadablePrefix`] as a table: the variant and its text.
macro_rules! prefixes {
    ($($(#[$doc:meta])* $name:ident, $text:literal;)*) => {
        /// The machine-readable prefix of the message text in OK, CLOSED and NEG-ERR (NIP-01,
        /// NIP-42, NIP-77).
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum MachineReadablePrefix {
            $($(#[$doc])* $name,)*
        }

        impl MachineReadablePrefix {
            /// All prefixes, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Returns the prefix without a colon, such as `rate-limited`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$name),)*
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
    /// The relay already has the event.
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
    /// The relay does not support a member of the filter.
    Unsupported, "unsupported";
}

impl MachineReadablePrefix {
    /// Splits the text of a relay into the prefix and the text after the colon and space.
    ///
    /// Text without a known prefix is returned whole.
    ///
    /// ```
    /// use polywire_nostr::message::MachineReadablePrefix;
    ///
    /// let (prefix, text) = MachineReadablePrefix::split("pow: 25 of 24 bits");
    /// assert_eq!((prefix, text), (Some(MachineReadablePrefix::Pow), "25 of 24 bits"));
    /// assert_eq!(MachineReadablePrefix::split("note: hello"), (None, "note: hello"));
    /// ```
    #[must_use]
    pub fn split(text: &str) -> (Option<Self>, &str) {
        let Some((prefix, rest)) = text.split_once(':') else {
            return (None, text);
        };
        match Self::from_text(prefix) {
            None => (None, text),
            prefix => (prefix, rest.strip_prefix(' ').unwrap_or(rest)),
        }
    }

    /// Returns `prefix: text`. `text` is for a person.
    #[must_use]
    pub fn with(self, text: &str) -> String {
        format!("{self}: {text}")
    }
}

impl fmt::Display for MachineReadablePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
