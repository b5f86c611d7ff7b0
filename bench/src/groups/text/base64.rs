//! Base64, both ways.

use polywire_bench::Group;

pub(super) fn cases(_group: &mut Group) {}
