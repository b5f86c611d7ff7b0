//! The gate's cases of Nostr: events, their ids, filters, signatures and encryption.
//!
//! They are a crate of their own. Generic code is compiled in the crate that calls it, and Cargo's
//! default profiles split a crate into 16 codegen units; cases added to `polywire-gate` moved other
//! cases between them, and changed their counts by up to 15%.

pub mod encryption;
pub mod events;
pub mod filters;

use polywire_gate::{Group, GroupEntry};

/// What the command line can name.
pub const GROUPS: &[GroupEntry] = &[GroupEntry {
    name: "nostr",
    about: "Nostr: events, ids, filters, signatures and encryption",
    cases,
}];

/// Adds the cases.
pub fn cases(group: &mut Group) {
    events::cases(group);
    filters::cases(group);
    encryption::cases(group);
}
