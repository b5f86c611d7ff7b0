//! Calls over frames, `Add(i32, i32) -> i32`: what a call costs in instructions and allocations,
//! client and server together. The state machines are counted alone, and both programs on one
//! thread over loopback TCP. What the kernel does is not in the count.

mod frames;
mod machines;
mod whole;

pub use frames::{Frames, server};
pub use whole::{System, Whole};

use crate::{Group, same};
use machines::Machines;

/// The numbers that are added: each takes four bytes in CBOR.
pub const LEFT: i32 = 0x4000_0001;
/// The second of them.
pub const RIGHT: i32 = 0x0100_0001;

/// The cases that other systems can answer as well: how many calls at once, and the name.
pub const ADD: [(usize, &str); 2] = [
    (1, "client and server, Add"),
    (100, "client and server, 100 Adds at once"),
];

/// Adds the cases.
pub fn cases(group: &mut Group) {
    group
        .case("state machines, 11 bytes there and 5 back")
        .polywire_with(
            Machines::new(),
            |machines| machines.bytes(b"eleven byte", b"fiver"),
            |_, answered| same(answered, &Ok(())),
        )
        .target_repeats()
        .target_allocations(0);
    group
        .case("state machines and CBOR, Add")
        .polywire_with(
            Machines::new(),
            |machines| machines.add(LEFT, RIGHT),
            |_, sum| same(sum, &Ok(LEFT + RIGHT)),
        )
        .target_repeats()
        .target_allocations(0);
    group
        .case("client and server, bytes")
        .calls(1000)
        .polywire_with(
            Whole::<Frames>::new(),
            |whole| whole.bytes(LEFT, RIGHT),
            |_, answered| same(answered, &Ok(())),
        )
        .target_allocations(0);
    for (calls, name) in ADD {
        group
            .case(name)
            .calls(if calls == 1 { 1000 } else { 20 })
            .polywire_with(
                Whole::<Frames>::new(),
                move |whole| whole.add(calls, LEFT, RIGHT),
                |_, sums| same(sums, &Ok(())),
            );
    }
}
