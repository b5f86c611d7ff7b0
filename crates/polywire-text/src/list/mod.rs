//! Arrays of strings and of hexadecimal, and lists with a separator.
//!
//! ```text
//! array = white "[" white [ item *( white "," item ) white ] "]"
//! item  = white `"` characters `"`          as in `quote`
//! list  = [ item *( white separator item ) ]
//! ```
//!
//! White space is that of JSON; there is no comma behind the last item, and
//! nothing but strings are items: a number or `null` is an error, not skipped.
//! Readers return the rest of the input, which begins right behind the `]`.
//!
//! # Where the items go
//!
//! | to | with | allocations |
//! |---|---|---|
//! | one buffer and the ends in it | [`Strings`] | two, or none if used again |
//! | the caller's strings, used again | [`read_strings`] | what they lack |
//! | nowhere, one after the other | [`items`] | one for a string with escapes |
//! | bytes of a fixed size, flat | [`read_hex`] | one |
//! | arrays of bytes | [`read_hex_arrays`] | one |
//!
//! Space is asked for once, when it is known how long the array is: up to the
//! bracket that ends it, as far as a quick look can tell. That is a guess for
//! strings, which may hold brackets and escaped quotes; a wrong one costs
//! another allocation, or memory in proportion to the input: never more than
//! the input has room for items, which is three bytes each.

mod items;
mod strings;

pub use items::{Items, items};
pub use strings::{Iter, Strings};

use crate::escape::{self, LoneSurrogate};
use crate::quote::{self, behind};
use crate::{Malformed, hex, scan};

const OPENING: &str = "[ to begin an array";
const NEXT: &str = ", or ] behind an item";

/// Appends an array of strings, in the canonical form of JSON.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::list::push_strings(&mut out, ["a", "b\n"]);
/// assert_eq!(out, br#"["a","b\n"]"#);
/// ```
#[inline]
pub fn push_strings<I>(out: &mut Vec<u8>, items: I)
where
    I: IntoIterator,
    I::Item: AsRef<str>,
{
    out.push(b'[');
    let first = out.len();
    for item in items {
        escape::push_json_string(out, item.as_ref(), *b"\",");
    }
    close(out, first);
}

/// Appends an array of lower-case hexadecimal.
///
/// ```
/// let mut out = Vec::new();
/// polywire_text::list::push_hex(&mut out, [[0xc0, 0xff], [0, 1]]);
/// assert_eq!(out, br#"["c0ff","0001"]"#);
/// ```
#[inline]
pub fn push_hex<I>(out: &mut Vec<u8>, items: I)
where
    I: IntoIterator,
    I::Item: AsRef<[u8]>,
{
    out.push(b'[');
    let first = out.len();
    for item in items {
        quote::push_hex(out, item.as_ref());
        out.push(b',');
    }
    close(out, first);
}

/// Turns the comma behind the last item into a bracket.
#[inline]
fn close(out: &mut Vec<u8>, first: usize) {
    if out.len() > first {
        out.pop();
    }
    out.push(b']');
}

/// Appends items by `push`, with a separator between any two. Nothing is
/// written of no items.
///
/// ```
/// use polywire_text::{list, quote};
///
/// let mut out = Vec::new();
/// list::push_separated(&mut out, ["a", "b"], b';', |out, item| quote::push(out, item));
/// assert_eq!(out, br#""a";"b""#);
/// ```
#[inline]
pub fn push_separated<I>(
    out: &mut Vec<u8>,
    items: I,
    separator: u8,
    mut push: impl FnMut(&mut Vec<u8>, I::Item),
) where
    I: IntoIterator,
{
    let mut items = items.into_iter();
    if let Some(first) = items.next() {
        push(out, first);
    }
    for item in items {
        out.push(separator);
        push(out, item);
    }
}

