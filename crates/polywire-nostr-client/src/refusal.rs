//! What a relay says when it refuses.

use std::fmt;

use polywire_nostr::message::Prefix;

/// The text of OK, CLOSED or NEG-ERR, split at its machine-readable prefix (NIP-01).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// The prefix, if the text begins with a known one.
    pub prefix: Option<Prefix>,
    /// What follows the prefix; the whole text without one.
    pub text: String,
}

impl Refusal {
    pub(crate) fn new(message: &str) -> Self {
        let (prefix, text) = Prefix::split(message);
        Self {
            prefix,
            text: text.to_owned(),
        }
    }

    pub(crate) fn is_auth_required(&self) -> bool {
        self.prefix == Some(Prefix::AuthRequired)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.prefix {
            Some(prefix) => write!(f, "{prefix}: {}", self.text.escape_debug()),
            None => write!(f, "{}", self.text.escape_debug()),
        }
    }
}
