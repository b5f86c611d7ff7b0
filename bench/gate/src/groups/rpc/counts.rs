//! What a call costs in instructions and allocations, client and server together: the state machines
//! alone, and all of it on one thread, which the kernel carries.

mod machines;
mod whole;

use crate::{Group, same};

use super::peers::{Frames, Tarpc};
use machines::Machines;
use whole::Whole;

/// Numbers of four bytes.
const LEFT: i32 = 0x4000_0001;
const RIGHT: i32 = 0x0100_0001;

pub(super) fn cases(group: &mut Group) {
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
    for (calls, name) in [
        (1, "client and server, Add"),
        (100, "client and server, 100 Adds at once"),
    ] {
        group
            .case(name)
            .calls(if calls == 1 { 1000 } else { 20 })
            .polywire_with(
                Whole::<Frames>::new(),
                move |whole| whole.add(calls, LEFT, RIGHT),
                |_, sums| same(sums, &Ok(())),
            )
            .peer_with(
                "tarpc",
                Whole::<Tarpc<false>>::new(),
                move |whole| whole.add(calls, LEFT, RIGHT),
                |_, sums| same(sums, &Ok(())),
            );
    }
}
