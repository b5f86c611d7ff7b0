//! Scanning, and validation of UTF-8.

use polywire_bench::Group;

pub(super) fn cases(_group: &mut Group) {}
