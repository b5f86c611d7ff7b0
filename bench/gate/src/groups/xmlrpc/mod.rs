//! XML-RPC: calls and responses of six kinds, read into `Value` and into types of
//! serde, and written from them. What the bodies hold is read a second time by a
//! small reader of this group, so that a mistake of the codec cannot agree with
//! itself.

mod corpus;
mod dynamic;
mod memory;
mod micro;
mod oracle;
mod peers;
mod quotes;
mod targets;
mod typed;
mod types;

use crate::Group;

pub(crate) fn cases(group: &mut Group) {
    let peers = peers::Peers::find(group);
    dynamic::cases(group, &peers);
    typed::cases(group, &peers);
    memory::cases(group);
    micro::cases(group);
}
