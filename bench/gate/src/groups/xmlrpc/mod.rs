//! XML-RPC: calls and responses of six kinds, read into `Value` and into types of serde, and written
//! from them; what messages may cost in the worst case; and whole calls through a server.
//!
//! The expected values come from a small reader of this group ([`oracle`]), so that a mistake of
//! the codec cannot agree with itself.

mod calls;
pub mod corpus;
mod dynamic;
mod memory;
pub mod oracle;
mod targets;
pub mod typed;
pub mod types;
pub mod values;

use crate::Group;

/// Adds the cases.
pub fn cases(group: &mut Group) {
    dynamic::cases(group);
    typed::cases(group);
    memory::cases(group);
    values::cases(group);
    calls::cases(group);
}
