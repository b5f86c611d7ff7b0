//! The path of an offset in a message, and a description of a data item, for errors.

use crate::path::Path;

/// An array or map that is open while the message is read again.
struct OpenContainer {
    /// The number of elements left. In a map, keys and values each count.
    left: u64,
    is_map: bool,
    /// Whether the next element of a map is a key.
    is_key: bool,
}

/// The path of the value at `offset`. Everything before it is known to be well formed, so this
/// only follows heads.
///
/// With `ended`, the path of the array or map that ends at `offset` at this depth.
#[cold]
pub(super) fn path(bytes: &[u8], offset: usize, ended: Option<usize>) -> String {
    let mut locator = Locator {
        at: 0,
        offset: offset.min(bytes.len()),
        open: Vec::new(),
        path: Path::default(),
        ended,
        found: None,
    };
    locator.run(bytes);
    locator.found.unwrap_or_else(|| locator.path.to_string())
}

struct Locator {
    at: usize,
    offset: usize,
    open: Vec<OpenContainer>,
    path: Path,
    ended: Option<usize>,
    /// The path of the container that ended at the offset.
    found: Option<String>,
}

impl Locator {
    fn run(&mut self, bytes: &[u8]) {
        while self.at < self.offset {
            let first = bytes[self.at];
            if first == 0xff {
                self.at += 1;
                self.leave();
                self.end_element();
                continue;
            }
            let Some((argument, len)) = argument(&bytes[self.at..]) else {
                break;
            };
            self.at += len;
            match first >> 5 {
                major @ (2 | 3) if argument != u64::MAX => {
                    let len = usize::try_from(argument).unwrap_or(usize::MAX);
                    let end = self.at.saturating_add(len);
                    if end > self.offset {
                        break;
                    }
                    if major == 3 && self.is_key() {
                        let key = bytes.get(self.at..end).unwrap_or_default();
                        self.path.key(&String::from_utf8_lossy(key));
                    }
                    self.at = end;
                    self.end_element();
                }
                3 if self.is_key() => {
                    let Some((key, end)) = chunked_string(bytes, self.at, self.offset) else {
                        break;
                    };
                    self.path.key(&String::from_utf8_lossy(&key));
                    self.at = end;
                    self.end_element();
                }
                // The chunks of a string are handled like the items of an array.
                major @ 2..=5 => self.enter(major == 5, argument),
                6 => {}
                _ => self.end_element(),
            }
        }
    }

    /// Whether a key of a map comes next.
    fn is_key(&self) -> bool {
        self.open
            .last()
            .is_some_and(|open| open.is_map && open.is_key)
    }

    fn enter(&mut self, is_map: bool, len: u64) {
        let left = if is_map { len.saturating_mul(2) } else { len };
        self.open.push(OpenContainer {
            left,
            is_map,
            is_key: true,
        });
        if is_map {
            self.path.enter_map();
        } else {
            self.path.enter_list();
        }
        self.leave_complete();
    }

    fn leave(&mut self) {
        self.open.pop();
        self.path.leave();
        if self.at == self.offset && self.ended == Some(self.open.len()) {
            self.found.get_or_insert_with(|| self.path.to_string());
        }
    }

    /// Counts an element, and leaves its container if it was the last one.
    fn end_element(&mut self) {
        if let Some(innermost) = self.open.last_mut() {
            if innermost.left != u64::MAX {
                innermost.left = innermost.left.saturating_sub(1);
            }
            if !innermost.is_map || !innermost.is_key {
                self.path.next();
            }
            innermost.is_key = !innermost.is_key;
        }
        self.leave_complete();
    }

    fn leave_complete(&mut self) {
        if self
            .open
            .last()
            .is_some_and(|innermost| innermost.left == 0)
        {
            self.leave();
            self.end_element();
        }
    }
}

/// The string whose chunks begin at `at`, and its end. `None` if it ends after `offset`.
fn chunked_string(bytes: &[u8], mut at: usize, offset: usize) -> Option<(Vec<u8>, usize)> {
    let mut whole = Vec::new();
    loop {
        let rest = bytes.get(at..offset)?;
        if rest.first() == Some(&0xff) {
            return Some((whole, at + 1));
        }
        let (len, head) = argument(rest)?;
        let chunk = rest.get(head..)?.get(..usize::try_from(len).ok()?)?;
        whole.extend_from_slice(chunk);
        at += head + chunk.len();
    }
}

/// The argument of a head and the head's length; `u64::MAX` for indefinite.
fn argument(bytes: &[u8]) -> Option<(u64, usize)> {
    let (first, rest) = bytes.split_first()?;
    Some(match first & 0x1f {
        info @ 0..24 => (u64::from(info), 1),
        24 => (u64::from(*rest.first()?), 2),
        25 => (u64::from(u16::from_be_bytes(*rest.first_chunk()?)), 3),
        26 => (u64::from(u32::from_be_bytes(*rest.first_chunk()?)), 5),
        27 => (u64::from_be_bytes(*rest.first_chunk()?), 9),
        31 => (u64::MAX, 1),
        _ => return None,
    })
}

/// Describes the data item at the start of these bytes.
#[cold]
pub(super) fn describe(bytes: &[u8]) -> String {
    let Some(&first) = bytes.first() else {
        return "the end of the input".to_owned();
    };
    if let (major @ (0 | 1), Some((argument, _))) = (first >> 5, argument(bytes))
        && first & 0x1f < 28
    {
        let argument = i128::from(argument);
        let value = if major == 0 { argument } else { -1 - argument };
        return format!("the integer {value}");
    }
    let what = match first {
        0xf4 => "false",
        0xf5 => "true",
        0xf6 => "null",
        0xf7 => "undefined",
        0xf9..=0xfb => "a floating-point number",
        0xff => "a break",
        _ => match first >> 5 {
            0 => "an unsigned integer",
            1 => "a negative integer",
            2 => "a byte string",
            3 => "a text string",
            4 => "an array",
            5 => "a map",
            6 => "a tag",
            _ => "a simple value",
        },
    };
    format!("{what} (0x{first:02x})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        // {"a": [1, {"b": 2}], "c": [_ 3], "d": 4}
        let bytes = [
            0xa3, 0x61, b'a', 0x82, 0x01, 0xa1, 0x61, b'b', 0x02, 0x61, b'c', 0x9f, 0x03, 0xff,
            0x61, b'd', 0x04,
        ];
        for (offset, expected) in [(0, ""), (4, "a[0]"), (8, "a[1].b"), (12, "c[0]"), (16, "d")] {
            assert_eq!(path(&bytes, offset, None), expected, "{offset}");
        }
        // The inner map and the list around it end at the same byte.
        assert_eq!(path(&bytes, 9, Some(2)), "a[1]");
        assert_eq!(path(&bytes, 9, Some(1)), "a");
        assert_eq!(path(&bytes, 17, Some(0)), "");
    }

    #[test]
    fn keys_in_chunks() {
        // {(_ "a", "bc"): [1], (_ ): 2}
        let bytes = b"\xa2\x7f\x61a\x62bc\xff\x81\x01\x7f\xff\x02";
        for (offset, expected) in [
            (2, ""),
            (4, ""),
            (7, ""),
            (8, "abc"),
            (9, "abc[0]"),
            (10, ""),
            (12, ""),
        ] {
            assert_eq!(path(bytes, offset, None), expected, "{offset}");
        }
    }
}
