//! The groups. A new one is a module here and a row in the table.

pub mod rpc;
pub mod smithy;
pub mod xmlrpc;

use crate::GroupEntry;

/// What the command line can name.
pub const GROUPS: &[GroupEntry] = &[GroupEntry {
    name: "smithy",
    about: "Smithy's own benchmark cases over five protocols",
    cases: smithy::cases,
}];
