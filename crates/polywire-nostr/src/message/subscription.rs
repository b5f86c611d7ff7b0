//! Subscription ids.

use std::borrow::{Borrow, Cow};
use std::fmt;

use crate::{Error, Reason};

/// The id of a subscription: 1 to 64 characters that the client chooses (NIP-01). It is valid
/// within one connection.
///
/// ```
/// use polywire_nostr::SubscriptionId;
///
/// assert_eq!(SubscriptionId::new("feed")?.as_str(), "feed");
/// assert!(SubscriptionId::new("").is_err());
/// assert!(SubscriptionId::new("x".repeat(65)).is_err());
/// # Ok::<(), polywire_nostr::Error>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SubscriptionId<'a>(Cow<'a, str>);

impl<'a> SubscriptionId<'a> {
    /// The maximum number of characters.
    pub const MAX_CHARACTERS: usize = 64;

    /// Checks an id.
    ///
    /// # Errors
    ///
    /// [`Reason::SubscriptionId`] for empty text and for more than 64 characters.
    pub fn new(id: impl Into<Cow<'a, str>>) -> Result<Self, Error> {
        let id = id.into();
        let most = Self::MAX_CHARACTERS;
        // A character has at least one byte, so short text needs no count.
        if id.is_empty() || (id.len() > most && id.chars().nth(most).is_some()) {
            return Err(Error::new(Reason::SubscriptionId, 0));
        }
        Ok(Self(id))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns an id that owns its text.
    #[must_use]
    pub fn into_owned(self) -> SubscriptionId<'static> {
        SubscriptionId(Cow::Owned(self.0.into_owned()))
    }
}

impl fmt::Display for SubscriptionId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for SubscriptionId<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Allows look-ups by `&str` in maps: an id hashes and compares like its text.
impl Borrow<str> for SubscriptionId<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}
