//! Conditional requests: RFC 9110, section 13.
//!
//! <https://www.rfc-editor.org/rfc/rfc9110#section-13>

use polywire::schema::{Text, Timestamp};

use crate::error::Error;
use crate::store::Object;

/// What a request asks of the object that is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Conditions<'c> {
    pub if_match: Option<&'c str>,
    pub if_none_match: Option<&'c str>,
    pub if_modified_since: Option<Timestamp>,
    pub if_unmodified_since: Option<Timestamp>,
}

impl Conditions<'_> {
    /// Whether an object may be read.
    ///
    /// # Errors
    ///
    /// A condition does not hold: that the caller has it already, or another.
    pub(crate) fn read(&self, object: &Object) -> Result<(), Error> {
        let is_unmodified = |since: Timestamp| object.modified <= since;
        match (self.if_match, self.if_unmodified_since) {
            (Some(tags), _) if !is_one_of(&object.tag, tags) => {
                return Err(Error::PreconditionFailed);
            }
            (None, Some(since)) if !is_unmodified(since) => return Err(Error::PreconditionFailed),
            _ => {}
        }
        match (self.if_none_match, self.if_modified_since) {
            (Some(tags), _) if is_one_of(&object.tag, tags) => Err(Error::NotModified),
            (None, Some(since)) if is_unmodified(since) => Err(Error::NotModified),
            _ => Ok(()),
        }
    }

    /// As [`Conditions::read`], of an object that is to be copied: there nobody
    /// has it already.
    ///
    /// # Errors
    ///
    /// A condition does not hold.
    pub(crate) fn copy(&self, object: &Object) -> Result<(), Error> {
        self.read(object).map_err(|_| Error::PreconditionFailed)
    }

    /// Whether an object may take the place of the one that is there.
    ///
    /// # Errors
    ///
    /// A condition does not hold.
    pub(crate) fn write(&self, old: Option<&Object>) -> Result<(), Error> {
        if let Some(tags) = self.if_match {
            let old = old.ok_or(Error::NoSuchKey)?;
            if !is_one_of(&old.tag, tags) {
                return Err(Error::PreconditionFailed);
            }
        }
        match (self.if_none_match, old) {
            (Some(tags), Some(old)) if is_one_of(&old.tag, tags) => Err(Error::PreconditionFailed),
            _ => Ok(()),
        }
    }
}

/// Whether a tag is in a list of tags, which some callers send without quotes.
#[must_use]
pub(crate) fn is_one_of(tag: &Text, tags: &str) -> bool {
    let own = tag.trim_matches('"');
    let mut tags = tags.split(',').map(str::trim);
    tags.any(|tag| tag == "*" || tag.trim_matches('"') == own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Facts;

    #[test]
    fn reads_and_writes() {
        let object = Object {
            body: b"x".into(),
            tag: "\"abc\"".into(),
            modified: Timestamp::new(100, 0),
            facts: Facts::default(),
        };
        let read = |if_match, if_none_match| {
            let conditions = Conditions {
                if_match,
                if_none_match,
                ..Conditions::default()
            };
            (conditions.read(&object), conditions.write(Some(&object)))
        };
        let failed = Err(Error::PreconditionFailed);
        assert_eq!(read(None, None), (Ok(()), Ok(())));
        assert_eq!(read(Some("\"abc\""), None), (Ok(()), Ok(())));
        assert_eq!(read(Some("\"x\", abc"), None), (Ok(()), Ok(())));
        assert_eq!(read(Some("x"), None), (failed, failed));
        assert_eq!(read(None, Some("*")), (Err(Error::NotModified), failed));
        assert_eq!(read(None, Some("x")), (Ok(()), Ok(())));
        let at = |since, unmodified_since| Conditions {
            if_modified_since: since,
            if_unmodified_since: unmodified_since,
            ..Conditions::default()
        };
        let time = |seconds| Some(Timestamp::new(seconds, 0));
        assert_eq!(at(time(99), None).read(&object), Ok(()));
        assert_eq!(at(time(100), None).read(&object), Err(Error::NotModified));
        assert_eq!(at(None, time(99)).read(&object), failed);
        assert_eq!(at(None, time(100)).read(&object), Ok(()));
        let absent = Conditions {
            if_match: Some("*"),
            ..Conditions::default()
        };
        assert_eq!(absent.write(None), Err(Error::NoSuchKey));
    }
}
