//! Conditional requests: RFC 9110, section 13.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-13>

use polywire::schema::Timestamp;

use crate::convert::time;
use crate::error::Error;
use crate::storage::Summary;

/// The conditions of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
    pub if_modified_since: Option<Timestamp>,
    pub if_unmodified_since: Option<Timestamp>,
    /// Of a deletion only.
    pub if_size: Option<i64>,
    /// Of a deletion only.
    pub if_modified_at: Option<Timestamp>,
}

/// Makes [`Conditions`] of the members of a request that reads.
macro_rules! conditions_of {
    ($input:expr) => {
        crate::condition::Conditions {
            if_match: $input.if_match.as_ref().map(ToString::to_string),
            if_none_match: $input.if_none_match.as_ref().map(ToString::to_string),
            if_modified_since: $input.if_modified_since,
            if_unmodified_since: $input.if_unmodified_since,
            ..crate::condition::Conditions::default()
        }
    };
}
pub(crate) use conditions_of;

/// Makes [`Conditions`] of the members of a request that copies.
macro_rules! copy_conditions_of {
    ($input:expr) => {
        crate::condition::Conditions {
            if_match: $input
                .copy_source_if_match
                .as_ref()
                .map(ToString::to_string),
            if_none_match: $input
                .copy_source_if_none_match
                .as_ref()
                .map(ToString::to_string),
            if_modified_since: $input.copy_source_if_modified_since,
            if_unmodified_since: $input.copy_source_if_unmodified_since,
            ..crate::condition::Conditions::default()
        }
    };
}
pub(crate) use copy_conditions_of;

/// Makes [`Conditions`] of the members of a request that writes.
macro_rules! write_conditions_of {
    ($input:expr) => {
        crate::condition::Conditions {
            if_match: $input.if_match.as_ref().map(ToString::to_string),
            if_none_match: $input.if_none_match.as_ref().map(ToString::to_string),
            ..crate::condition::Conditions::default()
        }
    };
}
pub(crate) use write_conditions_of;

impl Conditions {
    /// Checks the conditions of a request that reads.
    ///
    /// # Errors
    ///
    /// The client has the object already, or wants another one.
    pub(crate) fn read(&self, object: &Summary) -> Result<(), Error> {
        let is_unmodified = |since: Timestamp| time(object.modified) <= since;
        match (&self.if_match, self.if_unmodified_since) {
            (Some(tags), _) if !is_one_of(&object.etag, tags) => {
                return Err(Error::PreconditionFailed);
            }
            (None, Some(since)) if !is_unmodified(since) => return Err(Error::PreconditionFailed),
            _ => {}
        }
        match (&self.if_none_match, self.if_modified_since) {
            (Some(tags), _) if is_one_of(&object.etag, tags) => Err(Error::NotModified),
            (None, Some(since)) if is_unmodified(since) => Err(Error::NotModified),
            _ => Ok(()),
        }
    }

    /// Checks the conditions on the source of a copy. They never fail with [`Error::NotModified`].
    ///
    /// # Errors
    ///
    /// A condition does not hold.
    pub(crate) fn copy(&self, object: &Summary) -> Result<(), Error> {
        self.read(object).map_err(|_| Error::PreconditionFailed)
    }

    /// Checks the conditions of a request that replaces or deletes an object.
    ///
    /// # Errors
    ///
    /// A condition does not hold.
    pub(crate) fn write(&self, old: Option<&Summary>) -> Result<(), Error> {
        if let Some(tags) = &self.if_match {
            let old = old.ok_or(Error::NoSuchKey)?;
            if !is_one_of(&old.etag, tags) {
                return Err(Error::PreconditionFailed);
            }
        }
        let is_other = |old: &Summary| {
            let has_size = self
                .if_size
                .is_none_or(|size| size == crate::convert::size(old.size));
            let at = self.if_modified_at.map(Timestamp::seconds);
            !has_size || at.is_some_and(|at| at != old.modified)
        };
        let is_bound = self.if_size.is_some() || self.if_modified_at.is_some();
        if is_bound && old.is_none_or(is_other) {
            return Err(Error::PreconditionFailed);
        }
        match (&self.if_none_match, old) {
            (Some(tags), Some(old)) if is_one_of(&old.etag, tags) => Err(Error::PreconditionFailed),
            _ => Ok(()),
        }
    }
}

/// Whether an entity tag, without quotes, is in a list of entity tags. Some clients send them without quotes.
#[must_use]
pub(crate) fn is_one_of(own: &str, tags: &str) -> bool {
    let mut tags = tags.split(',').map(str::trim);
    tags.any(|tag| tag == "*" || tag.trim_matches('"') == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Summary {
        Summary {
            etag: "abc".into(),
            modified: 100,
            size: 5,
            ..Summary::default()
        }
    }

    #[test]
    fn entity_tags() {
        let check = |if_match: Option<&str>, if_none_match: Option<&str>| {
            let conditions = Conditions {
                if_match: if_match.map(str::to_owned),
                if_none_match: if_none_match.map(str::to_owned),
                ..Conditions::default()
            };
            (
                conditions.read(&object()),
                conditions.write(Some(&object())),
                conditions.write(None),
            )
        };
        let failed = Err(Error::PreconditionFailed);
        let (ok, absent) = (Ok(()), Err(Error::NoSuchKey));
        assert_eq!(check(None, None), (ok, ok, ok));
        assert_eq!(check(Some("\"abc\""), None), (ok, ok, absent));
        assert_eq!(check(Some("\"x\", abc"), None), (ok, ok, absent));
        assert_eq!(check(Some("x"), None), (failed, failed, absent));
        let same = Err(Error::NotModified);
        assert_eq!(check(None, Some("*")), (same, failed, ok));
        assert_eq!(check(None, Some("x")), (ok, ok, ok));
    }

    #[test]
    fn times_and_sizes() {
        let at = |since, unmodified_since| Conditions {
            if_modified_since: since,
            if_unmodified_since: unmodified_since,
            ..Conditions::default()
        };
        let failed = Err(Error::PreconditionFailed);
        let seconds = |seconds| Some(time(seconds));
        assert_eq!(at(seconds(99), None).read(&object()), Ok(()));
        let not_modified = at(seconds(100), None);
        assert_eq!(not_modified.read(&object()), Err(Error::NotModified));
        assert_eq!(not_modified.copy(&object()), failed);
        assert_eq!(at(None, seconds(99)).read(&object()), failed);
        assert_eq!(at(None, seconds(100)).read(&object()), Ok(()));
        let bound = |size, modified| Conditions {
            if_size: size,
            if_modified_at: modified,
            ..Conditions::default()
        };
        assert_eq!(bound(Some(5), seconds(100)).write(Some(&object())), Ok(()));
        assert_eq!(bound(Some(4), None).write(Some(&object())), failed);
        assert_eq!(bound(None, seconds(99)).write(Some(&object())), failed);
        assert_eq!(bound(Some(5), None).write(None), failed);
    }
}