/// Reads items by `read`, as long as there is a separator behind one, and
/// returns the rest of the input. `read` gets what is left and returns what is
/// left then; its errors count from there. Input of nothing but white space
/// has no items, and is all read.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::{list, quote};
///
/// let mut found = Vec::new();
/// let rest = list::read_separated(br#""a"; "b"]"#, b';', |bytes| {
///     let (item, rest) = quote::unquote(bytes, LoneSurrogate::Refuse)?;
///     found.push(item);
///     Ok(rest)
/// })?;
/// assert_eq!((found.join(" "), rest), ("a b".to_owned(), &b"]"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// Those of `read`, counted from the beginning of `bytes`. There must be an
/// item behind a separator: `read` gets what is there, if only an empty slice.
#[inline]
pub fn read_separated<'a>(
    bytes: &'a [u8],
    separator: u8,
    mut read: impl FnMut(&'a [u8]) -> Result<&'a [u8], Malformed>,
) -> Result<&'a [u8], Malformed> {
    let mut rest = bytes;
    if scan::white_space(bytes) == bytes.len() {
        return Ok(&[]);
    }
    loop {
        rest = read(rest).map_err(|error| behind(error, bytes, rest))?;
        // The separator first: it may be white space itself.
        rest = match rest {
            [first, rest @ ..] if *first == separator => rest,
            _ => match &rest[scan::white_space(rest)..] {
                [first, rest @ ..] if *first == separator => rest,
                _ => return Ok(rest),
            },
        };
    }
}

/// Reads an array of strings into the strings that are in `out` already, which
/// keep their buffers: more are added, and those left over dropped.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::list;
///
/// let mut out = vec![String::from("old"), String::from("older")];
/// let rest = list::read_strings(&mut out, br#"["new"], 1"#, LoneSurrogate::Refuse)?;
/// assert_eq!((out, rest), (vec!["new".to_owned()], &b", 1"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// What is no array of strings; what [`quote::read`] refuses. The strings
/// before the error have been read then.
pub fn read_strings<'a>(
    out: &mut Vec<String>,
    bytes: &'a [u8],
    lone: LoneSurrogate,
) -> Result<&'a [u8], Malformed> {
    let mut count = 0;
    let result = read_items(bytes, |rest| {
        if count == out.len() {
            out.push(String::new());
        }
        let item = &mut out[count];
        item.clear();
        let rest = quote::read(item, rest, lone)?;
        count += 1;
        Ok(rest)
    });
    out.truncate(count);
    result
}

/// Reads an array of hexadecimal whose items are of `size` bytes each, and
/// appends the bytes, one item behind the other. One allocation, if `out` has
/// no room.
///
/// ```
/// use polywire_text::{hex::Case, list};
///
/// let mut out = Vec::new();
/// let rest = list::read_hex(&mut out, br#"["c0ff", "0001"], 1"#, 2, Case::Lower)?;
/// assert_eq!((out, rest), (vec![0xc0, 0xff, 0x00, 0x01], &b", 1"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// What is no array of strings; an item that is not hexadecimal of this case
/// and size. `out` is as it was then.
pub fn read_hex<'a>(
    out: &mut Vec<u8>,
    bytes: &'a [u8],
    size: usize,
    case: hex::Case,
) -> Result<&'a [u8], Malformed> {
    let rest = match begin(bytes)? {
        [b']', rest @ ..] => return Ok(rest),
        rest => rest,
    };
    let before = out.len();
    out.resize(before + most_hex(rest, size) * size, 0);
    let count = hex::decode_items(rest, &mut out[before..], size, case);
    out.truncate(before + count * size);
    let rest = &rest[count * hex_item_len(size)..];
    let result = read_on(bytes, rest, |rest| {
        quote::read_hex_of(rest, size, case, |digits| {
            hex::push_decoded(out, digits, case)
        })
    });
    if result.is_err() {
        out.truncate(before);
    }
    result
}

