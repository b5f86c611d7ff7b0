//! xmlrpc-c, in this process. The harness cannot count the allocations of a C library, so it is a
//! peer outside, which is only timed.

use std::time::{Duration, Instant};

use polywire_gate::Case;
use polywire_gate::groups::xmlrpc::corpus::Side;
use polywire_gate::groups::xmlrpc::oracle;

use super::spells;
use crate::xmlrpc_c::{Tree, XmlRpcC};

/// Its name in the tables.
pub(super) const NAME: &str = "xmlrpc-c";

/// How long a round takes.
const SHARE: Duration = Duration::from_millis(3);

fn parsed(library: &XmlRpcC, side: Side, xml: &[u8]) -> Result<Tree, String> {
    match side {
        Side::Request => library.read_call(xml, c"echo"),
        Side::Response => library.read_response(xml),
    }
}

fn written<T>(
    library: &XmlRpcC,
    side: Side,
    tree: &Tree,
    see: impl FnOnce(&[u8]) -> T,
) -> Result<T, String> {
    match side {
        Side::Request => library.write_call(c"echo", tree, see),
        Side::Response => library.write_response(tree, see),
    }
}

pub(super) fn read(case: &mut Case, library: &'static XmlRpcC, side: Side, xml: &'static [u8]) {
    let expected = oracle::value_of(xml);
    let mut calls = None;
    case.peer_self_timed(NAME, move || {
        let tree = parsed(library, side, xml)?;
        let calls = *calls.get_or_insert_with(|| {
            calls_in(|| {
                let _ = parsed(library, side, xml);
            })
        });
        written(library, side, &tree, |bytes| spells(bytes, &expected))??;
        drop(tree);
        time(calls, || parsed(library, side, xml).map(drop))
    });
}

pub(super) fn write(case: &mut Case, library: &'static XmlRpcC, side: Side, xml: &'static [u8]) {
    let expected = oracle::value_of(xml);
    let mut calls = None;
    case.peer_self_timed(NAME, move || {
        let tree = parsed(library, side, xml)?;
        written(library, side, &tree, |bytes| spells(bytes, &expected))??;
        let calls = *calls.get_or_insert_with(|| {
            calls_in(|| {
                let _ = written(library, side, &tree, <[u8]>::len);
            })
        });
        time(calls, || {
            written(library, side, &tree, <[u8]>::len).map(drop)
        })
    });
}

/// How many calls take that long, found by doubling.
fn calls_in(mut call: impl FnMut()) -> u64 {
    let mut calls = 1;
    loop {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        let took = start.elapsed();
        if took >= SHARE / 8 {
            let fitting = calls as f64 * SHARE.as_secs_f64() / took.as_secs_f64();
            return (fitting as u64).max(1);
        }
        calls *= 2;
    }
}

fn time(calls: u64, mut call: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    let start = Instant::now();
    for _ in 0..calls {
        call()?;
    }
    Ok(start.elapsed().as_nanos() as f64 / calls as f64)
}
