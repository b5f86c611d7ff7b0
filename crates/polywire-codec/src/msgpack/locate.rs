//! The path of an offset in a message, for errors. The message is read again up to the offset.

use super::head::{Head, head};
use crate::path::Path;

/// A list or map that is open while the message is read again.
struct OpenContainer {
    is_map: bool,
    left: u64,
    /// Whether a key comes next.
    is_key: bool,
}

/// The path of the value at `offset`.
#[cold]
pub(super) fn path(bytes: &[u8], offset: usize) -> String {
    let mut path = Path::default();
    let mut open: Vec<OpenContainer> = Vec::new();
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
                open.push(OpenContainer {
                    is_map: true,
                    left: left.into(),
                    is_key: left > 0,
                });
            }
            Head::Array(left) => {
                path.enter_list();
                open.push(OpenContainer {
                    is_map: false,
                    left: left.into(),
                    is_key: false,
                });
            }
            _ => end_value(&mut open, &mut path),
        }
        // An empty container ends immediately, and its end may complete the containers around it.
        while at < offset && open.last().is_some_and(|top| top.left == 0) {
            open.pop();
            path.leave();
            end_value(&mut open, &mut path);
        }
    }
    path.to_string()
}

/// Counts a value that has ended.
fn end_value(open: &mut [OpenContainer], path: &mut Path) {
    if let Some(top) = open.last_mut() {
        top.left = top.left.saturating_sub(1);
        top.is_key = top.is_map;
        path.next();
    }
}
