//! What libiqxmlrpc took for the same bodies, measured on another machine: Debian has no package of
//! it.

use polywire_gate::groups::xmlrpc::corpus::{Content, Side};
use polywire_gate::{Case, Quote};

/// Nanoseconds and instructions per byte, for reading the request and for writing it.
const LIBIQXMLRPC: [(&str, [f64; 2], [f64; 2]); 6] = [
    ("a", [3_518.0, 238.0], [1_726.0, 144.0]),
    ("b", [666_492.0, 257.0], [312_094.0, 162.0]),
    ("c", [61_736.0, 206.0], [27_687.0, 119.0]),
    ("d", [8_791_367.0, 206.0], [4_517_731.0, 130.0]),
    ("e", [275_538.0, 53.0], [279_571.0, 47.0]),
    ("f", [751_000.0, 78.0], [171_415.0, 26.0]),
];

fn libiqxmlrpc(case: &mut Case, content: Content, side: Side, write: bool) {
    if side == Side::Response {
        return;
    }
    let row = LIBIQXMLRPC.iter().find(|row| row.0 == content.letter);
    if let Some((_, reading, writing)) = row {
        let [nanoseconds, instructions] = if write { *writing } else { *reading };
        let source = "best of many runs on a Zen 3 virtual machine, November 2026";
        case.quote(
            Quote::new("libiqxmlrpc", source)
                .nanoseconds(nanoseconds)
                .instructions_per_byte(instructions),
        );
    }
}

/// Adds the figures of reading a request into values.
pub(super) fn read(case: &mut Case, content: Content, side: Side) {
    libiqxmlrpc(case, content, side, false);
}

/// Adds the figures of writing a request from values.
pub(super) fn write(case: &mut Case, content: Content, side: Side) {
    libiqxmlrpc(case, content, side, true);
}
