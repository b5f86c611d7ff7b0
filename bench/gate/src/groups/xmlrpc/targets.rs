//! What is to be reached: a row a content, for requests and responses alike.
//! `b2` has none of its own.

use crate::Case;

use super::corpus::Content;
use super::peers::{Peers, XMLRPC_C};

/// Instructions a byte at the most, and times as fast as xmlrpc-c at the least.
struct Row {
    letter: &'static str,
    read_value: f64,
    read_serde: f64,
    write: f64,
    read_against_c: f64,
    write_against_c: f64,
}

const fn row(letter: &'static str, instructions: [f64; 3], against_c: [f64; 2]) -> Row {
    let [read_value, read_serde, write] = instructions;
    let [read_against_c, write_against_c] = against_c;
    Row {
        letter,
        read_value,
        read_serde,
        write,
        read_against_c,
        write_against_c,
    }
}

const ROWS: [Row; 6] = [
    row("a", [5.0, 4.0, 2.0], [25.0, 7.0]),
    row("b", [8.0, 5.0, 4.0], [25.0, 8.0]),
    row("c", [7.0, 5.0, 3.0], [25.0, 6.0]),
    row("d", [6.5, 3.5, 2.9], [25.0, 9.0]),
    row("e", [1.4, 1.4, 0.85], [12.0, 10.0]),
    row("f", [2.2, 2.2, 2.2], [14.0, 10.0]),
];

fn of(content: Content) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.letter == content.letter)
}

/// Of reading into `Value`. What is held beside the body is bounded too, and
/// content `d` allocates twice a struct, with some for the list itself.
pub(super) fn read_value(case: &mut Case, content: Content, peers: &Peers, bytes: usize) {
    case.target_peak_bytes(2 * bytes as u64);
    if content.letter == "d" {
        case.target_allocations(2 * 1000 + 16);
    }
    let Some(row) = of(content) else { return };
    case.target_instructions_per_byte(row.read_value);
    if peers.has_c() {
        case.target_ratio_time(XMLRPC_C, row.read_against_c);
    }
}

/// Of reading into types of serde.
pub(super) fn read_serde(case: &mut Case, content: Content) {
    if content.letter.starts_with('b') {
        case.target_allocations(10);
    }
    if let Some(row) = of(content) {
        case.target_instructions_per_byte(row.read_serde);
    }
}

/// Of writing, from whatever it is. The buffer is used again and has its size.
pub(super) fn write(case: &mut Case, content: Content, peers: &Peers) {
    case.target_allocations(0);
    let Some(row) = of(content) else { return };
    case.target_instructions_per_byte(row.write);
    if peers.has_c() {
        case.target_ratio_time(XMLRPC_C, row.write_against_c);
    }
}
