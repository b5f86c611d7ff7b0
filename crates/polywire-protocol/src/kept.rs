//! Names and values of heads that stand in the model, kept for the life of the
//! process.
//!
//! What the `http` crate is given as a range of shared bytes is counted up when
//! it is copied and down when it is dropped, by all threads at one place: with
//! forty headers a message that costs more than the headers. A text that lives
//! as long as the process is not counted. Each is kept once however many
//! protocols are made, and all of them together take no more than [`SPACE`]: what
//! does not fit is shared bytes, as anywhere.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Uri};

/// How many bytes of text are kept. The names of all headers of all services of
/// AWS are a tenth of it.
const SPACE: usize = 256 * 1024;

#[derive(Debug)]
struct Kept {
    texts: BTreeSet<&'static str>,
    space: usize,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept {
    texts: BTreeSet::new(),
    space: SPACE,
});

impl Kept {
    fn keep(&mut self, text: &str) -> Option<&'static str> {
        if let Some(kept) = self.texts.get(text) {
            return Some(kept);
        }
        self.space = self.space.checked_sub(text.len())?;
        let kept: &'static str = Box::leak(text.into());
        self.texts.insert(kept);
        Some(kept)
    }
}

fn keep(text: &str) -> Option<&'static str> {
    // What is there is whole whatever happened to whoever held the lock.
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.keep(text)
}

/// A name of a header; `None` if it cannot be one.
pub(crate) fn header_name(name: &str) -> Option<HeaderName> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    // It has been a name, and is in lower case.
    Some(keep(name.as_str()).map_or(name, HeaderName::from_static))
}

/// A value of a header; `None` if it cannot be one.
pub(crate) fn header_value(value: &str) -> Option<HeaderValue> {
    let parsed = HeaderValue::from_str(value).ok()?;
    // Values that are not text are none of a model's.
    let text = parsed.to_str().ok().and_then(keep);
    Some(text.map_or(parsed, HeaderValue::from_static))
}

/// A path with a query; `None` if it cannot be one.
pub(crate) fn target(target: &str) -> Option<Uri> {
    let parsed: PathAndQuery = target.parse().ok()?;
    let text = Some(parsed.as_str()).filter(|text| text.is_ascii());
    let kept = text.and_then(keep).map(PathAndQuery::from_static);
    Some(Uri::from(kept.unwrap_or(parsed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_kept_once_and_space_ends() {
        let mut kept = Kept {
            texts: BTreeSet::new(),
            space: 5,
        };
        let first = kept.keep("abc").unwrap();
        assert!(std::ptr::eq(first, kept.keep("abc").unwrap()));
        assert_eq!(kept.keep("def"), None);
        assert_eq!(kept.keep("de"), Some("de"));
        assert_eq!(kept.keep("f"), None);
    }

    #[test]
    fn what_is_no_name_or_value() {
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
