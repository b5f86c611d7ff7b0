//! The Nostr cases of the gate: events, ids, filters, signatures and encryption.
//!
//! They are in a separate crate: generic code is compiled in the calling crate, and Cargo's default
//! profiles split a crate into 16 codegen units. Adding cases to `polywire-gate` moved other cases
//! to other codegen units, which changed their instruction counts by up to 15%.

pub mod encryption;
pub mod events;
pub mod filters;

use polywire_gate::{Group, GroupEntry};

/// The groups that the command line accepts.
pub const GROUPS: &[GroupEntry] = &[GroupEntry {
    name: "nostr",
    about: "Nostr: events, ids, filters, signatures and encryption",
    cases,
}];

/// Adds the cases to a group.
pub fn cases(group: &mut Group) {
    events::cases(group);
    filters::cases(group);
    encryption::cases(group);
}
