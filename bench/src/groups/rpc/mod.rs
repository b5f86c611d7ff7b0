//! Small calls over the framed protocol, `Add(i32, i32) -> i32`, beside tarpc and a raw
//! echo of as many bytes: the first with the same job, the other with none.
//!
//! The layout is the same for all. A server is a thread with a current-thread runtime. Its
//! clients are connections of one other such thread, and each has as many tasks as calls
//! may be in flight, which call, check the sum, and call again.

mod layout;
mod peers;
mod tally;
mod transport;
mod trial;

use polywire_bench::{Figure, Group};

use layout::Layout;
use peers::{Echo, Frames, Tarpc};
use transport::Tcp;

const ECHO: &str = "raw echo";
const TARPC: &str = "tarpc";
const TARPC_IN_LINE: &str = "tarpc, handlers in line";

pub(crate) fn cases(group: &mut Group) {
    let many = Layout::new(2, 100);
    group
        .load("TCP, 2 clients x 100 in flight")
        .layout(many.words())
        .polywire(trial::of::<Tcp, Frames>(many))
        .peer(TARPC, trial::of::<Tcp, Tarpc<false>>(many))
        .peer(TARPC_IN_LINE, trial::of::<Tcp, Tarpc<true>>(many))
        .peer(ECHO, trial::of::<Tcp, Echo>(many))
        .target_at_least_times(Figure::Rate, 4.0, TARPC)
        .target_at_least_times(Figure::Rate, 0.3, ECHO)
        .target_at_least(Figure::Answered, 1.0)
        .target_at_most_times(Figure::P99, 1.0, TARPC);
}
