//! The best one or two crates for each job, beside the primitives of `polywire-text`.

mod data;
mod escapes;
mod number;
mod timestamp;

use polywire_gate::Group;
use polywire_gate::groups::text as gate;

pub(crate) fn cases(group: &mut Group) {
    gate::cases(group);
    number::cases(group);
    timestamp::cases(group);
    escapes::cases(group);
    data::cases(group);
}
