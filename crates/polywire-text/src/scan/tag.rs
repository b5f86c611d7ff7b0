//! Fast paths for XML tags.
//!
//! They load windows of fixed size, so that one comparison with the end of the input suffices. Near
//! the end of the input there is no window, and the caller takes its slow path.

use super::run::begins;
use crate::block::{Block, Block16};

/// The window of a line: a line feed, 32 spaces and a tag.
const LINE: usize = 33 + TAG;
/// The window of a tag.
pub const TAG: usize = 32;

/// Skips an optional line feed at `at` and spaces after it. Returns the offset of the next byte,
/// and 32 bytes from there. `None` if there is other or more white space, or less input.
///
/// ```
/// use polywire_text::scan::next_tag;
///
/// let input = b"<a>\n    <name>x</name>\n    and so on, since there must be enough input after it";
/// let (at, tag) = next_tag(input, 3).unwrap();
/// assert_eq!((at, &tag[..6]), (8, &b"<name>"[..]));
/// ```
#[inline(always)]
#[must_use]
pub fn next_tag(input: &[u8], at: usize) -> Option<(usize, &[u8; TAG])> {
    let window = chunk::<LINE>(input, at)?;
    let [first, rest @ ..] = window;
    if *first > b' ' {
        return Some((at, window.first_chunk()?));
    }
    let spaces = rest.first_chunk::<32>()?.as_chunks::<16>().0;
    let [low, high] = [0, 1].map(|half| Block16::load(&spaces[half]).equals(b' ').mask());
    let others = !u64::from(low | high << 16);
    let len = others.trailing_zeros() as usize;
    let tag = rest.get(len..)?.first_chunk::<TAG>()?;
    (*first == b'\n' && tag[0] > b' ').then_some((at + len + 1, tag))
}

/// The contents of the tag: the bytes between `<`, which must be first, and the first `>`. `None`
/// if there is no such tag within the window. Does not check that they are a name.
///
/// ```
/// let tag = b"<name>and more bytes, up to thirty-two";
/// let name = polywire_text::scan::tag_contents(tag.first_chunk().unwrap());
/// assert_eq!(name, Some(&b"name"[..]));
/// ```
#[inline(always)]
#[must_use]
pub fn tag_contents(tag: &[u8; TAG]) -> Option<&[u8]> {
    let halves = tag.as_chunks::<16>().0;
    let [low, high] = [0, 1].map(|half| Block16::load(&halves[half]).equals(b'>').mask());
    let close = (low | high << 16).trailing_zeros() as usize;
    match tag[0] {
        b'<' if close < TAG => tag.get(1..close),
        _ => None,
    }
}

/// Whether `tag` is the end tag of the element whose name has `len` bytes at `name` of the input.
/// Always false if the name has more than 29 bytes, or starts within the last 32 bytes of the
/// input.
///
/// ```
/// use polywire_text::scan::is_end_tag;
///
/// let input = b"<li>one</li><li>two</ul> and so on, since there must be enough input after it";
/// assert!(is_end_tag(input[7..].first_chunk().unwrap(), input, 1, 2));
/// assert!(!is_end_tag(input[19..].first_chunk().unwrap(), input, 13, 2));
/// ```
#[inline(always)]
#[must_use]
pub fn is_end_tag(tag: &[u8; TAG], input: &[u8], name: usize, len: usize) -> bool {
    let [b'<', b'/', rest @ ..] = tag else {
        return false;
    };
    rest.get(len) == Some(&b'>') && begins_with(rest, input, name, len)
}

/// Whether `tag` starts with the `len` bytes at `earlier` of the input. Always false if there are
/// more than 32, or if they start within the last 32 bytes of the input.
///
/// ```
/// use polywire_text::scan::tag_repeats;
///
/// let input = b"<li>one</li><li>two</li> and so on, since there must be enough input after it";
/// assert!(tag_repeats(input[12..].first_chunk().unwrap(), input, 0, 4));
/// ```
#[inline(always)]
#[must_use]
pub fn tag_repeats(tag: &[u8; TAG], input: &[u8], earlier: usize, len: usize) -> bool {
    len <= TAG && begins_with(tag, input, earlier, len)
}

/// Whether `tag` starts with the `len` bytes at `earlier` of the input. If `len` exceeds `N`,
/// compares `N` bytes.
#[inline(always)]
fn begins_with<const N: usize>(tag: &[u8; N], input: &[u8], earlier: usize, len: usize) -> bool {
    let Some(earlier) = chunk::<TAG>(input, earlier) else {
        return false;
    };
    let equal = |start: usize| {
        let (one, other) = (tag.get(start..)?, earlier.get(start..)?);
        let (one, other) = (one.first_chunk()?, other.first_chunk()?);
        Some(Block16::load(one).equals_block(Block16::load(other)).mask())
    };
    let Some(head) = equal(0) else { return false };
    if len <= 16 {
        return begins(head, len);
    }
    // The last 16 bytes, which may overlap the first.
    let last = N - 16;
    head == 0xffff && equal(last).is_some_and(|tail| begins(tail, len.saturating_sub(last)))
}

/// The `N` bytes at `at`, with one comparison less than by slicing.
#[inline(always)]
fn chunk<const N: usize>(input: &[u8], at: usize) -> Option<&[u8; N]> {
    let last = input.len().checked_sub(N)?;
    if at > last {
        return None;
    }
    // SAFETY: `at + N <= input.len()`, and the result borrows `input`.
    Some(unsafe { &*input.as_ptr().add(at).cast::<[u8; N]>() })
}
