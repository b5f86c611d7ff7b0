//! Rejections by a relay.

use std::fmt;

use polywire_nostr::message::MachineReadablePrefix;

/// The reason why a relay rejected a request: the text of OK, CLOSED or NEG-ERR, split into its
/// machine-readable prefix and the rest (NIP-01).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refusal {
    /// The prefix, if it is known.
    pub prefix: Option<MachineReadablePrefix>,
    /// The text after the prefix, or the whole text if there is no known prefix.
    pub text: String,
}

impl Refusal {
    pub(crate) fn new(message: &str) -> Self {
        let (prefix, text) = MachineReadablePrefix::split(message);
        Self {
            prefix,
            text: text.to_owned(),
        }
    }

    pub(crate) fn is_auth_required(&self) -> bool {
        self.prefix == Some(MachineReadablePrefix::AuthRequired)
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
