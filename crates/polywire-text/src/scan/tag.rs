//! Bytes that stand in an input before and come again: end tags of XML, and the
//! tags of one item after the other.

use crate::block::{Block, Block16};

/// Whether the `len` bytes at `at` are those at `earlier`, which comes before it.
///
/// ```
/// use polywire_text::scan::comes_again;
///
/// let input = b"<li>one</li><li>two</li> and so on, so that there is enough of it";
/// assert!(comes_again(input, 0, 12, 4));
/// assert!(!comes_again(input, 0, 7, 4));
/// ```
#[inline(always)]
#[must_use]
pub fn comes_again(input: &[u8], earlier: usize, at: usize, len: usize) -> bool {
    if len <= 32
        && let Some(one) = chunk::<32>(input, earlier)
        && let Some(other) = chunk::<32>(input, at)
    {
        let equal = u64::from(equal_bytes(one, other, 0) | equal_bytes(one, other, 1) << 16);
        return (equal | u64::MAX << len) == u64::MAX;
    }
    let part = |start: usize| input.get(start..)?.get(..len);
    part(earlier).is_some() && part(earlier) == part(at)
}

/// Whether the end tag of XML that stands at `at` has the name of `len` bytes that
/// stands at `name`, before it: `</`, the name and `>`.
///
/// ```
/// use polywire_text::scan::is_end_tag;
///
/// let input = b"<li>one</li><li>two</ul>";
/// assert!(is_end_tag(input, 7, 1, 2));
/// assert!(!is_end_tag(input, 19, 13, 2));
/// ```
#[inline(always)]
#[must_use]
pub fn is_end_tag(input: &[u8], at: usize, name: usize, len: usize) -> bool {
    if len < 16
        && let Some(tag) = chunk::<18>(input, at)
        && let Some(name) = chunk::<16>(input, name)
    {
        let [first, second, rest @ ..] = tag;
        let equal = Block16::load(rest).equals_block(Block16::load(name)).mask();
        return [*first, *second] == *b"</"
            && (equal | u32::MAX << len) == u32::MAX
            && rest[len] == b'>';
    }
    is_long_end_tag(input, at, name, len)
}

/// The same whatever the length.
#[inline(never)]
fn is_long_end_tag(input: &[u8], at: usize, name: usize, len: usize) -> bool {
    if len < 32
        && let Some(tag) = chunk::<34>(input, at)
        && let Some(name) = chunk::<32>(input, name)
    {
        let [first, second, rest @ ..] = tag;
        let equal = u64::from(equal_bytes(rest, name, 0) | equal_bytes(rest, name, 1) << 16);
        return [*first, *second] == *b"</"
            && (equal | u64::MAX << len) == u64::MAX
            && rest[len] == b'>';
    }
    let part = |start: usize| input.get(start..)?.get(..len);
    input.get(at..).is_some_and(|tag| tag.starts_with(b"</"))
        && part(name).is_some()
        && part(name) == part(at + 2)
        && input.get(at + 2 + len) == Some(&b'>')
}

/// Which bytes of one half are the same, a bit each.
#[inline(always)]
fn equal_bytes(one: &[u8; 32], other: &[u8; 32], half: usize) -> u32 {
    let (one, other) = (
        &one.as_chunks::<16>().0[half],
        &other.as_chunks::<16>().0[half],
    );
    Block16::load(one).equals_block(Block16::load(other)).mask()
}

#[inline(always)]
fn chunk<const N: usize>(input: &[u8], at: usize) -> Option<&[u8; N]> {
    input.get(at..)?.first_chunk::<N>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_that_come_again(
            input in proptest::collection::vec(b'a'..b'c', 0..120),
            earlier in 0..130_usize,
            at in 0..130_usize,
            len in 0..50_usize,
        ) {
            let part = |start: usize| input.get(start..start + len);
            let expected = part(earlier).is_some() && part(earlier) == part(at);
            prop_assert_eq!(comes_again(&input, earlier, at, len), expected);
        }

        #[test]
        fn end_tags(
            name in "[a-c]{0,40}",
            before in "[a-c<]{0,5}",
            between in "[<>a-c]{0,40}",
            change in prop::option::of((0..50_usize, prop::sample::select(vec![b'<', b'/', b'>', b'a', b' ']))),
            behind in "[a-c]{0,40}",
        ) {
            let mut input = format!("{before}<{name}>{between}</{name}>{behind}").into_bytes();
            let start = before.len() + 1;
            let at = start + name.len() + 1 + between.len();
            if let Some((offset, byte)) = change
                && let Some(place) = input.get_mut(at + offset)
            {
                *place = byte;
            }
            let tag = format!("</{name}>");
            let expected = input[at..].starts_with(tag.as_bytes());
            prop_assert_eq!(is_end_tag(&input, at, start, name.len()), expected);
            // Where there is none, and beyond the end.
            for at in [0, at - 1, input.len(), input.len() + 1] {
                let expected = input.get(at..).is_some_and(|rest| rest.starts_with(tag.as_bytes()));
                prop_assert_eq!(is_end_tag(&input, at, start, name.len()), expected);
            }
        }
    }
}
