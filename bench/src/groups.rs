//! The groups. A new one is a module here and a row in the table.

mod harness;

use polywire_bench::GroupEntry;

/// What the command line can name.
pub(crate) const GROUPS: &[GroupEntry] = &[GroupEntry {
    name: "harness",
    about: "the harness measures itself: counts repeat and are right",
    cases: harness::cases,
}];
