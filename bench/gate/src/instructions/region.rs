//! The function whose name callgrind is given.

use crate::subject::Repeat;
use std::hint::black_box;

/// The name of [`measured_region`] in callgrind. An exact name, because callgrind 3.19 ignores
/// `--dump-after` if both options have the same pattern.
pub(super) const NAME: &str = concat!(module_path!(), "::measured_region");

/// Everything between entry and return is counted. It returns a value, because otherwise the
/// inner call could become a jump, and callgrind would see no return.
#[inline(never)]
pub(super) fn measured_region(work: &mut dyn Repeat, calls: u64) -> u64 {
    work.repeat(calls);
    black_box(calls)
}
