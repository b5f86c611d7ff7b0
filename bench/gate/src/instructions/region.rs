//! The function that callgrind knows by name.

use crate::subject::Repeat;
use std::hint::black_box;

/// The name of [`measured_region`] as callgrind shows it. An exact name and no
/// pattern: callgrind 3.19 forgets `--dump-after` when both options have the
/// same pattern.
pub(super) const NAME: &str = concat!(module_path!(), "::measured_region");

/// Everything between entry and return is counted. The result keeps the call
/// inside from becoming a jump, after which callgrind would see no return.
#[inline(never)]
pub(super) fn measured_region(work: &mut dyn Repeat, calls: u64) -> u64 {
    work.repeat(calls);
    black_box(calls)
}
