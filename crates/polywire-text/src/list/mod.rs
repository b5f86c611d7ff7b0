//! Arrays of strings and of hexadecimal, and lists with a separator, for programs that read and
//! write JSON by hand.
//!
//! ```text
//! array = white "[" white [ item *( white "," item ) white ] "]"
//! item  = white `"` characters `"`          as in `quote`
//! list  = [ item *( white separator item ) ]
//! ```
//!
//! White space is that of JSON. A comma after the last item, and items other than strings, are
//! errors. Readers return the rest of the input, after the `]`.
//!
//! | read into | with | allocations |
//! |---|---|---|
//! | one buffer, with the ends of the strings | [`Strings`] | two, or none if reused |
//! | a vector of strings, which are reused | [`read_strings`] | for more or longer strings |
//! | nothing: an iterator | [`items`] | one per string with escapes |
//! | one vector of bytes | [`read_hex`] | one |
//! | a vector of byte arrays | [`read_hex_arrays`] | one |
//!
//! Space is reserved once, by an estimate of the length of the array from a quick scan for its `]`.
//! Strings may contain brackets and escaped quotes, so the estimate may be wrong; then there is
//! another allocation, or more memory, but never more than for one item per three bytes of input.

mod items;
mod strings;

pub use items::{Items, items};
pub use strings::{Iter, Strings};

use crate::escape::{self, LoneSurrogate};
use crate::quote::{self, relocate};
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

/// Replaces the comma after the last item by a bracket.
#[inline]
fn close(out: &mut Vec<u8>, first: usize) {
    if out.len() > first {
        out.pop();
    }
    out.push(b']');
}

/// Appends items by `push`, with separators between them.
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

/// Reads items by `read` as long as a separator follows, and returns the rest of the input. `read`
/// receives the rest of the input and returns what follows the item. Input of only white space has
/// no items, and is read completely.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::{list, quote};
///
/// let mut found = Vec::new();
/// let rest = list::read_separated(br#""a"; "b"]"#, b';', |bytes| {
///     let (item, rest) = quote::unquote(bytes, LoneSurrogate::Reject)?;
///     found.push(item);
///     Ok(rest)
/// })?;
/// assert_eq!((found.join(" "), rest), ("a b".to_owned(), &b"]"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// Those of `read`, with offsets in `bytes`. After a separator, `read` is called in any case, also
/// with an empty slice.
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
        rest = read(rest).map_err(|error| relocate(error, bytes, rest))?;
        // Before white space is skipped, as the separator may be white space.
        rest = match rest {
            [first, rest @ ..] if *first == separator => rest,
            _ => match &rest[scan::white_space(rest)..] {
                [first, rest @ ..] if *first == separator => rest,
                _ => return Ok(rest),
            },
        };
    }
}

/// Reads an array of strings. Replaces the strings in `out` and reuses their buffers.
///
/// ```
/// use polywire_text::escape::LoneSurrogate;
/// use polywire_text::list;
///
/// let mut out = vec![String::from("old"), String::from("older")];
/// let rest = list::read_strings(&mut out, br#"["new"], 1"#, LoneSurrogate::Reject)?;
/// assert_eq!((out, rest), (vec!["new".to_owned()], &b", 1"[..]));
/// # Ok::<(), polywire_text::Malformed>(())
/// ```
///
/// # Errors
///
/// Not an array of strings, or an error of [`quote::read`]. `out` has the strings before the error.
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

/// Reads an array of hexadecimal strings of `size` bytes each, and appends the bytes of all items.
/// Allocates at most once.
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
/// Not an array of strings, or an item that is not hexadecimal of this case and size. `out` is
/// unchanged.
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

/// Like [`read_hex`], into byte arrays.
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

/// The maximum number of items of `size` bytes up to the first `]`, which hexadecimal does not
/// contain.
fn most_hex(bytes: &[u8], size: usize) -> usize {
    let end = memchr::memchr(b']', bytes).unwrap_or(bytes.len());
    end.saturating_add(1) / hex_item_len(size)
}

/// Two digits per byte, two quotes, and a bracket or comma.
const fn hex_item_len(size: usize) -> usize {
    size.saturating_mul(2).saturating_add(3)
}

/// Reads an array. `read` receives the input at an item, or at white space before it.
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

/// Reads the rest of an array, from an item on.
#[inline(always)]
fn read_on<'a>(
    bytes: &'a [u8],
    mut rest: &'a [u8],
    mut read: impl FnMut(&'a [u8]) -> Result<&'a [u8], Malformed>,
) -> Result<&'a [u8], Malformed> {
    loop {
        rest = read(rest).map_err(|error| relocate(error, bytes, rest))?;
        match next(rest) {
            Next::Item(found) => rest = found,
            Next::End(rest) => return Ok(rest),
            Next::Neither(rest) => return Err(Malformed::new(bytes.len() - rest.len(), NEXT)),
        }
    }
}

/// The input after `[` and white space.
#[inline]
fn begin(bytes: &[u8]) -> Result<&[u8], Malformed> {
    match &bytes[scan::white_space(bytes)..] {
        [b'[', rest @ ..] => Ok(&rest[scan::white_space(rest)..]),
        rest => Err(Malformed::new(bytes.len() - rest.len(), OPENING)),
    }
}

/// The input after an item.
enum Next<'a> {
    /// The input after a comma.
    Item(&'a [u8]),
    /// The input after the `]`.
    End(&'a [u8]),
    /// The input at any other byte.
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
