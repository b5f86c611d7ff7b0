//! The pool of buffers, against none.
//!
//! A message of some size is written in pieces of 64 bytes, as encoders do,
//! into a buffer that is new or from the pool; with its size known ahead, or
//! grown from the 512 bytes that the protocols start with. The last cases end
//! as the product's messages end, as `Bytes` that another layer drops.

use std::sync::LazyLock;

use bytes::Bytes;
use crate::{Group, same};
use polywire_text::pool::Pool;

/// Where the protocols' buffers begin.
const START: usize = 512;

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool::new(16, 4 << 20));

/// Writes a message into the buffer and returns something of it.
fn write(out: &mut Vec<u8>, piece: &[u8; 64], size: usize) -> usize {
    for _ in 0..size / piece.len() {
        out.extend_from_slice(piece);
    }
    out.len() + usize::from(out[size / 2])
}

pub(super) fn cases(group: &mut Group) {
    for (name, size) in [
        ("256 B", 256),
        ("4 KiB", 4 << 10),
        ("64 KiB", 64 << 10),
        ("1 MiB", 1 << 20),
    ] {
        let answer = size + 7;
        let piece = || {
            let mut piece = [7; 64];
            piece[1] = 1;
            piece
        };
        let (one, two) = (piece(), piece());
        group
            .case(format!("pool, {name} of known size"))
            .bytes(size)
            .polywire(
                move || {
                    let mut out = POOL.take();
                    out.reserve(size);
                    write(&mut out, &one, size)
                },
                move |found| same(found, &answer),
            )
            .peer(
                "a new Vec",
                move || write(&mut Vec::with_capacity(size), &two, size),
                move |found| same(found, &answer),
            )
            .target_allocations(0);
        let (one, two) = (piece(), piece());
        group
            .case(format!("pool, {name} grown"))
            .bytes(size)
            .polywire(
                move || write(&mut POOL.take(), &one, size),
                move |found| same(found, &answer),
            )
            .peer(
                "a new Vec",
                move || write(&mut Vec::with_capacity(START), &two, size),
                move |found| same(found, &answer),
            )
            .target_allocations(0);
        let (one, two) = (piece(), piece());
        group
            .case(format!("pool, {name} grown, as Bytes"))
            .bytes(size)
            .polywire(
                move || {
                    let mut out = POOL.take();
                    write(&mut out, &one, size);
                    Bytes::from_owner(out)
                },
                move |found| same(&found.len(), &size),
            )
            .peer(
                "a new Vec",
                move || {
                    let mut out = Vec::with_capacity(START);
                    write(&mut out, &two, size);
                    Bytes::from(out)
                },
                move |found| same(&found.len(), &size),
            );
    }
}
