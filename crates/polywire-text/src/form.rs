//! Forms: `application/x-www-form-urlencoded`, and queries, which look the
//! same.
//!
//! ```text
//! form = [ pair *( "&" pair ) ]
//! pair = key [ "=" value ]
//! ```
//!
//! Keys and values are percent-encoded. There are two ways to write them, both
//! of which every reader takes:
//!
//! - [`WHATWG`], the serializer of the URL standard, which browsers follow: a
//!   space is `+`, and `*` stays while `~` does not;
//! - [`percent::UNRESERVED`], as RFC 3986 has it: a space is `%20`. Smithy's
//!   awsQuery and ec2Query ask for it.

use std::borrow::Cow;
use std::iter::FusedIterator;

use crate::percent::{self, Plus, Set};
use crate::{Malformed, scan};

/// What the URL standard lets stand in a form: `A-Z a-z 0-9 * - . _`, and `+`
/// for a space.
pub static WHATWG: Set = Set::unreserved()
    .keeping(b"*")
    .encoding(b"~")
    .space_as_plus();

/// Appends `key=value`. The `&` between pairs is the caller's, or that of a
/// [`Writer`]. A set of the caller's is not to keep `&`, `=` and `+`: what it
/// keeps is written as it is, and read as what forms mean by it.
///
/// ```
/// use polywire_text::{form, percent};
///
/// let mut out = Vec::new();
/// form::push_pair(&mut out, "a key", "1~&2", &percent::UNRESERVED);
/// assert_eq!(out, b"a%20key=1~%262");
/// ```
#[inline]
pub fn push_pair(out: &mut Vec<u8>, key: &str, value: &str, set: &Set) {
    percent::push_bytes(out, key.as_bytes(), set);
    out.push(b'=');
    percent::push_bytes(out, value.as_bytes(), set);
}

/// Writes pairs behind what a buffer holds, with `&` between them.
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
    /// A writer behind what `out` holds.
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
        push_pair(self.out, key, value, self.set);
        self
    }
}

/// A pair of a form, decoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pair<'a> {
    /// What stands before the first `=`.
    pub key: Cow<'a, str>,
    /// What stands behind the first `=`; empty if there is none.
    pub value: Cow<'a, str>,
    /// Where the key begins in the form.
    pub offset: usize,
    /// Where the value begins, or would if there were a `=`.
    pub value_offset: usize,
}

/// The pairs of a form, in order, read as the URL standard does, but for errors:
/// there is nothing between two `&` in a row, a pair without `=` has an empty
/// value, `+` is a space. How many pairs there may be is for the caller to say,
/// who stops when there are too many.
///
/// A form that comes as bytes goes through [`utf8::validate`](crate::utf8::validate)
/// first. Keys and values borrow where nothing is encoded.
///
/// # Errors
///
/// Each pair may be one: a `%` without two hexadecimal digits, or what is not
/// UTF-8, with its offset in the form. The pairs behind it can still be read.
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
    /// Where the next pair begins: at most the length of the form, or one more
    /// behind the last.
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
        // Behind the `&`, or behind the end.
        self.at += value_start + value.len() + 1;
        let value_offset = start + value_start;
        Some(pair(key, value, start, value_offset))
    }
}

// Behind the last pair there is none for ever.
impl FusedIterator for Pairs<'_> {}

/// What stands before the next `&`, and before the next `=` of a key.
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
