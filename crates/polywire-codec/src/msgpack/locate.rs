//! The path of an error: the message is read again up to its offset.

use super::head::{Head, head};
use crate::path::Path;

/// A list or map that is open.
struct Open {
    is_map: bool,
    left: u64,
    /// Whether a key comes next.
    is_key: bool,
}

/// The path of the value at `offset`.
#[cold]
pub(super) fn path(bytes: &[u8], offset: usize) -> String {
    let mut path = Path::default();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < offset.min(bytes.len()) {
        let Some((head, len)) = bytes[at..]
            .split_first()
            .and_then(|(first, rest)| head(*first, rest))
        else {
            break;
        };
        let data = at + len;
        let size = match head {
            Head::Str(len) | Head::Bin(len) | Head::Extension(len, _) => len as usize,
            _ => 0,
        };
        if data.saturating_add(size) > offset {
            break;
        }
        at = data + size;
        if let Some(top) = open.last_mut()
            && top.is_key
        {
            top.is_key = false;
            if let Head::Str(_) = head {
                path.key(&String::from_utf8_lossy(&bytes[data..at]));
            }
            continue;
        }
        match head {
            Head::Map(left) => {
                path.enter_map();
                let (left, is_map, is_key) = (left.into(), true, left > 0);
                open.push(Open {
                    is_map,
                    left,
                    is_key,
                });
            }
            Head::Array(left) => {
                path.enter_list();
                let (left, is_map, is_key) = (left.into(), false, false);
                open.push(Open {
                    is_map,
                    left,
                    is_key,
                });
            }
            _ => ended(&mut open, &mut path),
        }
        // Lists and maps without elements end where they begin.
        while at < offset && open.last().is_some_and(|top| top.left == 0) {
            open.pop();
            path.leave();
            ended(&mut open, &mut path);
        }
    }
    path.to_string()
}

/// A value has ended.
fn ended(open: &mut [Open], path: &mut Path) {
    if let Some(top) = open.last_mut() {
        top.left = top.left.saturating_sub(1);
        top.is_key = top.is_map;
        path.next();
    }
}
