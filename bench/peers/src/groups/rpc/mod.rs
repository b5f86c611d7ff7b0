//! Small calls over the framed protocol, `Add(i32, i32) -> i32`, beside tarpc, tonic and
//! capnp-rpc, which do the same job, and a raw echo of as many bytes, which has none.
//!
//! The layout is the same for all. A server is a thread with a current-thread runtime. Its
//! clients are connections of one other such thread, and each has as many tasks as calls
//! may be in flight, which call, check the sum, and call again.
//!
//! A transport is an implementation of [`Wire`], and of [`transport::Transport`] where peers speak on it
//! too.

mod counts;
mod layout;
mod peers;
mod process;
mod tally;
mod transport;
mod trial;

use crate::{Figure, Figures, Group, Span};

use layout::Layout;
use peers::{Calls, Capnp, Copy, Echo, Frames, LargeFrames, Lossy, Paced, Tarpc, Tonic, UdpEcho};
pub(crate) use process::serve_if_asked;
use transport::{Inproc, Tcp, Udp, Unix, Wire};

type Trial = Box<dyn FnMut(Span) -> Result<Figures, String>>;

const COPY: &str = "raw copy";
const ECHO: &str = "raw echo";
const OVER_TCP: &str = "polywire over TCP";
const UDP_ECHO: &str = "raw UDP echo";
const TARPC: &str = "tarpc";
const TARPC_IN_LINE: &str = "tarpc, handlers in line";

pub(crate) fn cases(group: &mut Group) {
    counts::cases(group);
    let many = Layout::new(2, 100);
    let one = Layout::new(1, 1).on_one_core();
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
    unix(group, "Unix, 2 clients x 100 in flight", many);
    unix(group, "Unix, 1 x 1, both ends on one core", one);
    within(group, many);
    udp(group, many);
    paced::<Tcp>(group, "TCP");
    paced::<Udp>(group, "UDP");
    paced::<Unix>(group, "Unix");
    large(group);
    memory(group, many);
}

fn unix(group: &mut Group, name: &str, layout: Layout) {
    group
        .load(name)
        .layout(layout.words())
        .polywire(trial::of::<Unix, Calls<Frames>>(layout))
        // In turns with it, not minutes before.
        .peer(OVER_TCP, trial::of::<Tcp, Calls<Frames>>(layout))
        .peer(TARPC, trial::of::<Unix, Calls<Tarpc<false>>>(layout))
        .peer(ECHO, trial::of::<Unix, Echo>(layout))
        .target_at_least_times(Figure::Rate, 1.1, OVER_TCP)
        .target_at_most_times(Figure::P50, 1.35, ECHO)
        .target_at_least(Figure::Answered, 1.0);
}

fn within(group: &mut Group, many: Layout) {
    /// Eight times what UVRPC's document says of its own: 349,000.
    const UVRPC: f64 = 8.0 * 349e3;
    let one = Layout::new(1, 100).on_one_thread();
    group
        .load("in process, 1 client x 100 in flight, one thread")
        .layout(one.words())
        .polywire(trial::of::<Inproc, Calls<Frames>>(one))
        .target_at_least(Figure::Rate, 3e6)
        .target_at_least(Figure::Answered, 1.0);
    // Handlers begin where calls are made, so that the thread of the server has nothing to do.
    group
        .load("in process, 2 clients x 100 in flight on one thread, the server on another")
        .layout(many.words())
        .polywire(trial::of::<Inproc, Calls<Frames>>(many))
        .target_at_least(Figure::Rate, UVRPC)
        .target_at_least(Figure::Answered, 1.0);
    let two = Layout::new(1, 100).on_threads(2);
    group
        .load("in process, 2 clients x 100 in flight, each on a thread")
        .layout(two.words())
        .polywire(trial::of::<Inproc, Calls<Frames>>(two))
        .target_at_least(Figure::Rate, UVRPC)
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
    group
        .load("UDP, 2 clients x 100 in flight, 1% of the datagrams lost")
        .layout(format!(
            "{}; what loses them is a task of the server's thread",
            layout.words()
        ))
        .polywire(trial::of::<Udp, Lossy>(layout))
        .target_at_least(Figure::Answered, 1.0);
}

/// The table of UVRPC's document: `-t 2 -c 2 -b 100 -i 1`, `2` and `5`.
fn paced<W: Wire>(group: &mut Group, wire: &str) {
    let layout = Layout::new(2, 100).on_threads(2);
    let mut load = |milliseconds: u32, trial: Trial| {
        // What the pacing allows, but for a tick at either end.
        let rate = f64::from(layout.threads * layout.clients * layout.window) * 1e3;
        let rate = rate / f64::from(milliseconds);
        group
            .load(format!(
                "{wire}, 2 threads x 2 clients x 100 calls every {milliseconds} ms"
            ))
            .layout(layout.words())
            .polywire(trial)
            .target_at_least(Figure::Rate, rate * 0.99)
            .target_at_least(Figure::Answered, 1.0);
    };
    load(1, Box::new(trial::of::<W, Paced<Frames, 1>>(layout)));
    load(2, Box::new(trial::of::<W, Paced<Frames, 2>>(layout)));
    load(5, Box::new(trial::of::<W, Paced<Frames, 5>>(layout)));
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
        Some(_) => "ours is the program rpc_server, the others this one",
        None => "all are this program; rpc_server, which is only ours, was not built",
    };
    group
        .load("memory of a server process, TCP, 2 clients x 100 in flight")
        .layout(format!(
            "layout: as above, with a process for the server, and the most that it had; {program}"
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
