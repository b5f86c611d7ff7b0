//! Forms (`application/x-www-form-urlencoded`), and queries, which have the same format.
//!
//! ```text
//! form = [ pair *( "&" pair ) ]
//! pair = key [ "=" value ]
//! ```
//!
//! Keys and values are percent-encoded, by one of two sets. All readers accept both:
//!
//! - [`WHATWG`], the serializer of the URL standard, which browsers use: a space is `+`, `*` is not
//!   encoded, and `~` is.
//! - [`percent::UNRESERVED`], RFC 3986: a space is `%20`. Smithy's awsQuery and ec2Query require
//!   it.

use std::borrow::Cow;
use std::iter::FusedIterator;

use crate::percent::{self, Plus, Set};
use crate::{Malformed, scan};

/// The set of the URL standard for forms: `A-Z a-z 0-9 * - . _`, with `+` for a space.
pub static WHATWG: Set = Set::new(b"*-._", true);

/// Appends pairs to a buffer, with `&` between them: the inverse of [`pairs`].
///
/// ```
/// use polywire_text::form;
///
/// let mut out = b"/search?".to_vec();
/// let mut writer = form::Writer::new(&mut out, &form::WHATWG);
/// writer.pair("q", "a b").pair("page", "2");
/// assert_eq!(out, b"/search?q=a+b&page=2");
/// ```
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    set: &'a Set,
    /// The length of `out` before the first pair.
    start: usize,
}

impl<'a> Writer<'a> {
    /// A writer that appends to `out`.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, set: &'a Set) -> Self {
        let start = out.len();
        Self { out, set, start }
    }

    /// Appends a pair.
    #[inline]
    pub fn pair(&mut self, key: &str, value: &str) -> &mut Self {
        if self.out.len() > self.start {
            self.out.push(b'&');
        }
        percent::push_bytes(self.out, key.as_bytes(), self.set);
        self.out.push(b'=');
        percent::push_bytes(self.out, value.as_bytes(), self.set);
        self
    }
}

/// A pair of a form, decoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pair<'a> {
    /// The part before the first `=`.
    pub key: Cow<'a, str>,
    /// The part after the first `=`; empty if there is none.
    pub value: Cow<'a, str>,
    /// The offset of the key in the form.
    pub offset: usize,
    /// The offset of the value, or of the end of the pair if there is no `=`.
    pub value_offset: usize,
}

/// Iterates over the pairs of a form, as the URL standard reads them, except that it reports
/// errors. Empty pairs are skipped, a pair without `=` has an empty value, and `+` is a space. The
/// number of pairs is not limited. Keys and values are borrowed if nothing in them is encoded.
///
/// # Errors
///
/// An item is an error if it has a `%` without two hexadecimal digits, or is not UTF-8. The
/// iterator continues with the next pair.
///
/// ```
/// use polywire_text::form;
///
/// let mut pairs = form::pairs("a=1&b+c=%C3%BC&&d&e=%");
/// let mut next = || pairs.next().unwrap().map(|pair| (pair.key, pair.value));
/// assert_eq!(next()?, ("a".into(), "1".into()));
/// assert_eq!(next()?, ("b c".into(), "ü".into()));
/// assert_eq!(next()?, ("d".into(), "".into()));
/// assert_eq!(next().unwrap_err().offset, 20);
/// assert!(pairs.next().is_none());
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
#[inline]
#[must_use]
pub fn pairs(form: &str) -> Pairs<'_> {
    Pairs { form, at: 0 }
}

/// The iterator that [`pairs`] returns.
#[derive(Clone, Debug)]
pub struct Pairs<'a> {
    form: &'a str,
    /// The offset of the next pair. After the last pair, the length of the form or one more.
    at: usize,
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Result<Pair<'a>, Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.form.as_bytes();
        while bytes.get(self.at) == Some(&b'&') {
            self.at += 1;
        }
        let start = self.at;
        let rest = self.form.get(start..).filter(|rest| !rest.is_empty())?;
        let key = part(rest, true);
        let value_start = match rest.as_bytes().get(key.len()) {
            Some(b'=') => key.len() + 1,
            _ => key.len(),
        };
        let value = match value_start > key.len() {
            true => part(&rest[value_start..], false),
            false => "",
        };
        // After the `&`, or after the end.
        self.at += value_start + value.len() + 1;
        let value_offset = start + value_start;
        Some(pair(key, value, start, value_offset))
    }
}

impl FusedIterator for Pairs<'_> {}

/// The part before the next `&` or, for a key, the next `=`.
#[inline]
fn part(rest: &str, key: bool) -> &str {
    let len = match key {
        true => scan::form_key(rest.as_bytes()),
        false => scan::form_value(rest.as_bytes()),
    };
    &rest[..len]
}

#[inline]
fn pair<'a>(
    key: &'a str,
    value: &'a str,
    offset: usize,
    value_offset: usize,
) -> Result<Pair<'a>, Malformed> {
    let decode = |text, offset| {
        percent::decode_with(text, Plus::Space)
            .map_err(|error| Malformed::new(offset + error.offset, error.expected))
    };
    Ok(Pair {
        key: decode(key, offset)?,
        value: decode(value, value_offset)?,
        offset,
        value_offset,
    })
}
