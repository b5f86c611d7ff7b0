//! As a sequence of operations on `Text` and `Blob`, done to `String` and
//! `Vec<u8>` as well.
//!
//! The input is a pile of values, which the operations add to, take from and
//! change: two bytes each, what to do and to which value. Whatever an operation
//! needs besides comes from the bytes behind them.

use std::sync::Arc;

use polywire_text::{Blob, Body, Text};

/// More values would only take longer.
const MOST: usize = 32;

pub(crate) fn any(data: &[u8]) {
    let body = Body::from(data.to_vec());
    // The same input as a string, with what is not UTF-8 replaced.
    let lossy = String::from_utf8_lossy(data).into_owned();
    let text_body = Body::from(lossy.clone());
    let mut texts: Vec<(Text, String)> = Vec::new();
    let mut blobs: Vec<(Blob, Vec<u8>)> = Vec::new();
    let mut rest = data;
    while let [operation, which, behind @ ..] = rest {
        rest = behind;
        let length = usize::from(*which);
        if operation & 1 == 0 {
            let piece = piece(&lossy, data.len() - rest.len(), length);
            text(operation >> 1, length, piece, &text_body, &mut texts);
        } else {
            let piece = &behind[..length.min(behind.len())];
            let inside = data.len() - behind.len();
            let inside = &body.as_bytes()[inside..inside + piece.len()];
            blob(operation >> 1, length, inside, &body, &mut blobs);
        }
        texts.truncate(MOST);
        blobs.truncate(MOST);
    }
    drop((body, text_body));
    for (text, twin) in &texts {
        assert_eq!(text, twin);
        assert_eq!(text.len(), twin.len());
        assert!(text.heap_size() == 0 || text.heap_size() >= twin.len());
    }
    for (blob, twin) in &blobs {
        assert_eq!(blob, twin);
        assert_eq!(blob.len(), twin.len());
    }
    for pair in texts.windows(2) {
        let [(text, twin), (other, other_twin)] = pair else {
            continue;
        };
        assert_eq!(text == other, twin == other_twin);
        assert_eq!(text.cmp(other), twin.cmp(other_twin));
    }
}

/// About so many bytes of a string from about there, on boundaries.
fn piece(all: &str, start: usize, len: usize) -> &str {
    let floor = |at: usize| {
        let at = at.min(all.len());
        (0..=at)
            .rev()
            .find(|at| all.is_char_boundary(*at))
            .unwrap_or(0)
    };
    let start = floor(start);
    &all[start..floor(start + len)]
}

/// A range of something of this length, or one that does not lie within.
fn range(which: usize, len: usize) -> std::ops::Range<usize> {
    which / 8..len.saturating_sub(which % 8)
}

fn text(operation: u8, which: usize, piece: &str, body: &Body, all: &mut Vec<(Text, String)>) {
    let made = match operation % 24 {
        0 => Text::from(piece),
        1 => Text::from(piece.to_owned()),
        2 => Text::from(Arc::<str>::from(piece)),
        3 => Text::from_utf8_lossy(piece.as_bytes()),
        4 => piece.chars().collect(),
        5 => Text::format(format_args!("{piece}")).unwrap_or_default(),
        6 => {
            // As a range of the body at which it stands.
            let whole = std::str::from_utf8(body.as_bytes()).unwrap_or_default();
            let start = whole.find(piece).unwrap_or_default();
            body.text(&whole[start..start + piece.len()])
        }
        7 => Text::inline_prefix(piece, which % 32).map_or_else(
            || {
                let fits = piece.get(..which % 32).is_some_and(|text| text.len() <= 23);
                assert!(!fits);
                Text::from(piece)
            },
            |text| {
                assert_eq!(&*text, &piece[..which % 32]);
                Text::from(piece)
            },
        ),
        8 => Text::ascii_prefix(piece.as_bytes(), piece.len()).unwrap_or_else(|| {
            assert!(piece.len() > 23 || !piece.is_ascii());
            Text::from(piece)
        }),
        other => return change(other, which, all),
    };
    all.push((made, piece.to_owned()));
}

/// Does something to a value that is there.
fn change(operation: u8, which: usize, all: &mut Vec<(Text, String)>) {
    let Some(at) = which.checked_rem(all.len()) else {
        return;
    };
    if operation < 12 {
        let (text, twin) = all[at].clone();
        match operation {
            9 => all.push((text, twin)),
            10 => {
                let range = range(which, twin.len());
                let part = text.slice(range.clone());
                assert_eq!(part.as_deref(), twin.get(range.clone()));
                all.extend(part.zip(twin.get(range).map(str::to_owned)));
            }
            _ => all.push((text.slice_ref(text.trim()), twin.trim().to_owned())),
        }
        return;
    }
    let (text, twin) = all.swap_remove(at);
    let text = match operation {
        12 => text.into_owned(),
        13 => Text::from(String::from(text)),
        14 => Text::from(Arc::<str>::from(text)),
        15 => Text::from(Box::<str>::from(text)),
        16 => Text::try_from(text.into_bytes()).unwrap_or_default(),
        17 => Text::try_from(text.into_blob()).unwrap_or_default(),
        18 => Text::try_from(Vec::from(text)).unwrap_or_default(),
        // It is dropped.
        _ => return,
    };
    all.push((text, twin));
}

fn blob(operation: u8, which: usize, piece: &[u8], body: &Body, all: &mut Vec<(Blob, Vec<u8>)>) {
    let made = match operation % 12 {
        0 => Blob::from(piece),
        1 => Blob::from(piece.to_vec()),
        2 => Blob::from(Arc::<[u8]>::from(piece)),
        3 => body.blob(piece),
        4 => match Text::from_utf8(piece) {
            Ok(text) => text.into_blob(),
            Err(malformed) => {
                let valid = std::str::from_utf8(piece).map_err(|error| error.valid_up_to());
                assert_eq!(valid, Err(malformed.offset));
                Blob::from(piece)
            }
        },
        other => {
            let Some(at) = which.checked_rem(all.len()) else {
                return;
            };
            let (blob, twin) = all.swap_remove(at);
            let range = range(which, twin.len());
            let blob = match other {
                // The clone outlives what it was made of, which is the point.
                5 => {
                    let clone = Blob::clone(&blob);
                    drop(blob);
                    clone
                }
                6 => {
                    let part = blob.slice(range.clone());
                    assert_eq!(part.as_deref(), twin.get(range.clone()));
                    all.extend(part.zip(twin.get(range).map(<[u8]>::to_vec)));
                    blob
                }
                7 => blob.into_owned(),
                8 => Blob::from(Vec::from(blob)),
                9 => Blob::from(Arc::<[u8]>::from(blob)),
                10 => Blob::from(blob.into_bytes()),
                _ => return,
            };
            all.push((blob, twin));
            return;
        }
    };
    all.push((made, piece.to_vec()));
}
