//! The primitives of `polywire-text`, each beside the best crates for its job
//! and the figures that the seed published.

mod base64;
mod hex;
mod json;
mod list;
mod number;
mod percent;
mod pool;
mod scan;
mod strings;
mod timestamp;
mod xml;

use crate::Group;

pub(crate) fn cases(group: &mut Group) {
    number::cases(group);
    timestamp::cases(group);
    json::cases(group);
    xml::cases(group);
    percent::cases(group);
    hex::cases(group);
    base64::cases(group);
    list::cases(group);
    scan::cases(group);
    strings::cases(group);
    pool::cases(group);
}