/// Reads an array of hexadecimal whose items are of `N` bytes each, and
/// appends these. One allocation, if `out` has no room.
///
/// ```
/// use polywire_text::{hex::Case, list};
///
/// let mut out = Vec::new();
/// let rest = list::read_hex_arrays(&mut out, br#"["c0ff", "0001"]"#, Case::Lower)?;
/// assert_eq!((out, rest), (vec![[0xc0, 0xff], [0x00, 0x01]], &b""[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// As [`read_hex`].
pub fn read_hex_arrays<'a, const N: usize>(
    out: &mut Vec<[u8; N]>,
    bytes: &'a [u8],
    case: hex::Case,
) -> Result<&'a [u8], Malformed> {
    let rest = match begin(bytes)? {
        [b']', rest @ ..] => return Ok(rest),
        rest => rest,
    };
    let before = out.len();
    out.resize(before + most_hex(rest, N), [0; N]);
    let count = hex::decode_items(rest, out[before..].as_flattened_mut(), N, case);
    out.truncate(before + count);
    let rest = &rest[count * hex_item_len(N)..];
    let result = read_on(bytes, rest, |rest| {
        out.push([0; N]);
        let item = out.last_mut().map_or(&mut [][..], |item| &mut item[..]);
        quote::read_hex_of(rest, N, case, |digits| {
            hex::decode_to_slice(digits, item, case)
        })
    });
    if result.is_err() {
        out.truncate(before);
    }
    result
}

/// The most items of `size` bytes that stand before the first `]`, which
/// hexadecimal has none of, and with it.
fn most_hex(bytes: &[u8], size: usize) -> usize {
    let end = memchr::memchr(b']', bytes).unwrap_or(bytes.len());
    end.saturating_add(1) / hex_item_len(size)
}

/// Two digits a byte, two quotes and a bracket or comma behind them.
const fn hex_item_len(size: usize) -> usize {
    size.saturating_mul(2).saturating_add(3)
}

/// Reads an array: `read` gets what is left where an item should be, or white
/// space before it.
#[inline(always)]
fn read_items<'a>(
    bytes: &'a [u8],
    read: impl FnMut(&'a [u8]) -> Result<&'a [u8], Malformed>,
) -> Result<&'a [u8], Malformed> {
    match begin(bytes)? {
        [b']', rest @ ..] => Ok(rest),
        rest => read_on(bytes, rest, read),
    }
}

/// Reads the rest of an array, from an item on, which there must be.
#[inline(always)]
fn read_on<'a>(
    bytes: &'a [u8],
    mut rest: &'a [u8],
    mut read: impl FnMut(&'a [u8]) -> Result<&'a [u8], Malformed>,
) -> Result<&'a [u8], Malformed> {
    loop {
        rest = read(rest).map_err(|error| behind(error, bytes, rest))?;
        match next(rest) {
            Next::Item(found) => rest = found,
            Next::End(rest) => return Ok(rest),
            Next::Neither(rest) => return Err(Malformed::new(bytes.len() - rest.len(), NEXT)),
        }
    }
}

/// What stands behind the `[`, and white space behind that.
#[inline]
fn begin(bytes: &[u8]) -> Result<&[u8], Malformed> {
    match &bytes[scan::white_space(bytes)..] {
        [b'[', rest @ ..] => Ok(&rest[scan::white_space(rest)..]),
        rest => Err(Malformed::new(bytes.len() - rest.len(), OPENING)),
    }
}

/// What comes behind an item.
enum Next<'a> {
    /// A comma: what is behind it, where white space may come first.
    Item(&'a [u8]),
    /// A bracket: what is behind it.
    End(&'a [u8]),
    /// Something else, which is this.
    Neither(&'a [u8]),
}

#[inline]
fn next(rest: &[u8]) -> Next<'_> {
    match &rest[scan::white_space(rest)..] {
        [b',', rest @ ..] => Next::Item(rest),
        [b']', rest @ ..] => Next::End(rest),
        rest => Next::Neither(rest),
    }
}
