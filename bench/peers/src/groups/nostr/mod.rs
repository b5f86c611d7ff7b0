//! Nostr beside the nostr crate, sonic-rs and notepack, and beside SHA-256 and libsecp256k1 alone,
//! which are the limits of what can be reached.

mod encryption;
mod events;
mod filters;

use polywire_gate::Group;
use polywire_gate_nostr as gate;

pub(crate) fn cases(group: &mut Group) {
    gate::cases(group);
    events::cases(group);
    filters::cases(group);
    encryption::cases(group);
}
