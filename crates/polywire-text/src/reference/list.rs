//! Arrays: see [`list`](crate::list).

use super::quote::white;
use crate::Malformed;

/// An array of items that are JSON already.
#[must_use]
pub fn array(items: &[Vec<u8>]) -> Vec<u8> {
    [b"[", &items.join(&b","[..])[..], b"]"].concat()
}

/// The items of the array at the beginning, after optional white space, each read by `item`, and
/// the end of the array.
///
/// # Errors
///
/// The first byte that is wrong.
pub fn items<T>(
    bytes: &[u8],
    mut item: impl FnMut(&[u8], usize) -> Result<(T, usize), Malformed>,
) -> Result<(Vec<T>, usize), Malformed> {
    let mut at = white(bytes, 0);
    if bytes.get(at) != Some(&b'[') {
        return Err(Malformed::new(at, "[ to begin an array"));
    }
    at = white(bytes, at + 1);
    let mut items = Vec::new();
    if bytes.get(at) == Some(&b']') {
        return Ok((items, at + 1));
    }
    loop {
        let (found, end) = item(bytes, at)?;
        items.push(found);
        at = white(bytes, end);
        match bytes.get(at) {
            Some(b',') => at += 1,
            Some(b']') => return Ok((items, at + 1)),
            _ => return Err(Malformed::new(at, ", or ] behind an item")),
        }
    }
}
