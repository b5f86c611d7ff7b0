//! Where in a message an offset lies, and what a byte begins: for errors.

use crate::path::Path;

/// A list or map that is open while the message is read again.
struct Open {
    /// Elements left; in a map, keys and values count apart.
    left: u64,
    map: bool,
    /// In a map: whether the next element is a key.
    key: bool,
}

/// The path of the value at `offset`. What lies before it has been read once
/// without an error, so this only follows heads.
#[cold]
pub(super) fn path(bytes: &[u8], offset: usize) -> String {
    let mut path = Path::default();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < offset.min(bytes.len()) {
        let first = bytes[at];
        if first == 0xff {
            at += 1;
            open.pop();
            path.leave();
            ended(&mut open, &mut path);
            continue;
        }
        let Some((argument, len)) = argument(&bytes[at..]) else {
            break;
        };
        at += len;
        match first >> 5 {
            major @ (2 | 3) if argument != u64::MAX => {
                let end = at.saturating_add(usize::try_from(argument).unwrap_or(usize::MAX));
                if end > offset {
                    break;
                }
                if major == 3 && open.last().is_some_and(|open| open.map && open.key) {
                    path.key(&String::from_utf8_lossy(
                        bytes.get(at..end).unwrap_or_default(),
                    ));
                }
                at = end;
                ended(&mut open, &mut path);
            }
            // The chunks of a string count as a list of their own.
            major @ 2..=5 => {
                let map = major == 5;
                let left = if map {
                    argument.saturating_mul(2)
                } else {
                    argument
                };
                open.push(Open {
                    left,
                    map,
                    key: true,
                });
                if map {
                    path.enter_map();
                } else {
                    path.enter_list();
                }
                close_empty(&mut open, &mut path);
            }
            6 => {}
            _ => ended(&mut open, &mut path),
        }
    }
    path.to_string()
}

/// An element has ended: count it, and close what it was the last of.
fn ended(open: &mut Vec<Open>, path: &mut Path) {
    if let Some(innermost) = open.last_mut() {
        if innermost.left != u64::MAX {
            innermost.left = innermost.left.saturating_sub(1);
        }
        if !innermost.map || !innermost.key {
            path.next();
        }
        innermost.key = !innermost.key;
    }
    close_empty(open, path);
}

fn close_empty(open: &mut Vec<Open>, path: &mut Path) {
    if open.last().is_some_and(|innermost| innermost.left == 0) {
        open.pop();
        path.leave();
        ended(open, path);
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

/// What a first byte begins.
#[cold]
pub(super) fn describe(first: Option<u8>) -> String {
    let Some(first) = first else {
        return "the end of the input".to_owned();
    };
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
            assert_eq!(path(&bytes, offset), expected, "{offset}");
        }
    }
}
