//! Owned events.

use std::fmt;

use polywire_text::Text;

use super::{EventRef, Fields};
use crate::{Error, Limits, Profile};

/// An event that owns its JSON text.
///
/// Clones share the text. [`as_ref`](Self::as_ref) returns an [`EventRef`], which has the
/// accessors.
#[derive(Clone)]
pub struct Event {
    pub(super) json: Text,
    pub(super) fields: Fields,
}

impl Event {
    /// Parses an event with the strict profile and the default limits, and copies its text.
    ///
    /// # Errors
    ///
    /// As [`EventRef::parse`].
    pub fn parse(json: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        EventRef::parse(json).map(|event| event.to_owned())
    }

    /// Parses an event with a profile and limits, and copies its text.
    ///
    /// # Errors
    ///
    /// As [`EventRef::parse`].
    pub fn parse_with(
        json: &(impl AsRef<[u8]> + ?Sized),
        profile: Profile,
        limits: &Limits,
    ) -> Result<Self, Error> {
        EventRef::parse_with(json, profile, limits).map(|event| event.to_owned())
    }

    pub(super) fn from_ref(event: &EventRef<'_>) -> Self {
        Self {
            json: Text::from(event.json),
            fields: event.fields,
        }
    }

    /// Borrows the event.
    #[must_use]
    pub fn as_ref(&self) -> EventRef<'_> {
        EventRef {
            json: self.json.as_str(),
            fields: self.fields,
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl PartialEq for Event {
    /// Compares the values of all members, not the JSON text.
    fn eq(&self, other: &Self) -> bool {
        self.as_ref() == other.as_ref()
    }
}

impl Eq for Event {}
