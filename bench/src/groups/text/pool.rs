//! The pool of buffers, against none.

use polywire_bench::Group;

pub(super) fn cases(_group: &mut Group) {}
