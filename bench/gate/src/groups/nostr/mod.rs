//! Nostr: events, their ids, filters, signatures and encryption.

pub mod encryption;
pub mod events;

use crate::Group;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    events::cases(group);
    encryption::cases(group);
}
