//! Nostr: events, their ids, filters, signatures and encryption.

pub mod encryption;
pub mod events;
pub mod filters;

use crate::Group;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    events::cases(group);
    filters::cases(group);
    encryption::cases(group);
}
