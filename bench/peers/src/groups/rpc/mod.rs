//! Calls over frames, `Add(i32, i32) -> i32`, beside tarpc, tonic and capnp-rpc, which do the same,
//! and beside a raw echo of as many bytes, which shows what the machine and its kernel can do.
//!
//! The layout is the same for all subjects. The server is a thread with a current-thread runtime.
//! Its clients are connections of one other such thread. Each connection has one task per call in
//! flight; a task calls, checks the sum, and calls again.
//!
//! A transport is an implementation of [`transport::Wire`], and of [`transport::Transport`] where
//! peers use it too. Loads of Polywire alone are the job of `polywire bench`.

mod layout;
mod peers;
mod process;
mod tally;
mod transport;
mod trial;

use polywire_gate::groups::rpc as gate;
use polywire_gate::{Figure, Group, same};

use layout::Layout;
use peers::{Calls, Capnp, Copy, Echo, Frames, LargeFrames, Tarpc, Tonic, UdpEcho};
pub(crate) use process::serve_if_asked;
use transport::{Tcp, Udp, Unix};

const COPY: &str = "raw copy";
const ECHO: &str = "raw echo";
const OVER_TCP: &str = "polywire over TCP";
const UDP_ECHO: &str = "raw UDP echo";
const TARPC: &str = "tarpc";
const TARPC_IN_LINE: &str = "tarpc, handlers in line";

pub(crate) fn cases(group: &mut Group) {
    gate::cases(group);
    for (calls, name) in gate::ADD {
        group.extend(name, |case| {
            case.peer_with(
                TARPC,
                gate::Whole::<Tarpc<false>>::new(),
                move |whole| whole.add(calls, gate::LEFT, gate::RIGHT),
                |_, sums| same(sums, &Ok(())),
            );
        });
    }
    let many = Layout::new(2, 100);
    let one = Layout::new(1, 1).on_one_core();
    tcp(group, many, one);
    unix(group, "Unix, 2 clients x 100 in flight", many);
    unix(group, "Unix, 1 x 1, both ends on one core", one);
    udp(group, many);
    large(group);
    memory(group, many);
}

fn tcp(group: &mut Group, many: Layout, one: Layout) {
    group
        .load("TCP, 2 clients x 100 in flight")
        .layout(many.words())
        .polywire(trial::of::<Tcp, Calls<Frames>>(many))
        .peer(TARPC, trial::of::<Tcp, Calls<Tarpc<false>>>(many))
        .peer(TARPC_IN_LINE, trial::of::<Tcp, Calls<Tarpc<true>>>(many))
        .peer("capnp-rpc", trial::of::<Tcp, Capnp>(many))
        .peer("tonic", trial::of::<Tcp, Calls<Tonic>>(many))
        .peer(ECHO, trial::of::<Tcp, Echo>(many))
        .target_at_least_times(Figure::Rate, 4.0, TARPC)
        .target_at_least_times(Figure::Rate, 0.3, ECHO)
        .target_at_least(Figure::Answered, 1.0)
        .target_at_most_times(Figure::P99, 1.0, TARPC);
    group
        .load("TCP, 1 x 1, both ends on one core")
        .layout(one.words())
        .polywire(trial::of::<Tcp, Calls<Frames>>(one))
        .peer(TARPC, trial::of::<Tcp, Calls<Tarpc<false>>>(one))
        .peer(TARPC_IN_LINE, trial::of::<Tcp, Calls<Tarpc<true>>>(one))
        .peer("capnp-rpc", trial::of::<Tcp, Capnp>(one))
        .peer("tonic", trial::of::<Tcp, Calls<Tonic>>(one))
        .peer(ECHO, trial::of::<Tcp, Echo>(one))
        .target_at_most_times(Figure::P50, 1.25, ECHO)
        .target_at_least(Figure::Answered, 1.0);
}

fn unix(group: &mut Group, name: &str, layout: Layout) {
    group
        .load(name)
        .layout(layout.words())
        .polywire(trial::of::<Unix, Calls<Frames>>(layout))
        // In the same run, not minutes before.
        .peer(OVER_TCP, trial::of::<Tcp, Calls<Frames>>(layout))
        .peer(TARPC, trial::of::<Unix, Calls<Tarpc<false>>>(layout))
        .peer(ECHO, trial::of::<Unix, Echo>(layout))
        .target_at_least_times(Figure::Rate, 1.1, OVER_TCP)
        .target_at_most_times(Figure::P50, 1.35, ECHO)
        .target_at_least(Figure::Answered, 1.0);
}

fn udp(group: &mut Group, layout: Layout) {
    group
        .load("UDP, 2 clients x 100 in flight")
        .layout(layout.words())
        .polywire(trial::of::<Udp, Calls<Frames>>(layout))
        .peer(UDP_ECHO, trial::of::<Udp, UdpEcho>(layout))
        .target_at_least_times(Figure::Rate, 0.8, UDP_ECHO)
        .target_at_least(Figure::Answered, 1.0);
}

fn large(group: &mut Group) {
    let layout = Layout::new(1, 2);
    group
        .load("TCP, 8 MiB there and back, 1 client x 2 in flight")
        .layout(layout.words())
        .polywire(trial::of::<Tcp, LargeFrames>(layout))
        .peer(COPY, trial::of::<Tcp, Copy>(layout))
        .target_at_least_times(Figure::Rate, 0.5, COPY)
        .target_at_least(Figure::Answered, 1.0);
    group
        .load("Unix, 8 MiB there and back, 1 client x 2 in flight")
        .layout(layout.words())
        .polywire(trial::of::<Unix, LargeFrames>(layout))
        .peer(COPY, trial::of::<Unix, Copy>(layout))
        .target_at_least_times(Figure::Rate, 0.5, COPY)
        .target_at_least(Figure::Answered, 1.0);
}

fn memory(group: &mut Group, many: Layout) {
    const IDLE: u32 = 10_000;
    let program = match process::lean() {
        Some(_) => "ours is the program rpc_server, the others are this program",
        None => "all are this program, because rpc_server was not built",
    };
    group
        .load("memory of a server process, TCP, 2 clients x 100 in flight")
        .layout(format!(
            "layout: as above, with a process for the server; its peak memory; {program}"
        ))
        .polywire(process::under_load::<Frames>(many))
        .peer(TARPC, process::under_load::<Tarpc<false>>(many))
        .peer("tonic", process::under_load::<Tonic>(many))
        .target_at_most(Figure::Memory, 6e6)
        .target_at_least(Figure::Answered, 1.0);
    group
        .load("memory of 10,000 idle connections, TCP")
        .layout(format!(
            "layout: a process for the server; each connection has made a call; {program}"
        ))
        .polywire(process::idle::<Frames>(IDLE))
        .peer(TARPC, process::idle::<Tarpc<false>>(IDLE))
        .peer("tonic", process::idle::<Tonic>(IDLE))
        .target_at_most(Figure::IdleConnection, 8192.0)
        .target_at_least(Figure::Answered, 1.0);
}
