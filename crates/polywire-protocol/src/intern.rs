//! Header names, header values and request targets from models, interned as `&'static str`.
//!
//! Cloning or dropping a header that refers to shared bytes updates an atomic reference count, and
//! all threads update the same count. With forty headers per message, that costs more than the
//! headers themselves. Static text has no count. Each text is stored once, however many protocols
//! are created, and all of them take at most [`CAPACITY`] bytes. Beyond that, the functions return
//! values with shared bytes.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Uri};

/// The maximum number of interned bytes. The header names of all AWS services take a tenth of it.
const CAPACITY: usize = 256 * 1024;

#[derive(Debug)]
struct Interner {
    texts: BTreeSet<&'static str>,
    /// How many more bytes may be interned.
    remaining: usize,
}

static INTERNER: Mutex<Interner> = Mutex::new(Interner {
    texts: BTreeSet::new(),
    remaining: CAPACITY,
});

impl Interner {
    /// Returns the interned text, or `None` if the capacity is used up.
    fn intern(&mut self, text: &str) -> Option<&'static str> {
        if let Some(interned) = self.texts.get(text) {
            return Some(interned);
        }
        self.remaining = self.remaining.checked_sub(text.len())?;
        let interned: &'static str = Box::leak(text.into());
        self.texts.insert(interned);
        Some(interned)
    }
}

fn intern(text: &str) -> Option<&'static str> {
    // A panic cannot leave the set inconsistent, so a poisoned lock is usable.
    let mut interner = INTERNER.lock().unwrap_or_else(PoisonError::into_inner);
    interner.intern(text)
}

/// Returns a header name, or `None` if the text is not valid as one.
pub(crate) fn header_name(name: &str) -> Option<HeaderName> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    // `from_static` panics if the name is invalid or has upper-case letters. `name` has been parsed.
    Some(intern(name.as_str()).map_or(name, HeaderName::from_static))
}

/// Returns a header value, or `None` if the text is not valid as one.
pub(crate) fn header_value(value: &str) -> Option<HeaderValue> {
    let parsed = HeaderValue::from_str(value).ok()?;
    // `from_static` panics unless the value is visible ASCII.
    let text = parsed.to_str().ok().and_then(intern);
    Some(text.map_or(parsed, HeaderValue::from_static))
}

/// Returns a request target of path and query, or `None` if the text is not valid as one.
pub(crate) fn target(target: &str) -> Option<Uri> {
    let parsed: PathAndQuery = target.parse().ok()?;
    let text = Some(parsed.as_str()).filter(|text| text.is_ascii());
    let interned = text.and_then(intern).map(PathAndQuery::from_static);
    Some(Uri::from(interned.unwrap_or(parsed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_interned_once_up_to_the_capacity() {
        let mut interner = Interner {
            texts: BTreeSet::new(),
            remaining: 5,
        };
        let first = interner.intern("abc").unwrap();
        assert!(std::ptr::eq(first, interner.intern("abc").unwrap()));
        assert_eq!(interner.intern("def"), None);
        assert_eq!(interner.intern("de"), Some("de"));
        assert_eq!(interner.intern("f"), None);
    }

    #[test]
    fn invalid_names_and_values() {
        assert_eq!(header_name("X-Own").unwrap(), "x-own");
        assert_eq!(
            header_name("Content-Type"),
            Some(http::header::CONTENT_TYPE)
        );
        assert_eq!(header_name("a b"), None);
        assert_eq!(header_value("a\tb").unwrap(), "a\tb");
        assert_eq!(header_value("ü").unwrap().as_bytes(), "ü".as_bytes());
        assert_eq!(header_value("a\n"), None);
        assert_eq!(target("/a?b").unwrap(), "/a?b");
        assert_eq!(target("/ü").unwrap().path(), "/ü");
        assert_eq!(target("a b"), None);
    }
}
