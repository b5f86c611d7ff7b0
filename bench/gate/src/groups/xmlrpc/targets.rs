//! The limits of the cases about requests. Responses would only repeat them.

use super::corpus::Content;
use crate::Case;

/// At most so many instructions per byte of the message.
struct Limits {
    letter: &'static str,
    read_value: f64,
    read_serde: f64,
    write: f64,
}

const fn limits(letter: &'static str, [read_value, read_serde, write]: [f64; 3]) -> Limits {
    Limits {
        letter,
        read_value,
        read_serde,
        write,
    }
}

const LIMITS: [Limits; 6] = [
    limits("a", [5.0, 4.0, 2.0]),
    limits("b", [8.0, 5.0, 4.0]),
    limits("c", [7.0, 5.0, 3.0]),
    limits("d", [6.5, 3.5, 2.9]),
    limits("e", [1.4, 1.4, 0.85]),
    limits("f", [2.2, 2.2, 2.2]),
];

fn of(content: Content) -> Option<&'static Limits> {
    LIMITS.iter().find(|limits| limits.letter == content.letter)
}

/// Of reading into `Value`. The memory for the answer is at most twice the body's. Each of the
/// thousand structs of `d` takes two allocations.
pub(super) fn read_value(case: &mut Case, content: Content, bytes: usize) {
    if matches!(content.letter, "d" | "e" | "f") {
        case.target_peak_bytes(2 * bytes as u64);
    }
    if content.letter == "d" {
        case.target_allocations(2 * 1000 + 16);
    }
    if let Some(limits) = of(content) {
        case.target_instructions_per_byte(limits.read_value);
    }
}

/// Of reading into types of serde. A list of integers grows a few times.
pub(super) fn read_serde(case: &mut Case, content: Content) {
    if content.letter == "b" {
        case.target_allocations(10);
    }
    if let Some(limits) = of(content) {
        case.target_instructions_per_byte(limits.read_serde);
    }
}

/// Of writing, from `Value` or types of serde. The buffer has the space already.
pub(super) fn write(case: &mut Case, content: Content) {
    if content.letter == "d" {
        case.target_allocations(0);
    }
    if let Some(limits) = of(content) {
        case.target_instructions_per_byte(limits.write);
    }
}
